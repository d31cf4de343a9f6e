use std::fmt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::error::VaultError;
use crate::key::{Key, KeyId};
use crate::secret::Secret;

/// The first byte of what is sealed: XChaCha20-Poly1305 with the id of the key and the nonce before
/// the text, and everything before the nonce and the context as associated data.
const FORM: u8 = 1;
const NONCE: usize = 24;
const HEADER: usize = 1 + KeyId::LEN;

/// Seals secrets, and opens them where they belong.
pub struct Vault {
    cipher: XChaCha20Poly1305,
    id: KeyId,
}

impl Vault {
    #[must_use]
    pub fn new(key: &Key) -> Self {
        Self { cipher: XChaCha20Poly1305::new(key.bytes().into()), id: key.id() }
    }

    /// The context says what the secret is for, such as `webhook/shop/ci`; it is not stored. The
    /// same secret looks different each time.
    #[must_use]
    pub fn seal(&self, context: &str, secret: &Secret) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).expect("a system without randomness cannot keep secrets");
        let header = self.header();
        let aad = associated(&header, context);
        let payload = Payload { msg: secret.expose(), aad: &aad };
        let text = self.cipher.encrypt(&XNonce::from(nonce), payload);
        let text = text.expect("no secret in memory is too long for the cipher");
        [&header[..], &nonce, &text].concat()
    }

    /// Opens what was sealed with the same key for the same context.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<Secret, VaultError> {
        let context_of = || context.to_owned();
        let damaged = || VaultError::Damaged { context: context_of() };
        let form = *sealed.first().ok_or_else(damaged)?;
        if form != FORM {
            return Err(VaultError::UnknownForm { context: context_of(), found: form });
        }
        let (header, rest) = sealed.split_first_chunk::<HEADER>().ok_or_else(damaged)?;
        let (nonce, text) = rest.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
        if *header != self.header() {
            let mut id = [0; KeyId::LEN];
            id.copy_from_slice(&header[1..]);
            let (sealed, mine) = (KeyId(id), self.id);
            return Err(VaultError::OtherKey { context: context_of(), sealed, mine });
        }
        let aad = associated(header, context);
        let payload = Payload { msg: text, aad: &aad };
        let opened = self.cipher.decrypt(&XNonce::from(*nonce), payload);
        opened.map(Secret::new).ok().ok_or_else(damaged)
    }

    fn header(&self) -> [u8; HEADER] {
        let mut header = [FORM; HEADER];
        header[1..].copy_from_slice(&self.id.0);
        header
    }
}

/// The header has one length, so that no two pairs make the same bytes.
fn associated(header: &[u8; HEADER], context: &str) -> Vec<u8> {
    [header, context.as_bytes()].concat()
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("key", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "webhook/shop/ci";

    /// Made by another implementation of the cipher, of the form that is stored.
    const SEALED: &str = "014bab249caf7993af404142434445464748494a4b4c4d4e4f5051525354555657\
                          bb49601ef0931c65ee99e262f8e2963c1524b39fe8882491671c5f";

    fn refused(vault: &Vault, context: &str, sealed: &[u8]) -> VaultError {
        vault.open(context, sealed).err().expect("it must not be opened")
    }

    #[test]
    fn what_is_sealed_is_opened_and_looks_different_each_time() {
        let vault = Vault::new(&Key::random());
        for secret in [&b""[..], b"s", b"open sesame", &[0; 70_000]] {
            let secret = Secret::new(secret.to_vec());
            let (one, other) = (vault.seal(CONTEXT, &secret), vault.seal(CONTEXT, &secret));
            assert_ne!(one, other);
            for sealed in [one, other] {
                assert!(
                    vault.open(CONTEXT, &sealed).is_ok_and(|it| it.expose() == secret.expose())
                );
            }
        }
        let sealed = vault.seal(CONTEXT, &Secret::new(b"open sesame".to_vec()));
        assert!(!sealed.windows(4).any(|it| it == b"open"));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let vault = Vault::new(&Key::random());
        let sealed = vault.seal(CONTEXT, &Secret::new(b"open sesame".to_vec()));
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let error = refused(&vault, CONTEXT, &changed);
            let fitting = match bit / 8 {
                0 => matches!(error, VaultError::UnknownForm { .. }),
                1..HEADER => matches!(error, VaultError::OtherKey { .. }),
                _ => matches!(error, VaultError::Damaged { .. }),
            };
            assert!(fitting, "bit {bit}: {error}");
        }
        for len in 0..sealed.len() {
            let error = refused(&vault, CONTEXT, &sealed[..len]);
            assert_eq!(error, VaultError::Damaged { context: CONTEXT.to_owned() }, "{len}");
        }
        refused(&vault, CONTEXT, &[&sealed[..], b"\0"].concat());
    }

    #[test]
    fn a_sealed_value_cannot_be_moved_to_another_context() {
        let vault = Vault::new(&Key::random());
        let sealed = vault.seal(CONTEXT, &Secret::random(32));
        for other in ["", "webhook/shop/cd", "webhook/shop/ci/", "webhook/shop", "secret/shop/ci"] {
            let error = refused(&vault, other, &sealed);
            assert_eq!(error, VaultError::Damaged { context: other.to_owned() });
        }
    }

    #[test]
    fn another_key_is_named_instead_of_calling_the_value_damaged() {
        let (old, new) = (Key::random(), Key::random());
        let sealed = Vault::new(&old).seal(CONTEXT, &Secret::random(32));
        let error = refused(&Vault::new(&new), CONTEXT, &sealed);
        let context = CONTEXT.to_owned();
        assert_eq!(error, VaultError::OtherKey { context, sealed: old.id(), mine: new.id() });
        assert!(error.to_string().contains("sealed with another key"), "{error}");
    }

    #[test]
    fn the_stored_form_stays_what_it_is() {
        let key = Key::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
        let vault = Vault::new(&key);
        let digits = (0..SEALED.len()).step_by(2).map(|at| &SEALED[at..at + 2]);
        let sealed: Vec<u8> = digits.map(|it| u8::from_str_radix(it, 16).unwrap()).collect();
        assert!(vault.open(CONTEXT, &sealed).is_ok_and(|it| it.expose() == b"open sesame"));
        assert_eq!(format!("{vault:?}"), format!("Vault {{ key: {}, .. }}", key.id()));
    }
}
