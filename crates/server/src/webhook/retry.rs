use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use jiff::fmt::rfc2822;
use seaway_model::Timestamp;
use seaway_store::DeliveryOutcome;

/// How long to wait after each attempt that failed. After one more it is given up.
const PAUSES: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    LONGEST,
];
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Answer {
        status: StatusCode,
        /// How long the receiver wants to be left alone.
        after: Option<Duration>,
    },
    /// Nobody answered, for this reason.
    Silence(String),
    /// Nothing was sent, and the receiver has no part in that.
    NotSent(String),
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Delivered,
    TryAgain(Duration),
    GiveUp,
}

impl Heard {
    pub(crate) fn answer(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Self {
        Self::Answer { status, after: retry_after(headers, now) }
    }

    /// `attempt` is the number of the one that was made, from 1 on.
    pub(crate) fn next(&self, attempt: u32) -> Next {
        let pause = PAUSES.get(attempt.saturating_sub(1) as usize).copied();
        match self {
            Self::Answer { status, .. } if status.is_success() => Next::Delivered,
            Self::Answer { status: StatusCode::GONE, .. } => Next::GiveUp,
            Self::Answer { after, .. } => pause.map_or(Next::GiveUp, |pause| {
                Next::TryAgain(after.map_or(pause, |after| pause.max(after.min(LONGEST))))
            }),
            Self::Silence(_) => pause.map_or(Next::GiveUp, Next::TryAgain),
            // Whatever is wrong here is mended here, and no message should be lost to it.
            Self::NotSent(_) => Next::TryAgain(pause.unwrap_or(LONGEST)),
        }
    }

    /// What is noted about it.
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Answer { status, .. } => status.to_string(),
            Self::Silence(why) | Self::NotSent(why) => why.clone(),
        }
    }
}

impl Next {
    pub(crate) fn outcome(self) -> DeliveryOutcome {
        match self {
            Self::Delivered => DeliveryOutcome::Delivered,
            Self::TryAgain(_) => DeliveryOutcome::Retrying,
            Self::GiveUp => DeliveryOutcome::GivenUp,
        }
    }
}

/// In seconds, or a moment. What is neither says nothing, and a moment in the past says now.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = rfc2822::parse(text).ok()?.timestamp().as_microsecond();
    Some(Duration::from_micros(moment.saturating_sub(now.0).max(0).unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn answer(status: u16, after: Option<Duration>) -> Heard {
        Heard::Answer { status: StatusCode::from_u16(status).unwrap(), after }
    }

    #[test]
    fn only_a_2xx_counts_as_delivered() {
        for status in [200, 202, 204] {
            assert_eq!(answer(status, None).next(1), Next::Delivered);
        }
        for status in [301, 302, 400, 401, 404, 429, 500, 503] {
            assert_eq!(answer(status, None).next(1), Next::TryAgain(SECOND), "{status}");
        }
    }

    #[test]
    fn pauses_grow_until_it_is_given_up() {
        let heard = Heard::Silence("nobody".to_owned());
        let pauses: Vec<u64> = (1..)
            .map_while(|attempt| match heard.next(attempt) {
                Next::TryAgain(pause) => Some(pause.as_secs()),
                _ => None,
            })
            .collect();
        assert_eq!(pauses, [1, 5, 30, 120, 600, 3_600]);
        assert_eq!(heard.next(7), Next::GiveUp);
        assert_eq!(answer(500, Some(SECOND)).next(7), Next::GiveUp);
    }

    #[test]
    fn a_receiver_that_is_gone_is_not_asked_again() {
        assert_eq!(answer(410, Some(SECOND)).next(1), Next::GiveUp);
    }

    #[test]
    fn what_is_wrong_on_this_side_loses_no_message() {
        let heard = Heard::NotSent("no key".to_owned());
        assert_eq!(heard.next(1), Next::TryAgain(SECOND));
        assert_eq!(heard.next(1_000), Next::TryAgain(LONGEST));
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_pause_but_not_for_ever() {
        for (attempt, asked, expected) in
            [(1, 0, 1), (1, 20, 20), (3, 20, 30), (6, 20, 3_600), (1, 1_000_000, 3_600)]
        {
            let next = answer(503, Some(Duration::from_secs(asked))).next(attempt);
            assert_eq!(next, Next::TryAgain(Duration::from_secs(expected)), "{attempt} {asked}");
        }
    }

    #[test]
    fn retry_after_is_a_number_or_a_moment() {
        let now = Timestamp(1_445_412_480_000_000);
        let read = |text: &'static str| {
            let headers = [(header::RETRY_AFTER, HeaderValue::from_static(text))];
            retry_after(&HeaderMap::from_iter(headers), now).map(|it| it.as_secs())
        };
        assert_eq!(read("120"), Some(120));
        assert_eq!(read("Wed, 21 Oct 2015 07:29:00 GMT"), Some(60));
        assert_eq!(read("Wed, 21 Oct 2015 07:00:00 GMT"), Some(0));
        for wrong in ["", "-1", "soon", "1.5", "99999999999999999999999"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
