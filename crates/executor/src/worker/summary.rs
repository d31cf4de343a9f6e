use seaway_model::Outcome;

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub passed: u64,
    pub warned: u64,
    pub failed: u64,
    /// Tasks that were aborted, taken over by others, or could not be answered in time.
    pub lost: u64,
}

/// What became of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered(Outcome),
    Lost,
}

impl Summary {
    pub(super) fn count(&mut self, fate: Fate) {
        let counter = match fate {
            Fate::Answered(Outcome::Pass) => &mut self.passed,
            Fate::Answered(Outcome::Warning) => &mut self.warned,
            Fate::Answered(Outcome::Fail) => &mut self.failed,
            Fate::Lost => &mut self.lost,
        };
        *counter += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.warned += other.warned;
        self.failed += other.failed;
        self.lost += other.lost;
    }
}
