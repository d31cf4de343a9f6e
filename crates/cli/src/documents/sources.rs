use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use seaway_api::{Apply, Source};

use crate::failure::WrongUsage;
use crate::shipyard::read_text;

/// The most files that go together.
const MOST: usize = 1_000;

/// Where the documents are.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// A file, a directory of YAML files, or - for standard input; may be repeated
    #[arg(short = 'f', long = "file", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl SourceArgs {
    /// Reads them, in the order in which they are named; those of a directory by their names.
    pub(super) fn read(&self) -> Result<Apply> {
        let mut files = Vec::new();
        for file in &self.files {
            if file.is_dir() {
                files.extend(inside(file)?);
            } else {
                files.push(file.clone());
            }
        }
        if files.len() > MOST {
            let advice = format!("these are {} files; {MOST} go together at most", files.len());
            return Err(WrongUsage(advice).into());
        }
        let source = |file: &PathBuf| {
            Ok(Source { path: file.display().to_string(), text: read_text(file)? })
        };
        Ok(Apply { sources: files.iter().map(source).collect::<Result<_>>()? })
    }
}

fn inside(dir: &Path) -> Result<Vec<PathBuf>> {
    let shown = dir.display();
    let cannot = || format!("the directory {shown} cannot be read");
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
        if yaml && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        let advice = format!("the directory {shown} holds no *.yaml or *.yml file");
        return Err(WrongUsage(advice).into());
    }
    files.sort();
    Ok(files)
}
