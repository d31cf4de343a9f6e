use std::time::Duration;

/// What `cargo test` printed, read line by line.
#[derive(Debug, Default)]
pub(crate) struct TestOutput {
    pub(crate) passed: usize,
    /// Names of tests, each after the binary it is in.
    pub(crate) failed: Vec<String>,
    pub(crate) ignored: Vec<String>,
    pub(crate) binaries: Vec<(String, Duration)>,
    current: String,
    skipped_inside: usize,
}

impl TestOutput {
    pub(crate) fn feed(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Running ") {
            self.current = binary_name(rest).to_owned();
        } else if let Some(name) = line.strip_prefix("Doc-tests ") {
            self.current = format!("{name} (documentation)");
        } else if let Some(what) = line.strip_prefix("SKIPPED: ") {
            // A test that found out by itself that it cannot run.
            self.skipped_inside += 1;
            self.ignored.push(format!("{}: {what}", self.current));
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            self.result(rest);
        } else if let Some((name, verdict)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            let full = || format!("{}: {name}", self.current);
            if verdict == "FAILED" {
                self.failed.push(full());
            } else if let Some(reason) = verdict.strip_prefix("ignored") {
                self.ignored.push(format!("{}{reason}", full()));
            }
        }
    }

    fn result(&mut self, text: &str) {
        for part in text.split([';', '.']) {
            if let Some(count) = part.trim().strip_suffix(" passed") {
                let count = count.parse::<usize>().unwrap_or(0);
                self.passed += count.saturating_sub(self.skipped_inside);
                self.skipped_inside = 0;
            }
        }
        let seconds = text.rsplit_once("finished in ").and_then(|(_, rest)| {
            rest.strip_suffix('s').and_then(|seconds| seconds.parse::<f64>().ok())
        });
        if let Some(seconds) = seconds {
            self.binaries.push((self.current.clone(), Duration::from_secs_f64(seconds)));
        }
    }
}

/// `unittests src/lib.rs (target/debug/deps/seaway_model-0123)` is `seaway_model`.
fn binary_name(text: &str) -> &str {
    let path = text.rsplit_once('(').map_or(text, |(_, path)| path.trim_end_matches(')'));
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_tests_are_counted_and_timed() {
        let mut output = TestOutput::default();
        let text = "     Running unittests src/lib.rs (target/debug/deps/seaway_model-9f)\n\
             running 4 tests\n\
             test name::a ... ok\n\
             test name::b ... FAILED\n\
             test name::c ... ignored, needs a week\n\
             test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; \
             finished in 1.25s\n\
             \x20  Doc-tests seaway_model\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; \
             finished in 0.50s\n";
        text.lines().for_each(|line| output.feed(line));
        assert_eq!(output.passed, 3);
        assert_eq!(output.failed, ["seaway_model: name::b"]);
        assert_eq!(output.ignored, ["seaway_model: name::c, needs a week"]);
        assert_eq!(
            output.binaries,
            [
                ("seaway_model".to_owned(), Duration::from_millis(1250)),
                ("seaway_model (documentation)".to_owned(), Duration::from_millis(500)),
            ]
        );
    }
}
