use seaway_kernel::Command;
use seaway_model::{DeploymentId, Name};
use uuid::Uuid;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("the names of this program are valid")
}

/// A start of a version that nobody has deployed before.
pub(crate) fn start(service: &Name) -> (DeploymentId, Command) {
    let id = new_id();
    let (deployment, version) = (DeploymentId(id), id.simple().to_string().into());
    (deployment, Command::Start { deployment, service: service.clone(), version, known: None })
}

#[expect(clippy::disallowed_methods, reason = "the edge at which ids are made")]
pub(crate) fn new_id() -> Uuid {
    Uuid::now_v7()
}
