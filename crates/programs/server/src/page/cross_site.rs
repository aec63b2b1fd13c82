//! Requests that a browser sends for another site's page.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{HOST, ORIGIN};
use http::{HeaderName, Uri};

use crate::problem::{Problem, ProblemType};

/// What a browser says of the page that makes it send a request. No script can set it, and other clients do not send it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what a page of another site asks for, except for the page itself, which links may lead to.
///
/// A browser on a machine whose clients need no credentials could otherwise be made to change states by any site that it visits.
pub(crate) async fn refuse_cross_site(request: Request, next: Next) -> Response {
    match is_own(&request) || super::is_public(request.uri().path()) {
        true => next.run(request).await,
        false => {
            let detail = "pages of other sites may not use this server; open its own page";
            Problem::new(ProblemType::Forbidden, detail).into_response()
        }
    }
}

/// Whether a request is of no browser, of the server's own page, or of the user.
fn is_own(request: &Request) -> bool {
    let headers = request.headers();
    if headers.contains_key(FETCH_SITE) {
        let mut sites = headers.get_all(FETCH_SITE).iter();
        return sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    }
    // Browsers leave it out where the server is reached without TLS on another machine, and name the page's origin with every request
    // that could change something. Other clients have none.
    let named = request.uri().authority().map(|authority| authority.as_str());
    let host = named.or_else(|| headers.get(HOST)?.to_str().ok());
    headers.get_all(ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let site = origin.as_ref().and_then(|origin| Some(origin.authority()?.as_str()));
        site.is_some() && site == host
    })
}
