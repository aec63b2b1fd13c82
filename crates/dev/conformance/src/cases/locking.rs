//! L1 to L7 and L9: taking and releasing the lock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_statemgr::{Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Sleeper};

use crate::cx::{Client, Cx, put, read, reads_nothing, reads_the_same};
use crate::executor::{ThreadSleeper, abandon_after, run_aside};
use crate::failure::{Answer, Step, describe, ensure, fail, failed, not_applicable};
use crate::harness::Disturbance;

const MOST_WAITS: usize = 64;
/// A refusal that takes this longer than a free lock is one that waited for something. A machine that is busy makes calls slow
/// now and then, a store that waits does so each time: one quick refusal suffices.
const AT_ONCE: Duration = Duration::from_secs(1);
const TRIES: usize = 3;
/// After this time no answer is expected any more.
const LONGEST: Duration = Duration::from_secs(5);

/// Takes the lock under an id that begins with `name`.
pub(super) async fn take(cx: &Cx, client: &Client, name: &str) -> Step<LockGrant> {
    client.lock(&cx.info(name)).await.succeeds(&format!("a lock as {name:?}, which is free,"))
}

/// The lock is held: no client gets it.
pub(super) async fn is_held(cx: &Cx, clients: &[(&Client, &str)]) -> Step {
    for (client, who) in clients {
        let info = cx.info(&format!("late-{}", who.to_lowercase()));
        let what = format!("a lock of {who} while the lock is held");
        client.lock(&info).await.refused(ErrorKind::Locked, &what)?;
    }
    Ok(())
}

pub(super) async fn excludes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for round in 0..2 {
        let grant = take(cx, &a, &format!("a{round}")).await?;
        let c = cx.open().await?;
        is_held(cx, &[(&b, "B"), (&c, "C"), (&a, "A"), (&b, "B")]).await?;
        let again = a.lock(&cx.info(&format!("a{round}"))).await;
        again.refused(ErrorKind::Locked, "another lock of the holder under the same id")?;
        a.unlock(&grant.id).await.succeeds("the release")?;
    }
    Ok(())
}

pub(super) async fn other_processes(cx: &Cx) -> Step {
    if cx.capabilities.exclusion < Exclusion::Host {
        return not_applicable("the store claims to exclude the clients of this process only");
    }
    let mut there = cx.peer()?;
    let (a, b) = cx.two().await?;
    for round in 0..2 {
        let grant = take(cx, &a, &format!("here{round}")).await?;
        if let Ok(id) = there.lock(&cx.info(&format!("late-there{round}")))? {
            let expected = "a lock of another process while A holds the lock is refused with `Locked`";
            let hint = "the lock is known to this process only: keep it where every process sees it, or claim \
                        `Exclusion::Process`";
            let seen = format!("it succeeded, under the id {:?}", id.as_str());
            return Err(failed(expected, seen).hint(Some(hint)));
        }
        if cx.capabilities.holder {
            let holder = there.holder()?;
            let same = holder.as_deref() == Some(grant.id.as_str());
            let expected = format!("another process is told the holder {:?}", grant.id.as_str());
            ensure(same, expected, || format!("{holder:?}"))?;
        }
        a.unlock(&grant.id).await.succeeds("the release")?;
        let id = match there.lock(&cx.info(&format!("there{round}")))? {
            Ok(id) => id,
            Err(refusal) => return fail("a lock of another process, after the release, succeeds", refusal),
        };
        is_held(cx, &[(&a, "A"), (&b, "B")]).await?;
        there.unlock(&id)?;
    }
    Ok(())
}

pub(super) async fn at_once(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let start = Instant::now();
        let grant = take(cx, &a, "a").await?;
        let free = start.elapsed();
        let asked = ask_aside(cx, &b).await;
        a.unlock(&grant.id).await.succeeds("the release")?;
        let (outcome, refused) = match asked {
            Ok(answer) => answer,
            // The one who waits gets the lock now, so that nothing is left running.
            Err(work) => {
                work.await;
                return fail("a lock that is held is refused at once", format!("no answer in {LONGEST:?}"));
            }
        };
        outcome.refused(ErrorKind::Locked, "a lock of B while A holds it")?;
        if refused <= AT_ONCE + 2 * free {
            return Ok(());
        }
        seen.push(format!("{:.1} s", refused.as_secs_f32()));
    }
    fail("a lock that is held is refused at once", format!("each refusal took its time: {}", seen.join(", ")))
}

