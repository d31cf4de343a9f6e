use seaway_model::{Name, Seq};

use crate::decode::{self, ROW};
use crate::error::StoreError;
use crate::log_store::{Columns, Query, Value, int};
use crate::question::{Filter, Listed, Order, Page};
use crate::store::Store;

/// How much of the log one statement looks at, so that a filter that matches little never holds a
/// connection for long.
const WINDOW: i64 = 65_536;

/// How many of those a page looks at.
const WINDOWS: usize = 16;

impl Store {
    /// The records that pass a filter, a page at a time. `cursor` is the `next` of the page before.
    pub async fn list(
        &self,
        project: &Name,
        filter: &Filter,
        order: Order,
        cursor: Option<Seq>,
        limit: usize,
    ) -> Result<Page<Listed>, StoreError> {
        let id = self.project_id(project).await?;
        let ends = Query::new("SELECT base, head FROM project WHERE id = ?1", vec![id.into()]);
        let decode = |line: &dyn Columns| Ok((decode::int(line, 0)?, decode::int(line, 1)?));
        let ends = self.select(ends, decode).await?;
        let (base, head) = ends.first().copied().unwrap_or_default();
        let mut first = filter.since.map_or(0, |since| int(since.0)).max(base + 1);
        let mut last = filter.until.map_or(head, |until| int(until.0)).min(head);
        match (cursor, order) {
            (Some(cursor), Order::OldestFirst) => {
                first = first.max(int(cursor.0).saturating_add(1))
            }
            (Some(cursor), Order::NewestFirst) => last = last.min(int(cursor.0) - 1),
            (None, _) => {}
        }
        let mut items: Vec<Listed> = Vec::new();
        for _ in 0..WINDOWS {
            if first > last || items.len() >= limit {
                break;
            }
            let window = match (filter.deployment, order) {
                // The records of a deployment are few and found by index.
                (Some(_), _) => (first, last),
                (None, Order::OldestFirst) => (first, last.min(first + WINDOW - 1)),
                (None, Order::NewestFirst) => (first.max(last - WINDOW + 1), last),
            };
            let wanted = limit - items.len();
            let found = self.select(query(id, filter, order, window, wanted), decode::listed);
            let found = found.await?;
            // A full answer may have stopped anywhere in the window.
            let end =
                found.last().filter(|_| found.len() == wanted).map(|item| int(item.row.seq.0));
            match order {
                Order::OldestFirst => first = end.unwrap_or(window.1) + 1,
                Order::NewestFirst => last = end.unwrap_or(window.0) - 1,
            }
            items.extend(found);
        }
        let next = (first <= last).then(|| match order {
            Order::OldestFirst => Seq((first - 1).unsigned_abs()),
            Order::NewestFirst => Seq((last + 1).unsigned_abs()),
        });
        Ok(Page { items, next })
    }
}

fn query(project: i64, filter: &Filter, order: Order, window: (i64, i64), limit: usize) -> Query {
    // The plus sign keeps the range of positions from being preferred to the deployment's index.
    let seq = if filter.deployment.is_some() { "+r.seq" } else { "r.seq" };
    let mut sql = format!(
        "SELECT {ROW}, t.path FROM record r
         JOIN target t ON t.project = r.project AND t.id = r.target
         WHERE r.project = ?1 AND {seq} >= ?2 AND {seq} <= ?3"
    );
    let mut values: Vec<Value> = vec![project.into(), window.0.into(), window.1.into()];
    let mut restrict = |condition: &str, value: Value| {
        values.push(value);
        sql.push_str(" AND ");
        sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(deployment) = filter.deployment {
        restrict("r.deployment = ?", deployment.0.as_bytes().as_slice().into());
    }
    if let Some(kind) = filter.kind {
        restrict("r.kind = ?", i64::from(kind.code()).into());
    }
    if let Some(fact) = filter.fact {
        restrict("r.fact = ?", i64::from(fact.code()).into());
    }
    if let Some(revision) = filter.revision {
        restrict("r.revision = ?", int(revision.0).into());
    }
    if let Some(service) = &filter.service {
        let condition = "EXISTS (SELECT 1 FROM deployment d WHERE d.project = r.project
             AND d.id = r.deployment AND d.service = ?)";
        restrict(condition, service.as_str().into());
    }
    if let Some(path) = &filter.under {
        let condition = "(t.path = ? OR substr(t.path, 1, length(?) + 1) IN
             (? || '/', ? || '#', ? || '@'))";
        restrict(condition, (&**path).into());
    }
    values.push(int(limit as u64).into());
    let direction = match order {
        Order::OldestFirst => "ASC",
        Order::NewestFirst => "DESC",
    };
    sql.push_str(&format!(" ORDER BY {seq} {direction} LIMIT ?{}", values.len()));
    Query::new(sql, values)
}
