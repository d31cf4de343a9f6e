use seaway_model::Name;

/// A stage of the format 0.1.
#[derive(Debug)]
pub(super) struct OldStage {
    pub(super) name: Name,
    pub(super) deployment: Option<Deployment>,
    /// The value of `test_strategy`.
    pub(super) test: Option<String>,
    pub(super) approval: Option<Approval>,
    pub(super) remediation: Remediation,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Deployment {
    Direct,
    BlueGreen,
    /// Not one of 0.1; whoever deploys may know it.
    Other(String),
}

#[derive(Debug)]
pub(super) struct Approval {
    /// None where the file says nothing.
    pub(super) pass: Option<Approver>,
    pub(super) warning: Option<Approver>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Approver {
    Automatic,
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remediation {
    None,
    Automated,
}

impl Deployment {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Direct => "direct",
            Self::BlueGreen => "blue_green",
            Self::Other(text) => text,
        }
    }
}

impl Approver {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
        }
    }
}
