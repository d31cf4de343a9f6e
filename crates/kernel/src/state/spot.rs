use serde::{Deserialize, Serialize};

/// Where a step stands in its deployment. The order is the order in which steps are considered:
/// stages and sequences by when the project first knew them, then the run, then its layout.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Spot {
    stage: u32,
    sequence: u32,
    number: u32,
    cell: u32,
}

/// One run of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RunKey {
    pub(crate) stage: u32,
    pub(crate) sequence: u32,
    pub(crate) number: u32,
}

/// What a spot is, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    PipelineStarted,
    StageStarted(u32),
    Inside(RunKey, u32),
    StageFinished(u32),
    PipelineFinished,
}

impl Spot {
    pub(crate) const PIPELINE_STARTED: Self = Self { stage: 0, sequence: 0, number: 0, cell: 0 };
    pub(crate) const PIPELINE_FINISHED: Self =
        Self { stage: u32::MAX, sequence: 0, number: 0, cell: 0 };

    pub(crate) fn stage_started(stage: u32) -> Self {
        Self { stage: stage + 1, sequence: 0, number: 0, cell: 0 }
    }

    pub(crate) fn stage_finished(stage: u32) -> Self {
        Self { stage: stage + 1, sequence: u32::MAX, number: 0, cell: 0 }
    }

    pub(crate) fn inside(run: RunKey, cell: u32) -> Self {
        Self { stage: run.stage + 1, sequence: run.sequence + 1, number: run.number, cell }
    }

    pub(crate) fn position(self) -> Position {
        match (self.stage, self.sequence) {
            (0, _) => Position::PipelineStarted,
            (u32::MAX, _) => Position::PipelineFinished,
            (stage, 0) => Position::StageStarted(stage - 1),
            (stage, u32::MAX) => Position::StageFinished(stage - 1),
            (stage, sequence) => {
                let (stage, sequence) = (stage - 1, sequence - 1);
                Position::Inside(RunKey { stage, sequence, number: self.number }, self.cell)
            }
        }
    }

    pub(crate) fn stage(self) -> Option<u32> {
        match self.stage {
            0 | u32::MAX => None,
            stage => Some(stage - 1),
        }
    }
}
