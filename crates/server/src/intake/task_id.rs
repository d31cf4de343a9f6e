use std::fmt;
use std::str::FromStr;

use seaway_kernel::Step;
use seaway_model::{Attempt, DeploymentId, Fence, Kind, Name, TargetId};
use uuid::Uuid;

/// What a `.triggered` event has as its id, and answers as their `triggeredid`: the task, whose
/// share of it this is, and the fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    pub(crate) task: Name,
    pub(crate) step: Step,
    pub(crate) fence: Fence,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, step, fence } = self;
        let (deployment, target) = (step.deployment, step.target);
        write!(f, "{task}:{deployment}:{target}:{}:{}", fence.attempt, fence.lease)
    }
}

impl FromStr for TaskId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(());
        let task = Name::new(next()?).map_err(drop)?;
        let deployment = DeploymentId(Uuid::try_parse(next()?).map_err(drop)?);
        let target = TargetId(next()?.parse().map_err(drop)?);
        let attempt = Attempt(next()?.parse().map_err(drop)?);
        let lease = next()?.parse().map_err(drop)?;
        if parts.next().is_some() {
            return Err(());
        }
        let step = Step { deployment, target, kind: Kind::TaskDone };
        Ok(Self { task, step, fence: Fence { attempt, lease } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_anything_else_is_not_one() {
        let text = "test:0199a1b2-0000-7000-8000-000000000001:42:1:3";
        let id: TaskId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!((id.step.target, id.fence.lease), (TargetId(42), 3));
        let longer = format!("{text}:1");
        for bad in ["", "test", "test:x:1:1:1", &text[..text.len() - 2], &longer, "a b:c"] {
            assert_eq!(bad.parse::<TaskId>(), Err(()), "{bad}");
        }
    }
}
