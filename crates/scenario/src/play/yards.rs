use std::collections::{BTreeMap, BTreeSet};

use seaway_model::Name;
use seaway_shipyard::{On, Shipyard};

/// The pipelines of a scenario: the one that it begins with, and those that its steps apply.
#[derive(Clone, Debug)]
pub struct Yards {
    pub first: Shipyard,
    pub later: BTreeMap<String, Shipyard>,
}

impl Yards {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Shipyard> {
        std::iter::once(&self.first).chain(self.later.values())
    }

    pub(crate) fn tasks(&self) -> BTreeSet<Name> {
        let sequences = self.all().flat_map(|it| &it.stages).flat_map(|it| &it.sequences);
        sequences.flat_map(|it| &it.tasks).map(|it| it.name.clone()).collect()
    }

    /// Whether anything waits for several events.
    pub(crate) fn have_joins(&self) -> bool {
        let sequences = self.all().flat_map(|it| &it.stages).flat_map(|it| &it.sequences);
        let mut triggers = sequences.flat_map(|it| &it.triggered_on);
        triggers.any(|it| matches!(it.on, On::All(_)))
    }

    /// The name of the project, which data carries.
    pub(crate) fn project(&self) -> Name {
        let own = Name::new(&self.first.name).ok();
        own.unwrap_or_else(|| Name::new("project").expect("it is a valid name"))
    }
}
