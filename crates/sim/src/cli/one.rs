use seaway_sim::{BUGS, run as live};

/// Runs one world and says how it went.
pub(super) fn run(seed: u64, bug: Option<&str>, transcript: bool) -> bool {
    let planted = match bug {
        None => None,
        Some(wanted) => match BUGS.iter().find(|(_, name)| *name == wanted) {
            Some((bug, _)) => Some(*bug),
            None => {
                let names: Vec<&str> = BUGS.iter().map(|(_, name)| *name).collect();
                eprintln!("{wanted:?} is not a planted bug; known are: {}", names.join(", "));
                return false;
            }
        },
    };
    let outcome = live(seed, planted, transcript);
    outcome.transcript.iter().for_each(|line| say!("{line}"));
    let tally = &outcome.tally;
    say!("seed {seed}: {} records, {} faults", tally.records, tally.faults);
    if let Some(violation) = &outcome.violation {
        say!("seed {seed} FAILED: {violation}");
    }
    outcome.violation.is_none()
}
