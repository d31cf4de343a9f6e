use seaway_api::{Delivery, Page, SigningKey, Webhook};

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;
use crate::path::Path;

impl Client {
    pub async fn webhooks(
        &self,
        project: &str,
        paging: &Paging,
    ) -> Result<Page<Webhook>, ClientError> {
        self.get(self.project_path(project)?.then("webhooks")).page(paging).json().await
    }

    /// What was sent to a webhook, and how that went.
    pub async fn deliveries(
        &self,
        project: &str,
        webhook: &str,
        paging: &Paging,
    ) -> Result<Page<Delivery>, ClientError> {
        let path = self.webhook_path(project, webhook)?.then("deliveries");
        self.get(path).page(paging).json().await
    }

    /// Makes a new key to sign with; it is told this once.
    pub async fn new_webhook_key(
        &self,
        project: &str,
        webhook: &str,
    ) -> Result<SigningKey, ClientError> {
        self.post(self.webhook_path(project, webhook)?.then("key")).json().await
    }

    fn webhook_path(&self, project: &str, webhook: &str) -> Result<Path, ClientError> {
        self.project_path(project)?.then("webhooks").named("webhook", webhook)
    }
}
