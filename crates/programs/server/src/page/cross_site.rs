//! Requests that a browser sends for another site's page.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, Method};

use crate::problem::{Problem, ProblemType};

/// What a browser says of the page that makes it send a request. No script can set it, and other clients do not send it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what a page of another site asks for.
///
/// A browser on a machine whose clients need no credentials could otherwise be made to change states by any site that it visits.
pub(crate) async fn refuse_cross_site(request: Request, next: Next) -> Response {
    match is_cross_site(request.method(), request.uri().path(), request.headers()) {
        false => next.run(request).await,
        true => {
            let detail = "pages of other sites may not use this server; open its own page";
            Problem::new(ProblemType::Forbidden, detail).into_response()
        }
    }
}

/// Whether a page of another site asks, and for more than the files of the page, which links may lead to.
pub(crate) fn is_cross_site(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    let is_own = sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    let is_page = method.is_safe() && super::is_public(path);
    !is_own && !is_page
}
