use serde_json::Number;

#[derive(Clone, Debug)]
pub struct Scalar {
    pub text: String,
    pub notation: Notation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// May be a number, a truth value or nothing.
    Plain,
    /// Quoted, a block, or marked as text.
    Text,
}

/// What a scalar means by the core schema of YAML 1.2.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    Null,
    Bool(bool),
    Number(Number),
    /// An infinity, `.nan`, or a number that is too large for anything else.
    NotANumber,
    Text,
}

impl Scalar {
    pub fn resolve(&self) -> Resolved {
        match (self.notation, &*self.text) {
            (Notation::Text, _) => Resolved::Text,
            (_, "" | "~" | "null" | "Null" | "NULL") => Resolved::Null,
            (_, "true" | "True" | "TRUE") => Resolved::Bool(true),
            (_, "false" | "False" | "FALSE") => Resolved::Bool(false),
            (_, text) => number(text).unwrap_or(Resolved::Text),
        }
    }
}

fn number(text: &str) -> Option<Resolved> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let based = [("0x", 16), ("0o", 8)];
    if let Some((rest, base)) =
        based.iter().find_map(|(prefix, base)| Some((text.strip_prefix(prefix)?, *base)))
    {
        let valid = !rest.is_empty() && rest.chars().all(|c| c.is_digit(base));
        let number = u64::from_str_radix(rest, base).map(Number::from);
        return valid.then(|| number.map_or(Resolved::NotANumber, Resolved::Number));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Resolved::NotANumber);
    }
    if digits(unsigned) {
        let plain = text.strip_prefix('+').unwrap_or(text);
        let whole = plain.parse::<i64>().map(Number::from);
        let whole = whole.or_else(|_| plain.parse::<u64>().map(Number::from));
        if let Ok(whole) = whole {
            return Some(Resolved::Number(whole));
        }
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = |text: &str| text.is_empty() || digits(text);
    let exponent = exponent.map(|it| it.strip_prefix(['-', '+']).unwrap_or(it));
    let valid = all(whole)
        && all(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(digits);
    let float = || text.parse().ok().and_then(Number::from_f64);
    valid.then(|| float().map_or(Resolved::NotANumber, Resolved::Number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_mean_what_the_core_schema_says() {
        let plain =
            |text: &str| Scalar { text: text.to_owned(), notation: Notation::Plain }.resolve();
        for (text, json) in [("1", "1"), ("-7", "-7"), ("+3", "3"), ("0x1F", "31"), ("0o17", "15")]
        {
            assert_eq!(plain(text), Resolved::Number(json.parse().unwrap()), "{text}");
        }
        for text in ["1.5", "1.", ".5", "1e3", "-1.5E-2", "123456789012345678901234567890"] {
            assert!(matches!(plain(text), Resolved::Number(_)), "{text}");
        }
        for text in ["yes", "no", "on", "1h", "0.2.0", "1e", ".", "-", "1_000", "0x", "e3", "é"] {
            assert_eq!(plain(text), Resolved::Text, "{text}");
        }
        for text in [".inf", "-.inf", ".nan", "1e999", "0xfffffffffffffffff"] {
            assert_eq!(plain(text), Resolved::NotANumber, "{text}");
        }
        assert_eq!(plain("~"), Resolved::Null);
    }
}
