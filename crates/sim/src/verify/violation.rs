use std::fmt;

/// A promise that a world broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Positions are gapless and the hash chain holds.
    Chain,
    /// `(deployment, target, kind, fact, attempt, n)` is unique.
    UniqueKey,
    TimeNeverBack,
    /// Only the newest owner writes.
    OneOwner,
    /// What was durable or acknowledged is still there.
    NothingLost,
    /// Nothing is told before it is durable, and what is told is true.
    ToldAfterDurable,
    /// Only the newest holder's answer counts.
    Fence,
    /// A record follows from the state that the records before it add up to.
    Order,
    /// Joins wait for everything before them.
    Join,
    /// No gate is skipped.
    Gate,
    /// A skip has a reason, and the reason is true.
    SkipReason,
    /// What happened fires what it has to, once, and nothing else; what was triggered ends.
    Trigger,
    /// A run that the structure derives no longer does nothing.
    Withdrawn,
    /// A task ends when all who were waited for have answered.
    Share,
    /// A lease is handed to one holder, and work to whoever waits for it at once.
    Handout,
    /// A request with a key has one effect and one answer.
    Once,
    /// Documents and services are what was applied.
    Applied,
    /// Retries and loops stay within their limits.
    Bounds,
    /// A permit has at most as many holders as it has room for.
    Permit,
    /// An older revision never comes after a newer one.
    Place,
    IntroducedLate,
    /// The state is the same live, replayed and after a checkpoint.
    Replay,
    /// When faults stop, everything ends or says what it waits for.
    Progress,
    /// The code under test stopped with a panic.
    Panic,
    /// The world was not as hard as it must be.
    Hardness,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: Rule,
    pub detail: String,
}

impl Violation {
    pub(crate) fn new(rule: Rule, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.detail)
    }
}
