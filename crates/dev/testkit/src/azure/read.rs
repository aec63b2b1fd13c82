//! Reading blobs and their properties.

use std::time::Instant;

use super::State;
use super::encryption;
use super::error::{Refused, Result};
use super::lease::{Is, Lease, check_read};
use super::route::Target;
use crate::digest::{base64, md5};
use crate::http::{Answer, Request};
use crate::store::{Found, Object, http_date};

pub(super) fn answer(state: &State, request: &Request, target: &Target) -> Result<Answer> {
    let now = state.now();
    let (object, lease) = match request.parameter("snapshot") {
        Some(moment) => {
            (state.snapshots.find(target.borrowed(), &moment).ok_or_else(Refused::no_blob)?, None)
        }
        None => {
            let object = state.store.object(&target.container, &target.blob).ok_or_else(Refused::no_blob)?;
            (object, state.leases.get(&target.name()))
        }
    };
    encryption::check(request, object)?;
    check_read(lease, request.header("x-ms-lease-id"), now)?;
    match Found::read(request, object) {
        Found::Answer(answer) => Ok(with_lease(lease, now, describe(object, answer))),
        Found::NotModified => Err(Refused::new(304, "ConditionNotMet", "")),
        Found::Precondition => Err(Refused::condition()),
        Found::Range => {
            let message = "The range specified is invalid for the current size of the resource.";
            Err(Refused::new(416, "InvalidRange", message))
        }
    }
}

fn describe(object: &Object, mut answer: Answer) -> Answer {
    for (name, value) in &object.headers {
        answer = answer.header(name, value);
    }
    if object.header("content-type").is_none() {
        answer = answer.header("content-type", "application/octet-stream");
    }
    if answer.status() == 200 {
        answer = answer.header("content-md5", base64(&md5(&object.bytes)));
    }
    encryption::describe(object, answer)
        // When it was first written is not kept here, and clients only want a time.
        .header("x-ms-creation-time", http_date(object.modified))
        .header("x-ms-blob-type", "BlockBlob")
        .header("x-ms-server-encrypted", "true")
        .maybe("x-ms-version-id", object.version.as_deref())
}

/// The status of a lease, its state, and its duration while it lasts.
pub(super) fn lease_words(
    lease: Option<&Lease>,
    now: Instant,
) -> (&'static str, &'static str, Option<&'static str>) {
    let duration = |lease: &Lease| if lease.duration.is_some() { "fixed" } else { "infinite" };
    match lease.map(|lease| (lease, lease.is(now))) {
        None => ("unlocked", "available", None),
        Some((lease, Is::Leased)) => ("locked", "leased", Some(duration(lease))),
        Some((_, Is::Breaking)) => ("locked", "breaking", None),
        Some((_, Is::Broken)) => ("unlocked", "broken", None),
        Some((_, Is::Expired)) => ("unlocked", "expired", None),
    }
}

fn with_lease(lease: Option<&Lease>, now: Instant, answer: Answer) -> Answer {
    let (status, state, duration) = lease_words(lease, now);
    answer
        .header("x-ms-lease-status", status)
        .header("x-ms-lease-state", state)
        .maybe("x-ms-lease-duration", duration)
}
