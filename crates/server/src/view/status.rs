use std::collections::{BTreeMap, BTreeSet};

use seaway_api::{Cell, Place, Row};
use seaway_model::Name;
use seaway_store::{ServiceStanding, Standing};

/// How every service stands in one stage.
pub(crate) type Column = BTreeMap<Name, ServiceStanding>;

/// The services of a piece of the board: so many after a name, and the last of them if there are
/// more.
pub(crate) fn piece(
    services: &BTreeSet<Name>,
    after: Option<&Name>,
    limit: usize,
) -> (Vec<Name>, Option<Name>) {
    use std::ops::Bound::{Excluded, Unbounded};
    let first = after.map_or(Unbounded, Excluded);
    let mut rest = services.range::<Name, _>((first, Unbounded));
    let names: Vec<Name> = rest.by_ref().take(limit).cloned().collect();
    let next = rest.next().and(names.last()).cloned();
    (names, next)
}

/// A row for each service, with a cell for each stage.
pub(crate) fn rows(services: &[Name], columns: &[Column]) -> Vec<Row> {
    let rows = services.iter().map(|service| Row {
        service: service.to_string(),
        cells: columns
            .iter()
            .map(|column| column.get(service).map_or_else(Cell::default, cell))
            .collect(),
    });
    rows.collect()
}

fn cell(standing: &ServiceStanding) -> Cell {
    let current = standing.current.as_ref();
    let newer = |it: &&Standing| current.is_none_or(|current| it.revision > current.revision);
    Cell {
        current: current.map(place),
        failed: standing.failed.as_ref().filter(newer).map(place),
        moving: standing.moving.iter().map(place).collect(),
        count: usize::try_from(standing.count).unwrap_or(usize::MAX),
    }
}

fn place(standing: &Standing) -> Place {
    Place {
        version: standing.version.as_deref().unwrap_or_default().to_owned(),
        revision: standing.revision.0,
        deployment: standing.deployment.0,
    }
}

#[cfg(test)]
mod tests {
    use seaway_model::{DeploymentId, Revision, Seq};
    use uuid::Uuid;

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn standing(revision: u64) -> Standing {
        Standing {
            deployment: DeploymentId(Uuid::from_u128(revision.into())),
            revision: Revision(revision),
            service: name("cart"),
            version: Some(format!("1.{revision}").into()),
            opened: Seq(revision),
            ended: None,
        }
    }

    #[test]
    fn a_failure_is_shown_while_it_is_newer_than_what_is_there() {
        let failed = |current: Option<u64>| {
            let standing = ServiceStanding {
                current: current.map(standing),
                failed: Some(standing(5)),
                ..ServiceStanding::default()
            };
            cell(&standing).failed.map(|it| it.version)
        };
        assert_eq!(failed(None).as_deref(), Some("1.5"));
        assert_eq!(failed(Some(4)).as_deref(), Some("1.5"));
        assert_eq!(failed(Some(5)), None);
        assert_eq!(failed(Some(6)), None);
    }

    #[test]
    fn every_service_has_a_cell_for_every_stage() {
        let services = BTreeSet::from(["a", "b", "c"].map(name));
        let (first, next) = piece(&services, None, 2);
        assert_eq!((&*first, next.clone()), (&[name("a"), name("b")][..], Some(name("b"))));
        assert_eq!(piece(&services, next.as_ref(), 2), (vec![name("c")], None));
        let there = ServiceStanding { current: Some(standing(1)), ..ServiceStanding::default() };
        let columns = [Column::new(), Column::from([(name("b"), there)])];
        let rows = rows(&first, &columns);
        assert_eq!(rows[0].cells, [Cell::default(), Cell::default()]);
        assert_eq!(rows[1].cells[1].current.as_ref().unwrap().version, "1.1");
    }
}
