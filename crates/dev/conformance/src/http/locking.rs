//! Locks: taken, refused with the holder's document, and released.

use serde_json::Value;

use super::wire::{Cx, Outgoing, document, id_of};
use crate::failure::{Step, ensure, failed};

pub(super) async fn lock(cx: &Cx) -> Step {
    let lock = document("holder");
    cx.send(cx.lock(&lock)).await?.is(&[200], "a lock that is free")?;
    cx.send(cx.unlock(&lock)).await?.succeeds("its release")?;
    cx.is_free("after the release").await
}

pub(super) async fn chunked(cx: &Cx) -> Step {
    let lock = document("holder");
    // Whether it excludes others is another clause.
    let outgoing = Outgoing { chunked: true, ..cx.lock(&lock) };
    cx.send(outgoing).await?.succeeds("a lock whose body is sent in chunks")?;
    let outgoing = Outgoing { chunked: true, ..cx.unlock(&lock) };
    cx.send(outgoing).await?.succeeds("a release whose body is sent in chunks")?;
    cx.is_free("after a release whose body was sent in chunks").await
}

pub(super) async fn holder(cx: &Cx) -> Step {
    let (first, second) = (document("holder"), document("late"));
    cx.send(cx.lock(&first)).await?.succeeds("a lock that is free")?;
    let reply = cx.send(cx.lock(&second)).await?.is(&[409, 423], "a lock while another client holds it")?;
    let shown = reply.shown();
    let Ok(Value::Object(body)) = serde_json::from_slice(&reply.body) else {
        return Err(failed("the body of the refusal is the holder's document", shown));
    };
    let sent: Value = serde_json::from_slice(&first).unwrap_or_default();
    for name in ["ID", "Operation", "Info", "Who", "Version", "Created"] {
        let expected = format!("the body of the refusal has the holder's {name}, {}", sent[name]);
        ensure(body.get(name) == Some(&sent[name]), expected, || shown.clone())?;
    }
    cx.is_held("after a lock was refused").await?;
    cx.send(cx.unlock(&first)).await?.succeeds("the holder's release").map(drop)
}

pub(super) async fn repeated_lock(cx: &Cx) -> Step {
    let lock = document("holder");
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.lock(&lock)).await?.is(&[200], "the same lock again")?;
    cx.is_held("after the holder has asked twice").await?;
    cx.send(cx.unlock(&lock)).await?.succeeds("one release")?;
    cx.is_free("after one release").await
}

pub(super) async fn unlock(cx: &Cx) -> Step {
    let lock = document("holder");
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.unlock(&lock)).await?.is(&[200], "the holder's release")?;
    cx.is_free("after the release").await
}

pub(super) async fn repeated_unlock(cx: &Cx) -> Step {
    let lock = document("holder");
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.unlock(&lock)).await?.succeeds("the release")?;
    cx.send(cx.unlock(&lock)).await?.is(&[200], "the same release again").map(drop)
}

/// What a release by force has done: the lock is free after 200, and held after a refusal.
async fn forced(cx: &Cx, outgoing: Outgoing<'_>, what: &str) -> Step {
    let reply = cx.send(outgoing).await?;
    match reply.status {
        200 => cx.is_free(&format!("after {what}, answered with 200")).await,
        400..=599 => {
            cx.is_held(&format!("after {what}, answered with {}", reply.status)).await?;
            cx.send(cx.unlock(&document("holder"))).await?.succeeds("the holder's release").map(drop)
        }
        _ => Err(failed(format!("{what} is answered with 200 or refused"), reply.shown())),
    }
}

pub(super) async fn empty_unlock(cx: &Cx) -> Step {
    let lock = document("holder");
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    // As the original sends it: nothing, in chunks, with the digest of nothing.
    let outgoing = Outgoing { chunked: true, ..cx.unlock(b"") };
    forced(cx, outgoing, "an unlock without a body").await
}

pub(super) async fn id_alone(cx: &Cx) -> Step {
    let (lock, id) = (document("holder"), id_of("holder"));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    let force = format!(
        "{{\"ID\":\"{id}\",\"Operation\":\"\",\"Info\":\"\",\"Who\":\"\",\"Version\":\"\",\"Created\":\"0001-01-01T00:00:00Z\",\"Path\":\"\"}}"
    );
    forced(cx, cx.unlock(force.as_bytes()), "an unlock with the id alone").await
}
