use seaway_client::ClientError;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(
        "project {0} is not there, or the token may not see it; check the name, or apply its \
         shipyard first"
    )]
    UnknownProject(String),
    #[error(
        "the server does not let the worker into project {project}; use a token with the scope \
         execute"
    )]
    Denied { project: String, source: ClientError },
    #[error("the projects cannot be listed; check the token, or name a project")]
    Unlisted(#[source] ClientError),
    #[error("the server does not take the worker in project {project}")]
    Refused { project: String, source: ClientError },
}