/// What the client answers to a lock and how long that takes, or what still waits for its answer.
async fn ask_aside(
    cx: &Cx,
    client: &Client,
) -> Result<(groundstate_statemgr::Result<LockGrant>, Duration), impl Future<Output = Option<()>> + use<>> {
    let (info, client, harness) = (cx.info("b"), Arc::clone(client), Arc::clone(&cx.harness));
    let (sender, receiver) = std::sync::mpsc::channel();
    // On a thread of its own, since a store that waits may well block it.
    let work = run_aside(move || {
        harness.block_on(Box::pin(async move {
            let start = Instant::now();
            let outcome = client.lock(&info).await;
            sender.send((outcome, start.elapsed())).unwrap_or_default();
        }));
    });
    let start = Instant::now();
    loop {
        match receiver.try_recv() {
            Ok(answer) => return Ok(answer),
            Err(_) if start.elapsed() > LONGEST => return Err(work),
            Err(_) => ThreadSleeper.sleep(Duration::from_millis(2)).await,
        }
    }
}

pub(super) async fn frees(cx: &Cx) -> Step {
    let clients = cx.clients(3).await?;
    for round in 0..6 {
        let client = &clients[round % 3];
        let grant = take(cx, client, &format!("round{round}")).await?;
        client.unlock(&grant.id).await.succeeds("the release")?;
    }
    let grant = take(cx, &cx.open().await?, "last").await?;
    ensure(!grant.id.is_empty(), "a grant has an id", || format!("{:?}", grant.id.as_str()))
}

pub(super) async fn needs_the_id(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let grant = take(cx, &a, "a").await?;
    let wrong = [LockId::new("another"), LockId::new(""), LockId::new(&format!("{}x", grant.id))];
    for id in &wrong {
        for (client, who) in [(&b, "B"), (&a, "the holder")] {
            let what = format!("a release by {who} under the id {:?}, which is not in force,", id.as_str());
            client.unlock(id).await.refused(ErrorKind::Locked, &what)?;
            is_held(cx, &[(&b, "B")]).await?;
        }
    }
    a.unlock(&grant.id).await.succeeds("the release under the granted id")
}

pub(super) async fn twice(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let never = a.unlock(&LockId::new("never")).await;
    never.refused(ErrorKind::NotFound, "a release where nothing was ever locked")?;
    let grant = take(cx, &a, "a").await?;
    a.unlock(&grant.id).await.succeeds("the release")?;
    for (client, who) in [(&a, "A"), (&b, "B"), (&a, "A")] {
        let what = format!("another release by {who}");
        client.unlock(&grant.id).await.refused(ErrorKind::NotFound, &what)?;
    }
    Ok(())
}

pub(super) async fn leaves_the_state(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let grant = take(cx, &a, "absent").await?;
    reads_nothing(&b, "B, while A holds the lock of an absent state,").await?;
    a.unlock(&grant.id).await.succeeds("the release")?;
    reads_nothing(&b, "B, after the lock of an absent state,").await?;
    put(&a, &cx.document()).await?;
    let before = read(&b).await?;
    let grant = take(cx, &a, "present").await?;
    reads_the_same(&b, "B, while A holds the lock,", before.as_ref()).await?;
    b.lock(&cx.info("b")).await.refused(ErrorKind::Locked, "a lock of B")?;
    reads_the_same(&b, "B, after its lock was refused,", before.as_ref()).await?;
    a.unlock(&grant.id).await.succeeds("the release")?;
    reads_the_same(&b, "B, after the release,", before.as_ref()).await?;
    reads_the_same(&cx.open().await?, "a new client", before.as_ref()).await
}

pub(super) async fn told_apart(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let mut ids: Vec<LockId> = Vec::new();
    for round in 0..6 {
        let client = if round % 2 == 0 { &a } else { &b };
        let grant = take(cx, client, &format!("round{round}")).await?;
        let fresh = !ids.contains(&grant.id) && !grant.id.is_empty();
        ensure(fresh, "each grant has an id of its own", || format!("{:?} again", grant.id.as_str()))?;
        client.unlock(&grant.id).await.succeeds("the release")?;
        ids.push(grant.id);
    }
    Ok(())
}

