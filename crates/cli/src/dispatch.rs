use anyhow::Result;

use crate::args::{Args, Command};
use crate::out::Out;
use crate::{
    context, deliver, demo, documents, get, log, look, resource, serve, shipyard, steer, token,
    upkeep, webhook, worker,
};

/// Runs the command that was asked for.
pub(crate) async fn run(args: Args, out: &mut Out) -> Result<()> {
    let outer = &args.server;
    match args.command {
        Command::Demo(args) => demo::run(args, out).await,
        Command::Serve(args) => serve::run(args).await,
        Command::Worker(args) => worker::run(args, outer, out).await,
        Command::Apply(args) => documents::apply(args, outer, out).await,
        Command::Plan(args) => documents::plan(args, outer, out).await,
        Command::Get(args) => get::run(args, outer, out).await,
        Command::Delete(args) => documents::delete(args, outer, out).await,
        Command::Trigger(args) => deliver::trigger(args, outer, out).await,
        Command::Status(args) => look::status(args, outer, out).await,
        Command::Why(args) => look::why(args, outer, out).await,
        Command::Log(args) => log::run(*args, outer, out).await,
        Command::Pause(args) => steer::pause(args, outer, out).await,
        Command::Resume(args) => steer::resume(args, outer, out).await,
        Command::Abort(args) => steer::abort(args, outer, out).await,
        Command::Retry(args) => steer::retry(args, outer, out).await,
        Command::Skip(args) => steer::skip(args, outer, out).await,
        Command::Approve(args) => steer::approve(args, outer, out).await,
        Command::Reject(args) => steer::reject(args, outer, out).await,
        Command::Resource(args) => resource::run(args, outer, out).await,
        Command::Webhook(args) => webhook::run(args, outer, out).await,
        Command::Lint(args) => shipyard::lint(args, out),
        Command::Simulate(args) => shipyard::simulate(&args, out),
        Command::Migrate(args) => shipyard::migrate(&args, out),
        Command::Token(args) => token::run(args, outer, out).await,
        Command::Backup(args) => upkeep::backup(args, outer, out).await,
        Command::Restore(args) => upkeep::restore(args, out).await,
        Command::Archive(args) => upkeep::archive(args, outer, out).await,
        Command::Context(args) => context::run(&args, out),
        Command::Completion(args) => upkeep::completion(&args, out),
    }
}
