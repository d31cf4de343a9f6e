use seaway_api::{
    Applied, Apply, Change, Document, DocumentContent, Page, Resource, ResourceContent,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;
use crate::path::Path;

/// Whose a resource is: the project's, unless a stage or a service is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceScope {
    pub stage: Option<String>,
    pub service: Option<String>,
}

impl Client {
    /// Applies documents: all of them, or none. A project that does not exist is made.
    pub async fn apply(&self, project: &str, apply: &Apply) -> Result<Applied, ClientError> {
        let path = self.project_path(project)?.then("apply");
        self.post(path).body(apply).json().await
    }

    /// What [`apply`](Self::apply) would do, without doing it.
    pub async fn plan(&self, project: &str, apply: &Apply) -> Result<Applied, ClientError> {
        let path = self.project_path(project)?.then("apply");
        self.post_unkeyed(path).ask("dryRun", Some(true)).body(apply).json().await
    }

    pub async fn documents(
        &self,
        project: &str,
        kind: Option<&str>,
        paging: &Paging,
    ) -> Result<Page<Document>, ClientError> {
        let path = self.project_path(project)?.then("documents");
        self.get(path).ask("kind", kind).page(paging).json().await
    }

    pub async fn document(
        &self,
        project: &str,
        kind: &str,
        name: &str,
    ) -> Result<DocumentContent, ClientError> {
        self.get(self.document_path(project, kind, name)?).json().await
    }

    pub async fn delete_document(
        &self,
        project: &str,
        kind: &str,
        name: &str,
    ) -> Result<Applied, ClientError> {
        self.delete(self.document_path(project, kind, name)?).json().await
    }

    pub async fn resources(
        &self,
        project: &str,
        scope: &ResourceScope,
        paging: &Paging,
    ) -> Result<Page<Resource>, ClientError> {
        let path = self.project_path(project)?.then("resources");
        let ResourceScope { stage, service } = scope;
        let call = self.get(path).ask("stage", stage.as_ref()).ask("service", service.as_ref());
        call.page(paging).json().await
    }

    pub async fn resource(
        &self,
        project: &str,
        scope: &ResourceScope,
        path: &str,
    ) -> Result<ResourceContent, ClientError> {
        let call = self.get(self.resource_path(project, path)?);
        let ResourceScope { stage, service } = scope;
        call.ask("stage", stage.as_ref()).ask("service", service.as_ref()).json().await
    }

    /// The resource that a task would find: that of the service, or of the stage, or of the
    /// project.
    pub async fn look_up_resource(
        &self,
        project: &str,
        scope: &ResourceScope,
        path: &str,
    ) -> Result<ResourceContent, ClientError> {
        let call = self.get(self.resource_path(project, path)?).ask("lookup", Some(true));
        let ResourceScope { stage, service } = scope;
        call.ask("stage", stage.as_ref()).ask("service", service.as_ref()).json().await
    }

    pub async fn put_resource(
        &self,
        project: &str,
        scope: &ResourceScope,
        path: &str,
        content: Vec<u8>,
    ) -> Result<Change, ClientError> {
        let call = self.put(self.resource_path(project, path)?);
        let ResourceScope { stage, service } = scope;
        let call = call.ask("stage", stage.as_ref()).ask("service", service.as_ref());
        call.bytes("application/octet-stream", content).json().await
    }

    pub async fn delete_resource(
        &self,
        project: &str,
        scope: &ResourceScope,
        path: &str,
    ) -> Result<Change, ClientError> {
        let call = self.delete(self.resource_path(project, path)?);
        let ResourceScope { stage, service } = scope;
        call.ask("stage", stage.as_ref()).ask("service", service.as_ref()).json().await
    }

    fn document_path(&self, project: &str, kind: &str, name: &str) -> Result<Path, ClientError> {
        let path = self.project_path(project)?.then("documents");
        path.named("kind", kind)?.named("document", name)
    }

    fn resource_path(&self, project: &str, path: &str) -> Result<Path, ClientError> {
        self.project_path(project)?.then("resources").below("resource", path)
    }
}
