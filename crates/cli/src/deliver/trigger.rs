use anyhow::Result;
use clap::Args;
use seaway_api::{Trigger, Triggered};
use seaway_model::Name;
use uuid::Uuid;

use crate::connection::ServerArgs;
use crate::deliver::data::DataArgs;
use crate::deliver::follow::{self, Delivery};
use crate::deliver::sequence::StageSequence;
use crate::log::project_name;
use crate::out::Out;
use crate::print::{Length, OutputArgs, deployment_id, value};

/// Starts a sequence for a version of a service
#[derive(Debug, Args)]
#[command(allow_missing_positional = true, after_help = EXAMPLES)]
pub(crate) struct TriggerArgs {
    /// The project; may be left out where there is only one, or the context names it
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// The sequence, with its stage: beta.delivery
    #[arg(value_name = "STAGE.SEQUENCE")]
    sequence: StageSequence,

    /// What is delivered
    #[arg(long, value_parser = project_name)]
    service: Name,

    /// Which version of it, in the words of whoever built it
    #[arg(long)]
    version: String,

    #[command(flatten)]
    data: DataArgs,

    /// Goes on with this deployment instead of a new one
    #[arg(long, value_name = "UUID", value_parser = deployment_id)]
    deployment: Option<Uuid>,

    /// Follows the deployment to its end
    #[arg(long)]
    wait: bool,

    /// How long --wait waits, such as 45s, 10m or 1h30m
    #[arg(long, value_name = "DURATION", default_value = "10m", requires = "wait")]
    timeout: Length,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway trigger dev.delivery --service cart --version 1.2.0
  seaway trigger shop dev.delivery --service cart --version 1.2.0 --wait --timeout 30m
  seaway trigger dev.delivery --service cart --version 1.2.0 --data test.users=20 --data @ci.yaml

Exit codes of --wait: 0 delivered (also with warnings), 1 failed, 6 not over in time, 7 blocked:
only a person or an executor can help, and what is printed says how.";

pub(crate) async fn run(args: TriggerArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let data = args.data.read()?;
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    let StageSequence { stage, sequence } = args.sequence.clone();
    let service = args.service.to_string();
    let version = args.version.clone();
    let deployment = args.deployment;
    let trigger = Trigger { stage, sequence, service, version, data, deployment };
    let triggered = server.client.trigger(&project, &trigger).await?;
    let sentence = |Triggered { deployment, revision, .. }: &Triggered| {
        let (service, version) = (&args.service, &args.version);
        format!(
            "{} of {service} {version}: revision {revision}, deployment {deployment}",
            args.sequence
        )
    };
    if !args.wait {
        return value(out, args.to.output, &triggered, |out, it| out.line(sentence(it)));
    }
    // Its exit code says how it went, whoever reads what is printed.
    out.go_on_unread();
    if args.to.output.is_for_people() {
        out.line(sentence(&triggered))?;
        out.flush()?;
    }
    let Triggered { deployment: id, at, .. } = triggered;
    let delivery = Delivery { client: server.client, project, id, since: at };
    follow::to_the_end(delivery, args.timeout.0, args.to.output, out).await
}
