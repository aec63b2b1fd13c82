//! What a URL reaches.

use std::sync::Arc;

use axum::body::Body;
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::{App, Parts, router};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

#[tokio::test]
async fn an_unknown_url_is_a_problem_document() {
    let service = router(App::new(Parts::new(Arc::new(MemoryBlobs::new("states")))));
    let request = Request::get("/nothing").body(Body::empty()).unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let document: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(document["type"], "urn:groundstate:problem:no-such-route");
    assert_eq!(document["detail"], "there is nothing at /nothing");
}
