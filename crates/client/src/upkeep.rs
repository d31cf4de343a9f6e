use std::time::Duration;

use seaway_api::{Archived, Project};
use serde_json::Value;

use crate::client::Client;
use crate::error::ClientError;

/// What reads or writes a whole store takes its time.
const LONG: Duration = Duration::from_secs(3_600);

impl Client {
    /// Checks every record of a project's log, and gives its end.
    pub async fn verify(&self, project: &str) -> Result<Project, ClientError> {
        self.get(self.project_path(project)?.then("verify")).longer(LONG).json().await
    }

    /// Moves deployments that ended before a time to a file of the server.
    pub async fn archive(&self, project: &str, before: &str) -> Result<Archived, ClientError> {
        let path = self.project_path(project)?.then("archive");
        self.post(path).ask("before", Some(before)).longer(LONG).json().await
    }

    /// Copies the whole store to a file of the server.
    pub async fn backup(&self, file: &str) -> Result<Value, ClientError> {
        let path = self.path().then("backup");
        self.post(path).ask("file", Some(file)).longer(LONG).json().await
    }
}
