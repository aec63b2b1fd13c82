//! F1 to F3: tokens that tell an old holder from the present one.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, FencingToken, LockGrant, Result, Version, WriteOptions};

use crate::cases::locking::take;
use crate::cx::{Client, Cx, put, read, reads, reads_the_same};
use crate::executor::BoxFuture;
use crate::failure::{Answer, Step, ensure, fail, not_applicable};

fn token(grant: &LockGrant) -> Step<FencingToken> {
    match grant.fence {
        Some(token) => Ok(token),
        None => fail("a grant has a token", "there is none in it"),
    }
}

/// The token is larger than the one before.
fn grows(grant: &LockGrant, last: &mut Option<FencingToken>) -> Step {
    let token = token(grant)?;
    if let Some(before) = *last {
        ensure(token > before, format!("a token larger than {before}"), || format!("the token {token}"))?;
    }
    *last = Some(token);
    Ok(())
}

pub(super) async fn grow(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let mut last = None;
    for round in 0..8 {
        let client = if round % 2 == 0 { &a } else { &b };
        let grant = take(cx, client, &format!("round{round}")).await?;
        grows(&grant, &mut last)?;
        if round % 2 == 0 {
            let written = client.write(cx.document().into(), &WriteOptions::any().fence(grant.fence)).await;
            written.succeeds("a write of the holder with its token")?;
        }
        if round == 4 && cx.capabilities.delete {
            let deleted = client.delete(&WriteOptions::any().fence(grant.fence)).await;
            deleted.succeeds("a deletion by the holder with its token")?;
        }
        if round == 5 && cx.capabilities.force_unlock {
            a.force_unlock(&grant.id).await.succeeds("a release by force")?;
        } else {
            client.unlock(&grant.id).await.succeeds("the release")?;
        }
    }
    let grant = take(cx, &cx.open().await?, "new").await?;
    grows(&grant, &mut last)
}

pub(super) async fn restart(cx: &Cx) -> Step {
    let mut last = None;
    for round in 0..3 {
        let a = cx.open().await?;
        let grant = take(cx, &a, &format!("round{round}")).await?;
        grows(&grant, &mut last)?;
        a.unlock(&grant.id).await.succeeds("the release")?;
        drop(a);
        if !cx.place.restart().await.succeeds("a restart of the service")? {
            return not_applicable("the harness cannot restart the service (`TestStore::restart`)");
        }
    }
    Ok(())
}

pub(super) async fn outdated(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let version = put(&a, &cx.document()).await?;
    let old = take(cx, &a, "old").await?;
    a.unlock(&old.id).await.succeeds("the release of A")?;
    let new = take(cx, &b, "new").await?;
    let before = read(&b).await?;
    let late = || WriteOptions::any().fence(old.fence);
    let mut attempts = vec![("anything", late())];
    if cx.capabilities.conditional_write {
        attempts.push(("what is stored", WriteOptions::expecting(Expect::Version(version)).fence(old.fence)));
        attempts.push(("nothing", WriteOptions::expecting(Expect::Absent).fence(old.fence)));
    }
    for (what, options) in &attempts {
        let outcome = a.write(cx.document().into(), options).await;
        outcome
            .refused(ErrorKind::LockLost, &format!("a late write with an old token that expects {what}"))?;
        reads_the_same(&b, "B, after a late write,", before.as_ref()).await?;
    }
    if cx.capabilities.delete {
        for (what, options) in &attempts {
            let outcome = a.delete(options).await;
            outcome.refused(
                ErrorKind::LockLost,
                &format!("a late deletion with an old token that expects {what}"),
            )?;
            reads_the_same(&b, "B, after a late deletion,", before.as_ref()).await?;
        }
    }
    let document = cx.document();
    let written = b.write(Bytes::copy_from_slice(&document), &WriteOptions::any().fence(new.fence)).await;
    let version = written.succeeds("a write of the holder with its token")?;
    reads(&a, "A", &document, Some(&version)).await?;
    b.unlock(&new.id).await.succeeds("the release of B")?;
    // The lock is free now, and the newer token was granted nevertheless.
    let outcome = a.write(cx.document().into(), &late()).await;
    outcome.refused(ErrorKind::LockLost, "a late write after the newer lock was released").map(drop)
}

/// While B takes the lock and writes, a late write of A arrives. Whatever happens when, B's bytes are the last.
pub(super) async fn race(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for round in 0..32 {
        let old = take(cx, &a, &format!("old{round}")).await?;
        a.unlock(&old.id).await.succeeds("the release of A")?;
        let (late, last) = (cx.document(), cx.document());
        let options = WriteOptions::any().fence(old.fence);
        let futures: Vec<BoxFuture<'_, Step<Result<Version>>>> = vec![
            Box::pin(async { Ok(a.write(Bytes::copy_from_slice(&late), &options).await) }),
            Box::pin(lock_and_write(cx, &b, &last, round)),
        ];
        // The late write stands still after each of its steps in turn; after that, chance decides.
        let part = format!("race{round}");
        let outcomes = match round {
            0..16 => cx.stop_first(&part, round, futures).await,
            _ => cx.interleave(&part, futures).await,
        };
        for (outcome, late) in outcomes.into_iter().zip([true, false]) {
            match outcome? {
                Ok(_) => {}
                Err(error) if late => {
                    Err::<(), _>(error)
                        .refused_with(&[ErrorKind::LockLost, ErrorKind::Locked], "a late write")?;
                }
                Err(error) => Err(error).succeeds("a write of the holder with its token")?,
            }
        }
        reads(&a, "a client, after the holder has written,", &last, None).await?;
    }
    Ok(())
}

async fn lock_and_write(cx: &Cx, b: &Client, document: &[u8], round: usize) -> Step<Result<Version>> {
    let grant = take(cx, b, &format!("new{round}")).await?;
    let outcome = b.write(Bytes::copy_from_slice(document), &WriteOptions::any().fence(grant.fence)).await;
    b.unlock(&grant.id).await.succeeds("the release of B")?;
    Ok(outcome)
}

pub(super) async fn broken(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    put(&a, &cx.document()).await?;
    let old = take(cx, &a, "old").await?;
    b.force_unlock(&old.id).await.succeeds("a release by force")?;
    let before = read(&b).await?;
    let late = WriteOptions::any().fence(old.fence);
    let outcome = a.write(cx.document().into(), &late).await;
    outcome.refused(ErrorKind::LockLost, "a write with the token of a lock that was broken")?;
    if cx.capabilities.delete {
        let outcome = a.delete(&late).await;
        outcome.refused(ErrorKind::LockLost, "a deletion with the token of a lock that was broken")?;
    }
    reads_the_same(&b, "B", before.as_ref()).await?;
    let new = take(cx, &b, "new").await?;
    let mut last = old.fence;
    grows(&new, &mut last)?;
    let written = b.write(cx.document().into(), &WriteOptions::any().fence(new.fence)).await;
    written.succeeds("a write of the new holder with its token")?;
    b.unlock(&new.id).await.succeeds("the release of B")
}
