use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result, ensure};

use crate::shell::Shell;
use crate::tidy::lexer::{Form, Token};
use crate::tidy::source::Source;

const EXTENSIONS: [&str; 4] = [".rs", ".md", ".toml", ".sql"];

/// The files of the workspace that are not ignored, and how modules reach them.
#[derive(Debug)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
    reached: BTreeMap<String, Reached>,
}

/// Through which modules a file is part of a crate. The stronger one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    OnlyInTests,
    Always,
}

impl Tree {
    pub(crate) fn load(shell: &Shell) -> Result<Self> {
        let mut git = shell.command("git");
        let output = git
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .output()
            .context("asking git for the files")?;
        ensure!(output.status.success(), "git cannot list the files of the workspace");
        let names = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
        let mut files = BTreeMap::new();
        for path in names.split('\0').filter(|name| EXTENSIONS.iter().any(|it| name.ends_with(it)))
        {
            match fs::read_to_string(shell.root.join(path)) {
                Ok(text) => drop(files.insert(path.to_owned(), text)),
                // Deleted, but not yet in the index.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| format!("reading {path}")),
            }
        }
        Ok(Self::new(files))
    }

    fn new(files: BTreeMap<String, String>) -> Self {
        let mut tree = Self { files, reached: BTreeMap::new() };
        let roots: Vec<_> = tree.files.keys().filter(|path| is_root(path)).cloned().collect();
        for root in roots {
            tree.reach(root, Reached::Always);
        }
        tree
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        self.files.iter().map(|(path, text)| {
            let test_file = self.reached.get(path) == Some(&Reached::OnlyInTests);
            Source::new(path, text, test_file)
        })
    }

    /// Rust files that are part of no crate.
    pub(crate) fn dead_files(&self) -> impl Iterator<Item = &str> {
        let rust = self.files.keys().filter(|path| path.ends_with(".rs"));
        rust.filter(|path| !self.reached.contains_key(*path)).map(String::as_str)
    }

    fn reach(&mut self, path: String, how: Reached) {
        if self.reached.get(&path).is_some_and(|&before| before >= how) {
            return;
        }
        let Some(text) = self.files.get(&path) else { return };
        let source = Source::new(&path, text, false);
        let mut next = BTreeSet::new();
        for (index, token) in source.code.iter().enumerate() {
            for candidate in named_files(&path, &source.code, index) {
                let in_test = source.in_test(token.line);
                next.insert((candidate, if in_test { Reached::OnlyInTests } else { how }));
            }
        }
        self.reached.insert(path, how);
        for (candidate, how) in next {
            self.reach(candidate, how);
        }
    }
}

/// Whether cargo takes a file as the root of a crate by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').collect();
    let [.., dir, name] = parts[..] else { return path == "build.rs" };
    let in_src = parts.contains(&"src");
    match (dir, name) {
        ("src", "lib.rs" | "main.rs") | (_, "build.rs") => true,
        ("bin", _) => in_src && path.ends_with(".rs"),
        ("tests" | "benches" | "examples", _) => !in_src && path.ends_with(".rs"),
        (_, "main.rs") => parts.len() > 2 && matches!(parts[parts.len() - 3], "bin" | "tests"),
        _ => false,
    }
}

/// The files that `mod name;`, `#[path = ".."]` or `include!("..")` at this token may mean.
fn named_files(path: &str, code: &[Token<'_>], index: usize) -> Vec<String> {
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let text = |offset: usize| code.get(index + offset).map_or("", |it| it.text);
    let literal = |offset: usize| code.get(index + offset).filter(|it| it.form == Form::Literal);
    match (text(0), text(1), text(2)) {
        ("mod", name, ";") => {
            let stem = path.trim_end_matches(".rs");
            let owns_dir = is_root(path) || path.ends_with("/mod.rs");
            let base = if owns_dir { dir } else { stem };
            vec![format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]
        }
        ("path", "=", _) => literal(2).map(|it| joined(dir, it.text)).into_iter().collect(),
        ("include", "!", "(") => literal(3).map(|it| joined(dir, it.text)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn joined(dir: &str, relative: &str) -> String {
    let mut parts: Vec<_> = dir.split('/').collect();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree::new(files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
    }

    #[test]
    fn a_file_that_no_mod_declares_is_dead() {
        let tree = tree(&[
            ("crates/a/src/lib.rs", "mod b;\nmod c;\n#[path = \"../odd/e.rs\"]\nmod e;"),
            ("crates/a/src/b.rs", "pub mod deep;"),
            ("crates/a/src/b/deep.rs", ""),
            ("crates/a/src/c/mod.rs", "// mod gone;"),
            ("crates/a/src/c/gone.rs", ""),
            ("crates/a/odd/e.rs", ""),
            ("crates/a/tests/all.rs", "mod support;"),
            ("crates/a/tests/support/mod.rs", ""),
            ("crates/a/src/bin/tool.rs", ""),
        ]);
        assert_eq!(tree.dead_files().collect::<Vec<_>>(), ["crates/a/src/c/gone.rs"]);
    }

    #[test]
    fn a_file_behind_a_test_module_is_a_test() {
        let tree = tree(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod oracle;\nmod plain;"),
            ("crates/a/src/oracle.rs", "mod inner;"),
            ("crates/a/src/oracle/inner.rs", ""),
            ("crates/a/src/plain.rs", ""),
        ]);
        let tests: Vec<_> =
            tree.sources().filter(|it| it.in_test(1)).map(|it| it.path.to_owned()).collect();
        assert!(tests.contains(&"crates/a/src/oracle.rs".to_owned()));
        assert!(tests.contains(&"crates/a/src/oracle/inner.rs".to_owned()));
        assert!(!tests.contains(&"crates/a/src/plain.rs".to_owned()));
    }
}
