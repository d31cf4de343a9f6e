use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use seaway_api::Archived;
use seaway_model::{Name, Seq};
use seaway_store::{ArchiveError, BackupError, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::extract::In;
use crate::moment::Moment;
use crate::problem::{Failure, chain};
use crate::query::{Ask, bad};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Target {
    /// The name of the file, in the directory `backups` of the server.
    #[param(min_length = 1, max_length = 100, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$")]
    file: String,
}

/// A copy of the store, on the server.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BackedUp {
    /// Where it is.
    file: String,
    bytes: u64,
}

/// Copies the whole store to a new file on the server, while it goes on.
#[utoipa::path(post, path = "/v1/backup", tag = "server", params(Target), responses(
    (status = 200, body = BackedUp),
    (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    (status = 503, body = seaway_api::Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn backup(
    State(app): State<Arc<App>>,
    Ask(target): Ask<Target>,
) -> Result<Answer<BackedUp>, Failure> {
    if !is_plain(&target.file) {
        let why = format!(
            "{:?} is not the name of a file; use up to 100 letters, digits, - _ and .",
            target.file
        );
        return Err(bad(why));
    }
    let _alone = app.gate.enter().await?;
    let path = directory(&app.settings.data, "backups")?.join(&target.file);
    app.store.backup(&path).await.map_err(failure)?;
    // Secrets are not in it in the clear, but everything else is.
    let bytes = std::fs::set_permissions(&path, Permissions::from_mode(0o600))
        .and_then(|()| std::fs::metadata(&path))
        .map_err(|error| unwritable(&path, &error))?
        .len();
    Ok(Answer(BackedUp { file: path.display().to_string(), bytes }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Old {
    /// Only records before this time, or before this position of the log.
    before: String,
}

/// Moves the oldest records of a log to a file on the server: those before a time, as far as every
/// deployment in them has ended. The log goes on from the hash of the last one.
///
/// Deployments that are archived cannot be retried any more.
#[utoipa::path(post, path = "/v1/projects/{project}/archive", tag = "projects",
    params(("project" = String, Path), Old),
    responses(
        (status = 200, body = Archived),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn archive(
    State(app): State<Arc<App>>,
    here: In,
    Ask(old): Ask<Old>,
) -> Result<Answer<Archived>, Failure> {
    let before: Moment = old.before.parse().map_err(|error| bad(format!("before: {error}")))?;
    // What is begun goes on when the caller goes away: in the middle the log has no writer.
    let archiving = tokio::spawn(move_out(app, here, before));
    archiving.await.unwrap_or_else(|error| {
        tracing::error!(%error, "archiving did not end well");
        Err(Failure::unavailable("not-written", "archiving stopped because of a bug; try again"))
    })
}

async fn move_out(app: Arc<App>, here: In, before: Moment) -> Result<Answer<Archived>, Failure> {
    let _alone = app.gate.enter().await?;
    let upto = upto(&app.store, &here.name, before).await?;
    let base = app.store.archived(&here.name).await?.seq;
    if upto <= base {
        let detail = "there is no record to archive: what is older than that is archived already, \
                      or belongs to a deployment that is still in progress";
        return Err(Failure::conflict("nothing-to-archive", detail));
    }
    // What is behind the newest checkpoint is needed to load the project.
    app.engine.checkpoint(&here.name).await?;
    let file = format!("{}-{}-{upto}.jsonl", here.name, base.next());
    let path = directory(&app.settings.data, "archives")?.join(file);
    let fenced = async { drop(app.engine.reload(&here.name).await) };
    let archived = app.store.archive(&here.name, upto, &path, fenced).await;
    if let Err(ArchiveError::Store(_)) = &archived {
        // The log may be shorter although nobody could say so.
        drop(app.engine.reload(&here.name).await);
    }
    let content = archived.map_err(not_archived)?;
    Ok(Answer(Archived {
        file: path.display().to_string(),
        records: content.last.0 - content.first.0 + 1,
        last: content.last.0,
        hash: content.hash.to_string(),
    }))
}

/// The last record before a moment that belongs to nothing that is in progress.
async fn upto(store: &Store, project: &Name, before: Moment) -> Result<Seq, StoreError> {
    let end = before.first(store, project).await?.min(store.head(project).await?.seq.next());
    let open = store.first_open(project).await?;
    Ok(Seq(open.map_or(end, |open| open.min(end)).0.saturating_sub(1)))
}

fn not_archived(error: ArchiveError) -> Failure {
    let text = chain(&error);
    match error {
        ArchiveError::Store(error) => error.into(),
        ArchiveError::Nothing { .. } => Failure::conflict("nothing-to-archive", text),
        ArchiveError::TooFar { .. } => Failure::conflict("still-needed", text),
        ArchiveError::Exists(_) => Failure::conflict("exists", text),
        ArchiveError::Log(_) => Failure::conflict("log-broken", text),
        ArchiveError::Broken { .. } | ArchiveError::Failed { .. } => {
            Failure::unavailable("not-written", text)
        }
    }
}

fn is_plain(file: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=100).contains(&file.len()) && file.chars().all(fits) && !file.starts_with('.')
}

/// A directory beside the store, which only its owner can look into.
fn directory(data: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = data.join(name);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.map(|()| path.clone()).map_err(|error| unwritable(&path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let detail = format!("{} cannot be written: {error}; look at its disk", path.display());
    Failure::unavailable("not-written", detail)
}

fn failure(error: BackupError) -> Failure {
    let text = error.to_string();
    match error {
        BackupError::Exists(_) => Failure::conflict("exists", text),
        BackupError::UsePgDump => Failure::refused("use-pg-dump", text),
        BackupError::Failed { source, .. } => {
            Failure::unavailable("not-written", format!("{text}: {source}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_stays_in_its_directory() {
        for bad in ["", ".", "..", ".hidden", "a/b", "../a", "/a", "a\\b", "a b", "a\n", "é"] {
            assert!(!is_plain(bad), "{bad:?}");
        }
        assert!(!is_plain(&"a".repeat(101)));
        assert!(is_plain("seaway-20260301-120000.db"));
    }
}
