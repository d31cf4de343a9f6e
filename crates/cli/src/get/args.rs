use std::num::NonZeroUsize;

use anyhow::Result;
use clap::Args;
use seaway_api::DeploymentState;
use seaway_model::Name;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::get::what::What;
use crate::get::{deployments, documents, executors, projects};
use crate::log::project_name;
use crate::out::Out;
use crate::print::OutputArgs;

/// Shows what there is: projects, stages, services, deployments, executors, documents
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GetArgs {
    /// What to show: one of those above, or a kind of document, such as shipyard
    #[arg(value_name = "KIND")]
    pub(super) what: What,

    /// Only this one, with all that is known of it
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Only deployments of this service
    #[arg(long, value_parser = project_name)]
    pub(super) service: Option<Name>,

    /// Only deployments in this state: in-progress, paused, finished, failed, aborted, superseded
    #[arg(long, value_name = "STATE", value_parser = state)]
    pub(super) state: Option<DeploymentState>,

    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    pub(super) limit: NonZeroUsize,

    #[command(flatten)]
    pub(super) project: ProjectArgs,

    #[command(flatten)]
    pub(super) to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway get projects
  seaway get deployments --state in-progress
  seaway get deployment 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11
  seaway get executors -o wide
  seaway get shipyard shop                       as it was applied
  seaway get documents -o json";

pub(crate) async fn run(args: GetArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    match &args.what {
        What::Projects => projects::projects(&server, &args, out).await,
        What::Stages => projects::stages(&server, &args, out).await,
        What::Services => projects::services(&server, &args, out).await,
        What::Deployments => deployments::run(&server, &args, out).await,
        What::Executors => executors::run(&server, &args, out).await,
        What::Documents => documents::run(&server, None, &args, out).await,
        What::Kind(kind) => documents::run(&server, Some(kind), &args, out).await,
    }
}

fn state(text: &str) -> Result<DeploymentState, String> {
    let known = || "write in-progress, paused, finished, failed, aborted or superseded".to_owned();
    serde_json::from_value(text.into()).ok().ok_or_else(known)
}
