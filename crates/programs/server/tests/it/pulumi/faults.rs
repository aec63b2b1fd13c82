//! The real pulumi against a server that is small, busy, or loses what decides nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use axum::{Extension, Router};
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::router;
use groundstate_testkit::{pulumi_has_journals, pulumi_takes_part};
use http::StatusCode;

use super::service::{Service, journals_take_part};
use crate::listening::Listening;

/// Returns the number of bytes of a body, which may be compressed.
fn unpacked(body: &[u8]) -> u64 {
    match body.starts_with(&[0x1f, 0x8b]) {
        true => std::io::copy(&mut flate2::read::GzDecoder::new(body), &mut std::io::sink()).unwrap(),
        false => body.len() as u64,
    }
}

/// A service of which a layer answers some requests.
fn behind(mut service: Service, layer: impl FnOnce(Router) -> Router) -> Service {
    let principal = Principal::new("admin", PrincipalKind::Local, vec![Grant::everything(Role::Admin)]);
    let served = layer(router(service.server.app.clone())).layer(Extension(principal));
    service.listening = Listening::serve(served);
    service.project.set("PULUMI_BACKEND_URL", &service.listening.endpoint());
    service
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_whose_events_get_lost_succeeds_and_its_changes_are_counted_in_the_journal() {
    if !journals_take_part() {
        return;
    }
    let service = behind(Service::new(), |router| {
        router.layer(from_fn(async |request: Request, next: Next| {
            match request.uri().path().ends_with("/events/batch") {
                true => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                false => next.run(request).await,
            }
        }))
    });
    service.init();
    service.up();
    let latest = service.latest().await;
    assert_eq!(latest["result"], "succeeded");
    // The stack and the two resources of the program.
    assert_eq!(latest["resourceChanges"], serde_json::json!({"create": 3}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_told_to_wait_waits_and_goes_on() {
    // Releases before it do not repeat such requests.
    if !pulumi_takes_part() || !pulumi_has_journals() {
        return;
    }
    let refused = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&refused);
    let service = behind(Service::new(), move |router| {
        router.layer(from_fn(move |request: Request, next: Next| {
            let counted = Arc::clone(&counted);
            async move {
                // Calls that the CLI repeats, each the first time.
                let path = request.uri().path();
                let is_repeated =
                    ["/journalentries", "/complete", "/export"].iter().any(|end| path.ends_with(end));
                match is_repeated && counted.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                    true => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response(),
                    false => next.run(request).await,
                }
            }
        }))
    });
    service.init();
    service.up();
    assert!(refused.load(Ordering::Relaxed) > 2);
    assert_eq!(service.latest().await["result"], "succeeded");
    service.project.preview_is_clean("dev");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_too_large_on_its_way_is_split_by_the_cli() {
    if !journals_take_part() {
        return;
    }
    let blobs = Arc::new(MemoryBlobs::new("stacks"));
    let small = Service::with(blobs, |_| ());
    let refused = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&refused);
    let mut service = behind(small, move |router| {
        router.layer(from_fn(move |request: Request, next: Next| {
            let counted = Arc::clone(&counted);
            async move {
                // A proxy in front of the server has a limit of its own.
                let is_journal = request.uri().path().ends_with("/journalentries");
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                if is_journal && unpacked(&body) > 16 << 10 {
                    counted.fetch_add(1, Ordering::Relaxed);
                    return StatusCode::PAYLOAD_TOO_LARGE.into_response();
                }
                next.run(Request::from_parts(head, body.into())).await
            }
        }))
    });
    // All that is queued in these milliseconds is one batch.
    service.project.set("PULUMI_JOURNALING_BATCH_PERIOD", "2000");
    service.init();
    let resources: Vec<String> = (0..12)
        .map(|number| {
            let text = "#".repeat(2000);
            format!("  r{number}: {{ type: \"pulumi:Stash\", properties: {{ input: \"{text}\" }} }}\n")
        })
        .collect();
    service.project.program(&format!("resources:\n{}", resources.concat()));
    service.up();
    let latest = service.latest().await;
    assert_eq!((&latest["result"], &latest["resourceCount"]), (&"succeeded".into(), &14.into()));
    assert!(refused.load(Ordering::Relaxed) > 0);
    service.project.preview_is_clean("dev");
}
