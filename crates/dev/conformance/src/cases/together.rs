//! W3, W6 and L1 once more, with many clients at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, LockGrant, LockInfo, Result, Sleeper, Version, WriteOptions};

use crate::cases::locking::take;
use crate::cx::{Client, Cx, document, lock_id, put, read, reads, reads_the_same};
use crate::executor::{BoxFuture, ThreadSleeper};
use crate::failure::{Answer, Step, describe, ensure, equal, fail};
use crate::fault::{Faults, Faulty};
use crate::history::{Access, Actor, Grab, Habits, Lock, Locksmith, SequentialStore, Shared};
use crate::linear::{Event, is_linearizable};

const CLIENTS: usize = 4;
/// Between two attempts at something that others are at too.
const SHORT: Duration = Duration::from_micros(200);

/// How a write may be refused while others write: a store that locks itself for each of them may say so (W8).
fn loses(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Conflict | ErrorKind::Locked)
}

/// Several write with the same expectation, and at most one of them gets through.
pub(super) async fn same_expectation(cx: &Cx) -> Step {
    let clients = cx.clients(5).await?;
    for round in 0..20 {
        let expect = if round % 2 == 0 && cx.capabilities.delete {
            clients[0].delete(&WriteOptions::any()).await.succeeds("a deletion")?;
            Expect::Absent
        } else {
            Expect::Version(put(&clients[0], &cx.document()).await?)
        };
        let before = read(&clients[0]).await?;
        let documents: Vec<Vec<u8>> = clients.iter().map(|_| cx.document()).collect();
        let options = &WriteOptions::expecting(expect);
        let futures = clients
            .iter()
            .zip(&documents)
            .map(|(client, document)| -> BoxFuture<'_, Result<Version>> {
                client.write(Bytes::copy_from_slice(document), options)
            })
            .collect();
        let part = format!("round{round}");
        let outcomes = match round {
            0..12 => cx.stop_first(&part, round, futures).await,
            _ => cx.interleave(&part, futures).await,
        };
        let mut winner = None;
        let mut won = 0;
        for (outcome, document) in outcomes.into_iter().zip(&documents) {
            match outcome {
                Ok(version) => {
                    won += 1;
                    winner = Some((document, version));
                }
                Err(error) if loses(error.kind()) => {}
                Err(error) => return fail("the others are refused with `Conflict`", describe(&error)),
            }
        }
        let expected = format!("of 5 concurrent writes that expect {}, at most one succeeds", options.expect);
        ensure(won <= 1, &expected, || format!("{won} succeeded"))?;
        match winner {
            Some((document, version)) => {
                reads(&cx.open().await?, "a new client", document, Some(&version)).await?;
            }
            None => reads_the_same(&clients[1], "B, after all were refused,", before.as_ref()).await?,
        }
    }
    Ok(())
}

/// Clients on threads of their own count up under conditions. None of the steps gets lost.
pub(super) async fn on_threads(cx: &Cx) -> Step {
    const EACH: u64 = 10;
    let clients = cx.clients(CLIENTS).await?;
    put(&clients[0], &document(0, 0)).await?;
    let futures = clients
        .into_iter()
        .map(|client| -> BoxFuture<'static, Step> {
            Box::pin(async move {
                let mut left = EACH;
                while left > 0 {
                    let Some(stored) = read(&client).await? else { return fail("a document", "nothing") };
                    let next = document(serial_of(&stored.bytes)? + 1, 0);
                    let options = WriteOptions::expecting(Expect::Version(stored.version));
                    match client.write(Bytes::copy_from_slice(&next), &options).await {
                        Ok(_) => left -= 1,
                        Err(error) if loses(error.kind()) => ThreadSleeper.sleep(SHORT).await,
                        Err(error) => {
                            return fail("a write succeeds or is refused with `Conflict`", describe(&error));
                        }
                    }
                }
                Ok(())
            })
        })
        .collect();
    cx.on_threads(futures).await?.into_iter().collect::<Step>()?;
    counted(cx, EACH).await
}

/// The counter stands where all clients together have brought it.
async fn counted(cx: &Cx, each: u64) -> Step {
    let stored = read(&cx.open().await?).await?;
    let count = stored.map_or(Ok(0), |stored| serial_of(&stored.bytes))?;
    let all = each * u64::try_from(CLIENTS).unwrap_or_default();
    equal("the number of steps that the counter has made", &count, &all)
}

fn serial_of(bytes: &[u8]) -> Step<u64> {
    let text = String::from_utf8_lossy(bytes);
    let number = text.split("\"serial\": ").nth(1).and_then(|rest| rest.split(',').next());
    match number.and_then(|number| number.parse().ok()) {
        Some(serial) => Ok(serial),
        None => fail("a whole document", crate::failure::describe_bytes(bytes)),
    }
}

