//! What holds for any input. The fuzz target calls this, and so does a test, for the corpus.

use std::sync::Arc;

use axum::body::Body;
use axum::{Extension, Router};
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::{App, Parts, ProblemType, router};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// What stands between two requests.
const BETWEEN: &[u8] = b"\n%%\n";

/// Any requests, one after the other, are answered: none with an error of the server, the refused ones with a problem or the
/// document of a lock, and the server works on behind them.
pub(crate) fn requests(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let app = App::open(Parts::new(Arc::new(MemoryBlobs::new("fuzz")))).expect("a server");
        let principal = Principal::new("fuzz", PrincipalKind::Token, vec![Grant::everything(Role::Admin)]);
        let service = router(app).layer(Extension(principal));
        for text in split(data) {
            if let Some(request) = request(text) {
                answer(&service, request).await;
            }
        }
        for url in ["/tf/shop/network", "/api/v1/locks", "/api/v1/states?deleted=true", "/api/v1/projects"] {
            let request = Request::get(url).body(Body::empty()).expect("it is a request");
            let status = answer(&service, request).await;
            assert!(status.is_success() || status == StatusCode::NOT_FOUND, "{url}: {status}");
        }
    });
}

fn split(data: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), data);
    while let Some(at) = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        parts.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    parts.push(rest);
    parts
}

/// A request of the form `METHOD TARGET`, then headers, an empty line and the body; none for other texts.
fn request(text: &[u8]) -> Option<Request<Body>> {
    let end = text.windows(2).position(|window| window == b"\n\n").unwrap_or(text.len());
    let body = text.get(end + 2..).unwrap_or_default().to_vec();
    let head = String::from_utf8_lossy(&text[..end]);
    let mut lines = head.lines();
    let (method, target) = lines.next()?.split_once(' ')?;
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
    }
    Some(request)
}

async fn answer(service: &Router, request: Request<Body>) -> StatusCode {
    let shown = format!("{} {}", request.method(), request.uri());
    let Ok(response) = service.clone().oneshot(request).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("what was stored can be read").to_bytes();
    let kind = parts.headers.get("content-type").map(|kind| kind.as_bytes().to_vec()).unwrap_or_default();
    assert!(!parts.status.is_server_error(), "{shown}: {} {}", parts.status, String::from_utf8_lossy(&body));
    if kind == b"application/problem+json" {
        let problem: serde_json::Value = serde_json::from_slice(&body).expect("a problem is JSON");
        assert!(ProblemType::ALL.iter().any(|kind| problem["type"] == kind.uri()), "{shown}: {problem}");
        assert_eq!(problem["status"], parts.status.as_u16(), "{shown}");
    } else if parts.status.is_client_error() && parts.status != StatusCode::RANGE_NOT_SATISFIABLE {
        // An error of the service protocol, or the document of a lock, as its holder sent it.
        let error = serde_json::from_slice::<serde_json::Value>(&body).unwrap_or_default();
        assert!(
            error["code"] == parts.status.as_u16()
                || body.is_empty() && shown.starts_with("HEAD ")
                || [StatusCode::LOCKED, StatusCode::CONFLICT].contains(&parts.status),
            "{shown}: {}",
            parts.status
        );
        assert_eq!(kind, b"application/json", "{shown}");
        assert!(!body.is_empty(), "{shown}");
    }
    parts.status
}
