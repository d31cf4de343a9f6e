use std::io;
use std::path::PathBuf;

use crate::key::{Key, KeyId};

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no key file at {}; check the path", .0.display())]
    Missing(PathBuf),
    #[error(
        "the key file {} has mode {mode:04o}, so that others may read or change it; run \
         `chmod 600` on it", path.display()
    )]
    TooOpen { path: PathBuf, mode: u32 },
    #[error("the key file {} is no regular file; check the path", .0.display())]
    NoFile(PathBuf),
    /// The text of the file is never shown, because most of it may be a key.
    #[error(
        "the key file {} is not what it was when it was made; restore it from where you keep a \
         copy, or secrets that were sealed with it have to be set again", path.display()
    )]
    Spoiled { path: PathBuf, source: TextError },
    #[error("the key file {} could not be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "the key file {} could not be made; check that this process may write there", path.display()
    )]
    NotMade { path: PathBuf, source: io::Error },
}

/// Why a text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    #[error("a key is {expected} bytes in base64, but this is no base64", expected = Key::LEN)]
    NotBase64,
    #[error("a key is {expected} bytes in base64, but these are {0}", expected = Key::LEN)]
    Length(usize),
    #[error("the text is longer than any key")]
    TooLong,
}

/// Why a sealed value was not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error(
        "the secret of {context} was sealed with another key ({sealed}, and this is {mine}); start \
         with the key file that was in use then, or set the secret again"
    )]
    OtherKey { context: String, sealed: KeyId, mine: KeyId },
    /// A cipher cannot say which of the two it is.
    #[error(
        "the sealed secret of {context} is damaged, or was sealed for something else; set the \
         secret again"
    )]
    Damaged { context: String },
    #[error(
        "the secret of {context} was sealed in form {found}, which this program does not know; use \
         the program that wrote it, or a newer one"
    )]
    UnknownForm { context: String, found: u8 },
}
