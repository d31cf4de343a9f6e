use seaway_api::{Page, Project, Status, Why};

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;

impl Client {
    /// The projects that the token may see.
    pub async fn projects(&self, paging: &Paging) -> Result<Page<Project>, ClientError> {
        self.get(self.path().then("projects")).page(paging).json().await
    }

    pub async fn project(&self, project: &str) -> Result<Project, ClientError> {
        self.get(self.project_path(project)?).json().await
    }

    /// What is where, now or as of a time or a position of the log.
    pub async fn status(
        &self,
        project: &str,
        as_of: Option<&str>,
        paging: &Paging,
    ) -> Result<Status, ClientError> {
        let path = self.project_path(project)?.then("status");
        self.get(path).ask("asOf", as_of).page(paging).json().await
    }

    /// Why things do not move, in all of a project.
    pub async fn project_why(&self, project: &str, paging: &Paging) -> Result<Why, ClientError> {
        self.get(self.project_path(project)?.then("why")).page(paging).json().await
    }
}
