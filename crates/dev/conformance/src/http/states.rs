//! States: what is stored is what comes back, at its own address.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use md5::{Digest, Md5};

use super::wire::{Cx, document, id_of, state};
use crate::failure::{Step, ensure, not_applicable};

pub(super) async fn no_redirects(cx: &Cx) -> Step {
    let lock = document("redirected");
    for outgoing in [cx.state("GET"), cx.lock(&lock), cx.unlock(&lock)] {
        let method = outgoing.method.to_owned();
        let reply = cx.send(outgoing).await?;
        let expected = format!("{method} is answered at the address itself");
        ensure(!(300..400).contains(&reply.status), expected, || reply.shown())?;
    }
    Ok(())
}

pub(super) async fn absent(cx: &Cx) -> Step {
    let reply = cx.send(cx.state("GET")).await?;
    let is_empty = reply.status == 200 && reply.body.is_empty();
    let expected = "GET of a state that was never stored is answered with 404 or 204";
    ensure(is_empty || matches!(reply.status, 204 | 404), expected, || reply.shown())
}

pub(super) async fn come_back(cx: &Cx) -> Step {
    let (writer, reply) = cx.first_upload(&state(1), false).await?;
    reply.succeeds("an upload")?;
    for serial in 1..=3 {
        let bytes = state(serial);
        if serial > 1 {
            cx.send(cx.upload(&bytes, writer.id().as_deref())).await?.succeeds("an upload")?;
        }
        cx.reads(Some(&bytes), "after an upload").await?;
        let reply = cx.send(cx.state("GET")).await?;
        if let Some(digest) = reply.header("content-md5") {
            let expected = "`Content-MD5` of GET is that of the state";
            ensure(digest == BASE64_STANDARD.encode(Md5::digest(&bytes)), expected, || digest.to_owned())?;
        }
    }
    cx.end(writer).await
}

pub(super) async fn apart(cx: &Cx) -> Step {
    let (other, bytes) = (cx.other(), state(1));
    cx.store(&bytes).await?;
    other.reads(None, "of another state").await?;
    let lock = document("apart");
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    other.is_free("while the lock of one state is held").await?;
    cx.send(cx.unlock(&lock)).await?.succeeds("its release").map(drop)
}

pub(super) async fn uploads(cx: &Cx) -> Step {
    let (writer, reply) = cx.first_upload(&state(1), false).await?;
    reply.is(&[200, 201, 204], "an upload")?;
    let (second, id) = (state(2), writer.id());
    cx.send(cx.upload(&second, id.as_deref())).await?.is(&[200, 201, 204], "an upload")?;
    cx.end(writer).await
}

pub(super) async fn chunked(cx: &Cx) -> Step {
    let bytes = state(1);
    let (writer, reply) = cx.first_upload(&bytes, true).await?;
    reply.succeeds("an upload in chunks")?;
    cx.reads(Some(&bytes), "after an upload in chunks").await?;
    cx.end(writer).await
}

pub(super) async fn repeated(cx: &Cx) -> Step {
    let (bytes, lock, id) = (state(1), document("holder"), id_of("holder"));
    cx.send(cx.lock(&lock)).await?.succeeds("a lock that is free")?;
    for what in ["an upload of the holder", "the same upload of the holder again"] {
        cx.send(cx.upload(&bytes, Some(&id))).await?.succeeds(what)?;
    }
    cx.reads(Some(&bytes), "after the upload").await?;
    cx.send(cx.unlock(&lock)).await?.succeeds("the release").map(drop)
}

pub(super) async fn delete(cx: &Cx) -> Step {
    let bytes = state(1);
    let (writer, reply) = cx.first_upload(&bytes, false).await?;
    reply.succeeds("an upload")?;
    // A server that takes no upload without a lock removes nothing without it either.
    let reply = cx.send(cx.under(writer.id().as_deref(), "DELETE")).await?;
    cx.end(writer).await?;
    if matches!(reply.status, 403 | 405 | 501) {
        return not_applicable("the server does not delete, which no command of Terraform asks for");
    }
    reply.is(&[200], "a deletion")?;
    cx.reads(None, "after a deletion").await
}
