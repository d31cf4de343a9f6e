use anyhow::Result;
use clap::{Args, Subcommand};
use seaway_client::ResourceScope;
use seaway_model::Name;

use crate::connection::{ProjectArgs, ServerArgs};
use crate::log::project_name;
use crate::out::Out;
use crate::resource::{get, list, put, remove};

/// Keeps files with a project, one of its stages, or one of its services
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct ResourceArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Put(put::PutArgs),
    Get(get::GetArgs),
    List(list::ListArgs),
    Rm(remove::RemoveArgs),
}

/// Whose a file is.
#[derive(Debug, Args)]
pub(super) struct ScopeArgs {
    #[command(flatten)]
    pub(super) project: ProjectArgs,

    /// The file is that of a stage
    #[arg(long, value_parser = project_name)]
    stage: Option<Name>,

    /// The file is that of a service
    #[arg(long, value_parser = project_name)]
    service: Option<Name>,
}

impl ScopeArgs {
    pub(super) fn scope(&self) -> ResourceScope {
        ResourceScope {
            stage: self.stage.as_ref().map(ToString::to_string),
            service: self.service.as_ref().map(ToString::to_string),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  seaway resource put slo.yaml -f slo.yaml --service cart
  seaway resource get slo.yaml --service cart > slo.yaml
  seaway resource list --stage beta
  seaway resource rm slo.yaml --service cart

A task finds the file of its service first, then that of its stage, then that of the project.";

pub(crate) async fn run(args: ResourceArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    match args.task {
        Task::Put(args) => put::run(args, outer, out).await,
        Task::Get(args) => get::run(args, outer, out).await,
        Task::List(args) => list::run(args, outer, out).await,
        Task::Rm(args) => remove::run(args, outer, out).await,
    }
}
