use std::time::Duration;

use seaway_api::{
    Claim, Claimed, Executor, Heartbeat, Page, Register, Registered, Renewed, Written,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;
use crate::path::Path;

impl Client {
    pub async fn executors(
        &self,
        project: &str,
        paging: &Paging,
    ) -> Result<Page<Executor>, ClientError> {
        self.get(self.project_path(project)?.then("executors")).page(paging).json().await
    }

    /// Says what an executor can do. Said again, the last counts.
    pub async fn register(
        &self,
        project: &str,
        executor: &str,
        register: &Register,
    ) -> Result<Registered, ClientError> {
        self.put(self.executor_path(project, executor)?).body(register).json().await
    }

    /// An executor takes no more tasks, and is no longer waited for.
    pub async fn leave(&self, project: &str, executor: &str) -> Result<Written, ClientError> {
        self.delete(self.executor_path(project, executor)?).json().await
    }

    /// Says that an executor is there, while it does not claim.
    pub async fn heartbeat(&self, project: &str, executor: &str) -> Result<Heartbeat, ClientError> {
        let path = self.executor_path(project, executor)?.then("heartbeat");
        self.post_unkeyed(path).json().await
    }

    /// Takes tasks, and waits for them as long as the claim says. It is made once: tasks that were
    /// handed out to an answer that got lost come back when their leases end.
    pub async fn claim(
        &self,
        project: &str,
        executor: &str,
        claim: &Claim,
    ) -> Result<Claimed, ClientError> {
        let path = self.executor_path(project, executor)?.then("claim");
        let wait = Duration::from_secs(claim.wait_seconds.into());
        self.post_unkeyed(path).once().longer(wait).body(claim).json().await
    }

    /// Keeps the lease of a task for another while. A conflict means that it is lost.
    pub async fn renew(&self, project: &str, task: &str) -> Result<Renewed, ClientError> {
        let path = self.project_path(project)?.then("tasks").named("task", task)?.then("renew");
        self.post_unkeyed(path).json().await
    }

    fn executor_path(&self, project: &str, executor: &str) -> Result<Path, ClientError> {
        self.project_path(project)?.then("executors").named("executor", executor)
    }
}
