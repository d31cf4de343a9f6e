use anyhow::Result;
use clap::Args;
use seaway_model::{Name, Seq};
use seaway_store::{Standing, Store};

use crate::log::args::project_name;
use crate::log::standings::{Standings, find_place};
use crate::moment::Moment;
use crate::out::Out;
use crate::place;
use crate::print::{Format, list};

/// Deployments in progress that a line of the table names.
const NAMED: usize = 5;

/// Says what had finished, failed and was in progress at every stage, at any time
#[derive(Debug, Args)]
pub(crate) struct AsOfArgs {
    /// A time such as 2026-03-01T12:00:00Z, a position such as 123 or '#123', or now
    #[arg(default_value = "now", value_name = "TIME")]
    moment: Moment,

    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// Only this place, such as beta or shop/prod/delivery/deploy/eu/host-7
    #[arg(long, value_name = "PATH")]
    place: Option<String>,

    /// Only deployments of this service
    #[arg(long, value_parser = project_name)]
    service: Option<Name>,
}

pub(crate) async fn run(store: &Store, args: AsOfArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let as_of = args.moment.reached(store, &project).await?;
    let service = args.service.as_ref();
    let standings = match &args.place {
        Some(path) => {
            let place = find_place(store, &project, path, as_of).await?;
            vec![Standings::at(store, &project, place, service, as_of).await?]
        }
        None => Standings::at_stages(store, &project, service, as_of).await?,
    };
    let answers: Vec<_> = standings.iter().map(|it| json(it, as_of)).collect();
    list(out, to, &answers, |out, _| show(&standings, out))
}

/// Prints a line per place.
fn show(standings: &[Standings], out: &mut Out) -> Result<()> {
    let header = ["PLACE", "FINISHED LATEST", "FAILED LATEST", "IN PROGRESS"];
    let one = |standing: &Option<Standing>| standing.as_ref().map_or("-".to_owned(), text);
    let rows = standings
        .iter()
        .map(|it| [it.place.clone(), one(&it.finished), one(&it.failed), in_progress(it)]);
    out.table(header, rows)
}

fn in_progress(standings: &Standings) -> String {
    let all = &standings.in_progress;
    let named: Vec<String> = all.iter().take(NAMED).map(text).collect();
    match all.len().saturating_sub(NAMED) {
        0 if all.is_empty() => "-".to_owned(),
        0 => named.join(", "),
        _ if standings.more => format!("{} and many more", named.join(", ")),
        rest => format!("{} and {rest} more", named.join(", ")),
    }
}

fn text(standing: &Standing) -> String {
    let Standing { service, revision, version, .. } = standing;
    match version {
        Some(version) => format!("{service} {version} (revision {revision})"),
        None => format!("{service} (revision {revision})"),
    }
}

fn json(standings: &Standings, as_of: Option<Seq>) -> serde_json::Value {
    let one = |standing: &Standing| {
        serde_json::json!({
            "deployment": standing.deployment,
            "service": standing.service,
            "version": standing.version,
            "revision": standing.revision,
            "since": standing.opened,
            "ended": standing.ended.map(|ended| ended.seq),
        })
    };
    serde_json::json!({
        "place": standings.place,
        "asOf": as_of,
        "finished": standings.finished.as_ref().map(one),
        "failed": standings.failed.as_ref().map(one),
        "inProgress": standings.in_progress.iter().map(one).collect::<Vec<_>>(),
        "more": standings.more,
    })
}
