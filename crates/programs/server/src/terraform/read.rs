//! GET and HEAD: the stored bytes.

use axum::body::Body;
use axum::response::Response;
use groundstate_versioned::{ErrorKind, Version};
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LINK};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use super::conflict::Refusal;
use crate::caller::Access;
use crate::download::download;
use crate::headers::{ByteRange, CONTENT_MD5, Conditions, RangeAnswer, md5_value, range};
use crate::problem::{Problem, ProblemType};

/// How often a version that retention removed while it was opened is replaced by the one after it.
const ROUNDS: usize = 10;

/// Gives the state as it was stored, or a part of it.
///
/// # Errors
///
/// If there is none, or the store does not answer.
pub(super) async fn read(access: &Access, parts: &Parts) -> Result<Response, Refusal> {
    let conditions = Conditions::read(&parts.headers)?;
    let document = access.document();
    for _ in 0..ROUNDS {
        let head = document.head().await?;
        let Some(version) = head.current() else {
            let detail = format!("there is no state at {}", access.path);
            // What was deleted has a history, by which it comes back.
            let link = (head.number() > 0).then(|| history_link(access)).flatten();
            return Err(Problem::new(ProblemType::NotFound, detail).with_link(link).into());
        };
        if !conditions.matches(Some(version.id.as_str())) {
            let detail = "another version is stored than the request expects";
            return Err(Problem::new(ProblemType::PreconditionFailed, detail).into());
        }
        if !conditions.none_match(Some(version.id.as_str())) {
            return Ok(linked(access, described(version, StatusCode::NOT_MODIFIED, Body::empty())));
        }
        if parts.method == Method::HEAD {
            let mut response = described(version, StatusCode::OK, Body::empty());
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(version.size));
            return Ok(linked(access, response));
        }
        let part = match range(&parts.headers, version.size) {
            RangeAnswer::Whole => None,
            RangeAnswer::Part(part) => Some(part),
            RangeAnswer::Unsatisfiable => return Ok(unsatisfiable(version)),
        };
        match document.open(version).await {
            Err(error) if error.kind() == ErrorKind::NotKept => {}
            reader => {
                let body = download(access.caller.account(), reader?, part).await?;
                access.note("state.read", format!("version {}", version.number));
                return Ok(linked(access, content(version, part, body)));
            }
        }
    }
    let detail = "the state changes faster than it can be read; try again";
    Err(Problem::new(ProblemType::Unavailable, detail).with_retry_after(1).into())
}

/// An answer that says where the history is.
fn linked(access: &Access, mut response: Response) -> Response {
    if let Some(link) = history_link(access) {
        response.headers_mut().insert(LINK, link);
    }
    response
}

/// Where the versions of a state are listed, as RFC 5829 has it: clients that know the relation need no other configuration.
fn history_link(access: &Access) -> Option<HeaderValue> {
    let path = &access.path;
    let (project, state, workspace) = (path.project(), path.state(), path.workspace());
    let link = format!("</api/v1/states/{project}/{state}/{workspace}/versions>; rel=\"version-history\"");
    HeaderValue::try_from(link).ok()
}

fn content(version: &Version, part: Option<ByteRange>, body: Body) -> Response {
    let Some(part) = part else {
        let mut response = described(version, StatusCode::OK, body);
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(version.size));
        return response;
    };
    let mut response = described(version, StatusCode::PARTIAL_CONTENT, body);
    let headers = response.headers_mut();
    // The digest is that of the whole.
    headers.remove(CONTENT_MD5);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(part.size()));
    insert(headers, CONTENT_RANGE, format!("bytes {}-{}/{}", part.first, part.last, version.size));
    response
}

fn unsatisfiable(version: &Version) -> Response {
    let mut response = described(version, StatusCode::RANGE_NOT_SATISFIABLE, Body::empty());
    let headers = response.headers_mut();
    headers.remove(CONTENT_MD5);
    insert(headers, CONTENT_RANGE, format!("bytes */{}", version.size));
    response
}

/// An answer with the headers that describe a version.
pub(crate) fn described(version: &Version, status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(CONTENT_MD5, md5_value(version.md5.as_bytes()));
    insert(headers, ETAG, tag(version));
    response
}

/// The entity tag of a version: its id, which no other version has.
pub(crate) fn tag(version: &Version) -> String {
    format!("\"{}\"", version.id)
}

/// Inserts a value of visible ASCII.
fn insert(headers: &mut http::HeaderMap, name: http::HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}
