use crate::check::{Checker, Fields, Given, Shape};
use crate::code::Code;
use crate::limits;
use crate::migrate::old::{Approval, Approver, Deployment, OldStage, Remediation};
use crate::report::Draft;
use crate::yaml::Node;

const OLD_DOCUMENT: Shape = Shape {
    what: "a shipyard of format 0.1",
    keys: &["stages", "apiVersion"],
    old: &[("version", "apiVersion")],
};

const OLD_STAGE: Shape = Shape {
    what: "a stage of format 0.1",
    keys: &[
        "name",
        "deployment_strategy",
        "test_strategy",
        "approval_strategy",
        "remediation_strategy",
    ],
    old: &[],
};

const OLD_APPROVAL: Shape =
    Shape { what: "`approval_strategy`", keys: &["pass", "warning"], old: &[] };

const APPROVERS: [(&str, Approver); 2] =
    [("automatic", Approver::Automatic), ("manual", Approver::Manual)];

const REMEDIATIONS: [(&str, Remediation); 2] =
    [("automated", Remediation::Automated), ("none", Remediation::None)];

impl Checker<'_, '_> {
    pub(super) fn old_stages(&mut self, root: &Node) -> Option<Vec<OldStage>> {
        let fields = self.fields(root, &OLD_DOCUMENT)?;
        let node = self.required(&fields, "stages")?;
        let stages = self.items(node, "stages", (limits::STAGES, "stages"))?;
        if stages.is_empty() {
            let draft = Draft::error(Code::Empty, node.place, "there is no stage to migrate");
            self.push(draft);
        }
        let mut given = Given::new();
        let stages: Vec<_> = stages.iter().map(|node| self.old_stage(node, &mut given)).collect();
        stages.into_iter().collect()
    }

    fn old_stage(&mut self, node: &Node, given: &mut Given) -> Option<OldStage> {
        let fields = self.fields(node, &OLD_STAGE)?;
        let name = self.required(&fields, "name").and_then(|node| {
            let name = self.stage_name(node)?;
            self.unique(given, &name, node.place, "a stage");
            Some(name)
        });
        let deployment = self.optional_text(&fields, "deployment_strategy");
        let test = self.optional_text(&fields, "test_strategy");
        let approval = match fields.get("approval_strategy") {
            Some(node) => self.old_approval(node).map(Some),
            None => Some(None),
        };
        let remediation = match fields.get("remediation_strategy") {
            Some(node) => self.word(node, "`remediation_strategy`", &REMEDIATIONS),
            None => Some(Remediation::None),
        };
        let deployment = deployment?.map(|text| match &*text {
            "direct" => Deployment::Direct,
            "blue_green_service" | "blue_green" => Deployment::BlueGreen,
            _ => Deployment::Other(text),
        });
        Some(OldStage {
            name: name?,
            deployment,
            test: test?,
            approval: approval?,
            remediation: remediation?,
        })
    }

    fn old_approval(&mut self, node: &Node) -> Option<Approval> {
        let fields = self.fields(node, &OLD_APPROVAL)?;
        let mut approver = |key: &str| match fields.get(key) {
            Some(node) => self.word(node, &format!("`{key}`"), &APPROVERS).map(Some),
            None => Some(None),
        };
        let (pass, warning) = (approver("pass"), approver("warning"));
        Some(Approval { pass: pass?, warning: warning? })
    }

    fn optional_text(&mut self, fields: &Fields<'_>, key: &str) -> Option<Option<String>> {
        match fields.get(key) {
            Some(node) => self.text(node, &format!("`{key}`")).map(|text| Some(text.to_owned())),
            None => Some(None),
        }
    }
}
