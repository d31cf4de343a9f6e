use std::collections::BTreeMap;

use seaway_model::{Fact, Name, Seq};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value, int};
use crate::question::{Ending, Standing};
use crate::shape::place_path;
use crate::store::Store;

/// How one service stands at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceStanding {
    /// What is there: the last that ended finished or rolled back.
    pub current: Option<Standing>,
    /// The highest revision that ended failed.
    pub failed: Option<Standing>,
    /// What is in progress, in the order in which it began: the first few.
    pub moving: Vec<Standing>,
    /// How many are in progress in all.
    pub count: u64,
}

const PLACE: &str = "(SELECT id FROM target WHERE project = ?1 AND place_path = ?2)";
const VERSION: &str = "LEFT JOIN deployment d ON d.project = ?1 AND d.id = s.deployment";

/// How many services one statement asks for. It is always the same statement: what is missing at
/// the end is empty, which is no name.
const AT_ONCE: usize = 200;

/// Values that stand before the services: project, place, position.
const BEFORE: usize = 3;

/// What spans end with.
const ENDINGS: [Fact; 6] = [
    Fact::Finished,
    Fact::Failed,
    Fact::Skipped,
    Fact::Cancelled,
    Fact::Superseded,
    Fact::RolledBack,
];

impl Store {
    /// How many deployments in progress a [`ServiceStanding`] names.
    pub const MOVING: usize = 3;

    /// How many services stand at a place as of a position, each found by index. Services that
    /// were never there are left out.
    pub async fn board(
        &self,
        project: &Name,
        place: &str,
        services: &[Name],
        as_of: Seq,
    ) -> Result<BTreeMap<Name, ServiceStanding>, StoreError> {
        let id = self.project_id(project).await?;
        let mut board: BTreeMap<Name, ServiceStanding> = BTreeMap::new();
        for chunk in services.chunks(AT_ONCE) {
            let mut values: Vec<Value> =
                vec![id.into(), (&*place_path(place)).into(), int(as_of.0).into()];
            let names = chunk.iter().map(Name::as_str).chain(std::iter::repeat(""));
            values.extend(names.take(AT_ONCE).map(Value::from));
            let ask = |sql: String| Query::new(sql, values.clone());
            for found in self.select(ask(current()), decode::standing).await? {
                let standing = board.entry(found.service.clone()).or_default();
                standing.current = Some(found);
            }
            for found in self.select(ask(failed()), decode::standing).await? {
                let standing = board.entry(found.service.clone()).or_default();
                standing.failed = Some(found);
            }
            for (found, count) in self.select(ask(moving()), counted).await? {
                let standing = board.entry(found.service.clone()).or_default();
                standing.count = count;
                standing.moving.push(found);
            }
        }
        Ok(board)
    }

    /// The stages that were ever used up to a position, in order of first use.
    pub async fn stages_used(&self, project: &Name, as_of: Seq) -> Result<Vec<Name>, StoreError> {
        let id = self.project_id(project).await?;
        let query = Query::new(
            "SELECT part FROM target WHERE project = ?1 AND parent = 0 AND id > 0 AND since <= ?2
             ORDER BY id",
            vec![id.into(), int(as_of.0).into()],
        );
        self.select(query, decode::first_name).await
    }
}

fn counted(line: &dyn Columns) -> Result<(Standing, u64), Damaged> {
    Ok((decode::standing(line)?, decode::number(line, 7)?))
}

/// The services that are asked for, each looked up in the index of spans by itself.
fn known() -> String {
    let names = (BEFORE + 1..=BEFORE + AT_ONCE).map(|number| format!("(CAST(?{number} AS TEXT))"));
    format!("WITH known (service) AS (VALUES {})", names.collect::<Vec<String>>().join(", "))
}

fn standings(which: &str) -> String {
    format!(
        "{} SELECT s.deployment, s.revision, s.service, d.version, s.opened, s.ending, s.closed
         FROM known k CROSS JOIN span s {VERSION}
         WHERE s.project = ?1 AND s.place = {PLACE} AND s.service = k.service AND {which}",
        known()
    )
}

fn current() -> String {
    let last = |ending: Fact| {
        format!(
            "SELECT max(closed) AS closed FROM span WHERE project = ?1 AND place = {PLACE}
             AND service = k.service AND ending = {} AND closed <= ?3",
            ending.code()
        )
    };
    let (finished, rolled_back) = (last(Fact::Finished), last(Fact::RolledBack));
    standings(&format!(
        "s.ending IN ({}, {}) AND s.closed =
           (SELECT max(e.closed) FROM ({finished} UNION ALL {rolled_back}) e)",
        Fact::Finished.code(),
        Fact::RolledBack.code(),
    ))
}

fn failed() -> String {
    let ending = Ending::Failed.fact().code();
    standings(&format!(
        "s.ending = {ending} AND s.closed =
           (SELECT b.best_of_service FROM span b WHERE b.project = ?1 AND b.place = {PLACE}
            AND b.service = k.service AND b.ending = {ending} AND b.closed <= ?3
            ORDER BY b.closed DESC LIMIT 1)"
    ))
}

fn moving() -> String {
    let open = |spans: &str, which: &str| {
        format!(
            "SELECT o.deployment, o.revision, o.service, o.opened FROM {spans}
             WHERE o.project = ?1 AND o.place = {PLACE} AND {which} AND o.opened <= ?3"
        )
    };
    // What is open at a place is looked through; what ended since then is found by service.
    let still = open(
        "span o",
        "o.ending IS NULL AND o.closed IS NULL AND o.service IN (SELECT service FROM known)",
    );
    let endings = ENDINGS.map(|fact| fact.code().to_string()).join(", ");
    let then = open(
        "known k CROSS JOIN span o",
        &format!("o.service = k.service AND o.ending IN ({endings}) AND o.closed > ?3"),
    );
    format!(
        "{} SELECT s.deployment, s.revision, s.service, d.version, s.opened,
           CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), s.total
         FROM (SELECT m.deployment, m.revision, m.service, m.opened,
                 count(*) OVER (PARTITION BY m.service) AS total,
                 row_number() OVER (PARTITION BY m.service ORDER BY m.opened) AS place_in_line
               FROM ({still} UNION ALL {then}) m) s {VERSION}
         WHERE s.place_in_line <= {} ORDER BY s.opened",
        known(),
        Store::MOVING
    )
}
