use std::io::Write;

use anyhow::{Context, Result};
use seaway_engine::{Obstacle, ProjectHandle, RequestError};
use seaway_kernel::{Actor, Command, Reply, Report, Step};
use seaway_model::{DeploymentId, Fact, Kind, Outcome, Seq, TargetTable};

/// Sends a command, and prints the record that acknowledges it: what a kill must not undo.
///
/// `Ok(None)` means that it was refused, or that the store was lost meanwhile, which is printed,
/// too.
pub(crate) async fn send(project: &ProjectHandle, command: Command) -> Result<Option<Reply>> {
    let expected = expected(&command);
    match project.send(command, Actor::named("crashling")).await {
        Ok(reply) => {
            if let Some((Step { deployment, target, kind }, fact)) = expected {
                let at = at(&reply);
                print(&format!("ack {at} {deployment} {target} {kind} {fact}\n"))?;
            }
            Ok(Some(reply))
        }
        Err(RequestError::Refused(_)) => Ok(None),
        Err(
            RequestError::Unknown | RequestError::NotWritten { why: Obstacle::Unavailable, .. },
        ) => {
            print("lost\n")?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn at(reply: &Reply) -> Seq {
    match reply {
        Reply::Done { at }
        | Reply::Started { at, .. }
        | Reply::Claimed { at, .. }
        | Reply::Taken { at, .. } => *at,
    }
}

/// The record that a command leads to, where that is one of a step.
fn expected(command: &Command) -> Option<(Step, Fact)> {
    let root = |deployment: DeploymentId| Step {
        deployment,
        target: TargetTable::ROOT,
        kind: Kind::PipelineStarted,
    };
    match command {
        Command::Start { deployment, .. } => Some((root(*deployment), Fact::Finished)),
        Command::Claim { step, .. } => Some((*step, Fact::Claimed)),
        Command::Report { step, report: Report::Ended(outcome), .. } => {
            let failed = *outcome == Outcome::Fail;
            Some((*step, if failed { Fact::Failed } else { Fact::Finished }))
        }
        _ => None,
    }
}

/// One write per line: a kill never leaves half of one that looks whole.
fn print(line: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).context("nobody reads the acks")
}
