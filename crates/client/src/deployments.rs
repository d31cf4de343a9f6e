use seaway_api::{
    Deployment, DeploymentState, DeploymentView, Located, Page, Retry, Skip, Trigger, Triggered,
    Verdict, Why, Written,
};
use serde_json::Value;
use uuid::Uuid;

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;
use crate::path::Path;

/// Which deployments are listed. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeploymentFilter {
    pub service: Option<String>,
    pub state: Option<DeploymentState>,
}

impl Client {
    /// Starts a sequence.
    pub async fn trigger(
        &self,
        project: &str,
        trigger: &Trigger,
    ) -> Result<Triggered, ClientError> {
        self.post(self.project_path(project)?.then("trigger")).body(trigger).json().await
    }

    pub async fn deployments(
        &self,
        project: &str,
        filter: &DeploymentFilter,
        paging: &Paging,
    ) -> Result<Page<Deployment>, ClientError> {
        let path = self.project_path(project)?.then("deployments");
        let call = self.get(path).ask("service", filter.service.as_ref());
        call.ask("state", filter.state.map(word)).page(paging).json().await
    }

    pub async fn deployment(&self, project: &str, id: Uuid) -> Result<DeploymentView, ClientError> {
        self.get(self.deployment_path(project, id)?).json().await
    }

    /// Which project a deployment belongs to.
    pub async fn locate(&self, id: Uuid) -> Result<Located, ClientError> {
        let path = self.path().then("deployments").named("deployment", &id.to_string())?;
        self.get(path).json().await
    }

    /// Why a deployment does not move.
    pub async fn why(&self, project: &str, id: Uuid) -> Result<Why, ClientError> {
        self.get(self.deployment_path(project, id)?.then("why")).json().await
    }

    /// Holds the next tasks.
    pub async fn pause(&self, project: &str, id: Uuid) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("pause")).json().await
    }

    pub async fn resume(&self, project: &str, id: Uuid) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("resume")).json().await
    }

    /// Ends a deployment; nothing that would follow is triggered.
    pub async fn abort(&self, project: &str, id: Uuid) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("abort")).json().await
    }

    /// Goes on at the task that failed.
    pub async fn retry(
        &self,
        project: &str,
        id: Uuid,
        retry: &Retry,
    ) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("retry")).body(retry).json().await
    }

    /// Counts a task as done.
    pub async fn skip(&self, project: &str, id: Uuid, skip: &Skip) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("skip")).body(skip).json().await
    }

    pub async fn approve(
        &self,
        project: &str,
        id: Uuid,
        verdict: &Verdict,
    ) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("approve")).body(verdict).json().await
    }

    pub async fn reject(
        &self,
        project: &str,
        id: Uuid,
        verdict: &Verdict,
    ) -> Result<Written, ClientError> {
        self.post(self.deployment_path(project, id)?.then("reject")).body(verdict).json().await
    }

    fn deployment_path(&self, project: &str, id: Uuid) -> Result<Path, ClientError> {
        let path = self.project_path(project)?.then("deployments");
        path.named("deployment", &id.to_string())
    }
}

fn word(state: DeploymentState) -> String {
    match serde_json::to_value(state) {
        Ok(Value::String(word)) => word,
        _ => unreachable!("it is a plain enum"),
    }
}
