use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use seaway_api::{DeploymentView, Why, WhyLine};
use seaway_client::{Client, Paging};
use seaway_model::{Name, NameError};
use uuid::Uuid;

use crate::connection::ServerArgs;
use crate::out::Out;
use crate::print::{OutputArgs, Paint, ago, ahead, one_line, value, word};

/// Things that wait that are asked for at a time, and at most.
const PAGE: usize = 500;
const MOST_PAGES: usize = 20;

/// Says what waits, on what, since when, and who can end it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhyArgs {
    /// A deployment, by its id, or a project; none: the only project, or that of the context
    #[arg(value_name = "DEPLOYMENT|PROJECT")]
    about: Option<About>,

    #[command(flatten)]
    to: OutputArgs,

    #[command(flatten)]
    server: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  seaway why                                        everything that waits in the project
  seaway why 0190a5b2-6a0e-7cc1-9d5b-6f1e3f0c2a11   one deployment
  seaway why shop -o json";

/// What somebody asks about.
#[derive(Clone, Debug)]
enum About {
    Deployment(Uuid),
    Project(Name),
}

impl FromStr for About {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.parse() {
            Ok(id) => Ok(Self::Deployment(id)),
            Err(_) => Name::new(text).map(Self::Project),
        }
    }
}

pub(crate) async fn run(args: WhyArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let server = args.server.server(outer)?;
    let to = args.to.output;
    match &args.about {
        Some(About::Deployment(id)) => {
            let project = server.project_of(*id).await?;
            let why = server.client.why(&project, *id).await?;
            if why.lines.is_empty() && to.is_for_people() {
                let view = server.client.deployment(&project, *id).await?;
                return out.line(moves(&view));
            }
            value(out, to, &why, show)
        }
        about => {
            let named = match about {
                Some(About::Project(name)) => Some(name),
                _ => None,
            };
            let project = server.project(named).await?;
            let why = read(&server.client, &project).await?;
            value(out, to, &why, show)
        }
    }
}

/// All of it.
pub(crate) async fn read(client: &Client, project: &str) -> Result<Why> {
    let paging = Paging { cursor: None, limit: Some(PAGE) };
    let mut why = client.project_why(project, &paging).await?;
    for _ in 1..MOST_PAGES {
        let Some(cursor) = why.next.take() else { break };
        let paging = Paging { cursor: Some(cursor), limit: Some(PAGE) };
        let more = client.project_why(project, &paging).await?;
        why.lines.extend(more.lines);
        why.next = more.next;
    }
    Ok(why)
}

/// Shows the chain in words.
pub(crate) fn show(out: &mut Out, why: &Why) -> Result<()> {
    if why.lines.is_empty() {
        return out.line(format_args!("nothing waits in {}", why.project));
    }
    // What waits for a step before it is explained by that step, unless nothing else is there.
    let explains = |line: &&WhyLine| line.reason != "before";
    let all = !why.lines.iter().any(|line| explains(&line));
    for line in why.lines.iter().filter(|line| all || explains(line)) {
        let WhyLine { service, version, revision, target, .. } = line;
        let version = one_line(version);
        let colours = out.has_colours();
        out.line(format_args!("{service} {version} (revision {revision}) at {target}"))?;
        out.line(format_args!("  {}", Paint::Busy.on(colours, one_line(&line.text))))?;
        out.line(format_args!("  ended by: {}", one_line(&line.ended_by)))?;
        if let Some(since) = &line.since {
            let ago = ago(since).map_or(String::new(), |it| format!(" ({it} ago)"));
            out.line(format_args!("  since: {since}{ago}"))?;
        }
        if let Some(until) = &line.until {
            let ahead = ahead(until).map_or(String::new(), |it| format!(" (in {it})"));
            out.line(format_args!("  until: {until}{ahead}"))?;
        }
        out.line(format_args!("  deployment: {}", line.deployment))?;
    }
    if why.next.is_some() {
        out.aside("more waits than is shown; ask about one deployment")?;
    }
    Ok(())
}

/// What there is to say about a deployment that waits for nothing.
fn moves(view: &DeploymentView) -> String {
    let it = &view.deployment;
    let result = view.result.as_ref().map_or(String::new(), |result| format!(", {result}"));
    let ended = view.ended.as_ref().map_or(String::new(), |ended| format!(" since {ended}"));
    format!(
        "{} {} (revision {}) waits for nothing: {}{result}{ended}",
        it.service,
        one_line(&it.version),
        it.revision,
        word(it.state)
    )
}
