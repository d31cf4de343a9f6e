use seaway_api::Document;
use seaway_model::{Digest, Seq};

use crate::documents::RESOURCE;

/// A document as the kernel knows it: kind, name, digest, and the record that put it there.
pub(crate) type Known<'a> = (&'a str, &'a str, Digest, Seq);

pub(crate) fn document((kind, name, digest, since): Known<'_>) -> Document {
    Document {
        kind: kind.to_owned(),
        name: name.to_owned(),
        digest: digest.to_string(),
        since: since.0,
    }
}

/// The documents after a kind and a name, and never resources. `known` is in that order.
pub(crate) fn list<'a>(
    known: impl Iterator<Item = Known<'a>>,
    kind: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> Vec<Document> {
    let known = known
        .skip_while(|(kind, name, ..)| after.is_some_and(|after| (*kind, *name) <= after))
        .filter(|(it, ..)| *it != RESOURCE && kind.is_none_or(|kind| *it == kind));
    known.take(limit).map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_listed_from_where_the_last_piece_ended() {
        let digest = Digest([7; 32]);
        let all = [("Project", "a"), ("Resource", "-/-/x"), ("Shipyard", "a"), ("Webhook", "b")];
        let names = |kind, after, limit| {
            let known = all.iter().map(|(kind, name)| (*kind, *name, digest, Seq(1)));
            let found = list(known, kind, after, limit);
            found.iter().map(|it| format!("{}/{}", it.kind, it.name)).collect::<Vec<_>>()
        };
        assert_eq!(names(None, None, 9), ["Project/a", "Shipyard/a", "Webhook/b"]);
        assert_eq!(names(None, Some(("Project", "a")), 1), ["Shipyard/a"]);
        assert_eq!(names(Some("Webhook"), None, 9), ["Webhook/b"]);
        assert!(names(None, Some(("Webhook", "b")), 9).is_empty());
    }
}
