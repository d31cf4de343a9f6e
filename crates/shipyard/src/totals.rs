use crate::check::evaluation;
use crate::document::Shipyard;

/// How much a file declares. The evaluation that every stage of a Keptn file has is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub stages: usize,
    pub sequences: usize,
    pub tasks: usize,
}

impl Shipyard {
    #[must_use]
    pub fn totals(&self) -> Totals {
        let implicit = evaluation();
        let sequences = self.stages.iter().flat_map(|stage| &stage.sequences);
        let declared: Vec<_> = sequences.filter(|it| **it != implicit).collect();
        Totals {
            stages: self.stages.len(),
            sequences: declared.len(),
            tasks: declared.iter().map(|it| it.tasks.len()).sum(),
        }
    }
}