/// Clients on threads of their own count up under the lock, without conditions. None of the steps gets lost.
pub(super) async fn increments(cx: &Cx) -> Step {
    const EACH: u64 = 8;
    let clients = cx.clients(CLIENTS).await?;
    put(&clients[0], &document(0, 0)).await?;
    let inside = Arc::new(AtomicUsize::new(0));
    // When one has failed, it may not have let go of the lock, and the others need not wait for it.
    let failed = Arc::new(AtomicBool::new(false));
    let futures = clients
        .into_iter()
        .enumerate()
        .map(|(number, client)| -> BoxFuture<'static, Step> {
            let (inside, failed) = (Arc::clone(&inside), Arc::clone(&failed));
            let infos: Vec<_> = (0..EACH).map(|step| cx.info(&format!("thread{number}-{step}"))).collect();
            Box::pin(async move {
                let outcome = count_up(&client, &infos, &inside, &failed).await;
                failed.fetch_or(outcome.is_err(), Ordering::SeqCst);
                outcome
            })
        })
        .collect();
    cx.on_threads(futures).await?.into_iter().collect::<Step>()?;
    counted(cx, EACH).await
}

/// One step under the lock with each of the documents.
async fn count_up(client: &Client, infos: &[LockInfo], inside: &AtomicUsize, failed: &AtomicBool) -> Step {
    for info in infos {
        let Some(grant) = lock_patiently(client, info, failed).await? else { return Ok(()) };
        let others = inside.fetch_add(1, Ordering::SeqCst);
        let outcome = step(client, &grant).await;
        inside.fetch_sub(1, Ordering::SeqCst);
        equal("the number of others that hold the lock", &others, &0)?;
        outcome?;
        client.unlock(&grant.id).await.succeeds("the release")?;
    }
    Ok(())
}

/// The lock, unless a thread has failed.
async fn lock_patiently(client: &Client, info: &LockInfo, failed: &AtomicBool) -> Step<Option<LockGrant>> {
    while !failed.load(Ordering::SeqCst) {
        match client.lock(info).await {
            Ok(grant) => return Ok(Some(grant)),
            Err(error) if error.kind() == ErrorKind::Locked => {
                ThreadSleeper.sleep(Duration::from_millis(1)).await;
            }
            Err(error) => return fail("a lock succeeds or is refused with `Locked`", describe(&error)),
        }
    }
    Ok(None)
}

/// One step of the counter by the holder of the lock.
async fn step(client: &Client, grant: &LockGrant) -> Step {
    let Some(stored) = read(client).await? else { return fail("a document", "nothing") };
    let next = document(serial_of(&stored.bytes)? + 1, 0);
    let written = client.write(Bytes::copy_from_slice(&next), &WriteOptions::any().fence(grant.fence)).await;
    written.succeeds("a write of the holder").map(drop)
}

