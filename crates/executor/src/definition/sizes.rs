use seaway_shipyard::Code;
use seaway_shipyard::reading::{Checker, Draft, Node, shown};

const UNITS: [(&str, u64); 3] = [("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A number of bytes up to `most`, or a problem.
pub(super) fn bytes(
    check: &mut Checker<'_, '_>,
    node: &Node,
    what: &str,
    most: u64,
) -> Option<u64> {
    let text = check.text(node, what)?;
    let (message, hint) = match parse(text) {
        Some(bytes) if bytes <= most => return Some(bytes),
        Some(_) => (format!("{what} can be {} MiB at most", most >> 20), ""),
        None => (
            format!("{} is not a size", shown(text)),
            "write a whole number with a unit (B, KiB, MiB), such as `64KiB`",
        ),
    };
    check.push(Draft::error(Code::WrongValue, node.place, message).hint(hint));
    None
}

fn parse(text: &str) -> Option<u64> {
    let (number, unit) =
        UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)))?;
    let number = number.trim_end();
    let digits = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    // A number that is too long for anything is too large for every limit.
    digits.then(|| number.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_a_number_and_a_unit() {
        for (text, bytes) in [("0B", 0), ("64KiB", 65_536), ("1 MiB", 1 << 20)] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        assert_eq!(parse("99999999999999999999MiB"), Some(u64::MAX));
        for text in ["", "1", "MiB", "1.5MiB", "-1B", "1MB", "1GiB", "a B"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
