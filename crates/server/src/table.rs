use std::sync::Arc;

use axum::Router;
use axum::middleware;
use http::Method;
use seaway_api::Scope;
use seaway_store::Store;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::{Guard, guard};
use crate::description;
use crate::problem::Failure;
use crate::request::observe;
use crate::routes::{
    apply, deployments, documents, events, executors, health, projects, records, resources, status,
    steer, stream, tokens, upkeep, webhooks, why,
};

/// One line of the table: what may come in, and who may send it.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) guard: Guard,
}

/// The one table of routes. A route that is not in it does not exist.
pub(crate) struct Table {
    router: OpenApiRouter<Arc<App>>,
    app: Arc<App>,
    routes: Vec<Route>,
}

/// Bodies of most routes; events and documents may be larger.
const BODY: usize = 2 << 20;
const LARGE_BODY: usize = 8 << 20;

impl Table {
    pub(crate) fn new(app: &Arc<App>) -> Self {
        let table = Self { router: OpenApiRouter::default(), app: app.clone(), routes: Vec::new() };
        let read = Guard::Scope(Scope::Read);
        let deliver = Guard::Scope(Scope::Deliver);
        let execute = Guard::Scope(Scope::Execute);
        let admin = Guard::Scope(Scope::Admin);
        table
            .add(Guard::Open, routes!(health::healthz))
            .add(Guard::Open, routes!(health::readyz))
            .add(Guard::Open, routes!(health::metrics))
            .large(Guard::ByContent, routes!(events::post))
            .add(read, routes!(projects::list))
            .add(read, routes!(projects::get))
            .add(read, routes!(projects::verify))
            .add(read, routes!(projects::locate))
            .large(admin, routes!(apply::apply))
            .add(read, routes!(documents::list))
            .add(read, routes!(documents::get))
            .add(admin, routes!(documents::delete))
            .add(read, routes!(resources::list))
            .add(read, routes!(resources::get))
            .limited(admin, routes!(resources::put), Store::CONTENT_LIMIT)
            .add(admin, routes!(resources::delete))
            .add(deliver, routes!(deployments::trigger))
            .add(read, routes!(deployments::list))
            .add(read, routes!(deployments::get))
            .add(read, routes!(why::of_deployment))
            .add(deliver, routes!(steer::pause))
            .add(deliver, routes!(steer::resume))
            .add(deliver, routes!(steer::abort))
            .add(deliver, routes!(steer::retry))
            .add(deliver, routes!(steer::skip))
            .add(deliver, routes!(steer::approve))
            .add(deliver, routes!(steer::reject))
            .add(read, routes!(why::of_project))
            .add(read, routes!(status::get))
            .add(read, routes!(records::list))
            .add(read, routes!(stream::stream))
            .add(read, routes!(executors::list))
            .add(execute, routes!(executors::register))
            .add(execute, routes!(executors::leave))
            .add(execute, routes!(executors::heartbeat))
            .add(execute, routes!(executors::claim))
            .add(execute, routes!(executors::renew))
            .add(read, routes!(webhooks::list))
            .add(read, routes!(webhooks::deliveries))
            .add(admin, routes!(webhooks::new_key))
            .add(Guard::Within(Scope::Admin), routes!(tokens::list))
            .add(Guard::Within(Scope::Admin), routes!(tokens::create))
            .add(Guard::Within(Scope::Admin), routes!(tokens::revoke))
            .add(admin, routes!(upkeep::backup))
            .add(admin, routes!(upkeep::archive))
    }

    fn add(self, guard: Guard, route: UtoipaMethodRouter<Arc<App>>) -> Self {
        self.limited(guard, route, BODY)
    }

    fn large(self, guard: Guard, route: UtoipaMethodRouter<Arc<App>>) -> Self {
        self.limited(guard, route, LARGE_BODY)
    }

    fn limited(
        mut self,
        guard: Guard,
        (schemas, paths, route): UtoipaMethodRouter<Arc<App>>,
        limit: usize,
    ) -> Self {
        for (path, item) in &paths.paths {
            let methods = [
                (Method::GET, item.get.is_some()),
                (Method::PUT, item.put.is_some()),
                (Method::POST, item.post.is_some()),
                (Method::DELETE, item.delete.is_some()),
            ];
            for (method, _) in methods.into_iter().filter(|(_, there)| *there) {
                self.routes.push(Route { method, path: path.clone(), guard });
            }
        }
        let state = (self.app.clone(), guard, limit);
        let route = route.layer(middleware::from_fn_with_state(state, self::guard));
        self.router = self.router.routes((schemas, paths, route));
        self
    }

    /// Every route there is, for the test that walks them.
    #[cfg(test)]
    pub(crate) fn routes(&self) -> &[Route] {
        &self.routes
    }

    pub(crate) fn finish(self) -> (Router, OpenApi) {
        let (router, api) = self.router.split_for_parts();
        let api = description::complete(api, &self.routes);
        let text: Arc<str> = api.to_json().expect("the description is plain data").into();
        let serve = move || {
            let text = text.clone();
            async move { ([(http::header::CONTENT_TYPE, "application/json")], text.to_string()) }
        };
        let router = router
            .route("/v1/openapi.json", axum::routing::get(serve))
            .fallback(nothing_here)
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(self.app.clone(), observe))
            .with_state(self.app);
        (router, api)
    }
}

async fn nothing_here(request: axum::extract::Request) -> Failure {
    let path = request.uri().path();
    let detail = format!("there is nothing at {path}; see /v1/openapi.json for what there is");
    Failure::not_found("not-found", detail)
}

async fn wrong_method(request: axum::extract::Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    let detail = format!("{path} has no {method}; see /v1/openapi.json for what it has");
    Failure::new(http::StatusCode::METHOD_NOT_ALLOWED, "wrong-method", detail)
}
