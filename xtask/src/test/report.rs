use std::fmt;
use std::time::Duration;

use crate::test::output::TestOutput;

const SLOWEST: usize = 10;

/// How a part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Everything that a test run found out. Single tests count one each; so does every other part.
#[derive(Debug, Default)]
pub(crate) struct Report {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    timed: Vec<(String, Duration)>,
}

impl Report {
    pub(crate) fn part(&mut self, name: &str, took: Duration, verdict: Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(why) => self.failed.push(format!("{name}: {why}")),
            Verdict::Skipped(why) => self.skipped.push(format!("{name}: {why}")),
        }
        self.timed.push((name.to_owned(), took));
    }

    /// Takes the single tests in. `verdict` counts only when no single test explains it, as when
    /// they did not compile.
    pub(crate) fn tests(
        &mut self,
        name: &str,
        took: Duration,
        verdict: Verdict,
        output: TestOutput,
    ) {
        self.passed += output.passed;
        match verdict {
            Verdict::Failed(why) if output.failed.is_empty() => {
                self.failed.push(format!("{name}: {why}"));
            }
            Verdict::Skipped(why) => self.skipped.push(format!("{name}: {why}")),
            Verdict::Failed(_) | Verdict::Passed => {}
        }
        self.failed.extend(output.failed);
        self.skipped.extend(output.ignored);
        self.timed.push((name.to_owned(), took));
        let binaries = output.binaries.into_iter();
        self.timed.extend(binaries.map(|(binary, took)| (format!("{name}: {binary}"), took)));
    }

    pub(crate) fn is_success(&self) -> bool {
        self.failed.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut slowest: Vec<_> = self.timed.iter().collect();
        slowest.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
        writeln!(f, "\nslowest:")?;
        for (name, took) in slowest.iter().take(SLOWEST) {
            writeln!(f, "  {:>8.1} s  {name}", took.as_secs_f64())?;
        }
        for line in &self.skipped {
            writeln!(f, "SKIPPED  {line}")?;
        }
        for line in &self.failed {
            writeln!(f, "FAILED   {line}")?;
        }
        let (failed, skipped) = (self.failed.len(), self.skipped.len());
        write!(f, "{} passed, {failed} failed, {skipped} skipped", self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_parts_and_single_tests() {
        let mut report = Report::default();
        let second = Duration::from_secs(1);
        report.part("fmt", second, Verdict::Passed);
        report.part("deny", second, Verdict::Skipped("cargo-deny is not installed".into()));
        let mut output = TestOutput::default();
        for line in
            ["test a ... ok", "test b ... FAILED", "test result: FAILED. 7 passed; 1 failed"]
        {
            output.feed(line);
        }
        report.tests("tests", 2 * second, Verdict::Failed("exit code 101".into()), output);
        let text = report.to_string();
        assert_eq!(text.lines().last(), Some("8 passed, 1 failed, 1 skipped"));
        assert!(text.contains("SKIPPED  deny: cargo-deny is not installed"), "{text}");
        assert!(!report.is_success());
    }

    #[test]
    fn tests_that_do_not_compile_are_a_failure() {
        let mut report = Report::default();
        let verdict = Verdict::Failed("exit code 101".into());
        report.tests("tests", Duration::ZERO, verdict, TestOutput::default());
        assert!(report.to_string().ends_with("\n0 passed, 1 failed, 0 skipped"));
    }
}
