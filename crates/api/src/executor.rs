use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::CloudEvent;

/// What an executor can do. Said again, the last counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Register {
    pub subscriptions: Vec<Subscription>,
    /// How long it may be silent before it counts as gone, in seconds.
    #[serde(default = "minute")]
    pub ttl_seconds: u32,
}

fn minute() -> u32 {
    60
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subscription {
    /// The name of the task, or its event: `test`, `test.triggered`,
    /// `sh.keptn.event.test.triggered`.
    pub task: String,
    /// Only in these stages; none: in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<String>,
    /// Only for these services; none: for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// On what stands in the space of the task's name. All must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Expression>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expression {
    pub key: String,
    pub operator: Operator,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    pub executor: String,
    pub at: u64,
}

/// An executor that is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Executor {
    pub name: String,
    pub ttl_seconds: u32,
    pub subscriptions: Vec<Subscription>,
    /// Tasks that it holds, or that wait for it.
    pub tasks: usize,
}

/// Asks for tasks, and waits for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Claim {
    /// At most so many at once: 1 to 100.
    pub max: u32,
    /// How long to wait while there is none: 0 to 60.
    pub wait_seconds: u32,
    /// How long a lease lasts unless it is renewed: 1 to 86400.
    pub lease_seconds: u32,
}

impl Default for Claim {
    fn default() -> Self {
        Self { max: 1, wait_seconds: 30, lease_seconds: 60 }
    }
}

/// Tasks that are held now; none when the time to wait is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Claimed {
    pub tasks: Vec<Task>,
}

/// A task that the executor holds, until its lease ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The `triggeredid` of all answers. It names the attempt and the lease, so that an answer of
    /// an old holder is refused.
    pub id: String,
    pub task: String,
    pub deployment: Uuid,
    /// Where it is: `shop/beta/delivery#1/test`.
    pub target: String,
    /// Stays the same when the task is offered again after a lost lease.
    pub key: String,
    pub attempt: u32,
    pub lease: u32,
    pub lease_seconds: u32,
    /// The `.triggered` event.
    pub event: CloudEvent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// As of this position of the log it counts as there.
    pub at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renewed {
    /// As of this position of the log the lease is held, for as long as was claimed.
    pub at: u64,
}
