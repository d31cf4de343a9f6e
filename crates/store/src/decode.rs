use seaway_model::{
    Attempt, DeploymentId, Digest, Fact, Kind, Name, Outcome, Revision, Seq, TargetDef, TargetId,
    Timestamp,
};
use seaway_wire::{DeploymentStart, KeptAnswer, Linked, Row, StoredTarget};
use uuid::Uuid;

use crate::log_store::Columns;
use crate::question::{Ended, Head, Listed, Precedents, Standing};

/// A value in the store that nothing of ours has written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damaged {
    #[error("column {0} is missing")]
    Missing(usize),
    #[error("column {column} holds a value that means nothing: {found}")]
    Meaningless { column: usize, found: String },
    #[error("column {0} cannot be read")]
    Unreadable(usize, #[source] crate::error::Cause),
    #[error("record {seq} is damaged in its {column}")]
    Record { seq: Seq, column: &'static str, source: Box<Damaged> },
}

impl Damaged {
    /// Names the record, and its column as people know it.
    fn of_record(self, seq: Seq) -> Self {
        let (Self::Missing(column)
        | Self::Meaningless { column, .. }
        | Self::Unreadable(column, _)) = self
        else {
            return self;
        };
        let name = ROW.split(", ").nth(column).unwrap_or("path");
        let column = name.trim_start_matches("r.").trim_matches('"');
        Self::Record { seq, column, source: Box::new(self) }
    }
}

/// The columns of a record, in the order in which [`row`] reads them.
pub(crate) const ROW: &str = "r.seq, r.at, r.deployment, r.target, r.revision, r.kind, r.fact, \
     r.attempt, r.n, r.outcome, r.data, r.cause, r.\"by\", r.hash";

pub(crate) fn row(line: &dyn Columns) -> Result<Row, Damaged> {
    let seq = Seq(number(line, 0)?);
    row_at(seq, line).map_err(|damaged| damaged.of_record(seq))
}

/// A record and, behind its columns, the hash of the one before it.
pub(crate) fn linked(line: &dyn Columns) -> Result<Linked, Damaged> {
    let row = row(line)?;
    let column = ROW.split(", ").count();
    let previous = digest(line, column)?;
    Ok(Linked { row, previous })
}

fn row_at(seq: Seq, line: &dyn Columns) -> Result<Row, Damaged> {
    Ok(Row {
        seq,
        at: Timestamp(int(line, 1)?),
        deployment: line.maybe_blob(2)?.map(|bytes| deployment_id(2, bytes)).transpose()?,
        target: TargetId(number(line, 3)?),
        revision: maybe_number(line, 4)?.map(Revision),
        kind: word(line, 5, Kind::from_code)?,
        fact: word(line, 6, Fact::from_code)?,
        attempt: Attempt(number(line, 7)?),
        n: number(line, 8)?,
        outcome: match line.maybe_int(9)? {
            Some(_) => Some(word(line, 9, Outcome::from_code)?),
            None => None,
        },
        data: line.maybe_text(10)?.map(Into::into),
        cause: maybe_number(line, 11)?.map(Seq),
        by: text(line, 12)?.into(),
        hash: digest(line, 13)?,
    })
}

pub(crate) fn listed(line: &dyn Columns) -> Result<Listed, Damaged> {
    Ok(Listed { row: row(line)?, path: text(line, 14)?.into() })
}

pub(crate) fn head(line: &dyn Columns) -> Result<Head, Damaged> {
    Ok(Head { seq: Seq(number(line, 0)?), hash: digest(line, 1)?, at: Timestamp(int(line, 2)?) })
}

pub(crate) fn target(line: &dyn Columns) -> Result<StoredTarget, Damaged> {
    Ok(StoredTarget {
        def: TargetDef {
            id: TargetId(number(line, 0)?),
            parent: TargetId(number(line, 1)?),
            part: text(line, 2)?.into(),
            place: TargetId(number(line, 3)?),
            since: Seq(number(line, 4)?),
        },
        path: text(line, 5)?.into(),
    })
}

pub(crate) fn start(line: &dyn Columns) -> Result<DeploymentStart, Damaged> {
    Ok(DeploymentStart {
        deployment: deployment_id(0, blob(line, 0)?)?,
        service: name(line, 1)?,
        version: text(line, 2)?.into(),
        revision: Revision(number(line, 3)?),
        seq: Seq(number(line, 4)?),
    })
}

pub(crate) fn precedents(line: &dyn Columns) -> Result<Precedents, Damaged> {
    let started = maybe_number(line, 0)?.map(Seq);
    let answer = if line.maybe_blob(2)?.is_some() { Some(answer_from(line, 2)?) } else { None };
    Ok(Precedents { started, revision: maybe_number(line, 1)?.map(Revision), answer })
}

pub(crate) fn answer(line: &dyn Columns) -> Result<KeptAnswer, Damaged> {
    answer_from(line, 0)
}

fn answer_from(line: &dyn Columns, first: usize) -> Result<KeptAnswer, Damaged> {
    let column = first + 2;
    let deployment = line.maybe_blob(column)?.map(|bytes| deployment_id(column, bytes));
    Ok(KeptAnswer {
        key: digest(line, first)?,
        at: Seq(number(line, first + 1)?),
        deployment: deployment.transpose()?,
        revision: maybe_number(line, first + 3)?.map(Revision),
    })
}

pub(crate) fn standing(line: &dyn Columns) -> Result<Standing, Damaged> {
    Ok(Standing {
        deployment: deployment_id(0, blob(line, 0)?)?,
        revision: Revision(number(line, 1)?),
        service: name(line, 2)?,
        version: line.maybe_text(3)?.map(Into::into),
        opened: Seq(number(line, 4)?),
        ended: ended(line, 5)?,
    })
}

/// What a span ended with and where, from two columns that are empty while it is open.
pub(crate) fn ended(line: &dyn Columns, first: usize) -> Result<Option<Ended>, Damaged> {
    let Some(seq) = maybe_number(line, first + 1)? else { return Ok(None) };
    Ok(Some(Ended { fact: word(line, first, Fact::from_code)?, seq: Seq(seq) }))
}

pub(crate) fn first_int(line: &dyn Columns) -> Result<i64, Damaged> {
    int(line, 0)
}

pub(crate) fn first_text(line: &dyn Columns) -> Result<String, Damaged> {
    text(line, 0).map(str::to_owned)
}

pub(crate) fn first_name(line: &dyn Columns) -> Result<Name, Damaged> {
    name(line, 0)
}

pub(crate) fn int(line: &dyn Columns, column: usize) -> Result<i64, Damaged> {
    line.maybe_int(column)?.ok_or(Damaged::Missing(column))
}

pub(crate) fn blob(line: &dyn Columns, column: usize) -> Result<&[u8], Damaged> {
    line.maybe_blob(column)?.ok_or(Damaged::Missing(column))
}

pub(crate) fn digest(line: &dyn Columns, column: usize) -> Result<Digest, Damaged> {
    let bytes = blob(line, column)?;
    bytes.try_into().map(Digest).map_err(|source| Damaged::Unreadable(column, Box::new(source)))
}

/// A number that was stored from an unsigned one of the same width.
pub(crate) fn number<T: TryFrom<i64>>(line: &dyn Columns, column: usize) -> Result<T, Damaged> {
    maybe_number(line, column)?.ok_or(Damaged::Missing(column))
}

pub(crate) fn maybe_number<T: TryFrom<i64>>(
    line: &dyn Columns,
    column: usize,
) -> Result<Option<T>, Damaged> {
    let Some(value) = line.maybe_int(column)? else { return Ok(None) };
    match T::try_from(value) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Damaged::Meaningless { column, found: value.to_string() }),
    }
}

pub(crate) fn text(line: &dyn Columns, column: usize) -> Result<&str, Damaged> {
    line.maybe_text(column)?.ok_or(Damaged::Missing(column))
}

pub(crate) fn name(line: &dyn Columns, column: usize) -> Result<Name, Damaged> {
    let text = text(line, column)?;
    Name::new(text).map_err(|source| Damaged::Unreadable(column, Box::new(source)))
}

pub(crate) fn maybe_name(line: &dyn Columns, column: usize) -> Result<Option<Name>, Damaged> {
    line.maybe_text(column)?.is_some().then(|| name(line, column)).transpose()
}

pub(crate) fn word<T>(
    line: &dyn Columns,
    column: usize,
    from: fn(u8) -> Option<T>,
) -> Result<T, Damaged> {
    let code = int(line, column)?;
    let known = u8::try_from(code).ok().and_then(from);
    known.ok_or_else(|| Damaged::Meaningless { column, found: code.to_string() })
}

fn deployment_id(column: usize, bytes: &[u8]) -> Result<DeploymentId, Damaged> {
    let id = Uuid::from_slice(bytes);
    id.map(DeploymentId).map_err(|source| Damaged::Unreadable(column, Box::new(source)))
}
