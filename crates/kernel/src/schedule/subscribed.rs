use seaway_model::ExecutorName;
use serde_json::Value;

use crate::flow::text_at;
use crate::record::{Expression, Operator, Step, Subscription};
use crate::state::{Deployment, Position, Role, Spot};
use crate::{Kernel, fold};

impl Kernel {
    /// The executors whose subscriptions match a task, in order.
    pub(crate) fn subscribers(&self, deployment: &Deployment, spot: Spot) -> Vec<ExecutorName> {
        let Position::Inside(key, cell) = spot.position() else { return Vec::new() };
        let run = &deployment.runs[&key];
        let Role::TaskDone { task } = run.shape.role(cell) else { return Vec::new() };
        let name = &self.world.definitions[run.definition as usize].tasks[task].name;
        let mut names = self.executors.subscribers(name).peekable();
        if names.peek().is_none() {
            return Vec::new();
        }
        let data = self.task_data(deployment, spot);
        names.filter(|it| self.wants(it, deployment, spot, &data)).cloned().collect()
    }

    /// Whether an executor's subscriptions match a task in flight.
    pub(crate) fn is_subscribed(&self, executor: &ExecutorName, step: Step) -> bool {
        let Some(deployment) = self.deployments.get(&step.deployment) else { return false };
        let spot = match self.locate(deployment, step.target, step.kind) {
            Some(fold::Location::Spot(spot)) => spot,
            _ => return false,
        };
        self.wants(executor, deployment, spot, &self.task_data(deployment, spot))
    }

    fn wants(
        &self,
        executor: &ExecutorName,
        deployment: &Deployment,
        spot: Spot,
        data: &Value,
    ) -> bool {
        let Position::Inside(key, cell) = spot.position() else { return false };
        let run = &deployment.runs[&key];
        let Role::TaskDone { task } = run.shape.role(cell) else { return false };
        let name = &self.world.definitions[run.definition as usize].tasks[task].name;
        let stage = self.world.stages.name(key.stage);
        let space = data.get(name.as_str()).unwrap_or(&Value::Null);
        let known = self.executors.get(executor);
        known.into_iter().flat_map(|it| &it.subscriptions).any(|subscription: &Subscription| {
            let within =
                |names: &[seaway_model::Name], name| names.is_empty() || names.contains(name);
            subscription.task == *name
                && within(&subscription.stages, stage)
                && within(&subscription.services, &deployment.service)
                && subscription.expressions.iter().all(|it| holds(it, space))
        })
    }

    /// The data of a task's message.
    pub(crate) fn task_data(&self, deployment: &Deployment, spot: Spot) -> Value {
        let Position::Inside(key, cell) = spot.position() else { return Value::Null };
        let run = &deployment.runs[&key];
        let Role::TaskDone { task } = run.shape.role(cell) else { return Value::Null };
        let definition = &self.world.definitions[run.definition as usize].tasks[task];
        let stage = self.world.stages.name(key.stage);
        let last = run.last_task(task).map(|(_, outcome)| outcome);
        run.flow.of_task(task as u32, definition, last, self.scope(deployment, stage))
    }
}

fn holds(expression: &Expression, space: &Value) -> bool {
    let text = text_at(space, &expression.key);
    let listed = || text.as_deref().is_some_and(|it| expression.values.iter().any(|v| &**v == it));
    match expression.operator {
        Operator::In => listed(),
        Operator::NotIn => !listed(),
        Operator::Exists => space.get(&*expression.key).is_some() || text.is_some(),
        Operator::DoesNotExist => space.get(&*expression.key).is_none() && text.is_none(),
    }
}
