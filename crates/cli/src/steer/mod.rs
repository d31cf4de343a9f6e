//! What a person can do about a deployment that is under way.

mod abort;
mod approve;
mod pause;
mod reject;
mod resume;
mod retry;
mod ship;
mod skip;

pub(crate) use abort::{AbortArgs, run as abort};
pub(crate) use approve::{ApproveArgs, run as approve};
pub(crate) use pause::{PauseArgs, run as pause};
pub(crate) use reject::{RejectArgs, run as reject};
pub(crate) use resume::{ResumeArgs, run as resume};
pub(crate) use retry::{RetryArgs, run as retry};
pub(crate) use skip::{SkipArgs, run as skip};
