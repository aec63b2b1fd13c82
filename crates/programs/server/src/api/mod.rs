//! The JSON API below `/api/v1`: states, their history, their locks.
//!
//! Names are in `snake_case`, a member that does not apply is absent, times are RFC 3339 in UTC. What is refused is a
//! [`Problem`](crate::Problem).

mod diff;
mod extract;
mod graph;
mod item;
mod lists;
mod load;
mod locks;
mod openapi;
mod outputs;
mod resource;
mod resources;
mod rollback;
mod state;
mod versions;

pub(crate) use lists::FreeStates;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use http::Uri;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::problem::{Problem, ProblemType};

/// Where the description of the API is.
const DESCRIPTION: &str = "/api/v1/openapi.json";

/// The routes of the API, and that of its description.
pub(crate) fn routes() -> Router<App> {
    let (router, api) = OpenApiRouter::with_openapi(openapi::Description::openapi())
        .routes(routes!(lists::projects))
        .routes(routes!(lists::states))
        .routes(routes!(lists::locks))
        .routes(routes!(state::summary, state::delete))
        .routes(routes!(resources::resources))
        .routes(routes!(resource::resource))
        .routes(routes!(outputs::outputs))
        .routes(routes!(outputs::output))
        .routes(routes!(versions::versions))
        .routes(routes!(versions::version))
        .routes(routes!(versions::content))
        .routes(routes!(versions::pin, versions::unpin))
        .routes(routes!(diff::diff))
        .routes(routes!(rollback::rollback))
        .routes(routes!(locks::lock))
        .routes(routes!(locks::break_lock))
        .routes(routes!(graph::graph))
        .split_for_parts();
    // It never changes while the program runs.
    let text = openapi::text(&api);
    let description = async move || document("application/json", text.clone());
    router.route(DESCRIPTION, get(description)).method_not_allowed_fallback(method_not_allowed)
}

async fn method_not_allowed(uri: Uri) -> Problem {
    Problem::new(ProblemType::MethodNotAllowed, format!("{} does not have this method", uri.path()))
}

/// An answer with a text of a type.
fn document(content_type: &'static str, text: String) -> Response {
    let mut response = Response::new(text.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}
