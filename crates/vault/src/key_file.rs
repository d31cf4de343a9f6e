use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::{KeyError, TextError};
use crate::key::{Key, TEXT_BYTES};

/// The rights that a key file may have: its owner's.
const OWNER_ONLY: u32 = 0o600;

impl Key {
    /// The key in a file that has to be there, such as one that several servers share.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let unreadable = |source: io::Error| KeyError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => KeyError::Missing(path.to_owned()),
            _ => unreadable(source),
        })?;
        // The open file is asked, because the path may lead elsewhere a moment later.
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(KeyError::NoFile(path.to_owned()));
        }
        let mode = found.mode() & 0o7777;
        if mode & !OWNER_ONLY != 0 {
            return Err(KeyError::TooOpen { path: path.to_owned(), mode });
        }
        let mut text = Zeroizing::new(Vec::with_capacity(TEXT_BYTES + 1));
        file.take(TEXT_BYTES as u64 + 1).read_to_end(&mut text).map_err(unreadable)?;
        let text = std::str::from_utf8(&text).ok().ok_or(TextError::NotBase64);
        let key = text.and_then(Self::from_base64);
        key.map_err(|source| KeyError::Spoiled { path: path.to_owned(), source })
    }

    /// The key in a file, which is made if it is not there. When two processes do this at once,
    /// both have the same key afterwards.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::Missing(_)) => {}
            loaded => return loaded,
        }
        let key = Self::random();
        match create(path, &key) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Self::load(path),
            Err(source) => Err(KeyError::NotMade { path: path.to_owned(), source }),
        }
    }
}

/// The file appears under its name complete and durable, or not at all: a key that is lost after
/// something was sealed with it cannot be replaced.
fn create(path: &Path, key: &Key) -> io::Result<()> {
    let draft = beside(path);
    let created = write(&draft, key).and_then(|()| fs::hard_link(&draft, path));
    // It does no harm when it stays: whoever can read it can read the key file as well.
    let _ = fs::remove_file(&draft);
    created?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}

fn write(path: &Path, key: &Key) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(key.to_base64().as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// A name of its own for each process that tries.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}.new", Key::random().id()));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Barrier;
    use std::{fs::Permissions, thread};

    use super::*;

    fn dir() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_key_is_made_once_and_only_its_owner_may_read_it() {
        let dir = dir();
        let path = dir.path().join("vault.key");
        assert!(matches!(Key::load(&path), Err(KeyError::Missing(_))));
        let made = Key::load_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert_eq!(Key::load_or_create(&path).unwrap().bytes(), made.bytes());
        assert_eq!(Key::load(&path).unwrap().bytes(), made.bytes());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn those_who_make_it_at_the_same_time_have_the_same_key() {
        let dir = dir();
        let path = dir.path().join("vault.key");
        let start = Barrier::new(8);
        let ids: Vec<String> = thread::scope(|scope| {
            let make = || {
                start.wait();
                Key::load_or_create(&path).unwrap().id().to_string()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }

    #[test]
    fn a_file_that_others_may_read_or_change_is_refused() {
        let dir = dir();
        let path = dir.path().join("vault.key");
        Key::load_or_create(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o660, 0o644, 0o666, 0o700] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = Key::load_or_create(&path).unwrap_err();
            assert!(matches!(error, KeyError::TooOpen { mode: found, .. } if found == mode));
            let text = error.to_string();
            assert!(text.contains(&format!("mode {mode:04o}")) && text.contains("chmod 600"));
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Key::load(&path).unwrap();
        }
    }

    #[test]
    fn a_file_that_holds_no_key_is_refused_and_kept_as_it_is() {
        let dir = dir();
        let path = dir.path().join("vault.key");
        for content in [&b""[..], b"c2hvcnQ=\n", b"\xff\xfe", &[b'A'; 10_000]] {
            write_file(&path, content);
            let error = Key::load_or_create(&path).unwrap_err();
            assert!(matches!(error, KeyError::Spoiled { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        assert!(matches!(Key::load(dir.path()), Err(KeyError::NoFile(_))));
        let nowhere = dir.path().join("missing/vault.key");
        let error = Key::load_or_create(&nowhere).unwrap_err();
        assert!(matches!(error, KeyError::NotMade { .. }), "{error}");
    }

    fn write_file(path: &Path, content: &[u8]) {
        fs::write(path, content).unwrap();
        fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)).unwrap();
    }
}
