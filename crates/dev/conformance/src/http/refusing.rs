//! What has to be refused, and what a refusal leaves as it was.

use super::wire::{Cx, Outgoing, document, id_of, state};
use crate::failure::{Step, ensure};

/// The digest of nothing.
const OF_NOTHING: &str = "1B2M2Y8AsgTpgAmY7PhCfg==";

pub(super) async fn digests(cx: &Cx) -> Step {
    let (stored, damaged) = (state(1), state(2));
    let (writer, reply) = cx.first_upload(&stored, false).await?;
    reply.succeeds("an upload")?;
    let upload = Outgoing { digest: Some(OF_NOTHING), ..cx.upload(&damaged, writer.id().as_deref()) };
    cx.send(upload).await?.refuses("an upload whose `Content-MD5` is that of other bytes")?;
    cx.reads(Some(&stored), "after a damaged upload").await?;
    cx.end(writer).await
}

pub(super) async fn no_id(cx: &Cx) -> Step {
    for (body, what) in [
        (&b""[..], "a lock without a body"),
        (b"{}", "a lock without an ID"),
        (b"{\"ID\":\"\"}", "a lock with an empty ID"),
    ] {
        cx.send(cx.lock(body)).await?.refuses(what)?;
        cx.is_free(&format!("after {what}")).await?;
    }
    Ok(())
}

pub(super) async fn other_id(cx: &Cx) -> Step {
    let (lock, other) = (document("holder"), document("other"));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.unlock(&other)).await?.refuses("a release under another id")?;
    cx.is_held("after a release under another id").await?;
    cx.send(cx.unlock(&lock)).await?.succeeds("the holder's release").map(drop)
}

pub(super) async fn other_writers(cx: &Cx) -> Step {
    let (lock, own, other) = (document("holder"), id_of("holder"), id_of("other"));
    let (stored, foreign) = (state(1), state(2));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.upload(&stored, Some(&own))).await?.succeeds("an upload of the holder")?;
    cx.send(cx.upload(&foreign, Some(&other)))
        .await?
        .refuses("an upload under another id while the lock is held")?;
    cx.reads(Some(&stored), "after an upload under another id").await?;
    cx.is_held("after an upload under another id").await?;
    cx.send(cx.unlock(&lock)).await?.succeeds("the holder's release").map(drop)
}

pub(super) async fn lost_locks(cx: &Cx) -> Step {
    let (lock, id) = (document("holder"), id_of("holder"));
    let (stored, late) = (state(1), state(2));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    cx.send(cx.upload(&stored, Some(&id))).await?.succeeds("an upload of the holder")?;
    cx.send(cx.unlock(&lock)).await?.succeeds("the release")?;
    cx.send(cx.upload(&late, Some(&id)))
        .await?
        .refuses("an upload with the id of a lock that is released")?;
    cx.reads(Some(&stored), "after an upload with the id of a lock that is released").await
}

pub(super) async fn decisions(cx: &Cx) -> Step {
    let (lock, other, stored) = (document("holder"), document("other"), state(1));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    let foreign = id_of("other");
    for (outgoing, what) in [
        (cx.upload(&stored, Some(&foreign)), "an upload under another id"),
        (cx.unlock(&other), "a release under another id"),
        (Outgoing { chunked: true, ..cx.unlock(b"") }, "a release without a body"),
    ] {
        let reply = cx.send(outgoing).await?;
        ensure(reply.status < 500, format!("{what} is answered by a decision, not with 5xx"), || {
            reply.shown()
        })?;
    }
    cx.send(cx.unlock(&lock)).await.map(drop)
}

pub(super) async fn methods(cx: &Cx) -> Step {
    let (stored, other) = (state(1), state(2));
    cx.store(&stored).await?;
    for method in ["FROBNICATE", "lock"] {
        let reply = cx.send(Outgoing { method, ..cx.upload(&other, None) }).await?;
        let expected = format!("{method}, which the protocol does not have, is answered with 4xx or 501");
        ensure(matches!(reply.status, 400..=499 | 501), expected, || reply.shown())?;
        cx.reads(Some(&stored), &format!("after {method}")).await?;
        cx.is_free(&format!("after {method}")).await?;
    }
    Ok(())
}
