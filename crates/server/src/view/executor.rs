use seaway_api::{Executor, Expression, Operator, Subscription};
use seaway_kernel::RegisteredExecutor;

/// An executor as it is listed.
pub(crate) fn executor(it: &RegisteredExecutor<'_>) -> Executor {
    Executor {
        name: it.name.to_string(),
        ttl_seconds: u32::try_from(it.ttl.0 / 1_000_000).unwrap_or(u32::MAX),
        subscriptions: it.subscriptions.iter().map(subscription).collect(),
        tasks: it.tasks,
    }
}

fn subscription(it: &seaway_kernel::Subscription) -> Subscription {
    let names = |names: &[seaway_model::Name]| names.iter().map(ToString::to_string).collect();
    Subscription {
        task: it.task.to_string(),
        stages: names(&it.stages),
        services: names(&it.services),
        match_expressions: it.expressions.iter().map(expression).collect(),
    }
}

fn expression(it: &seaway_kernel::Expression) -> Expression {
    Expression {
        key: it.key.to_string(),
        operator: match it.operator {
            seaway_kernel::Operator::In => Operator::In,
            seaway_kernel::Operator::NotIn => Operator::NotIn,
            seaway_kernel::Operator::Exists => Operator::Exists,
            seaway_kernel::Operator::DoesNotExist => Operator::DoesNotExist,
        },
        values: it.values.iter().map(ToString::to_string).collect(),
    }
}
