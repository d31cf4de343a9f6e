//! The shapes of the HTTP interface, shared by the server and its clients.
//!
//! Everything here is plain data with a stable JSON form. Times are RFC 3339 texts in UTC, ids and
//! digests are texts, and a list is a [`Page`].

mod deployment;
mod document;
mod event;
mod executor;
mod page;
mod problem;
mod project;
mod record;
mod status;
mod token;
mod webhook;
mod why;

pub use deployment::{
    Deployment, DeploymentState, DeploymentView, Located, Retry, Run, Skip, StepState, StepView,
    Trigger, Triggered, Verdict, Written,
};
pub use document::{
    Affected, Applied, Apply, Change, ChangeKind, Document, DocumentContent, Foreseen, Plan,
    Resource, ResourceContent, Source,
};
pub use event::{Accepted, BatchAccepted, CloudEvent};
pub use executor::{
    Claim, Claimed, Executor, Expression, Heartbeat, Operator, Register, Registered, Renewed,
    Subscription, Task,
};
pub use page::Page;
pub use problem::{InvalidField, Problem};
pub use project::{Archived, Project, Stage};
pub use record::Record;
pub use status::{Cell, Place, Row, Status};
pub use token::{CreateToken, NewToken, Scope, Token};
pub use webhook::{Delivery, DeliveryState, SigningKey, Webhook};
pub use why::{Why, WhyLine};
