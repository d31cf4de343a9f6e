use crate::problem::Failure;

pub(crate) const PROJECT: &str = "Project";
pub(crate) const SHIPYARD: &str = "Shipyard";
pub(crate) const WEBHOOK: &str = "Webhook";

/// The kinds that people write. Resources are kept like documents and have their own paths.
const KINDS: [&str; 3] = [PROJECT, SHIPYARD, WEBHOOK];

/// A kind as people name it: in letters of any size, and of one or of many.
pub(crate) fn kind(text: &str) -> Result<&'static str, Failure> {
    let same = |kind: &&&str| {
        let one = text.strip_suffix(['s', 'S']).unwrap_or(text);
        kind.eq_ignore_ascii_case(text) || kind.eq_ignore_ascii_case(one)
    };
    KINDS.iter().find(same).copied().ok_or_else(|| {
        let detail = format!("there are no documents of kind {text:?}; known are {}", known());
        Failure::not_found("unknown-kind", detail)
    })
}

/// The kinds there are, for a sentence.
pub(super) fn known() -> String {
    match KINDS.split_last() {
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_in_any_case_and_number() {
        for text in ["Shipyard", "shipyard", "shipyards", "SHIPYARDS"] {
            assert_eq!(kind(text).unwrap(), SHIPYARD, "{text}");
        }
        for text in ["", "s", "shipyardss", "Resource", "ship"] {
            let problem = kind(text).unwrap_err().problem();
            assert_eq!((problem.status, &*problem.code), (404, "unknown-kind"), "{text}");
            assert!(
                problem.detail.ends_with("known are Project, Shipyard and Webhook"),
                "{problem:?}"
            );
        }
    }
}
