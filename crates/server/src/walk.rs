//! Walks the table of routes: every door is guarded, and every door is described.

use std::collections::BTreeSet;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Method, Request, StatusCode, header};
use seaway_api::{Problem, Scope};
use seaway_engine::{Engine, Options};
use seaway_model::Name;
use seaway_store::{Store, StoredToken};
use seaway_vault::{Key, Vault};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::app::App;
use crate::auth::{Guard, Scopes, hash};
use crate::clock;
use crate::settings::Settings;
use crate::table::{Route, Table};

const SCOPES: [Scope; 4] = [Scope::Read, Scope::Deliver, Scope::Execute, Scope::Admin];

struct Walk {
    _dir: TempDir,
    store: Store,
    routes: Vec<Route>,
    router: Router,
    api: utoipa::openapi::OpenApi,
}

impl Walk {
    /// A server with the projects `shop` and `other`.
    async fn begin() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::sqlite(dir.path()).unwrap();
        for name in ["shop", "other"] {
            store.create_project(&Name::new(name).unwrap()).await.unwrap();
        }
        let engine = Engine::start(store.clone(), Options::default());
        let settings = Settings::new(dir.path().to_owned(), "127.0.0.1:0".parse().unwrap());
        let vault = Vault::new(&Key::random());
        let app = App::new(store.clone(), engine, settings, None, vault);
        let table = Table::new(&app);
        let routes = table.routes().to_vec();
        let (router, api) = table.finish();
        Self { _dir: dir, store, routes, router, api }
    }

    /// The secret of a token with a scope, for one project or for all.
    async fn token(&self, scope: Scope, project: Option<&str>) -> String {
        let id = clock::new_id().to_string();
        let secret = format!("swy_{id}");
        let token = StoredToken {
            hash: hash(&secret),
            id: id.into(),
            name: "walker".into(),
            scopes: Scopes::of(&[scope]).0,
            project: project.map(|it| Name::new(it).unwrap()),
            created: clock::now(),
            expires: None,
            revoked: None,
        };
        self.store.add_token(&token).await.unwrap();
        secret
    }

    /// Goes through a door in the project `shop`. What is beyond it is not waited for.
    async fn go(&self, route: &Route, token: Option<&str>) -> (StatusCode, String) {
        let mut request = Request::builder().method(route.method.clone()).uri(uri(&route.path));
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match route.guard {
            Guard::ByContent => {
                request = request.header(header::CONTENT_TYPE, "application/cloudevents+json");
                let event = serde_json::json!({
                    "specversion": "1.0", "id": "1", "source": "walk", "type": "x.happened",
                    "data": {"project": "shop", "service": "cart", "version": "1"},
                });
                Body::from(event.to_string())
            }
            _ => Body::empty(),
        };
        let request = request.body(body).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        if !status.is_client_error() && !status.is_server_error() {
            return (status, String::new());
        }
        let bytes = to_bytes(response.into_body(), 100_000).await.unwrap();
        let problem: Problem = serde_json::from_slice(&bytes)
            .unwrap_or_else(|error| panic!("{route:?} is {status} without a problem: {error}"));
        (status, problem.code)
    }
}

/// A path with something in the place of every parameter.
fn uri(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{project}" => "shop",
        "{deployment}" => "0192f0c0-0000-7000-8000-000000000001",
        part if part.starts_with('{') => "x",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn denied(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

#[tokio::test]
async fn nobody_comes_in_without_a_token_except_through_open_doors() {
    let walk = Walk::begin().await;
    for route in &walk.routes {
        for token in [None, Some("swy_nobody"), Some("")] {
            let (status, code) = walk.go(route, token).await;
            let refused = (status, &*code) == (StatusCode::UNAUTHORIZED, "unauthenticated");
            assert_eq!(refused, route.guard != Guard::Open, "{route:?} {token:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_token_opens_the_doors_of_its_scope_and_no_others() {
    let walk = Walk::begin().await;
    for scope in SCOPES {
        let token = walk.token(scope, None).await;
        for route in &walk.routes {
            let opens = match route.guard {
                Guard::Open => true,
                Guard::Scope(needed) | Guard::Within(needed) => Scopes::of(&[scope]).allows(needed),
                // The event that is sent asks for a delivery.
                Guard::ByContent => Scopes::of(&[scope]).allows(Scope::Deliver),
            };
            let (status, code) = walk.go(route, Some(&token)).await;
            assert_eq!(!denied(status), opens, "{scope:?} {route:?} {status} {code}");
        }
    }
}

#[tokio::test]
async fn what_a_token_may_not_see_is_not_there_for_it() {
    let walk = Walk::begin().await;
    for scope in SCOPES {
        let token = walk.token(scope, Some("other")).await;
        for route in &walk.routes {
            let (status, code) = walk.go(route, Some(&token)).await;
            let named = route.path.contains("{project}");
            if named || (route.guard == Guard::ByContent && code != "denied") {
                let hidden = (status, &*code) == (StatusCode::NOT_FOUND, "unknown-project");
                assert!(hidden, "{scope:?} {route:?} {status} {code}");
            }
            if route.guard == Guard::Scope(Scope::Admin) && !named {
                assert_eq!((status, &*code), (StatusCode::FORBIDDEN, "denied"), "{route:?}");
            }
        }
    }
}

#[tokio::test]
async fn every_route_is_described_and_everything_described_is_a_route() {
    let walk = Walk::begin().await;
    let table: BTreeSet<(String, String)> =
        walk.routes.iter().map(|it| (it.path.replace("{*", "{"), it.method.to_string())).collect();
    let (mut described, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let api: serde_json::Value = serde_json::to_value(&walk.api).unwrap();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
            described.insert((path.clone(), method.to_string()));
            check_parameters(path, operation);
            let id = operation["operationId"].as_str().unwrap().to_owned();
            assert!(ids.insert(id.clone()), "{id} is there twice");
            let open = walk
                .routes
                .iter()
                .any(|it| it.guard == Guard::Open && it.path == *path && it.method == method);
            let responses = &operation["responses"];
            assert!(open || responses.get("4XX").is_some(), "{method} {path} has no problems");
            for response in responses.as_object().unwrap().values() {
                assert_ne!(response["description"], "", "{method} {path}");
                assert!(response["description"].is_string(), "{method} {path}");
            }
        }
    }
    assert_eq!(table, described);
}

/// Whoever makes a client of the description must be able to fill in every path.
fn check_parameters(path: &str, operation: &serde_json::Value) {
    let none = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&none);
    let described: BTreeSet<&str> = parameters
        .iter()
        .filter(|it| it["in"] == "path")
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let named: BTreeSet<&str> =
        path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}')).collect();
    assert_eq!(described, named, "{path}");
    for parameter in parameters {
        assert!(!parameter["schema"].to_string().contains("null"), "{path}: {parameter}");
    }
}

#[tokio::test]
async fn the_description_is_served_as_it_is() {
    let walk = Walk::begin().await;
    let request = Request::builder().uri("/v1/openapi.json").body(Body::empty()).unwrap();
    let response = walk.router.clone().oneshot(request).await.unwrap();
    let bytes = to_bytes(response.into_body(), 10_000_000).await.unwrap();
    let served: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(served, serde_json::to_value(&walk.api).unwrap());
}
