use std::str::FromStr;
use std::time::Duration;

use jiff::{SpanRelativeTo, Timestamp};

/// The wall clock, to say how long ago something was.
#[expect(clippy::disallowed_methods, reason = "people are told times relative to theirs")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// How long ago a time of the server was, in words.
pub(crate) fn ago(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    Some(length(now().duration_since(time).try_into().unwrap_or_default()))
}

/// How long it is until a time of the server, in words.
pub(crate) fn ahead(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    Some(length(time.duration_since(now()).try_into().unwrap_or_default()))
}

/// A duration in its two largest units.
pub(crate) fn length(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// A duration as people write it: `45s`, `10m`, `1h30m`, `30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length(pub(crate) Duration);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration; write numbers with a unit, such as 45s, 10m, 1h30m or 30d")]
pub(crate) struct LengthError(String);

impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        let wrong = || LengthError(text.to_owned());
        // Months have no length, and a duration has no sign.
        let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, 's' | 'm' | 'h' | 'd'));
        let span: Option<jiff::Span> = plain.then(|| text.parse().ok()).flatten();
        let days = SpanRelativeTo::days_are_24_hours();
        let length = span.and_then(|span| span.to_duration(days).ok()).ok_or_else(wrong)?;
        match Duration::try_from(length) {
            Ok(length) if !length.is_zero() => Ok(Self(length)),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;

    #[test]
    fn durations_are_written_with_units() {
        for (text, seconds) in [("45s", 45), ("10m", 600), ("1h30m", 5_400), ("30d", 2_592_000)] {
            assert_eq!(text.parse(), Ok(Length(Duration::from_secs(seconds))), "{text}");
        }
        for bad in ["", "10", "ten", "-1h", "0s", "1y", "1h-30m", "P1D", "s"] {
            assert!(bad.parse::<Length>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_past_time_is_told_by_its_distance() {
        let past = now().checked_sub(200.seconds()).expect("it is in range");
        assert_eq!(ago(&past.to_string()).as_deref(), Some("3 min 20 s"));
        assert_eq!(ahead(&past.to_string()).as_deref(), Some("0 s"));
        assert_eq!(length(Duration::from_secs(90_000)), "1 d 1 h");
        assert_eq!(ago("soon"), None);
    }
}