pub(super) async fn dropped(cx: &Cx) -> Step {
    let b = cx.open().await?;
    let mut given_up = Vec::new();
    for waits in 1..=MOST_WAITS {
        let a = cx.open().await?;
        let info = cx.info(&format!("dropped{waits}"));
        match abandon_after(a.lock(&info), waits).await {
            None => {
                given_up.push(info);
                settles(cx, &a, &b, &given_up).await?;
            }
            Some(Err(error)) if late(&error, &given_up).is_some() => release_late(cx, &b, &error).await?,
            Some(outcome) => {
                let grant = outcome.succeeds("a lock that is free")?;
                a.unlock(&grant.id).await.succeeds("the release")?;
                break;
            }
        }
    }
    for disturbance in [Disturbance::RefuseRequest, Disturbance::LoseAnswer] {
        let grant = take_unless_late(cx, &b, "before", &given_up).await?;
        b.unlock(&grant.id).await.succeeds("the release")?;
        disturbed(cx, &b, disturbance).await?;
    }
    let grant = take_unless_late(cx, &b, "after", &given_up).await?;
    b.unlock(&grant.id).await.succeeds("the release")
}

/// The holder that stands in the way, if its request was given up: it was on its way, and has arrived since.
fn late<'e>(error: &'e Error, given_up: &[LockInfo]) -> Option<&'e LockHolder> {
    error.holder().filter(|holder| given_up.iter().any(|info| info.id == holder.info.id))
}

/// Releases the lock of a request that arrived after it was given up.
async fn release_late(cx: &Cx, b: &Client, error: &Error) -> Step {
    let Some(holder) = error.holder() else { return Ok(()) };
    match cx.capabilities.force_unlock {
        true => b.force_unlock(&holder.id).await.succeeds("a release by force of a lock that was given up"),
        false => b.unlock(&holder.id).await.succeeds("the release of a lock that was given up"),
    }
}

/// Takes the lock. Each request that was given up may arrive late, once.
async fn take_unless_late(cx: &Cx, b: &Client, who: &str, given_up: &[LockInfo]) -> Step<LockGrant> {
    for _ in given_up {
        match b.lock(&cx.info(who)).await {
            Err(error) if late(&error, given_up).is_some() => release_late(cx, b, &error).await?,
            outcome => return outcome.succeeds("a lock that is free"),
        }
    }
    take(cx, b, who).await
}

/// The lock that was given up is held under the id of its document, or it is free. Afterwards it is free. The last is the one that was
/// given up just now; one before it may arrive late.
async fn settles(cx: &Cx, a: &Client, b: &Client, given_up: &[LockInfo]) -> Step {
    for info in given_up.iter().rev() {
        let error = match b.lock(&cx.info("probe")).await {
            Ok(grant) => return b.unlock(&grant.id).await.succeeds("the release of B"),
            Err(error) if error.kind() == ErrorKind::Locked => error,
            Err(error) => {
                let expected = "a lock after another was given up succeeds or is refused with `Locked`";
                return fail(expected, describe(&error));
            }
        };
        if let Some(holder) = error.holder() {
            let known = late(&error, given_up).is_some();
            ensure(known, format!("the holder is one that gave up, such as {:?}", info.id.as_str()), || {
                format!("{:?}", holder.info.id.as_str())
            })?;
        }
        let id = error.holder().map_or(&info.id, |holder| &holder.id);
        match a.unlock(id).await {
            Ok(()) => {}
            Err(_) if cx.capabilities.force_unlock => {
                b.force_unlock(id).await.succeeds("a release by force of a lock that was given up")?;
            }
            Err(error) => {
                let expected = "the id of the document releases a lock that was given up";
                return fail(expected, describe(&error));
            }
        }
    }
    let grant = take_unless_late(cx, b, "settled", given_up).await?;
    b.unlock(&grant.id).await.succeeds("the release of B")
}

/// A lock meets a disturbance at the service: unless the answer is `Ambiguous`, a refusal means that the lock is free.
async fn disturbed(cx: &Cx, b: &Client, disturbance: Disturbance) -> Step {
    let a = cx.open().await?;
    if !cx.place.disturb(disturbance).await.succeeds("disturbing the service")? {
        return Ok(());
    }
    let info = cx.info("disturbed");
    match a.lock(&info).await {
        Ok(grant) => a.unlock(&grant.id).await.succeeds("the release"),
        Err(error) if error.kind() == ErrorKind::Ambiguous => {
            settles(cx, &a, b, std::slice::from_ref(&info)).await
        }
        Err(error) => match b.lock(&cx.info("probe")).await {
            Ok(grant) => b.unlock(&grant.id).await.succeeds("the release of B"),
            Err(held) => {
                let expected = format!("the lock is free after the refusal {}", describe(&error));
                fail(expected, describe(&held))
            }
        },
    }
}
