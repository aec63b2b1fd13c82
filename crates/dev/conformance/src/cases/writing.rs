//! W1 to W5, W7 and W8: what a write does, and when it is refused.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, Stored, Version, WriteOptions};

use crate::cx::{Client, Cx, put, read, reads, reads_nothing, reads_the_same};
use crate::executor::abandon_after;
use crate::failure::{Answer, Step, Stop, describe, describe_bytes, describe_stored, ensure, equal, fail};
use crate::harness::Disturbance;

/// A call that has not come to its end after so many waits is left to go on.
const MOST_WAITS: usize = 64;

pub(super) async fn replaces(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for size in [5_000, 0, 200_000, 1_000, 200_000, 0] {
        let document = cx.document_of(size);
        let version = put(&a, &document).await?;
        reads(&b, "B", &document, Some(&version)).await?;
    }
    Ok(())
}

pub(super) async fn zero_bytes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    a.write(Bytes::from_static(b""), &WriteOptions::any())
        .await
        .refused(ErrorKind::Invalid, "a first write of zero bytes")?;
    reads_nothing(&b, "B").await?;
    let document = cx.document();
    let version = put(&a, &document).await?;
    a.write(Bytes::from_static(b""), &WriteOptions::any())
        .await
        .refused(ErrorKind::Invalid, "a write of zero bytes")?;
    reads(&b, "B", &document, Some(&version)).await.map(drop)
}

pub(super) async fn all_or_nothing(cx: &Cx) -> Step {
    let b = cx.open().await?;
    put(&b, &cx.document_of(20_000)).await?;
    // What may be read: the last write that is known to have happened, and each that was given up. A request that was
    // sent may reach the service long after its client is gone, so a write that was given up stays possible.
    let mut possible = vec![read(&b).await?.map(|stored| stored.bytes).unwrap_or_default()];
    let mut abandoned = Vec::new();
    for waits in 1..=MOST_WAITS {
        let a = cx.open().await?;
        let document = cx.document_of(if waits % 2 == 0 { 30_000 } else { 500 });
        let options = WriteOptions::any();
        let outcome = abandon_after(a.write(Bytes::copy_from_slice(&document), &options), waits).await;
        // A client that gives up is dropped as a whole, as when its process ends.
        drop(a);
        let ended = outcome.is_some();
        match outcome {
            None => abandoned.push(document),
            Some(outcome) => agrees(&b, &mut possible, &abandoned, outcome, document).await?,
        }
        let stored = read(&b).await?;
        let whole = stored.as_ref().is_some_and(|stored| is_one_of(&stored.bytes, &possible, &abandoned));
        ensure(whole, "after a write that was dropped half way, the old bytes or the new ones", || {
            describe_stored(stored.as_ref())
        })?;
        if ended {
            break;
        }
    }
    for disturbance in [Disturbance::RefuseRequest, Disturbance::LoseAnswer] {
        disturbed(cx, &b, &abandoned, disturbance).await?;
    }
    let reader = cx.open().await?;
    // Each write that was given up arrives once at most.
    for _ in &abandoned {
        let document = cx.document();
        put(&b, &document).await?;
        if !read(&reader).await?.is_some_and(|stored| abandoned.contains(&stored.bytes)) {
            break;
        }
    }
    let document = cx.document();
    let version = put(&b, &document).await?;
    match read(&reader).await? {
        Some(stored) if abandoned.contains(&stored.bytes) => Ok(()),
        _ => reads(&reader, "a new client", &document, Some(&version)).await.map(drop),
    }
}

fn is_one_of(bytes: &[u8], possible: &[Vec<u8>], abandoned: &[Vec<u8>]) -> bool {
    possible.iter().chain(abandoned).any(|document| document == bytes)
}

/// What is stored agrees with the answer to a write.
async fn agrees(
    reader: &Client,
    possible: &mut Vec<Vec<u8>>,
    abandoned: &[Vec<u8>],
    outcome: groundstate_statemgr::Result<Version>,
    document: Vec<u8>,
) -> Step {
    let stored = read_patiently(reader).await?.map(|stored| stored.bytes);
    let is_new = stored.as_ref() == Some(&document);
    let shown = stored.as_deref().map_or_else(|| "nothing".to_owned(), describe_bytes);
    match outcome {
        Ok(_) if is_new => *possible = vec![document],
        // It was stored, and a request that was given up earlier arrived after it.
        Ok(_) if stored.is_some_and(|stored| abandoned.contains(&stored)) => *possible = vec![document],
        Ok(_) => return fail(format!("after a write that succeeded, {}", describe_bytes(&document)), shown),
        Err(error) if error.kind() == ErrorKind::Ambiguous => possible.push(document),
        Err(error) if is_new => {
            let expected = "a write that has happened succeeds, or is refused with `Ambiguous`";
            return fail(
                expected,
                format!("the new bytes are stored, and the answer is {}", describe(&error)),
            );
        }
        Err(_) => {}
    }
    Ok(())
}

