//! Answers: JSON, and errors as the CLI reads them.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use groundstate_pulumi_protocol::{ErrorBody, encode};
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::problem::{Problem, ProblemType};

/// Whether a path is one of the protocol, and not of the JSON API.
pub(crate) fn is_own(path: &str) -> bool {
    path.strip_prefix("/api/").is_some_and(|rest| rest != "v1" && !rest.starts_with("v1/"))
}

/// Errors as the CLI reads them. It looks at nothing but the member `code`, which has to be that of the answer: without it, it takes a
/// missing stack for a defect.
pub(crate) fn with_codes(path: &str, response: Response) -> Response {
    let Some(problem) = response.extensions().get::<Problem>().filter(|_| is_own(path)).cloned() else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let body = encode(&ErrorBody::new(parts.status.as_u16(), problem.detail())).unwrap_or_default();
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body))
}

/// An answer with a document.
pub(super) fn json(document: &impl Serialize) -> Result<Response, Problem> {
    let body =
        encode(document).map_err(|_| Problem::new(ProblemType::Internal, "the answer cannot be written"))?;
    Ok(typed(Body::from(body)))
}

/// An answer whose body is JSON.
pub(super) fn typed(body: Body) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (headers, body).into_response()
}

/// An answer without a body.
pub(super) fn done() -> Response {
    (StatusCode::NO_CONTENT, [(CACHE_CONTROL, "no-store")]).into_response()
}
