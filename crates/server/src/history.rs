use http::StatusCode;
use seaway_model::{DeploymentId, Name, Seq};
use seaway_store::{Listed, Store};
use seaway_wire::DeploymentStart;

use crate::problem::Failure;

/// Records that are read at once, so that little is in memory although each may be large.
const PAGE: usize = 500;

/// Pages of one deployment that are read: far more than deployments have.
const PAGES: usize = 100;

/// How a deployment of this project began.
pub(crate) async fn start(
    store: &Store,
    project: &Name,
    deployment: DeploymentId,
) -> Result<DeploymentStart, Failure> {
    let start = store.deployment(project, deployment).await?;
    start.ok_or_else(|| {
        let detail = format!("deployment {deployment} is not known in {project}; check the id");
        Failure::not_found("unknown-deployment", detail)
    })
}

/// Goes through the records of a deployment in their order.
pub(crate) async fn each(
    (store, project): (&Store, &Name),
    start: &DeploymentStart,
    mut take: impl FnMut(Listed),
) -> Result<(), Failure> {
    let base = store.archived(project).await?.seq;
    if start.seq <= base {
        return Err(gone(&format!("deployment {}", start.deployment), base));
    }
    let mut after = Seq(0);
    for _ in 0..PAGES {
        let page = store.deployment_records(project, start.deployment, after, PAGE).await?;
        let full = page.len() == PAGE;
        after = page.last().map_or(after, |last| last.row.seq);
        page.into_iter().for_each(&mut take);
        if !full {
            break;
        }
    }
    Ok(())
}

/// All records of a deployment without what they say beyond their columns.
pub(crate) async fn records(
    store: &Store,
    project: &Name,
    deployment: DeploymentId,
) -> Result<Vec<Listed>, Failure> {
    let start = start(store, project, deployment).await?;
    let mut records = Vec::new();
    let bare = |mut record: Listed| {
        record.row.data = None;
        records.push(record);
    };
    each((store, project), &start, bare).await?;
    Ok(records)
}

/// What is no longer in the log.
pub(crate) fn gone(what: &str, base: Seq) -> Failure {
    let detail = format!(
        "{what} was archived: the log begins after record {base}; look into the archive file"
    );
    Failure::new(StatusCode::GONE, "archived", detail)
}
