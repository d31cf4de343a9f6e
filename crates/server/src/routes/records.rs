use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use seaway_api::{Page, Record};
use seaway_model::{DeploymentId, Fact, Kind, Name, Revision, Seq};
use seaway_store::{Filter, Listed, Order, Store};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::extract::In;
use crate::moment::Moment;
use crate::paging::{Piece, cursor};
use crate::problem::Failure;
use crate::query::{Ask, bad};
use crate::view::path::within;
use crate::view::record::record;

/// Which records are listed. What is left out does not restrict the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    deployment: Option<uuid::Uuid>,
    /// A target, such as `shop/beta`: its records, and those of what lies below it.
    #[param(max_length = 1000)]
    under: Option<String>,
    /// Such as `task-done`, or `task-failed` for those that failed.
    kind: Option<String>,
    /// Such as `finished`.
    fact: Option<String>,
    #[param(minimum = 1)]
    revision: Option<u64>,
    service: Option<String>,
    /// From this time or position on.
    since: Option<String>,
    /// Up to this time or position, included.
    until: Option<String>,
    /// `oldest` or `newest` first.
    #[param(default = "oldest")]
    order: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the piece before.
    #[param(max_length = 400)]
    cursor: Option<String>,
}

/// The log of a project. A piece may be short, or empty, although more follows.
#[utoipa::path(get, path = "/v1/projects/{project}/records", tag = "log",
    params(("project" = String, Path), Wanted),
    responses(
        (status = 200, body = Page<Record>),
        (status = "4XX", body = seaway_api::Problem, content_type = "application/problem+json"),
    ))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    here: In,
    Ask(wanted): Ask<Wanted>,
) -> Result<Response, Failure> {
    let order = wanted.order()?;
    let piece = Piece::new(wanted.limit, wanted.cursor.as_deref())?;
    let filter = wanted.filter(&app.store, &here.name).await?;
    let place = (piece.seq()?, piece.limit);
    let (items, next) = read(&app.store, &here.name, (&filter, order), place).await?;
    let page = Page {
        items: items.iter().map(|Listed { row, path }| record(row, path)).collect(),
        next: next.map(cursor),
    };
    let body = serde_json::to_vec(&page).expect("records are plain data");
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Records that are read at once; each may be large.
const AT_ONCE: usize = 100;

/// Bytes of data after which a piece ends, whatever its limit.
const ENOUGH: usize = 8 << 20;

async fn read(
    store: &Store,
    project: &Name,
    (filter, order): (&Filter, Order),
    (mut cursor, limit): (Option<Seq>, usize),
) -> Result<(Vec<Listed>, Option<Seq>), Failure> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    loop {
        let wanted = (limit - items.len()).min(AT_ONCE);
        let page = store.list(project, filter, order, cursor, wanted).await?;
        let found = page.items.len();
        let data = |it: &Listed| it.row.data.as_ref().map_or(0, |data| data.len());
        bytes += page.items.iter().map(data).sum::<usize>();
        items.extend(page.items);
        // One that found little has looked at much of the log already.
        if page.next.is_none() || items.len() >= limit || bytes >= ENOUGH || found < wanted {
            return Ok((items, page.next));
        }
        cursor = page.next;
    }
}

impl Wanted {
    fn order(&self) -> Result<Order, Failure> {
        match self.order.as_deref() {
            None | Some("oldest") => Ok(Order::OldestFirst),
            Some("newest") => Ok(Order::NewestFirst),
            Some(other) => Err(bad(format!("order is {other:?}; say oldest or newest"))),
        }
    }

    async fn filter(&self, store: &Store, project: &Name) -> Result<Filter, Failure> {
        let (kind, implied) = self.kind()?;
        let fact = self.fact.as_deref().map(str::parse::<Fact>).transpose();
        let fact = fact.map_err(|error| bad(error.to_string()))?;
        if let (Some(fact), Some(implied)) = (fact, implied)
            && fact != implied
        {
            return Err(bad(format!("the kind asks for {implied}, and fact for {fact}")));
        }
        let service = self.service.as_deref().map(Name::new).transpose();
        let since = match Moment::asked("since", self.since.as_deref())? {
            Some(moment) => Some(moment.first(store, project).await?),
            None => None,
        };
        let until = match Moment::asked("until", self.until.as_deref())? {
            Some(moment) => Some(moment.last(store, project).await?),
            None => None,
        };
        Ok(Filter {
            deployment: self.deployment.map(DeploymentId),
            under: self.under.as_deref().map(|path| within(project.as_str(), path).into()),
            kind,
            fact: fact.or(implied),
            revision: self.revision.map(Revision),
            service: service.map_err(|error| bad(format!("service: {error}")))?,
            since,
            until,
        })
    }

    /// A failure has a name of its own where people see it, and may be asked for by that.
    fn kind(&self) -> Result<(Option<Kind>, Option<Fact>), Failure> {
        let Some(text) = self.kind.as_deref() else { return Ok((None, None)) };
        let fails = |kind: &Kind| kind.as_str() != text && kind.shown(Fact::Failed) == text;
        if let Some(kind) = Kind::ALL.iter().copied().find(fails) {
            return Ok((Some(kind), Some(Fact::Failed)));
        }
        let kind = text.parse::<Kind>().map_err(|error| bad(error.to_string()))?;
        Ok((Some(kind), None))
    }
}