/// A write meets a disturbance at the service. Whatever it answers has to be true.
async fn disturbed(cx: &Cx, reader: &Client, abandoned: &[Vec<u8>], disturbance: Disturbance) -> Step {
    let before = read(reader).await?.map(|stored| stored.bytes).unwrap_or_default();
    let a = cx.open().await?;
    if !cx.place.disturb(disturbance).await.succeeds("disturbing the service")? {
        return Ok(());
    }
    let document = cx.document_of(900);
    let outcome = a.write(Bytes::copy_from_slice(&document), &WriteOptions::any()).await;
    let mut possible = vec![before];
    agrees(reader, &mut possible, abandoned, outcome, document).await?;
    let stored = read_patiently(reader).await?;
    let whole = stored.as_ref().is_some_and(|stored| is_one_of(&stored.bytes, &possible, abandoned));
    let expected = format!("after a write that met {disturbance:?}, the old bytes or the new ones");
    ensure(whole, &expected, || describe_stored(stored.as_ref()))
}

/// Reads once more if the disturbance hits the read.
async fn read_patiently(client: &Client) -> Step<Option<Stored>> {
    match client.read().await {
        Err(error) if error.kind() == ErrorKind::Unavailable => read(client).await,
        outcome => outcome.succeeds("a read"),
    }
}

pub(super) async fn expect_absent(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let absent = WriteOptions::expecting(Expect::Absent);
    let document = cx.document();
    let version = a
        .write(Bytes::copy_from_slice(&document), &absent)
        .await
        .succeeds("the first write that expects nothing")?;
    for (client, who) in [(&a, "A"), (&b, "B")] {
        let what = format!("a write of {who} that expects nothing where something is stored");
        client.write(cx.document().into(), &absent).await.refused(ErrorKind::Conflict, &what)?;
        reads(&b, "B", &document, Some(&version)).await?;
    }
    if cx.capabilities.delete {
        b.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
        let document = cx.document();
        let version = a
            .write(Bytes::copy_from_slice(&document), &absent)
            .await
            .succeeds("a write that expects nothing, after a deletion,")?;
        reads(&b, "B", &document, Some(&version)).await?;
    }
    Ok(())
}

pub(super) async fn expect_version(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let made_up = Version::new("no-such-version");
    let none = a.write(cx.document().into(), &expecting(&made_up)).await;
    none.refused(ErrorKind::Conflict, "a write that expects a version where nothing is stored")?;
    reads_nothing(&b, "B").await?;

    let first = put(&a, &cx.document()).await?;
    let document = cx.document();
    let second = b
        .write(Bytes::copy_from_slice(&document), &expecting(&first))
        .await
        .succeeds("a write that expects what is stored")?;
    for old in [&first, &made_up] {
        let outcome = a.write(cx.document().into(), &expecting(old)).await;
        let error =
            outcome.refused(ErrorKind::Conflict, "a write that expects a version that is not stored")?;
        let (expected, found) = error.mismatch().unwrap_or_default();
        let named = expected.contains(old.as_str()) && found.contains(second.as_str());
        let both = format!("the error names the versions {:?} and {:?}", old.as_str(), second.as_str());
        ensure(named, &both, || format!("expected {expected:?}, found {found:?}"))?;
        reads(&b, "B", &document, Some(&second)).await?;
    }
    let third = cx.document();
    a.write(Bytes::copy_from_slice(&third), &expecting(&second))
        .await
        .succeeds("a write that expects what is stored")?;
    reads(&b, "B", &third, None).await?;
    if cx.capabilities.delete {
        b.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
        let outcome = a.write(cx.document().into(), &expecting(&second)).await;
        outcome.refused(ErrorKind::Conflict, "a write that expects a version that was deleted")?;
        reads_nothing(&b, "B").await?;
    }
    forced(cx, &a).await
}

