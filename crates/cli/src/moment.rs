use std::str::FromStr;

use anyhow::{Result, ensure};
use seaway_model::{Name, Seq, Timestamp};
use seaway_store::Store;

/// A point in the history of a project: a time, or a position in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Now,
    At(Seq),
    Time(Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is neither a time nor a position in the log; write a time as 2026-03-01T12:00:00Z, a \
     position as 123 or '#123', or now"
)]
pub(crate) struct MomentError(String);

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        if text == "now" {
            return Ok(Self::Now);
        }
        // A shell takes a word that begins with # for a comment, so that the # may be left out.
        if let Ok(seq) = text.strip_prefix('#').unwrap_or(text).parse() {
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
    /// How it is asked for through the server; `None` is the end of the log.
    pub(crate) fn query(self) -> Option<String> {
        match self {
            Self::Now => None,
            Self::At(seq) => Some(seq.to_string()),
            Self::Time(time) => Some(show(time)),
        }
    }

    /// The first record at or after this moment.
    pub(crate) async fn first(self, store: &Store, project: &Name) -> Result<Seq> {
        Ok(match self {
            Self::Now => store.head(project).await?.seq.next(),
            Self::At(seq) => seq,
            Self::Time(Timestamp(micros)) => {
                let before = Timestamp(micros.saturating_sub(1));
                store.seq_at(project, before).await?.next()
            }
        })
    }

    /// The last record at or before this moment; `None` is the end of the log as it grows.
    pub(crate) async fn last(self, store: &Store, project: &Name) -> Result<Option<Seq>> {
        Ok(match self {
            Self::Now => None,
            Self::At(seq) => Some(seq),
            Self::Time(time) => Some(store.seq_at(project, time).await?),
        })
    }

    /// Like [`last`](Self::last), for a state that must have existed.
    pub(crate) async fn reached(self, store: &Store, project: &Name) -> Result<Option<Seq>> {
        let last = self.last(store, project).await?;
        let head = store.head(project).await?.seq;
        if let Some(seq) = last {
            ensure!(
                seq <= head,
                "record {seq} is not written yet; the log ends with record {head}"
            );
        }
        Ok(last)
    }
}

/// A time as people and machines read it: RFC 3339, in UTC, to the microsecond.
pub(crate) fn show(time: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(time.0) {
        Ok(time) => format!("{time:.6}"),
        Err(_) => format!("{} microseconds after 1970", time.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Moment) {
        assert_eq!(text.parse(), Ok(expected));
    }

    #[test]
    fn a_moment_is_a_time_or_a_position() {
        check("now", Moment::Now);
        check("12", Moment::At(Seq(12)));
        check("#12", Moment::At(Seq(12)));
        check("1970-01-01T00:00:01Z", Moment::Time(Timestamp(1_000_000)));
        check("1970-01-01T01:00:00.5+01:00", Moment::Time(Timestamp(500_000)));
        for bad in ["", "yesterday", "#", "-1", "2026-03-01", "2026-13-01T00:00:00Z"] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_shown_time_is_read_back() {
        let time = Timestamp(1_700_000_000_000_001);
        assert_eq!(show(time), "2023-11-14T22:13:20.000001Z");
        check(&show(time), Moment::Time(time));
        assert!(show(Timestamp(i64::MAX)).contains("microseconds"));
    }
}
