use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use seaway_api::{Subscription, Task};
use seaway_shipyard::limits::TEXT_BYTES;
use seaway_shipyard::{Problem, Problems};

use crate::definition::check::Checking;
use crate::definition::choose::choose;
use crate::definition::model::Definition;

/// Files that a directory may hold, with those below it.
const FILES: usize = 1_000;
const DEPTH: usize = 8;

/// Everything that a worker can do, in the order of the files.
#[derive(Clone, Debug)]
pub struct Definitions {
    all: Vec<Definition>,
    warnings: Vec<Problems>,
}

/// Everything that is wrong with all files.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.summary())]
pub struct LoadError {
    pub unreadable: Vec<Unreadable>,
    pub problems: Vec<Problems>,
}

#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read", path.display())]
pub struct Unreadable {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Definitions {
    /// Reads files, and whatever directories hold that ends in `.yaml` or `.yml`.
    pub fn load(paths: &[PathBuf]) -> Result<Self, LoadError> {
        let mut unreadable = Vec::new();
        let mut texts = Vec::new();
        for path in paths {
            let files = found(path).unwrap_or_else(|it| {
                unreadable.push(it);
                Vec::new()
            });
            for path in files {
                match read(&path) {
                    Ok(text) => texts.push((text, path)),
                    Err(source) => unreadable.push(Unreadable { path, source }),
                }
            }
        }
        let mut checking = Checking::default();
        for (text, path) in &texts {
            let base = path.parent().unwrap_or(Path::new(""));
            checking.file(text, &path.display().to_string(), base);
        }
        Self::checked(checking, unreadable)
    }

    /// Of one text, whose scripts are looked for in the working directory.
    pub fn parse(text: &str, file: &str) -> Result<Self, LoadError> {
        let mut checking = Checking::default();
        checking.file(text, file, Path::new(""));
        Self::checked(checking, Vec::new())
    }

    fn checked(checking: Checking, unreadable: Vec<Unreadable>) -> Result<Self, LoadError> {
        let Checking { definitions, problems, .. } = checking;
        let wrong = problems.iter().any(|it| it.errors() > 0);
        if wrong || !unreadable.is_empty() || definitions.is_empty() {
            return Err(LoadError { unreadable, problems });
        }
        Ok(Self { all: definitions, warnings: problems })
    }

    #[must_use]
    pub fn all(&self) -> &[Definition] {
        &self.all
    }

    /// What is allowed and probably not meant.
    #[must_use]
    pub fn warnings(&self) -> &[Problems] {
        &self.warnings
    }

    /// The definition that carries out a task: of those that are for it, the most specific one.
    #[must_use]
    pub fn choose(&self, task: &Task) -> Option<&Definition> {
        choose(&self.all, task)
    }

    /// What the worker asks the server for.
    #[must_use]
    pub fn subscriptions(&self) -> Vec<Subscription> {
        let mut all: Vec<Subscription> = Vec::new();
        for Definition { subscription, .. } in &self.all {
            if !all.contains(subscription) {
                all.push(subscription.clone());
            }
        }
        all
    }
}

impl LoadError {
    fn summary(&self) -> String {
        if let Some(first) = self.unreadable.first() {
            return format!("{first}: {}", first.source);
        }
        match self.problems.iter().find(|it| it.errors() > 0) {
            Some(first) => {
                let files = self.problems.iter().filter(|it| it.errors() > 0).count();
                let more =
                    if files > 1 { format!("; {files} files are wrong") } else { String::new() };
                format!("{first}{more}")
            }
            None => "there is no TaskDefinition here; name a file or a directory that has one"
                .to_owned(),
        }
    }

    /// All problems as text, with an excerpt for each.
    #[must_use]
    pub fn plain(&self) -> String {
        let unreadable = self.unreadable.iter().map(|it| format!("{it}: {}\n", it.source));
        let problems = self.problems.iter().filter(|it| !it.all().is_empty());
        let all: Vec<String> =
            unreadable.chain(problems.map(|it| it.plain().to_string())).collect();
        if all.is_empty() { self.summary() } else { all.join("\n") }
    }

    /// Each problem with the name of its file.
    pub fn each(&self) -> impl Iterator<Item = (&str, &Problem)> {
        self.problems.iter().flat_map(|of| of.all().iter().map(|it| (of.file(), it)))
    }
}

/// The files that a path stands for, in order.
fn found(path: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let mut files = Vec::new();
    let unreadable = |source| Unreadable { path: path.to_owned(), source };
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            collect(path, DEPTH, &mut files).map_err(unreadable)?;
        }
        Ok(_) => files.push(path.to_owned()),
        Err(source) => return Err(unreadable(source)),
    }
    Ok(files)
}

fn collect(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        let ending = path.extension().and_then(|it| it.to_str());
        if hidden {
            continue;
        } else if path.is_dir() {
            // A link that leads back up would never end.
            if depth > 0 && !path.is_symlink() {
                collect(&path, depth - 1, files)?;
            }
        } else if matches!(ending, Some("yaml" | "yml")) {
            if files.len() == FILES {
                let message = format!("there are more than {FILES} files in it");
                return Err(io::Error::other(message));
            }
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more shows that a file is too large, which is then refused with the others.
    File::open(path)?.take(TEXT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > TEXT_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::other(format!("it is not a text: byte {at} is not UTF-8"))
    })
}
