use seaway_api::Scope;

/// A set of scopes, as it is stored: one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scopes(pub(crate) u8);

const ALL: [Scope; 4] = [Scope::Read, Scope::Deliver, Scope::Execute, Scope::Admin];

impl Scopes {
    pub(crate) fn of(scopes: &[Scope]) -> Self {
        Self(scopes.iter().fold(0, |bits, scope| bits | bit(*scope)))
    }

    /// Whether a scope is in it, or in one that includes it.
    pub(crate) fn allows(self, scope: Scope) -> bool {
        let has = |scope| self.0 & bit(scope) != 0;
        match scope {
            Scope::Admin => has(Scope::Admin),
            Scope::Read => self.0 != 0,
            other => has(other) || has(Scope::Admin),
        }
    }

    pub(crate) fn list(self) -> Vec<Scope> {
        ALL.into_iter().filter(|scope| self.0 & bit(*scope) != 0).collect()
    }
}

fn bit(scope: Scope) -> u8 {
    match scope {
        Scope::Read => 1,
        Scope::Deliver => 2,
        Scope::Execute => 4,
        Scope::Admin => 8,
    }
}

pub(crate) fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Deliver => "deliver",
        Scope::Execute => "execute",
        Scope::Admin => "admin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admin_includes_all_and_every_scope_includes_read() {
        for scope in ALL {
            assert!(Scopes::of(&[Scope::Admin]).allows(scope), "{scope:?}");
            assert!(Scopes::of(&[scope]).allows(Scope::Read), "{scope:?}");
        }
        assert!(!Scopes::of(&[Scope::Deliver]).allows(Scope::Execute));
        assert!(!Scopes::of(&[Scope::Execute]).allows(Scope::Deliver));
        assert!(!Scopes::of(&[Scope::Read, Scope::Deliver, Scope::Execute]).allows(Scope::Admin));
        assert!(!Scopes::of(&[]).allows(Scope::Read));
    }
}
