//! L8, H1, K1 and K2: who holds the lock, and how another client releases it.

use groundstate_statemgr::{ErrorKind, LockHolder, LockId, LockInfo};

use crate::cases::locking::{is_held, take};
use crate::cx::{Client, Cx, put, read, reads_the_same};
use crate::failure::{Answer, Step, ensure, fail};

pub(super) async fn in_the_refusal(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for round in 0..3 {
        let mut info = cx.info(&format!("round{round}"));
        info.who = format!("ann{round}@host \"quoted\" <é>");
        info.info = format!("what for, in round {round}");
        a.lock(&info).await.succeeds("a lock that is free")?;
        let error = b.lock(&cx.info("b")).await.refused(ErrorKind::Locked, "a lock of B")?;
        let Some(holder) = error.holder() else {
            return fail("the refusal carries the holder", "there is none in the error");
        };
        is_described(holder, &info)?;
        let release = a.unlock(&holder.id).await;
        release.succeeds("a release by A under the id that the refusal names")?;
    }
    Ok(())
}

/// A document of some thousand bytes, with what has to be escaped, is given as it was: no column cuts it.
pub(super) async fn of_a_long_document(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for length in [250, 2_000] {
        let mut info = cx.info(&format!("long{length}"));
        info.info = "\"apply\" <é> of module.network\\1, ".chars().cycle().take(length).collect();
        info.who = format!("{}@build-agent.example.com", "long-name.".repeat(20));
        let grant = a.lock(&info).await.succeeds("a lock that is free")?;
        let error = b.lock(&cx.info("b")).await.refused(ErrorKind::Locked, "a lock of B")?;
        let Some(holder) = error.holder() else {
            return fail(
                "the refusal carries the holder, whose document is long",
                "there is none in the error",
            );
        };
        is_described(holder, &info)?;
        let holder = b.lock_holder().await.succeeds("asking for the holder, whose document is long,")?;
        match holder {
            Some(holder) => is_described(&holder, &info)?,
            None => return fail("the holder, whose document is long, is known", "the lock is free"),
        }
        a.unlock(&grant.id).await.succeeds("the release")?;
    }
    Ok(())
}

/// The lock in force has this id.
pub(super) async fn is_in_force(client: &Client, id: &LockId) -> Step {
    let holder = client.lock_holder().await.succeeds("asking for the holder")?;
    let same = holder.as_ref().is_some_and(|holder| holder.id == *id);
    ensure(same, format!("the id in force is {:?}", id.as_str()), || match &holder {
        Some(holder) => format!("{:?}", holder.id.as_str()),
        None => "the lock is free".to_owned(),
    })
}

/// The holder is the one that locked with this document.
fn is_described(holder: &LockHolder, info: &LockInfo) -> Step {
    for (what, seen, given) in [
        ("operation", &holder.info.operation, &info.operation),
        ("who", &holder.info.who, &info.who),
        ("info", &holder.info.info, &info.info),
        ("version", &holder.info.version, &info.version),
    ] {
        ensure(seen == given, format!("the holder's {what} is {given:?}, as it was given"), || {
            format!("{seen:?}")
        })?;
    }
    ensure(!holder.id.is_empty(), "the holder has an id that releases the lock", || "it is empty".to_owned())
}

pub(super) async fn is_known(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    is_free(&[(&a, "A"), (&b, "B")]).await?;
    for (round, locker) in [&a, &b].into_iter().enumerate() {
        let info = cx.info(&format!("round{round}"));
        let grant = locker.lock(&info).await.succeeds("a lock that is free")?;
        for (client, who) in [(&a, "A"), (&b, "B"), (&cx.open().await?, "a new client")] {
            let holder = client.lock_holder().await.succeeds(&format!("asking for the holder by {who}"))?;
            let Some(holder) = holder else {
                return fail(format!("{who} is told the holder"), "the lock is free");
            };
            is_described(&holder, &info)?;
            ensure(holder.id == grant.id, format!("the id in force is {:?}", grant.id.as_str()), || {
                format!("{:?}", holder.id.as_str())
            })?;
        }
        locker.unlock(&grant.id).await.succeeds("the release")?;
        is_free(&[(&a, "A"), (&b, "B")]).await?;
    }
    Ok(())
}

/// The lock is free.
pub(super) async fn is_free(clients: &[(&Client, &str)]) -> Step {
    for (client, who) in clients {
        let holder = client.lock_holder().await.succeeds(&format!("asking for the holder by {who}"))?;
        ensure(holder.is_none(), format!("{who} is told that the lock is free"), || {
            holder.map_or_else(String::new, |holder| format!("{:?}", holder.id.as_str()))
        })?;
    }
    Ok(())
}

pub(super) async fn force_frees(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    put(&a, &cx.document()).await?;
    let before = read(&a).await?;
    // By another client, by the holder itself, and by one that is opened for it.
    for breaker in [&b, &a, &cx.open().await?] {
        let grant = take(cx, &a, "a").await?;
        breaker.force_unlock(&grant.id).await.succeeds("a release by force under the id in force")?;
        if cx.capabilities.holder {
            is_free(&[(&a, "A"), (&b, "B")]).await?;
        }
        reads_the_same(&b, "B, after a release by force,", before.as_ref()).await?;
        let grant = take(cx, &b, "b").await?;
        b.unlock(&grant.id).await.succeeds("the release")?;
    }
    Ok(())
}

pub(super) async fn force_needs_the_id(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let none = b.force_unlock(&LockId::new("never")).await;
    none.refused(ErrorKind::NotFound, "a release by force where nothing is locked")?;
    let grant = take(cx, &a, "a").await?;
    let wrong = [LockId::new("another"), LockId::new(""), LockId::new(&format!("{}x", grant.id))];
    for id in &wrong {
        let what = format!("a release by force under the id {:?}, which is not in force,", id.as_str());
        b.force_unlock(id).await.refused(ErrorKind::Locked, &what)?;
        is_held(cx, &[(&b, "B")]).await?;
    }
    a.unlock(&grant.id).await.succeeds("the holder's own release")?;
    let gone = b.force_unlock(&grant.id).await;
    gone.refused(ErrorKind::NotFound, "a release by force after the release").map(drop)
}
