use seaway_api::{Project, Stage};
use seaway_kernel::Structure;
use seaway_model::{Name, Seq};
use seaway_store::Head;

use crate::clock;

/// A project as it is listed.
pub(crate) fn summary(name: &Name, head: &Head, deployments: u64) -> Project {
    Project {
        name: name.to_string(),
        head: head.seq.0,
        hash: head.hash.to_string(),
        time: (head.seq > Seq(0)).then(|| clock::show(head.at)),
        deployments,
        stages: Vec::new(),
        services: Vec::new(),
        auto_services: None,
    }
}

/// The stages in the order of a shipyard, as it was applied.
pub(crate) fn stages(shipyard: &str) -> Option<Vec<Stage>> {
    let checked = seaway_shipyard::parse(shipyard, "shipyard").ok()?;
    let stages = checked.shipyard.stages.into_iter().map(|stage| Stage {
        name: stage.name.to_string(),
        sequences: stage.sequences.iter().map(|it| it.name.to_string()).collect(),
    });
    Some(stages.collect())
}

/// The stages in the order of their names, where there is nothing that tells another.
pub(crate) fn stages_by_name(structure: &Structure) -> Vec<Stage> {
    let stages = structure.stages.iter().map(|(name, stage)| Stage {
        name: name.to_string(),
        sequences: stage.sequences.keys().map(Name::to_string).collect(),
    });
    stages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_the_order_of_the_shipyard() {
        let text = "
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: staging
    sequences:
    - {name: delivery, tasks: [{name: test}]}
    - {name: cleanup, tasks: [{name: action}]}
  - name: beta
    sequences: [{name: delivery, tasks: [{name: test}]}]
";
        let stage = |name: &str, sequences: &[&str]| Stage {
            name: name.to_owned(),
            sequences: sequences.iter().map(|it| (*it).to_owned()).collect(),
        };
        let expected = [stage("staging", &["delivery", "cleanup"]), stage("beta", &["delivery"])];
        assert_eq!(stages(text).unwrap(), expected);
        let structure = Structure::from(&seaway_shipyard::parse(text, "f").unwrap().shipyard);
        let expected = [stage("beta", &["delivery"]), stage("staging", &["cleanup", "delivery"])];
        assert_eq!(stages_by_name(&structure), expected);
        assert_eq!(stages("kind: Project"), None);
    }
}
