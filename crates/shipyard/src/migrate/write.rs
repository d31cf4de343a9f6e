use seaway_model::Name;

use crate::migrate::old::{Approval, Deployment, OldStage, Remediation};
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

/// Lines of YAML, in the order of the old file.
pub(super) fn write(stages: &[OldStage], warnings: &[Problem]) -> String {
    let mut lines = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &stages[before].name);
        if before.is_some() {
            lines.push(String::new());
        }
        one_stage(&mut lines, stage, before);
    }
    let left_out = warnings.iter().map(|it| {
        let Problem { message, at, .. } = it;
        format!("# Not carried over from line {}: {message}.\n", at.line)
    });
    let left_out: String = left_out.collect();
    format!("{left_out}{HEAD}{}\n", lines.join("\n"))
}

fn one_stage(lines: &mut Vec<String>, stage: &OldStage, before: Option<&Name>) {
    let mut line = |text: String| lines.push(text);
    let name = scalar(stage.name.as_str());
    line(format!("  - name: {name}"));
    line("    sequences:".to_owned());
    line("    - name: artifact-delivery".to_owned());
    if let Some(before) = before {
        line("      triggeredOn:".to_owned());
        line("      # The order of the stages, which the old format implied.".to_owned());
        line(format!("      - event: {before}.artifact-delivery.finished"));
    }
    line("      tasks:".to_owned());
    delivery(&mut line, stage);
    if stage.deployment == Some(Deployment::BlueGreen) {
        rollback(&mut line, &stage.name);
    }
    if stage.remediation == Remediation::Automated {
        remediation(&mut line, &stage.name);
    }
}

fn delivery(line: &mut impl FnMut(String), stage: &OldStage) {
    line("      - name: deployment".to_owned());
    if let Some(deployment) = &stage.deployment {
        line("        properties:".to_owned());
        if let Deployment::Other(_) = deployment {
            line("          # Not a strategy of format 0.1; carried over as it was.".to_owned());
        }
        line(format!("          deploymentstrategy: {}", scalar(deployment.as_str())));
    }
    if let Some(test) = &stage.test {
        line("      - name: test".to_owned());
        line("        properties:".to_owned());
        line(format!("          teststrategy: {}", scalar(test)));
        line("      - name: evaluation".to_owned());
    }
    if let Some(Approval { pass, warning }) = &stage.approval {
        line("      - name: approval".to_owned());
        line("        properties:".to_owned());
        line(format!("          pass: {}", pass.as_str()));
        line(format!("          warning: {}", warning.as_str()));
    }
    line("      - name: release".to_owned());
}

fn rollback(line: &mut impl FnMut(String), stage: &Name) {
    line(String::new());
    line(
        "    # Every blue/green stage still has the version before, the last stage too.".to_owned(),
    );
    line("    - name: rollback".to_owned());
    line("      triggeredOn:".to_owned());
    line("      # A delivery that failed in this stage is rolled back in this stage.".to_owned());
    line(format!("      - event: {stage}.artifact-delivery.finished"));
    line("        selector:".to_owned());
    line("          match:".to_owned());
    line("            result: fail".to_owned());
    line("      tasks:".to_owned());
    line("      - name: rollback".to_owned());
}

fn remediation(line: &mut impl FnMut(String), stage: &Name) {
    line(String::new());
    line("    - name: remediation".to_owned());
    line("      triggeredOn:".to_owned());
    line("      # Smart defaults: domain events, which a monitoring tool has to send.".to_owned());
    line(format!("      - event: {stage}.problem.open"));
    line(format!("      - event: {stage}.remediation.in-progress"));
    line("      tasks:".to_owned());
    line("      - name: remediation".to_owned());
    line("      - name: test".to_owned());
    line("        properties:".to_owned());
    line("          teststrategy: real_user".to_owned());
    line("      - name: evaluation".to_owned());
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
