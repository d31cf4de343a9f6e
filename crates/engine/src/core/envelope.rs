use seaway_kernel::Kernel;
use seaway_model::Digest;
use seaway_model::planted::{Bug, planted};
use seaway_store::Checkpoint;
use sha2::{Digest as _, Sha256};

const DIGEST: usize = 32;

/// The state, which has everything up to the record with this hash, as it is stored.
pub(super) fn checkpoint(kernel: &Kernel, hash: Digest) -> Checkpoint {
    let (state_digest, bytes) = kernel.checkpoint();
    Checkpoint { seq: kernel.head(), hash, state_digest, bytes: seal(&bytes) }
}

/// Puts a digest before the bytes of a checkpoint, so that damage is noticed before anything makes
/// sense of them: state that was damaged is not merely wrong, it may not hang together at all.
fn seal(bytes: &[u8]) -> Vec<u8> {
    [&Sha256::digest(bytes)[..], bytes].concat()
}

/// The bytes of a checkpoint, if they are those that were sealed.
pub(super) fn open(sealed: &[u8]) -> Option<&[u8]> {
    let (digest, bytes) = sealed.split_at_checked(DIGEST)?;
    let same = Sha256::digest(bytes)[..] == *digest || planted(Bug::CheckpointUnverified);
    same.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bit_that_changed_is_noticed() {
        let sealed = seal(b"state");
        assert_eq!(open(&sealed), Some(&b"state"[..]));
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&damaged), None, "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert_eq!(open(&sealed[..length]), None, "{length} bytes");
        }
    }
}
