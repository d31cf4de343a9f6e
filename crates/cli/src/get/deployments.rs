use anyhow::Result;
use seaway_api::{Deployment, DeploymentState, DeploymentView, StepState};
use seaway_client::{DeploymentFilter, Paging, Whole, whole};

use crate::connection::Server;
use crate::failure::WrongUsage;
use crate::get::args::GetArgs;
use crate::out::Out;
use crate::print::{Cell, Grid, Paint, deployment_id, list, maybe, one_line, value, word};

pub(super) async fn run(server: &Server, args: &GetArgs, out: &mut Out) -> Result<()> {
    if let Some(name) = &args.name {
        let id = deployment_id(name).map_err(WrongUsage)?;
        let project = server.project_of(id).await?;
        let view = server.client.deployment(&project, id).await?;
        return value(out, args.to.output, &view, |out, view| whole_story(view, out));
    }
    let project = server.project(args.project.project.as_ref()).await?;
    let service = args.service.as_ref().map(ToString::to_string);
    let filter = DeploymentFilter { service, state: args.state };
    let read = async |paging: Paging| server.client.deployments(&project, &filter, &paging).await;
    let Whole { items, next } = whole(args.limit.get(), read).await?;
    list(out, args.to.output, &items, |out, deployments| {
        if deployments.is_empty() {
            return out.aside("no deployment matches");
        }
        table(deployments, out)
    })?;
    match next {
        Some(_) => out.aside("there are more; raise --limit"),
        None => Ok(()),
    }
}

fn table(deployments: &[Deployment], out: &mut Out) -> Result<()> {
    let header = ["DEPLOYMENT", "SERVICE", "VERSION", "REVISION", "STATE"];
    let mut grid = Grid::new(header.map(str::to_owned).to_vec());
    for it in deployments {
        grid.push(vec![
            Cell::plain(it.id.to_string()),
            Cell::plain(&it.service),
            Cell::plain(one_line(&it.version)),
            Cell::plain(it.revision.to_string()),
            Cell::default().and(deployment_paint(it.state), word(it.state)),
        ]);
    }
    grid.show(out)
}

fn whole_story(view: &DeploymentView, out: &mut Out) -> Result<()> {
    let Deployment { id, service, version, revision, state, .. } = &view.deployment;
    out.line(format_args!("{service} {version} (revision {revision}), deployment {id}"))?;
    let ended = match (&view.ended, &view.result) {
        (Some(ended), Some(result)) => format!(", ended {ended}: {result}"),
        (Some(ended), None) => format!(", ended {ended}"),
        _ => String::new(),
    };
    out.line(format_args!("{}, started {}{ended}", word(state), view.started))?;
    let header = ["STEP", "STATE", "ATTEMPT", "STARTED", "ENDED", "BY", "MESSAGE"];
    let mut grid = Grid::new(header.map(str::to_owned).to_vec());
    for run in &view.runs {
        let state = Cell::default().and(step_paint(run.state), word(run.state));
        grid.push(vec![Cell::plain(&run.target), state]);
        for task in &run.tasks {
            grid.push(vec![
                Cell::plain(&task.target),
                Cell::default().and(step_paint(task.state), word(task.state)),
                Cell::plain(task.attempt.to_string()),
                Cell::plain(maybe(task.started.as_ref())),
                Cell::plain(maybe(task.ended.as_ref())),
                Cell::plain(task.executors.join(", ")),
                Cell::plain(one_line(task.message.as_deref().unwrap_or_default())),
            ]);
        }
    }
    grid.show(out)
}

fn deployment_paint(state: DeploymentState) -> Paint {
    match state {
        DeploymentState::InProgress | DeploymentState::Paused => Paint::Busy,
        DeploymentState::Finished => Paint::Good,
        DeploymentState::Failed => Paint::Bad,
        DeploymentState::Aborted | DeploymentState::Superseded => Paint::Faint,
    }
}

fn step_paint(state: StepState) -> Paint {
    match state {
        StepState::Waiting | StepState::Running | StepState::Warned => Paint::Busy,
        StepState::Passed => Paint::Good,
        StepState::Failed => Paint::Bad,
        StepState::Skipped | StepState::Cancelled | StepState::Superseded => Paint::Faint,
    }
}
