//! Requests that a browser sends for another site's page.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderName;

use crate::problem::{Problem, ProblemType};

/// What a browser says of the page that makes it send a request. No script can set it, and other clients do not send it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what a page of another site asks for, except for the page itself, which links may lead to.
///
/// A browser on a machine whose clients need no credentials could otherwise be made to change states by any site that it visits.
pub(crate) async fn refuse_cross_site(request: Request, next: Next) -> Response {
    let is_own = request
        .headers()
        .get_all(FETCH_SITE)
        .iter()
        .all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    match is_own || super::is_public(request.uri().path()) {
        true => next.run(request).await,
        false => {
            let detail = "pages of other sites may not use this server; open its own page";
            Problem::new(ProblemType::Forbidden, detail).into_response()
        }
    }
}
