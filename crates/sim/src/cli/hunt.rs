use seaway_sim::{BUGS, Outcome, recorded, run as live};

use super::pool;

/// A bug must be noticed within so many worlds.
const LIMIT: u64 = 10_000;

/// Runs fresh worlds with each bug until one notices it. What it prints is the recorded table.
pub(super) fn fresh(start: u64) -> bool {
    let mut all = true;
    for (bug, name) in BUGS {
        let mut found: Option<Outcome> = None;
        let work = |seed| {
            let with = live(seed, Some(bug), false);
            // A world that fails without the bug as well has noticed something else.
            let noticed = with.violation.is_some() && live(seed, None, false).violation.is_none();
            noticed.then_some(with)
        };
        pool::run(start..start + LIMIT, work, |outcome| {
            let Some(outcome) = outcome else { return false };
            if found.as_ref().is_none_or(|it| outcome.seed < it.seed) {
                found = Some(outcome);
            }
            true
        });
        match found.and_then(|it| Some((it.seed, it.violation?))) {
            Some((seed, violation)) => say!("{name} {seed}  # {violation}"),
            None => {
                say!("{name} was not found in {LIMIT} worlds");
                all = false;
            }
        }
    }
    all
}

/// Replays the recorded seed of each bug.
pub(super) fn again() -> bool {
    let mut noticed = 0;
    for entry in recorded() {
        let with = live(entry.seed, Some(entry.bug), false).violation;
        let without = live(entry.seed, None, false).violation;
        noticed += usize::from(with.is_some() && without.is_none());
        let result = match (with, without) {
            (Some(violation), None) => format!("{:?}", violation.rule),
            (_, Some(other)) => format!("FAILS WITHOUT IT: {other}"),
            (None, None) => "NOT NOTICED".to_owned(),
        };
        say!("{:<26} seed {:<5} {result}", entry.name, entry.seed);
    }
    say!("{noticed} of {} planted bugs noticed", BUGS.len());
    noticed == BUGS.len()
}
