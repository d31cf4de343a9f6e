use seaway_model::{Name, Seq, Timestamp};

use crate::decode::{self, Damaged};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value, int};
use crate::store::Store;

/// How many deliveries of a webhook are remembered.
const KEPT: i64 = 1_000;

/// One attempt to deliver one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The record that it is about.
    pub record: Seq,
    pub attempt: u32,
    pub at: Timestamp,
    pub outcome: DeliveryOutcome,
    pub event: Box<str>,
    /// What came back, or why nothing did.
    pub detail: Box<str>,
    pub milliseconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    /// It failed and is tried again.
    Retrying,
    /// It failed too often.
    GivenUp,
}

impl DeliveryOutcome {
    const ALL: [Self; 3] = [Self::Delivered, Self::Retrying, Self::GivenUp];

    /// Stored; never changes.
    fn code(self) -> u8 {
        match self {
            Self::Delivered => 1,
            Self::Retrying => 2,
            Self::GivenUp => 3,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.code() == code)
    }
}

/// What is kept about a webhook beside the document that defines it.
impl Store {
    /// Keeps the key that messages are signed with. It is sealed; the store cannot read it.
    pub async fn put_webhook_key(
        &self,
        project: &Name,
        webhook: &Name,
        sealed: Vec<u8>,
    ) -> Result<(), StoreError> {
        let mut values = self.webhook(project, webhook).await?;
        values.push(sealed.into());
        let query = Query::new(
            "INSERT INTO webhook (project, name, key) VALUES (?1, ?2, ?3)
             ON CONFLICT (project, name) DO UPDATE SET key = excluded.key",
            values,
        );
        self.write(vec![query]).await.map(|_| ())
    }

    pub async fn webhook_key(
        &self,
        project: &Name,
        webhook: &Name,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let query = Query::new(
            "SELECT key FROM webhook WHERE project = ?1 AND name = ?2",
            self.webhook(project, webhook).await?,
        );
        let decode = |line: &dyn Columns| Ok(line.maybe_blob(0)?.map(<[u8]>::to_vec));
        Ok(self.select(query, decode).await?.pop().flatten())
    }

    /// Up to where everything was delivered or given up; `None` for one that was never advanced.
    pub async fn webhook_position(
        &self,
        project: &Name,
        webhook: &Name,
    ) -> Result<Option<Seq>, StoreError> {
        let query = Query::new(
            "SELECT position FROM webhook WHERE project = ?1 AND name = ?2",
            self.webhook(project, webhook).await?,
        );
        let found = self.select(query, |line| decode::maybe_number(line, 0)).await?;
        Ok(found.first().copied().flatten().map(Seq))
    }

    /// Notes that everything up to a position was delivered or given up. It never goes back.
    pub async fn advance_webhook(
        &self,
        project: &Name,
        webhook: &Name,
        position: Seq,
    ) -> Result<(), StoreError> {
        let mut values = self.webhook(project, webhook).await?;
        values.push(int(position.0).into());
        let query = Query::new(
            "INSERT INTO webhook (project, name, position) VALUES (?1, ?2, ?3)
             ON CONFLICT (project, name) DO UPDATE SET position = excluded.position
             WHERE webhook.position IS NULL OR webhook.position < excluded.position",
            values,
        );
        self.write(vec![query]).await.map(|_| ())
    }

    /// Forgets all that is known about a webhook.
    pub async fn drop_webhook(&self, project: &Name, webhook: &Name) -> Result<(), StoreError> {
        let values = self.webhook(project, webhook).await?;
        let statements = [
            "DELETE FROM webhook WHERE project = ?1 AND name = ?2",
            "DELETE FROM delivery WHERE project = ?1 AND webhook = ?2",
        ];
        let statements = statements.map(|sql| Query::new(sql, values.clone()));
        self.write(statements.into()).await.map(|_| ())
    }

    /// Remembers an attempt, and forgets the one that was made a thousand attempts ago. Nothing is
    /// remembered about a webhook that was dropped, or not advanced to where it begins.
    pub async fn note_delivery(
        &self,
        project: &Name,
        webhook: &Name,
        delivery: &Delivery,
    ) -> Result<(), StoreError> {
        let values = self.webhook(project, webhook).await?;
        // The row of the webhook is locked from here on, so that numbers are given once.
        let count = Query::new(
            "UPDATE webhook SET noted = noted + 1 WHERE project = ?1 AND name = ?2",
            values.clone(),
        );
        let mut noted = values.clone();
        noted.extend([
            int(delivery.record.0).into(),
            i64::from(delivery.attempt).into(),
            delivery.at.0.into(),
            i64::from(delivery.outcome.code()).into(),
            (&*delivery.event).into(),
            (&*delivery.detail).into(),
            Value::from(int(delivery.milliseconds)),
        ]);
        let note = Query::new(
            "INSERT INTO delivery (project, webhook, number, record, attempt, at, outcome, event,
               detail, milliseconds)
             SELECT project, name, noted, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT),
               CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS TEXT), CAST(?8 AS TEXT),
               CAST(?9 AS BIGINT)
             FROM webhook WHERE project = ?1 AND name = ?2",
            noted,
        );
        let mut old = values;
        old.push(KEPT.into());
        let forget = Query::new(
            "DELETE FROM delivery WHERE project = ?1 AND webhook = ?2 AND number <=
               (SELECT noted FROM webhook WHERE project = ?1 AND name = ?2) - ?3",
            old,
        );
        self.write(vec![count, note, forget]).await.map(|_| ())
    }

    /// The last attempts, newest first, each with its number; `before` is the last number of the
    /// page before.
    pub async fn deliveries(
        &self,
        project: &Name,
        webhook: &Name,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Delivery)>, StoreError> {
        let mut values = self.webhook(project, webhook).await?;
        values.push(before.map_or(i64::MAX, int).into());
        values.push(int(limit as u64).into());
        let query = Query::new(
            "SELECT number, record, attempt, at, outcome, event, detail, milliseconds
             FROM delivery WHERE project = ?1 AND webhook = ?2 AND number < ?3
             ORDER BY number DESC LIMIT ?4",
            values,
        );
        self.select(query, delivery).await
    }

    async fn webhook(&self, project: &Name, webhook: &Name) -> Result<Vec<Value>, StoreError> {
        Ok(vec![self.project_id(project).await?.into(), webhook.as_str().into()])
    }
}

fn delivery(line: &dyn Columns) -> Result<(u64, Delivery), Damaged> {
    let delivery = Delivery {
        record: Seq(decode::number(line, 1)?),
        attempt: decode::number(line, 2)?,
        at: Timestamp(decode::int(line, 3)?),
        outcome: decode::word(line, 4, DeliveryOutcome::from_code)?,
        event: decode::text(line, 5)?.into(),
        detail: decode::text(line, 6)?.into(),
        milliseconds: decode::number(line, 7)?,
    };
    Ok((decode::number(line, 0)?, delivery))
}
