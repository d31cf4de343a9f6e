use std::fmt;
use std::process::ExitCode;

use anyhow::Result;

use crate::shell::Shell;
use crate::tidy::exceptions::EXCEPTIONS;
use crate::tidy::rules::RULES;
use crate::tidy::tree::Tree;

/// A place that breaks a rule, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) advice: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.path, self.line, self.advice, self.rule)
    }
}

pub(crate) fn run(shell: &Shell) -> Result<ExitCode> {
    let found = violations(shell)?;
    for violation in &found {
        println!("{violation}");
    }
    if found.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} to fix", found.len());
    Ok(ExitCode::FAILURE)
}

pub(crate) fn violations(shell: &Shell) -> Result<Vec<Violation>> {
    let tree = Tree::load(shell)?;
    Ok(violations_of(&tree))
}

fn violations_of(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in tree.sources() {
        for rule in RULES {
            found.extend((rule.check)(&source).into_iter().map(|(line, advice)| Violation {
                path: source.path.to_owned(),
                line,
                rule: rule.name,
                advice,
            }));
        }
    }
    found.extend(tree.dead_files().map(|path| Violation {
        path: path.to_owned(),
        line: 1,
        rule: "dead-file",
        advice: "no `mod` declares this file; declare it or delete it".to_owned(),
    }));
    let mut unused = vec![true; EXCEPTIONS.len()];
    found.retain(|violation| {
        let excepted = EXCEPTIONS.iter().position(|it| it.covers(violation));
        if let Some(index) = excepted {
            unused[index] = false;
        }
        excepted.is_none()
    });
    let unused = EXCEPTIONS.iter().zip(unused).filter(|(_, unused)| *unused);
    found.extend(unused.map(|(exception, _)| exception.is_unused()));
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let shell = Shell::new().expect("signals can be watched");
        let found = violations(&shell).expect("the files can be listed");
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{} to fix:\n{}", lines.len(), lines.join("\n"));
    }
}
