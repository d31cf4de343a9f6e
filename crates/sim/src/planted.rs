use seaway_model::planted::Bug;

/// Every bug that can be planted, with the name that the command line and the table use.
pub const BUGS: [(Bug, &str); 26] = [
    (Bug::AcknowledgedBeforeSync, "acknowledged-before-sync"),
    (Bug::EpochUnchecked, "epoch-unchecked"),
    (Bug::FenceUnchecked, "fence-unchecked"),
    (Bug::LeaseNumberKept, "lease-number-kept"),
    (Bug::ReplyBeforeDurable, "reply-before-durable"),
    (Bug::FailedPassedOver, "failed-passed-over"),
    (Bug::IntroducedLateIgnored, "introduced-late-ignored"),
    (Bug::CapacityIgnored, "capacity-ignored"),
    (Bug::OlderOverwritesNewer, "older-overwrites-newer"),
    (Bug::JoinTooEarly, "join-too-early"),
    (Bug::RetryKeepsLater, "retry-keeps-later"),
    (Bug::HashUnchained, "hash-unchained"),
    (Bug::LostWakeup, "lost-wakeup"),
    (Bug::CheckpointUnverified, "checkpoint-unverified"),
    (Bug::AbortKeepsPermits, "abort-keeps-permits"),
    (Bug::TimeGoesBack, "time-goes-back"),
    (Bug::JoinIncomplete, "join-incomplete"),
    (Bug::FiredTwice, "fired-twice"),
    (Bug::FirstAnswerEnds, "first-answer-ends"),
    (Bug::WithdrawnStarts, "withdrawn-starts"),
    (Bug::RetriesUnlimited, "retries-unlimited"),
    (Bug::NothingInherited, "nothing-inherited"),
    (Bug::WokenForgotten, "woken-forgotten"),
    (Bug::HandedOutTwice, "handed-out-twice"),
    (Bug::AnswerNotKept, "answer-not-kept"),
    (Bug::RejectionPasses, "rejection-passes"),
];

/// A planted bug and a seed that finds it.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    pub bug: Bug,
    pub name: &'static str,
    pub seed: u64,
}

/// The committed table: for each bug a seed whose world notices it.
pub fn recorded() -> impl Iterator<Item = Recorded> {
    include_str!("planted.txt").lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, seed) = (words.next()?, words.next()?);
        let (bug, name) = BUGS.iter().copied().find(|(_, it)| *it == name)?;
        Some(Recorded { bug, name, seed: seed.parse().ok()? })
    })
}
