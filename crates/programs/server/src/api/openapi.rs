//! The description of the API, and of the protocol beside it.

use serde_json::{Map, Value};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// What Terraform's protocol has, written by hand: LOCK and UNLOCK are no methods that the format knows.
const PROTOCOL: &str = include_str!("protocol.json");

#[derive(OpenApi)]
#[openapi(
    info(
        title = "groundstate state server",
        description = "States, their history and their locks. What is refused is a problem document (RFC 9457) with a stable `type`.",
    ),
    tags(
        (name = "states", description = "States and what is in them"),
        (name = "history", description = "Versions of states"),
        (name = "locks", description = "Locks of states"),
        (name = "terraform", description = "The protocol of the `http` backend of Terraform and OpenTofu"),
    ),
    modifiers(&Credentials),
    security(("basic" = []), ("bearer" = [])),
)]
pub(super) struct Description;

/// How clients say who they are.
struct Credentials;

impl Modify for Credentials {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let components = api.components.get_or_insert_default();
        components.add_security_scheme("basic", SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)));
        components.add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// The description as JSON, with the protocol.
pub(super) fn text(api: &utoipa::openapi::OpenApi) -> String {
    let mut document = serde_json::to_value(api).unwrap_or_default();
    let protocol: Map<String, Value> = serde_json::from_str(PROTOCOL).unwrap_or_default();
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        paths.extend(protocol);
    }
    document.to_string()
}
