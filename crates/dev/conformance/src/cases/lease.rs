//! E1 to E3: locks that end by themselves.

use std::time::Duration;

use groundstate_common::Timestamp;
use groundstate_statemgr::{ErrorKind, LockGrant};

use crate::cases::holder::is_free;
use crate::cases::locking::{is_held, take};
use crate::cx::Cx;
use crate::failure::{Answer, Step, describe, ensure, equal, fail};

/// Clocks of services are seen from outside, so the end is waited for a little longer.
const MARGIN: Duration = Duration::from_millis(200);

/// When the lock ends.
fn end(grant: &LockGrant) -> Step<Timestamp> {
    match grant.expires {
        Some(end) => Ok(end),
        None => fail("a grant says when the lock ends", "there is no end in it"),
    }
}

/// Waits until the lock has ended.
async fn outlast(cx: &Cx, grant: &LockGrant) -> Step {
    let left = end(grant)?.duration_since(cx.place.clock().now()).unwrap_or_default();
    cx.place.pass(left + MARGIN).await;
    Ok(())
}

pub(super) async fn expires(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let now = cx.place.clock().now();
    let grant = take(cx, &a, "a").await?;
    let end = end(&grant)?;
    ensure(end > now, format!("the lock ends after {now}, when it was taken"), || end.to_string())?;
    is_held(cx, &[(&b, "B")]).await?;
    outlast(cx, &grant).await?;
    if cx.capabilities.holder {
        is_free(&[(&a, "A"), (&b, "B")]).await?;
    }
    let next = b.lock(&cx.info("b")).await.succeeds("a lock of B after A's has ended")?;
    is_held(cx, &[(&a, "A")]).await?;
    b.unlock(&next.id).await.succeeds("the release")?;
    // A release that comes too late for anything to release is no failure.
    let late = take(cx, &a, "late").await?;
    outlast(cx, &late).await?;
    a.unlock(&late.id).await.succeeds("the release of a lock that has only ended")?;
    let grant = take(cx, &b, "after").await?;
    b.unlock(&grant.id).await.succeeds("the release")
}

pub(super) async fn renew(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let grant = take(cx, &a, "a").await?;
    let first_end = end(&grant)?;
    let left = first_end.duration_since(cx.place.clock().now()).unwrap_or_default();
    cx.place.pass(left / 2).await;
    let renewed = a.renew(&grant.id).await.succeeds("prolonging the lock under the id in force")?;
    let second_end = end(&renewed)?;
    ensure(second_end > first_end, format!("an end later than {first_end}"), || second_end.to_string())?;
    equal("the token of the renewed lock", &renewed.fence, &grant.fence)?;
    // Past the first end, before the second.
    let until = first_end.duration_since(cx.place.clock().now()).unwrap_or_default();
    let gained = second_end.duration_since(first_end).unwrap_or_default();
    cx.place.pass(until + gained / 2).await;
    is_held(cx, &[(&b, "B")]).await?;
    outlast(cx, &renewed).await?;
    revive(cx, &a, &grant).await?;
    let other = b.renew(&cx.info("no-holder").id).await;
    let kinds = [ErrorKind::Locked, ErrorKind::NotFound, ErrorKind::LockLost];
    other.refused_with(&kinds, "prolonging under an id that is not in force").map(drop)
}

/// A lock that has ended may come to life again, with its token, or be lost for good.
async fn revive(cx: &Cx, a: &crate::cx::Client, grant: &LockGrant) -> Step {
    match a.renew(&grant.id).await {
        Ok(revived) => {
            equal("the token of the revived lock", &revived.fence, &grant.fence)?;
            is_held(cx, &[(&cx.open().await?, "C")]).await?;
            a.unlock(&grant.id).await.succeeds("the release")
        }
        Err(error) if matches!(error.kind(), ErrorKind::LockLost | ErrorKind::NotFound) => {
            let next = take(cx, a, "next").await?;
            a.unlock(&next.id).await.succeeds("the release")
        }
        Err(error) => fail("a lock that has ended is revived or lost", describe(&error)),
    }
}

pub(super) async fn lost(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let old = take(cx, &a, "a").await?;
    outlast(cx, &old).await?;
    let new = b.lock(&cx.info("b")).await.succeeds("a lock of B after A's has ended")?;
    a.renew(&old.id).await.refused(ErrorKind::LockLost, "prolonging a lock that went to B")?;
    is_held(cx, &[(&a, "A")]).await?;
    a.unlock(&old.id).await.refused(ErrorKind::LockLost, "the release of a lock that went to B")?;
    is_held(cx, &[(&a, "A"), (&cx.open().await?, "C")]).await?;
    b.unlock(&new.id).await.succeeds("the release of B")
}

pub(super) async fn broken(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let old = take(cx, &a, "a").await?;
    b.force_unlock(&old.id).await.succeeds("a release by force")?;
    let new = take(cx, &b, "b").await?;
    a.renew(&old.id).await.refused(ErrorKind::LockLost, "prolonging a lock that was broken")?;
    a.unlock(&old.id).await.refused(ErrorKind::LockLost, "the release of a lock that was broken")?;
    is_held(cx, &[(&a, "A"), (&cx.open().await?, "C")]).await?;
    b.unlock(&new.id).await.succeeds("the release of B")
}
