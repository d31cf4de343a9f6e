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
        let definition = &self.world.definitions[run.definition as usize].tasks[task];
        let person = || ExecutorName(fold::BY_PERSON.into());
        let by = forced(definition);
        let patient = definition.name.as_str() == fold::APPROVAL && by != Some(By::Others);
        if by == Some(By::Us) {
            return vec![person()];
        }
        let names: Vec<&ExecutorName> = self.executors.subscribers(&definition.name).collect();
        let choosy = |name: &&&ExecutorName| {
            let known = self.executors.get(name).into_iter().flat_map(|it| &it.subscriptions);
            known.into_iter().any(|it| !it.expressions.is_empty())
        };
        // Putting the data together is most of the cost, and few look at it.
        let data = match names.iter().find(choosy) {
            Some(_) => self.task_data(deployment, spot),
            None => Value::Null,
        };
        let wanting = names.into_iter().filter(|it| self.wants(it, deployment, spot, &data));
        let mut found: Vec<ExecutorName> = wanting.cloned().collect();
        if patient && found.is_empty() {
            found.push(person());
        }
        found
    }

    /// Whether an executor's subscriptions match a task in flight.
    pub(crate) fn is_subscribed(&self, executor: &ExecutorName, step: Step) -> bool {
        let Some(deployment) = self.deployments.get(&step.deployment) else { return false };
        let spot = match self.locate(deployment, step.target, step.kind) {
            Some(fold::Location::Spot(spot)) => spot,
            _ => return false,
        };
        let task = self.task_of(step.deployment, (step.target, step.kind));
        task.is_some_and(|task| forced(task) != Some(By::Us))
            && self.wants(executor, deployment, spot, &self.task_data(deployment, spot))
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

/// Who does an approval, where its properties say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Us,
    Others,
}

fn forced(task: &crate::Task) -> Option<By> {
    if task.name.as_str() != fold::APPROVAL {
        return None;
    }
    let properties = task.properties.as_deref().and_then(crate::flow::object)?;
    match properties.get("executor")?.as_str()? {
        "builtin" => Some(By::Us),
        "external" => Some(By::Others),
        _ => None,
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
