use clap::{Parser, Subcommand};

use crate::connection::ServerArgs;
use crate::context::ContextArgs;
use crate::deliver::TriggerArgs;
use crate::demo::DemoArgs;
use crate::documents::{ApplyArgs, DeleteArgs, PlanArgs};
use crate::get::GetArgs;
use crate::log::LogArgs;
use crate::look::{StatusArgs, WhyArgs};
use crate::resource::ResourceArgs;
use crate::serve::ServeArgs;
use crate::shipyard::{LintArgs, MigrateArgs, SimulateArgs};
use crate::steer::{
    AbortArgs, ApproveArgs, PauseArgs, RejectArgs, ResumeArgs, RetryArgs, SkipArgs,
};
use crate::token::TokenArgs;
use crate::upkeep::{ArchiveArgs, BackupArgs, CompletionArgs, RestoreArgs};
use crate::webhook::WebhookArgs;
use crate::worker::WorkerArgs;

/// Delivers revisions of services through stages, and proves it from an append-only log
#[derive(Debug, Parser)]
#[command(name = "seaway", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Serve(ServeArgs),
    Worker(WorkerArgs),
    Apply(ApplyArgs),
    Plan(PlanArgs),
    Get(GetArgs),
    Delete(DeleteArgs),
    Trigger(TriggerArgs),
    Status(StatusArgs),
    Why(WhyArgs),
    Log(Box<LogArgs>),
    Pause(PauseArgs),
    Resume(ResumeArgs),
    Abort(AbortArgs),
    Retry(RetryArgs),
    Skip(SkipArgs),
    Approve(ApproveArgs),
    Reject(RejectArgs),
    Resource(ResourceArgs),
    Webhook(WebhookArgs),
    Lint(LintArgs),
    Simulate(SimulateArgs),
    Migrate(MigrateArgs),
    Token(TokenArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Archive(ArchiveArgs),
    Context(ContextArgs),
    Completion(CompletionArgs),
}

const EXAMPLES: &str = "\
Examples:
  seaway demo                                  deliver a few example revisions, and clean up
  seaway lint shipyard.yaml                    check a pipeline document
  seaway simulate -f shipyard.yaml story.yaml  play it, with a script of who answers what
  seaway apply -f shipyard.yaml                make a project of it
  seaway trigger dev.delivery --service cart --version 1.2.0 --wait
  seaway status                                what is where
  seaway why                                   what waits, on what, and who can end it
  seaway log shop -f                           what happens, as it happens
  seaway log verify --data ./seaway-data       prove that no record was changed

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 changes, 4 not authenticated, 5 denied, 6 timed out,
7 blocked, 8 the state moved meanwhile.";
