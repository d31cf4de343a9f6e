use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use seaway_model::Name;

use crate::connection::ServerArgs;
use crate::log::project_name;

/// Carries out tasks as commands, on this machine
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkerArgs {
    /// Task definitions: YAML files, or directories of them
    #[arg(short = 'f', long = "file", value_name = "PATH", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// The project to work for, may be repeated; else that of the context, or all
    #[arg(short, long = "project", value_name = "NAME", value_parser = project_name)]
    pub(super) projects: Vec<Name>,

    /// The name of the executor; workers with the same name share its tasks
    #[arg(long, value_name = "NAME", default_value = "worker")]
    pub(super) name: String,

    /// How many tasks may run at the same time
    #[arg(
        long,
        value_name = "N",
        default_value = "4",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000)
    )]
    pub(super) concurrency: usize,

    /// How many seconds a task stays with a worker that is not heard of
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        value_parser = clap::value_parser!(u64).range(3..=86_400)
    )]
    pub(super) lease: u64,

    /// How many seconds tasks may go on after the worker was asked to stop
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub(super) drain: u64,

    /// Others with the same name go on: do not sign the executor off when this one stops
    #[arg(long)]
    pub(super) replica: bool,

    /// Only checks the definitions
    #[arg(long)]
    pub(super) check: bool,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway worker -f definitions/
  seaway worker -f test.yaml --project shop --concurrency 8
  seaway worker -f definitions/ --name tester --replica    one of several with this name
  seaway worker -f definitions/ --check                    says what is wrong, and ends

A definition:
  apiVersion: seaway.dev/v1
  kind: TaskDefinition
  metadata: {name: load-test}
  spec:
    task: test                       # what it is for; also: stages, services, matchExpressions
    command: [\"./test.sh\", \"--users\", \"{{ test.users }}\"]
    env: {LEVEL: debug}              # otherwise only PATH, HOME, LANG, TMPDIR; or inheritEnv: true
    timeout: 10m                     # also: grace, outputLimit, workDir

The command finds the message in the file $SEAWAY_MESSAGE, and says how it went by its exit code
(0 pass, 10 warning, anything else fail) or in the file $SEAWAY_RESULT:
  {\"result\": \"pass\", \"message\": \"fine\", \"data\": {\"test\": {\"p99\": 7}}}

The first signal lets what runs come to its end, and a second one ends it. SEAWAY_LOG says how much
is told: info, debug.";
