use crate::tidy::check::Violation;

/// A file that may break a rule, with the reason. One that is no longer needed is a violation.
#[derive(Debug)]
pub(crate) struct Exception {
    rule: &'static str,
    path: &'static str,
    /// What the advice has to mention, such as the name of a function; empty for all of the file.
    about: &'static str,
    reason: &'static str,
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: "machine",
        path: "xtask/src/tidy/rules/machine.rs",
        about: "",
        reason: "it spells the texts that it looks for",
    },
    Exception {
        rule: "text-state",
        path: "crates/kernel/src/record.rs",
        about: "kind",
        reason: "what kinds of documents there are is not the kernel's business",
    },
];

impl Exception {
    pub(crate) fn covers(&self, violation: &Violation) -> bool {
        self.rule == violation.rule
            && self.path == violation.path
            && violation.advice.contains(self.about)
    }

    pub(crate) fn is_unused(&self) -> Violation {
        let advice = format!(
            "the exception for `{}` in {} ({}) is not needed; remove it",
            self.rule, self.path, self.reason
        );
        let path = "xtask/src/tidy/exceptions.rs".to_owned();
        Violation { path, line: 1, rule: "exceptions", advice }
    }
}
