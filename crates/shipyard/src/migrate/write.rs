use seaway_model::Name;

use crate::migrate::old::{Approval, Approver, Deployment, OldStage, Remediation};
use crate::problem::Problem;

const HEAD: &str = "\
# Migrated from a shipyard of format 0.1; its comments are not carried over.
---
# Keptn looks for this key; early descriptions of the format called it `version`.
apiVersion: spec.keptn.sh/0.2.4
kind: Shipyard
metadata:
  name: shipyard
spec:
  stages:
";

/// The result, as it grows.
#[derive(Debug, Default)]
struct Page {
    lines: Vec<String>,
    /// How many comments say what was decided.
    decisions: usize,
}

impl Page {
    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// A comment, so far from the margin as what it is about.
    fn decided(&mut self, indent: usize, text: &str) {
        self.decisions += 1;
        self.line(format!("{}# {text}", " ".repeat(indent)));
    }
}

/// Lines of YAML, in the order of the old file, and how many decisions are in their comments.
pub(super) fn write(stages: &[OldStage], warnings: &[Problem]) -> (String, usize) {
    let mut page = Page::default();
    for (index, stage) in stages.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &stages[before].name);
        if before.is_some() {
            page.line("");
        }
        one_stage(&mut page, stage, before);
    }
    let left_out = warnings.iter().map(|it| {
        let Problem { message, at, .. } = it;
        format!("# Not carried over from line {}: {message}.\n", at.line)
    });
    let left_out: String = left_out.collect();
    let text = format!("{left_out}{HEAD}{}\n", page.lines.join("\n"));
    (text, page.decisions + warnings.len())
}

fn one_stage(page: &mut Page, stage: &OldStage, before: Option<&Name>) {
    let name = scalar(stage.name.as_str());
    page.line(format!("  - name: {name}"));
    page.line("    sequences:");
    page.line("    - name: artifact-delivery");
    if let Some(before) = before {
        page.line("      triggeredOn:");
        page.decided(6, "The order of the stages, which the old format implied.");
        page.line(format!("      - event: {before}.artifact-delivery.finished"));
    }
    page.line("      tasks:");
    delivery(page, stage);
    if stage.deployment == Some(Deployment::BlueGreen) {
        rollback(page, &stage.name);
    }
    if stage.remediation == Remediation::Automated {
        remediation(page, &stage.name);
    }
}

fn delivery(page: &mut Page, stage: &OldStage) {
    page.line("      - name: deployment");
    if let Some(deployment) = &stage.deployment {
        page.line("        properties:");
        if let Deployment::Other(_) = deployment {
            page.decided(10, "Not a strategy of format 0.1; carried over as it was.");
        }
        page.line(format!("          deploymentstrategy: {}", scalar(deployment.as_str())));
    }
    if let Some(test) = &stage.test {
        page.line("      - name: test");
        page.line("        properties:");
        page.line(format!("          teststrategy: {}", scalar(test)));
        page.line("      - name: evaluation");
    }
    if let Some(Approval { pass, warning }) = &stage.approval {
        page.line("      - name: approval");
        page.line("        properties:");
        for (key, approver) in [("pass", pass), ("warning", warning)] {
            if approver.is_none() {
                page.decided(10, "The old file says nothing about this, which meant automatic.");
            }
            let approver = approver.unwrap_or(Approver::Automatic);
            page.line(format!("          {key}: {}", approver.as_str()));
        }
    }
    page.line("      - name: release");
}

fn rollback(page: &mut Page, stage: &Name) {
    page.line("");
    page.decided(4, "Every blue/green stage still has the version before, the last stage too.");
    page.line("    - name: rollback");
    page.line("      triggeredOn:");
    page.decided(6, "A delivery that failed in this stage is rolled back in this stage.");
    page.line(format!("      - event: {stage}.artifact-delivery.finished"));
    page.line("        selector:");
    page.line("          match:");
    page.line("            result: fail");
    page.line("      tasks:");
    page.line("      - name: rollback");
}

fn remediation(page: &mut Page, stage: &Name) {
    page.line("");
    page.line("    - name: remediation");
    page.line("      triggeredOn:");
    page.decided(6, "Smart defaults: domain events, which a monitoring tool has to send.");
    page.line(format!("      - event: {stage}.problem.open"));
    page.line(format!("      - event: {stage}.remediation.in-progress"));
    page.line("      tasks:");
    page.line("      - name: remediation");
    page.line("      - name: test");
    page.line("        properties:");
    page.line("          teststrategy: real_user");
    page.line("      - name: evaluation");
}

/// A text as YAML: plain where nothing else could be read in it.
fn scalar(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let word = words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if begins && text.bytes().all(inner) && !word {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}
