use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::error::TextError;

/// Longer texts are not even looked at.
pub(crate) const TEXT_BYTES: usize = 256;

/// What secrets are sealed with. It is kept in a file outside of the database.
pub struct Key {
    bytes: Zeroizing<[u8; Key::LEN]>,
    id: KeyId,
}

/// Names a key without telling anything about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyId(pub(crate) [u8; KeyId::LEN]);

impl Key {
    pub const LEN: usize = 32;

    /// A new key, which nobody can guess.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        getrandom::fill(&mut *bytes).expect("a system without randomness cannot keep secrets");
        Self::new(bytes)
    }

    /// Reads the text of a key file: base64, with or without blanks around it.
    pub fn from_base64(text: &str) -> Result<Self, TextError> {
        if text.len() > TEXT_BYTES {
            return Err(TextError::TooLong);
        }
        let decoded = STANDARD.decode(text.trim_ascii()).map(Zeroizing::new);
        let decoded = decoded.ok().ok_or(TextError::NotBase64)?;
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        if decoded.len() != bytes.len() {
            return Err(TextError::Length(decoded.len()));
        }
        bytes.copy_from_slice(&decoded);
        Ok(Self::new(bytes))
    }

    fn new(bytes: Zeroizing<[u8; Self::LEN]>) -> Self {
        let hash = Sha256::new().chain_update("seaway vault key").chain_update(*bytes).finalize();
        let mut id = [0; KeyId::LEN];
        id.copy_from_slice(&hash[..KeyId::LEN]);
        Self { bytes, id: KeyId(id) }
    }

    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn bytes(&self) -> &[u8; Self::LEN] {
        &self.bytes
    }

    pub(crate) fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*self.bytes))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("id", &self.id).finish_non_exhaustive()
    }
}

impl KeyId {
    pub(crate) const LEN: usize = 8;
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_key_is_read_back_and_anything_else_is_refused() {
        let key = Key::random();
        let text = key.to_base64();
        let again = Key::from_base64(&format!("  {}\n", *text)).unwrap();
        assert_eq!((again.bytes(), again.id()), (key.bytes(), key.id()));
        for (text, expected) in [
            ("", TextError::Length(0)),
            ("c2hvcnQ=", TextError::Length(5)),
            ("not base64!", TextError::NotBase64),
            (&STANDARD.encode([7; 33]), TextError::Length(33)),
            (&"A".repeat(400), TextError::TooLong),
        ] {
            assert_eq!(Key::from_base64(text).err(), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn a_shown_key_tells_its_id_and_nothing_else() {
        let key = Key::random();
        assert_eq!(format!("{key:?}"), format!("Key {{ id: {}, .. }}", key.id()));
        assert_ne!(key.id().0, key.bytes()[..KeyId::LEN]);
        assert_ne!(key.id(), Key::random().id());
    }
}
