//! D1 to D4: what a deletion does.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, WriteOptions};

use crate::cases::holder::is_in_force;
use crate::cases::locking::{is_held, take};
use crate::cx::{Cx, put, read, reads, reads_nothing, reads_the_same};
use crate::failure::{Answer, Step, describe, ensure, fail};

pub(super) async fn removes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for _ in 0..2 {
        put(&a, &cx.document()).await?;
        read(&b).await?;
        a.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
        for (client, who) in [(&a, "A"), (&b, "B"), (&cx.open().await?, "a new client")] {
            reads_nothing(client, who).await?;
        }
    }
    let document = cx.document();
    let options = match cx.capabilities.conditional_write {
        true => WriteOptions::expecting(Expect::Absent),
        false => WriteOptions::any(),
    };
    let version =
        b.write(Bytes::copy_from_slice(&document), &options).await.succeeds("a write after a deletion")?;
    reads(&a, "A", &document, Some(&version)).await.map(drop)
}

pub(super) async fn repeatable(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    a.delete(&WriteOptions::any()).await.succeeds("a deletion where nothing was written")?;
    put(&a, &cx.document()).await?;
    for client in [&a, &a, &b] {
        client.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
    }
    reads_nothing(&b, "B").await
}

pub(super) async fn options(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let first = put(&a, &cx.document()).await?;
    let document = cx.document();
    let second = put(&b, &document).await?;
    let outdated = WriteOptions::expecting(Expect::Version(first));
    let mut refusals = vec![
        (ErrorKind::Conflict, WriteOptions::expecting(Expect::Absent)),
        (ErrorKind::Conflict, outdated.clone()),
    ];
    if !cx.capabilities.force_write {
        refusals.push((ErrorKind::Unsupported, WriteOptions::any().force(true)));
    }
    let mut current = WriteOptions::expecting(Expect::Version(second));
    let mut lock = None;
    if cx.capabilities.locking && cx.capabilities.fencing {
        let old = a.lock(&cx.info("old")).await.succeeds("a lock of A")?;
        a.unlock(&old.id).await.succeeds("its release")?;
        let grant = a.lock(&cx.info("new")).await.succeeds("another lock of A")?;
        refusals.push((ErrorKind::LockLost, current.clone().fence(old.fence)));
        current = current.fence(grant.fence);
        lock = Some(grant);
    }
    let before = read(&b).await?;
    for (kind, options) in refusals {
        a.delete(&options).await.refused(kind, "a deletion that must not be")?;
        reads_the_same(&b, "B, after a refused deletion,", before.as_ref()).await?;
    }
    a.delete(&current).await.succeeds("a deletion that expects what is stored")?;
    reads_nothing(&b, "B").await?;
    let outcome = a.delete(&current).await;
    outcome.refused(ErrorKind::Conflict, "a deletion that expects a version where nothing is stored")?;
    match lock {
        Some(grant) => a.unlock(&grant.id).await.succeeds("the release, after the deletion,"),
        None => Ok(()),
    }
}

pub(super) async fn keeps_the_lock(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    put(&a, &cx.document()).await?;
    let grant = take(cx, &a, "a").await?;
    // As with writes, it is up to the store whether another client may delete.
    match b.delete(&WriteOptions::any()).await {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Locked => {}
        Err(error) => {
            let expected = "a deletion without the lock succeeds or is refused with `Locked`";
            return fail(expected, describe(&error));
        }
    }
    is_held(cx, &[(&b, "B, after its deletion"), (&a, "A, after a deletion of B")]).await?;
    a.delete(&WriteOptions::any().fence(grant.fence)).await.succeeds("a deletion by the holder")?;
    reads_nothing(&b, "B").await?;
    is_held(cx, &[(&b, "B, after a deletion by the holder"), (&cx.open().await?, "a new client")]).await?;
    if cx.capabilities.holder {
        is_in_force(&b, &grant.id).await?;
    }
    a.unlock(&grant.id).await.succeeds("the release, after the deletion,")?;
    let next = take(cx, &b, "b").await?;
    ensure(next.fence >= grant.fence, "the count of tokens goes on after a deletion", || {
        format!("{:?} after {:?}", next.fence, grant.fence)
    })?;
    b.unlock(&next.id).await.succeeds("the release of B")
}
