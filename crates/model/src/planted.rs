/// Bugs that the simulator plants to show that it would find them. Without the feature `planted`
/// the switch below is a constant, and none of this is in the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// The store answers before the append is on disk.
    AcknowledgedBeforeSync,
    /// The store takes appends of an owner that lost its ownership.
    EpochUnchecked,
    /// An answer counts whatever fence it shows.
    FenceUnchecked,
    /// A claim after a lost lease gets the number of the lost one.
    LeaseNumberKept,
    /// Callers are answered when their append is handed to the store.
    ReplyBeforeDurable,
    /// A step that failed is passed over once something after it has finished.
    FailedPassedOver,
    /// A step that was introduced too late is done nevertheless.
    IntroducedLateIgnored,
    /// A permit has room for everyone.
    CapacityIgnored,
    /// An older revision overwrites a newer one.
    OlderOverwritesNewer,
    /// A group ends while its last member is still open.
    JoinTooEarly,
    /// A retry opens the step and nothing after it.
    RetryKeepsLater,
    /// The hash of a row does not cover its predecessor.
    HashUnchained,
    /// A permit that is given back wakes nobody up.
    LostWakeup,
    /// The digest of a checkpoint is not compared.
    CheckpointUnverified,
    /// What an aborted deployment held is never given back.
    AbortKeepsPermits,
    /// Time starts at zero again after a restart.
    TimeGoesBack,
    /// A join fires although the first of its events is missing.
    JoinIncomplete,
    /// What happened fires its triggers a second time.
    FiredTwice,
    /// A task ends with the first answer, whoever else is at it.
    FirstAnswerEnds,
    /// A run that the newest structure derives no longer starts nevertheless.
    WithdrawnStarts,
    /// A task that failed is tried again for ever.
    RetriesUnlimited,
    /// A run that failed keeps nothing for what its failure triggers.
    NothingInherited,
    /// An executor that waits for work is not told when there is some.
    WokenForgotten,
    /// Whoever waits next gets the tasks that somebody else was just given.
    HandedOutTwice,
    /// What a request with a key was answered is not kept in the store.
    AnswerNotKept,
    /// A task that a person rejects has passed.
    RejectionPasses,
}

#[cfg(feature = "planted")]
mod switch {
    use std::cell::Cell;

    use super::Bug;

    thread_local! {
        static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Plants a bug in everything that runs on this thread, or removes it.
    pub fn plant(bug: Option<Bug>) {
        PLANTED.set(bug);
    }

    #[must_use]
    pub fn planted(bug: Bug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(not(feature = "planted"))]
mod switch {
    use super::Bug;

    #[must_use]
    pub const fn planted(_: Bug) -> bool {
        false
    }
}

pub use switch::*;
