use seaway_model::{DeploymentId, Epoch, Fact, Seq};
use seaway_wire::{Append, SpanEdit};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, GenericClient, Statement};

use super::fault::{DATA_CORRUPTED, DISK_FULL, INDEX_CORRUPTED, UNIQUE_VIOLATION};
use crate::error::AppendError;
use crate::log_store::int;
use crate::shape::place_path;

const CALL: &str = "SELECT seaway_append(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
     ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30,
     ?31, ?32, ?33, ?34, ?35)";

const CALL_WITH_ANSWERS: &str = "SELECT seaway_append(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
     ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30,
     ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39)";

/// A whole append is one statement, and so one round trip and one transaction.
pub(super) fn statement(append: &Append) -> &'static str {
    if append.answers.is_empty() { CALL } else { CALL_WITH_ANSWERS }
}

type Ints = Vec<i64>;
type MaybeInts = Vec<Option<i64>>;

pub(super) async fn call(
    client: &impl GenericClient,
    statement: &Statement,
    append: &Append,
) -> Result<(), Error> {
    let rows = &append.rows;
    let (seq, at): (Ints, Ints) = rows.iter().map(|row| (int(row.seq.0), row.at.0)).unzip();
    let deployment: Vec<Option<&[u8]>> =
        rows.iter().map(|row| row.deployment.as_ref().map(bytes)).collect();
    let target: Ints = rows.iter().map(|row| row.target.0.into()).collect();
    let revision: MaybeInts = rows.iter().map(|row| row.revision.map(|r| int(r.0))).collect();
    let (kind, fact): (Ints, Ints) =
        rows.iter().map(|row| (i64::from(row.kind.code()), i64::from(row.fact.code()))).unzip();
    let (attempt, n): (Ints, Ints) =
        rows.iter().map(|row| (i64::from(row.attempt.0), i64::from(row.n))).unzip();
    let outcome: MaybeInts = rows.iter().map(|row| row.outcome.map(|o| o.code().into())).collect();
    let data: Vec<Option<&str>> = rows.iter().map(|row| row.data.as_deref()).collect();
    let cause: MaybeInts = rows.iter().map(|row| row.cause.map(|cause| int(cause.0))).collect();
    let by: Vec<&str> = rows.iter().map(|row| &*row.by).collect();
    let hash: Vec<&[u8]> = rows.iter().map(|row| row.hash.0.as_slice()).collect();
    let (project, epoch) = (append.project.as_str(), int(append.epoch.0));
    let (targets, spans, starts) = (Targets::of(append), Spans::of(append), Starts::of(append));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![
        &project,
        &epoch,
        &seq,
        &at,
        &deployment,
        &target,
        &revision,
        &kind,
        &fact,
        &attempt,
        &n,
        &outcome,
        &data,
        &cause,
        &by,
        &hash,
    ];
    let Targets { id, parent, part, path, place, since, place_path } = &targets;
    values.extend([id as &(dyn ToSql + Sync), parent, part, path, place, since, place_path]);
    let Spans { edit, place, deployment, seq, revision, service, ending } = &spans;
    values.extend([edit as &(dyn ToSql + Sync), place, deployment, seq, revision, service, ending]);
    let Starts { id, service, version, revision, seq } = &starts;
    values.extend([id as &(dyn ToSql + Sync), service, version, revision, seq]);
    let answers = Answers::of(append);
    if !append.answers.is_empty() {
        let Answers { key, at, deployment, revision } = &answers;
        values.extend([key as &(dyn ToSql + Sync), at, deployment, revision]);
    }
    client.query_one(statement, &values).await.map(|_| ())
}

/// What the database says about an append that it did not take.
pub(super) fn error(error: Error, append: &Append) -> AppendError {
    let first = append.rows.first().map_or(Seq(0), |row| row.seq);
    let Some(refusal) = error.as_db_error() else {
        return AppendError::Unavailable(error.into());
    };
    let number = || refusal.detail().and_then(|text| text.parse().ok()).unwrap_or_default();
    match refusal.code().code() {
        "SW001" => AppendError::Fenced { current: Epoch(number()) },
        "SW002" => AppendError::Position { expected: Seq(number()), found: first },
        "SW003" => AppendError::Malformed("its times go back"),
        "SW004" => AppendError::UnknownProject(append.project.clone()),
        UNIQUE_VIOLATION => AppendError::Duplicate { seq: first },
        DISK_FULL => AppendError::DiskFull,
        DATA_CORRUPTED | INDEX_CORRUPTED => AppendError::Corrupt(error.into()),
        _ => AppendError::Unavailable(error.into()),
    }
}

