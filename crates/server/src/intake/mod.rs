//! CloudEvents that come in: their three forms, and what each asks for.

mod answer;
mod event;
mod form;
mod start;
mod task_id;

pub(crate) use event::Incoming;
pub(crate) use form::{Form, read, texts};
pub(crate) use start::{Asked, may_be_repeated};
pub(crate) use task_id::TaskId;
