use anyhow::{Result, bail};
use seaway_api::Project;
use seaway_client::{Paging, Whole, whole};

use crate::connection::Server;
use crate::get::args::GetArgs;
use crate::out::Out;
use crate::print::{Format, list, maybe, value};

pub(super) async fn projects(server: &Server, args: &GetArgs, out: &mut Out) -> Result<()> {
    if let Some(name) = &args.name {
        let project = server.client.project(name).await?;
        return value(out, args.to.output, &project, |out, project| overview(project, out));
    }
    let read = async |paging: Paging| server.client.projects(&paging).await;
    let Whole { items, next } = whole(args.limit.get(), read).await?;
    list(out, args.to.output, &items, |out, projects| {
        if projects.is_empty() {
            return out.aside("no projects; make one with `seaway apply -f`");
        }
        table(projects, args.to.output, out)
    })?;
    match next {
        Some(_) => out.aside("there are more; raise --limit"),
        None => Ok(()),
    }
}

fn table(projects: &[Project], to: Format, out: &mut Out) -> Result<()> {
    if to == Format::Wide {
        let rows = projects.iter().map(|it| {
            let time = maybe(it.time.as_ref());
            let hash = it.hash.clone();
            [it.name.clone(), it.deployments.to_string(), it.head.to_string(), time, hash]
        });
        return out.table(["PROJECT", "DEPLOYMENTS", "RECORDS", "LAST RECORD", "HASH"], rows);
    }
    let rows = projects.iter().map(|it| {
        let time = maybe(it.time.as_ref());
        [it.name.clone(), it.deployments.to_string(), it.head.to_string(), time]
    });
    out.table(["PROJECT", "DEPLOYMENTS", "RECORDS", "LAST RECORD"], rows)
}

fn overview(project: &Project, out: &mut Out) -> Result<()> {
    let stages: Vec<&str> = project.stages.iter().map(|it| &*it.name).collect();
    let mut services = project.services.join(", ");
    if project.auto_services == Some(true) {
        services.push_str(if services.is_empty() { "any" } else { ", and any other" });
    }
    let lines = [
        ("project", project.name.clone()),
        ("stages", stages.join(", ")),
        ("services", services),
        ("deployments", project.deployments.to_string()),
        ("records", project.head.to_string()),
        ("last record", maybe(project.time.as_ref())),
        ("hash", project.hash.clone()),
    ];
    let line = |what: &str, it: &str| format!("{what:<12} {it}").trim_end().to_owned();
    lines.iter().try_for_each(|(what, it)| out.line(line(what, it)))
}

pub(super) async fn stages(server: &Server, args: &GetArgs, out: &mut Out) -> Result<()> {
    let project = server.project(args.project.project.as_ref()).await?;
    let mut project = server.client.project(&project).await?;
    if let Some(name) = &args.name {
        project.stages.retain(|it| it.name == *name);
        if project.stages.is_empty() {
            bail!("there is no stage {name} in {}; see `seaway get stages`", project.name);
        }
    }
    list(out, args.to.output, &project.stages, |out, stages| {
        let rows = stages.iter().map(|it| [it.name.clone(), it.sequences.join(", ")]);
        out.table(["STAGE", "SEQUENCES"], rows)
    })
}

pub(super) async fn services(server: &Server, args: &GetArgs, out: &mut Out) -> Result<()> {
    let project = server.project(args.project.project.as_ref()).await?;
    let mut project = server.client.project(&project).await?;
    if let Some(name) = &args.name {
        project.services.retain(|it| it == name);
        if project.services.is_empty() {
            bail!("there is no service {name} in {}; see `seaway get services`", project.name);
        }
    }
    list(out, args.to.output, &project.services, |out, services| {
        out.table(["SERVICE"], services.iter().map(|it| [it.clone()]))
    })
}
