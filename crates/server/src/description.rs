use http::Method;
use utoipa::openapi::path::{Operation, Parameter, PathItem};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi, RefOr};

use crate::auth::Guard;
use crate::table::Route;

/// Completes what the handlers say about themselves with what holds for all of them.
pub(crate) fn complete(mut api: OpenApi, routes: &[Route]) -> OpenApi {
    let info = InfoBuilder::new().title("Seaway").version(env!("CARGO_PKG_VERSION"));
    api.info = info.build();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    api.components.get_or_insert_default().add_security_scheme("token", bearer);
    api.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
    for route in routes {
        let item = api.paths.paths.get_mut(&route.path);
        if let Some(operation) = item.and_then(|item| operation(item, &route.method)) {
            operation.operation_id = Some(name(route));
            finish(operation, route.guard);
        }
    }
    // A parameter that takes the rest of a path is called by its name alone there.
    let paths = std::mem::take(&mut api.paths.paths).into_iter();
    api.paths.paths = paths.map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    api
}

fn operation<'a>(item: &'a mut PathItem, method: &Method) -> Option<&'a mut Operation> {
    match *method {
        Method::GET => item.get.as_mut(),
        Method::PUT => item.put.as_mut(),
        Method::POST => item.post.as_mut(),
        Method::DELETE => item.delete.as_mut(),
        _ => None,
    }
}

fn finish(operation: &mut Operation, guard: Guard) {
    if guard == Guard::Open {
        operation.security = Some(Vec::new());
    }
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            never_null(parameter);
        }
    }
    // Whatever is refused may also be put off.
    let responses = &mut operation.responses.responses;
    if let Some(problem) = responses.get("4XX").cloned() {
        responses.entry("503".to_owned()).or_insert(problem);
    }
    for (status, response) in responses {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = described(status).to_owned();
        }
    }
}

/// Handlers of several areas have the same name; routes have not.
fn name(route: &Route) -> String {
    let parts = route.path.trim_start_matches("/v1").split('/');
    let parts = parts.map(|part| part.trim_matches(['{', '*', '}']));
    let path: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    format!("{}_{}", route.method.as_str().to_ascii_lowercase(), path.join("_"))
}

fn described(status: &str) -> &'static str {
    match status.as_bytes().first() {
        Some(b'2') => "as it was asked for",
        Some(b'4') => "refused; the code says why, and the detail what to do",
        _ => "not now; the same request may go well later",
    }
}

/// What is not sent is missing: there is no text that stands for nothing.
fn never_null(parameter: &mut Parameter) {
    if let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema
        && let SchemaType::Array(types) = &schema.schema_type
        && let [one] = types.iter().filter(|it| **it != Type::Null).collect::<Vec<_>>()[..]
    {
        schema.schema_type = SchemaType::Type(one.clone());
    }
}
