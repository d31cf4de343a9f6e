use zeroize::Zeroizing;

/// Bytes that nobody should see: erased from memory when dropped, and without any way to be shown,
/// copied or stored by accident.
#[expect(missing_debug_implementations, reason = "whoever wants to see it has to expose it")]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// As many bytes as asked for, which nobody can guess.
    #[must_use]
    pub fn random(len: usize) -> Self {
        let mut bytes = Zeroizing::new(vec![0; len]);
        getrandom::fill(&mut bytes).expect("a system without randomness cannot keep secrets");
        Self(bytes)
    }

    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_secrets_have_the_length_asked_for_and_differ() {
        let (one, other) = (Secret::random(24), Secret::random(24));
        assert_eq!(one.expose().len(), 24);
        assert_ne!(one.expose(), other.expose());
        assert!(Secret::random(0).expose().is_empty());
    }
}
