//! A handful of worlds; the many are run by `cargo xtask test`.

use seaway_sim::{BUGS, recorded, run};

#[test]
fn a_few_worlds_keep_every_promise() {
    for seed in 8..=12 {
        let outcome = run(seed, None, false);
        assert_eq!(outcome.violation, None, "cargo xtask sim --seed {seed} --transcript");
        assert!(outcome.tally.faults >= 50, "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_world() {
    let first = run(9, None, true);
    let second = run(9, None, true);
    assert_eq!(first.transcript, second.transcript);
    assert!(first.transcript.len() > first.tally.records);
}

#[test]
fn every_planted_bug_has_a_recorded_seed() {
    let recorded: Vec<&str> = recorded().map(|entry| entry.name).collect();
    for (_, name) in BUGS {
        assert!(recorded.contains(&name), "{name}: run `cargo xtask sim --planted`");
    }
}

#[test]
fn a_planted_bug_is_noticed() {
    let entry = recorded().next().expect("there are recorded seeds");
    assert!(run(entry.seed, Some(entry.bug), false).violation.is_some(), "{}", entry.name);
    assert_eq!(run(entry.seed, None, false).violation, None, "{}", entry.name);
}

#[test]
fn a_transcript_reads_like_a_story() {
    let outcome = run(9, None, true);
    let shown = outcome.transcript.iter().take(12).map(|line| {
        let short: String = line.chars().take(96).collect();
        short.trim_end().to_owned() + "\n"
    });
    insta::assert_snapshot!(shown.collect::<String>());
}
