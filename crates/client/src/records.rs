use seaway_api::{Page, Record};
use uuid::Uuid;

use crate::client::Client;
use crate::error::ClientError;
use crate::paging::Paging;

/// Which records are listed. The default is all, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    pub deployment: Option<Uuid>,
    /// Those of a target and of what lies below it.
    pub under: Option<String>,
    pub kind: Option<String>,
    pub fact: Option<String>,
    pub revision: Option<u64>,
    pub service: Option<String>,
    /// A time or a position.
    pub since: Option<String>,
    pub until: Option<String>,
    pub order: RecordOrder,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordOrder {
    #[default]
    OldestFirst,
    NewestFirst,
}

impl RecordOrder {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::OldestFirst => None,
            Self::NewestFirst => Some("newest"),
        }
    }
}

impl Client {
    pub async fn records(
        &self,
        project: &str,
        filter: &RecordFilter,
        paging: &Paging,
    ) -> Result<Page<Record>, ClientError> {
        let path = self.project_path(project)?.then("records");
        self.get(path)
            .ask("deployment", filter.deployment)
            .ask("under", filter.under.as_ref())
            .ask("kind", filter.kind.as_ref())
            .ask("fact", filter.fact.as_ref())
            .ask("revision", filter.revision)
            .ask("service", filter.service.as_ref())
            .ask("since", filter.since.as_ref())
            .ask("until", filter.until.as_ref())
            .ask("order", filter.order.word())
            .page(paging)
            .json()
            .await
    }
}
