use seaway_model::Span;

use crate::check::checker::{Checker, shown};
use crate::code::Code;
use crate::document::Dialect;
use crate::limits;
use crate::report::Draft;
use crate::yaml::Node;

const SYNTAX: &str = "write numbers with a unit (h, m, s, ms), such as `1h30m`, `45s` or `1.5h`";

#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    Syntax,
    Negative,
    TooLong,
}

impl Checker<'_, '_> {
    /// What Keptn could not read counted as no delay.
    pub(super) fn delay(&mut self, node: &Node) -> Option<Span> {
        let text = self.text(node, "`triggeredAfter`")?;
        let syntax = span(text) == Err(Wrong::Syntax);
        if syntax && self.dialect == Dialect::Keptn {
            let message = format!("{} is not a duration, and counts as none", shown(text));
            self.push(Draft::warning(Code::Duration, node.place, message).hint(SYNTAX));
            return None;
        }
        self.duration(node, "`triggeredAfter`", Span(0))
    }

    pub fn duration(&mut self, node: &Node, what: &str, least: Span) -> Option<Span> {
        let text = self.text(node, what)?;
        let (message, hint) = match span(text) {
            Ok(span) if span >= least => return Some(span),
            Ok(_) => (format!("{what} has to be at least {least}"), ""),
            Err(Wrong::Syntax) => (format!("{} is not a duration", shown(text)), SYNTAX),
            Err(Wrong::Negative) => (format!("{what} cannot be negative"), ""),
            Err(Wrong::TooLong) => (format!("{what} can be 30 days at most"), "write `720h`"),
        };
        self.push(Draft::error(Code::Duration, node.place, message).hint(hint));
        None
    }
}

/// A duration in the syntax of Go, to the microsecond.
fn span(text: &str) -> Result<Span, Wrong> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Span(0));
    }
    let mut total: u128 = 0;
    loop {
        let (nanos, more) = part(rest)?;
        total = total.saturating_add(nanos);
        rest = more;
        if rest.is_empty() {
            break;
        }
    }
    let micros = i64::try_from(total / 1_000).unwrap_or(i64::MAX);
    match Span(micros) {
        Span(1..) if negative => Err(Wrong::Negative),
        span if span > limits::LONGEST => Err(Wrong::TooLong),
        span => Ok(span),
    }
}

/// One number with its unit, in nanoseconds, and what follows it.
fn part(text: &str) -> Result<(u128, &str), Wrong> {
    const UNITS: [(&str, u128); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let not_a_digit = |c: char| !c.is_ascii_digit();
    let (whole, rest) = text.split_at(text.find(not_a_digit).ok_or(Wrong::Syntax)?);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(not_a_digit).ok_or(Wrong::Syntax)?),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(Wrong::Syntax);
    }
    let unit = UNITS.iter().find_map(|(name, nanos)| Some((*nanos, rest.strip_prefix(name)?)));
    let (unit, rest) = unit.ok_or(Wrong::Syntax)?;
    // More digits than these make no difference of a nanosecond, or are too many in any case.
    let digits = |text: &str| text.get(..text.len().min(18)).and_then(|it| it.parse().ok());
    let whole: u128 = match whole.trim_start_matches('0') {
        "" => 0,
        whole if whole.len() > 18 => return Err(Wrong::TooLong),
        whole => digits(whole).unwrap_or(0),
    };
    let scale = 10_u128.pow(fraction.len().min(18) as u32);
    let fraction: u128 = digits(fraction).unwrap_or(0);
    Ok((whole * unit + fraction * unit / scale, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, micros) in [
            ("0", 0),
            ("45s", 45_000_000),
            ("1h30m", 5_400_000_000),
            ("1.5h", 5_400_000_000),
            (".5s", 500_000),
            ("1.s", 1_000_000),
            ("+500ms", 500_000),
            ("1µs", 1),
            ("999ns", 0),
            ("-0s", 0),
            ("0.0000000000000000000000001h", 0),
            ("720h", 30 * 86_400_000_000),
        ] {
            assert_eq!(span(text), Ok(Span(micros)), "{text}");
        }
        for text in ["", "5", "s", "1.", ".s", "1d", "1h 30m", "h1", "ten", "1 s", "-", "+", "1e3s"]
        {
            assert_eq!(span(text), Err(Wrong::Syntax), "{text}");
        }
        assert_eq!(span("-1s"), Err(Wrong::Negative));
        for text in ["720h1s", "1000000000h", "99999999999999999999999999999h"] {
            assert_eq!(span(text), Err(Wrong::TooLong), "{text}");
        }
    }
}
