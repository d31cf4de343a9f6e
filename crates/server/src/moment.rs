use std::str::FromStr;

use seaway_model::{Name, Seq, Timestamp};
use seaway_store::{Store, StoreError};

use crate::clock;
use crate::problem::Failure;
use crate::query::bad;

/// A point in the history of a project: a position in its log, or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Seq),
    Time(Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is neither a time nor a position in the log; write a time as 2026-03-01T12:00:00Z, a \
     position as 123"
)]
pub(crate) struct MomentError(String);

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::At(Seq(seq)));
        }
        let time: Result<jiff::Timestamp, _> = text.parse();
        match time {
            Ok(time) => Ok(Self::Time(Timestamp(time.as_microsecond()))),
            Err(_) => Err(MomentError(text.to_owned())),
        }
    }
}

impl Moment {
    /// The moment that a parameter of a query names.
    pub(crate) fn asked(name: &str, text: Option<&str>) -> Result<Option<Self>, Failure> {
        let read = text.map(str::parse).transpose();
        read.map_err(|error: MomentError| bad(format!("{name}: {error}")))
    }

    /// The first record at or after it.
    pub(crate) async fn first(self, store: &Store, project: &Name) -> Result<Seq, StoreError> {
        match self {
            Self::At(seq) => Ok(seq),
            Self::Time(Timestamp(micros)) => {
                let before = Timestamp(micros.saturating_sub(1));
                Ok(store.seq_at(project, before).await?.next())
            }
        }
    }

    /// The last record at or before it.
    pub(crate) async fn last(self, store: &Store, project: &Name) -> Result<Seq, StoreError> {
        match self {
            Self::At(seq) => Ok(seq),
            Self::Time(time) => store.seq_at(project, time).await,
        }
    }

    /// Like [`last`](Self::last), for a state that must have existed.
    pub(crate) async fn reached(self, store: &Store, project: &Name) -> Result<Seq, Failure> {
        let head = store.head(project).await?;
        let detail = match self {
            Self::At(seq) if seq > head.seq => {
                format!("record {seq} is not written yet; the log ends with record {}", head.seq)
            }
            Self::Time(time) if time > clock::now().max(head.at) => {
                format!("{} is still to come; ask for a time that has been", clock::show(time))
            }
            _ => return Ok(self.last(store, project).await?.min(head.seq)),
        };
        Err(Failure::refused("not-reached", detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_position_or_a_time() {
        assert_eq!("12".parse(), Ok(Moment::At(Seq(12))));
        let time = Moment::Time(Timestamp(500_000));
        assert_eq!("1970-01-01T01:00:00.5+01:00".parse(), Ok(time));
        for bad in ["", "now", "-1", "2026-03-01", "99999999999999999999"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
        let problem = Moment::asked("since", Some("soon")).unwrap_err().problem();
        assert_eq!(problem.code, "bad-query");
        assert!(problem.detail.contains("since"), "{}", problem.detail);
    }
}