/// Several ask for the lock, and at most one of them gets it.
pub(super) async fn many_locks(cx: &Cx) -> Step {
    let clients = cx.clients(6).await?;
    for round in 0..20 {
        let infos: Vec<_> = (0..clients.len()).map(|who| cx.info(&format!("r{round}c{who}"))).collect();
        let futures = clients
            .iter()
            .zip(&infos)
            .map(|(client, info)| -> BoxFuture<'_, Result<LockGrant>> { client.lock(info) })
            .collect();
        let mut granted = Vec::new();
        for (outcome, client) in
            cx.interleave(&format!("round{round}"), futures).await.into_iter().zip(&clients)
        {
            match outcome {
                Ok(grant) => granted.push((client, grant)),
                Err(error) if error.kind() == ErrorKind::Locked => {}
                Err(error) => return fail("the others are refused with `Locked`", describe(&error)),
            }
        }
        ensure(granted.len() <= 1, "of 6 that ask for the lock, at most one gets it", || {
            format!("{} got it", granted.len())
        })?;
        for (client, grant) in granted {
            client.unlock(&grant.id).await.succeeds("the release")?;
        }
    }
    let grant = take(cx, &clients[0], "last").await?;
    clients[0].unlock(&grant.id).await.succeeds("the release")
}

/// Random reads, writes and deletions under conditions can be explained one after the other.
pub(super) async fn histories(cx: &Cx) -> Step {
    for round in 0..16 {
        let habits = Habits { calls: 6, conditional: true, delete: cx.capabilities.delete, impatient: false };
        history(cx, round, habits, Faults::none(), round % 4 == 3).await?;
    }
    Ok(())
}

/// The same while answers get lost and clients give up: each such call has happened as a whole, or not at all.
pub(super) async fn lost_answers(cx: &Cx) -> Step {
    let faults = Faults::none().latency(2).refuse(100).lose_reads(100).lose_changes(250);
    for round in 0..8 {
        let has = cx.capabilities;
        let habits =
            Habits { calls: 5, conditional: has.conditional_write, delete: has.delete, impatient: true };
        history(cx, round, habits, faults, false).await?;
    }
    Ok(())
}

async fn history(cx: &Cx, round: usize, habits: Habits, faults: Faults, threads: bool) -> Step {
    // A place of its own: what was given up may still arrive when the round is over.
    let place = cx.harness.store().await.succeeds("making a place")?;
    let shared = Arc::new(Shared::default());
    let serials = Arc::new(AtomicU64::new(cx.serials.load(Ordering::SeqCst)));
    let counter = Arc::clone(&serials);
    let serials_of: Arc<dyn Fn() -> u64 + Send + Sync> =
        Arc::new(move || counter.fetch_add(1, Ordering::SeqCst) + 1);
    let actor = |client: Client, who: usize, habits: Habits| Actor {
        client,
        shared: Arc::clone(&shared),
        rng: cx.rng(&format!("history {round} {who}")),
        habits,
        serials: Arc::clone(&serials_of),
        seen: (None, 0),
        events: Vec::new(),
    };
    // The first write is everybody's beginning.
    let mut first = actor(cx.open_at(&*place).await?, CLIENTS, habits);
    first.begin().await?;
    let mut actors = Vec::new();
    for who in 0..CLIENTS {
        let store = cx.open_at(&*place).await?;
        let rng = cx.rng(&format!("faults {round} {who}"));
        let store: Client =
            if faults == Faults::none() { store } else { Arc::new(Faulty::with(store, faults, rng)) };
        actors.push(actor(store, who, habits));
    }
    let runs: Vec<BoxFuture<'static, Step<Vec<Event<Access>>>>> =
        actors.into_iter().map(|actor| -> BoxFuture<'static, _> { Box::pin(actor.run()) }).collect();
    let outcomes = match threads {
        true => cx.on_threads(runs).await?,
        false => cx.interleave(&format!("history {round}"), runs).await,
    };
    first.read().await?;
    let mut events = first.events;
    for outcome in outcomes {
        events.extend(outcome?);
    }
    cx.serials.fetch_max(serials.load(Ordering::SeqCst), Ordering::SeqCst);
    let holds = is_linearizable::<SequentialStore>(&0, &events);
    ensure(holds, "an order of the calls, one after the other, that explains all answers", || {
        format!("there is none for {}", shown(events))
    })
}

/// The events in the order in which they began.
fn shown<C: std::fmt::Debug>(mut events: Vec<Event<C>>) -> String {
    events.sort_by_key(|event| event.from);
    let show = |event: &Event<C>| match event.to {
        Some(to) => format!("{}..{to} {:?}", event.from, event.call),
        None => format!("{}.. {:?}", event.from, event.call),
    };
    events.iter().map(show).collect::<Vec<_>>().join("; ")
}

/// Random locks and releases can be explained one after the other, and tokens grow in that order.
pub(super) async fn lock_histories(cx: &Cx) -> Step {
    for round in 0..8 {
        let shared = Arc::new(Shared::default());
        let info: Arc<dyn Fn(u64) -> LockInfo + Send + Sync> = {
            let (base, seed) = (cx.info("random"), cx.seed);
            let id = move |number| lock_id(seed, &format!("random {round} {number}"));
            Arc::new(move |number| LockInfo { id: id(number), ..base.clone() })
        };
        let mut runs: Vec<BoxFuture<'static, Step<Vec<Event<Grab>>>>> = Vec::new();
        for (who, client) in cx.clients(CLIENTS).await?.into_iter().enumerate() {
            let smith = Locksmith {
                client,
                shared: Arc::clone(&shared),
                rng: cx.rng(&format!("locks {round} {who}")),
                calls: 10,
                info: Arc::clone(&info),
                first: u64::try_from(who * 100).unwrap_or_default(),
            };
            runs.push(Box::pin(smith.run()));
        }
        let outcomes = match round % 4 {
            3 => cx.on_threads(runs).await?,
            _ => cx.interleave(&format!("locks {round}"), runs).await,
        };
        let mut events = Vec::new();
        for outcome in outcomes {
            events.extend(outcome?);
        }
        let holds = is_linearizable::<Lock>(&(None, None), &events);
        ensure(holds, "an order of the locks and releases that explains all answers", || {
            format!("there is none for {}", shown(events))
        })?;
    }
    Ok(())
}