/// Force overrides the store's own checks, and nothing that the caller expects.
async fn forced(cx: &Cx, a: &Client) -> Step {
    if !cx.capabilities.force_write {
        return Ok(());
    }
    put(a, &cx.document()).await?;
    let options = expecting(&Version::new("no-such-version")).force(true);
    let outcome = a.write(cx.document().into(), &options).await;
    outcome.refused(ErrorKind::Conflict, "a forced write that expects a version that is not stored").map(drop)
}

fn expecting(version: &Version) -> WriteOptions {
    WriteOptions::expecting(Expect::Version(version.clone()))
}

pub(super) async fn refused(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let has = cx.capabilities;
    let first = put(&a, &cx.document()).await?;
    let mut refusals = vec![(ErrorKind::Invalid, WriteOptions::any(), true)];
    if has.conditional_write {
        put(&a, &cx.document()).await?;
        refusals.push((ErrorKind::Conflict, WriteOptions::expecting(Expect::Absent), false));
        refusals.push((ErrorKind::Conflict, expecting(&first), false));
    } else {
        refusals.push((ErrorKind::Unsupported, WriteOptions::expecting(Expect::Absent), false));
    }
    if !has.force_write {
        refusals.push((ErrorKind::Unsupported, WriteOptions::any().force(true), false));
    }
    let mut grant = None;
    if has.locking {
        let old = a.lock(&cx.info("old")).await.succeeds("a lock of A")?;
        a.unlock(&old.id).await.succeeds("its release")?;
        grant = Some(a.lock(&cx.info("new")).await.succeeds("another lock of A")?);
        if has.fencing {
            refusals.push((ErrorKind::LockLost, WriteOptions::any().fence(old.fence), false));
        }
    }
    let before = read(&b).await?;
    let holder = holder_of(cx, &b).await?;
    for (kind, options, empty) in refusals {
        let bytes = if empty { Vec::new() } else { cx.document() };
        a.write(Bytes::copy_from_slice(&bytes), &options).await.refused(kind, "a write that must not be")?;
        reads_the_same(&b, "B, after a refused write,", before.as_ref()).await?;
        equal("the holder after a refused write", &holder_of(cx, &b).await?, &holder)?;
        if grant.is_some() {
            b.lock(&cx.info("b")).await.refused(ErrorKind::Locked, "a lock while A holds it")?;
        }
    }
    match grant {
        Some(grant) => a.unlock(&grant.id).await.succeeds("the release"),
        None => Ok(()),
    }
}

/// The id in force, where the store knows it.
async fn holder_of(cx: &Cx, client: &Client) -> Step<Option<String>> {
    if !cx.capabilities.holder {
        return Ok(None);
    }
    let holder = client.lock_holder().await.succeeds("asking for the holder")?;
    Ok(holder.map(|holder| holder.id.to_string()))
}

pub(super) async fn while_locked(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    put(&b, &cx.document()).await?;
    let grant = a.lock(&cx.info("a")).await.succeeds("a lock of A")?;
    let before = read(&a).await?;
    let document = cx.document();
    match b.write(Bytes::copy_from_slice(&document), &WriteOptions::any()).await {
        Ok(version) => {
            reads(&a, "A, after B has written without the lock,", &document, Some(&version)).await?;
        }
        Err(error) if error.kind() == ErrorKind::Locked => {
            reads_the_same(&a, "A, after a write of B was refused,", before.as_ref()).await?;
        }
        Err(error) => {
            let expected = "a write without the lock succeeds or is refused with `Locked`";
            return fail(expected, describe(&error));
        }
    }
    for options in [WriteOptions::any(), WriteOptions::any().fence(grant.fence)] {
        let document = cx.document();
        let version =
            a.write(Bytes::copy_from_slice(&document), &options).await.succeeds("a write of the holder")?;
        reads(&b, "B", &document, Some(&version)).await?;
    }
    a.unlock(&grant.id).await.succeeds("the release")?;
    let document = cx.document();
    let version =
        b.write(Bytes::copy_from_slice(&document), &WriteOptions::any()).await.map_err(|error| {
            Stop::Failed {
                expected: "a write succeeds when the lock is free".to_owned(),
                seen: describe(&error),
                clause: None,
                hint: None,
            }
        })?;
    reads(&a, "A", &document, Some(&version)).await.map(drop)
}
