use seaway_api::{Scope, Token};
use seaway_model::Timestamp;
use seaway_store::StoredToken;

use crate::auth::Scopes;
use crate::clock;

/// A token as it is listed.
pub(crate) fn token(stored: &StoredToken) -> Token {
    Token {
        id: stored.id.to_string(),
        name: stored.name.to_string(),
        scopes: Scopes(stored.scopes).list(),
        project: stored.project.as_ref().map(ToString::to_string),
        created: clock::show(stored.created),
        expires: stored.expires.map(clock::show),
        revoked: stored.revoked.map(clock::show),
    }
}

/// Whether a token may be revoked: somebody must be able to make others for as long as it could
/// have done.
pub(crate) fn may_go(it: &StoredToken, others: &[StoredToken], now: Timestamp) -> bool {
    let rules = |token: &StoredToken| {
        let good = token.revoked.is_none() && token.expires.is_none_or(|expires| expires > now);
        good && token.project.is_none() && Scopes(token.scopes).allows(Scope::Admin)
    };
    let lasts = |other: &StoredToken| {
        other.expires.is_none_or(|end| it.expires.is_some_and(|own| end >= own))
    };
    let replaced = |other: &StoredToken| other.id != it.id && rules(other) && lasts(other);
    !rules(it) || others.iter().any(replaced)
}

#[cfg(test)]
mod tests {
    use seaway_model::{Digest, Name};

    use super::*;

    #[test]
    fn somebody_can_always_make_tokens() {
        let new = |id: &str, scope, expires: Option<i64>| StoredToken {
            id: id.into(),
            name: "x".into(),
            hash: Digest([0; 32]),
            scopes: Scopes::of(&[scope]).0,
            project: None,
            created: Timestamp(0),
            expires: expires.map(Timestamp),
            revoked: None,
        };
        let now = Timestamp(10);
        let it = new("it", Scope::Admin, None);
        let lasting = new("a", Scope::Admin, None);
        let revoked = StoredToken { revoked: Some(Timestamp(1)), ..lasting.clone() };
        let bound = StoredToken { project: Name::new("shop").ok(), ..lasting.clone() };
        let gone = new("b", Scope::Admin, Some(10));
        let soon = new("c", Scope::Admin, Some(20));
        let weak = new("d", Scope::Deliver, None);
        let few = [it.clone(), revoked.clone(), bound.clone(), gone.clone(), weak.clone()];
        assert!(!may_go(&it, &few, now));
        assert!(
            !may_go(&it, std::slice::from_ref(&soon), now),
            "it would be the last after a while"
        );
        assert!(may_go(&it, &[lasting], now));
        assert!(may_go(&new("e", Scope::Admin, Some(15)), &[soon], now));
        for harmless in [revoked, bound, gone, weak] {
            assert!(may_go(&harmless, &few, now), "{harmless:?}");
        }
    }
}
