use anyhow::Result;
use seaway_engine::ProjectHandle;
use seaway_kernel::{Kernel, Waiting};

use crate::demo::example::Example;
use crate::out::Out;

/// Steps of one deployment that are shown.
const STEPS: usize = 10;

/// Why something does not move, in the words of the kernel.
#[derive(Debug)]
struct Line {
    path: String,
    why: String,
    ended_by: String,
}

/// Prints what does not move, why, and what would end that.
pub(super) async fn show(project: &ProjectHandle, example: &Example, out: &mut Out) -> Result<()> {
    let deployments = project.inspect(|kernel| kernel.deployments().collect::<Vec<_>>()).await?;
    for (deployment, revision) in deployments {
        let lines = project.inspect(move |kernel| lines(kernel, deployment)).await?;
        let who = example.release(deployment);
        let who = who.map_or(deployment.to_string(), |it| format!("{} {}", it.service, it.version));
        for Line { path, why, ended_by } in lines {
            out.line(format_args!("  {who} (revision {revision}) at {path}"))?;
            out.line(format_args!("      {why}"))?;
            out.line(format_args!("      ended by: {ended_by}"))?;
        }
    }
    out.flush()
}

fn lines(kernel: &Kernel, deployment: seaway_model::DeploymentId) -> Vec<Line> {
    let waiting = kernel.waiting(deployment, STEPS);
    // What waits for a step before it is explained by that step.
    let roots = waiting.iter().filter(|it| !matches!(it.why, Waiting::Before { .. }));
    roots
        .map(|it| Line {
            path: kernel.targets().path(it.step.target).to_string(),
            why: it.why.to_string(),
            ended_by: it.why.ended_by(),
        })
        .collect()
}