fn bytes(id: &DeploymentId) -> &[u8] {
    id.0.as_bytes()
}

#[derive(Default)]
struct Targets<'a> {
    id: Ints,
    parent: Ints,
    part: Vec<&'a str>,
    path: Vec<&'a str>,
    place: Ints,
    since: Ints,
    place_path: Vec<Option<String>>,
}

impl<'a> Targets<'a> {
    fn of(append: &'a Append) -> Self {
        let mut all = Self::default();
        // The project itself, which is number 0, was defined when it was created.
        for target in append.targets.iter().filter(|target| target.def.id.0 != 0) {
            let def = &target.def;
            all.id.push(def.id.0.into());
            all.parent.push(def.parent.0.into());
            all.part.push(&def.part);
            all.path.push(&target.path);
            all.place.push(def.place.0.into());
            all.since.push(int(def.since.0));
            let own = def.place == def.id;
            all.place_path.push(own.then(|| place_path(&target.path).into_owned()));
        }
        all
    }
}

#[derive(Default)]
struct Spans<'a> {
    edit: Ints,
    place: Ints,
    deployment: Vec<&'a [u8]>,
    seq: Ints,
    revision: MaybeInts,
    service: Vec<Option<&'a str>>,
    ending: MaybeInts,
}

impl<'a> Spans<'a> {
    /// The numbers of the edits are those that the function in the database knows.
    fn of(append: &'a Append) -> Self {
        let mut all = Self::default();
        for edit in &append.spans {
            match edit {
                SpanEdit::Open { place, deployment, revision, service, seq } => {
                    all.push(1, place.0, deployment, *seq);
                    all.what(Some(int(revision.0)), Some(service.as_str()), None);
                }
                SpanEdit::Close { place, deployment, ending, seq } => {
                    let ranked = matches!(ending, Fact::Finished | Fact::Failed);
                    all.push(if ranked { 3 } else { 2 }, place.0, deployment, *seq);
                    all.what(None, None, Some(ending.code().into()));
                }
                SpanEdit::Reopen { places, deployment, seq } => {
                    for place in places {
                        all.push(4, place.0, deployment, *seq);
                        all.what(None, None, None);
                    }
                }
            }
        }
        all
    }

    fn push(&mut self, edit: i64, place: u32, deployment: &'a DeploymentId, seq: Seq) {
        self.edit.push(edit);
        self.place.push(place.into());
        self.deployment.push(bytes(deployment));
        self.seq.push(int(seq.0));
    }

    fn what(&mut self, revision: Option<i64>, service: Option<&'a str>, ending: Option<i64>) {
        self.revision.push(revision);
        self.service.push(service);
        self.ending.push(ending);
    }
}

#[derive(Default)]
struct Starts<'a> {
    id: Vec<&'a [u8]>,
    service: Vec<&'a str>,
    version: Vec<&'a str>,
    revision: Ints,
    seq: Ints,
}

impl<'a> Starts<'a> {
    fn of(append: &'a Append) -> Self {
        let mut all = Self::default();
        for start in &append.starts {
            all.id.push(bytes(&start.deployment));
            all.service.push(start.service.as_str());
            all.version.push(&start.version);
            all.revision.push(int(start.revision.0));
            all.seq.push(int(start.seq.0));
        }
        all
    }
}

#[derive(Default)]
struct Answers<'a> {
    key: Vec<&'a [u8]>,
    at: Ints,
    deployment: Vec<Option<&'a [u8]>>,
    revision: MaybeInts,
}

impl<'a> Answers<'a> {
    fn of(append: &'a Append) -> Self {
        let mut all = Self::default();
        for answer in &append.answers {
            all.key.push(&answer.key.0);
            all.at.push(int(answer.at.0));
            all.deployment.push(answer.deployment.as_ref().map(bytes));
            all.revision.push(answer.revision.map(|revision| int(revision.0)));
        }
        all
    }
}
