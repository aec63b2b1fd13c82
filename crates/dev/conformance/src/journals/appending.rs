//! A1 to A6: what appending promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use groundstate_wal::{ErrorKind, JournalWriter, Record};

use super::cx::{Cx, record, records, stands};
use super::run::both;
use crate::executor::together;
use crate::failure::{Answer, Step, ensure, failed};

pub(super) async fn durable(cx: &Cx) -> Step {
    let mut expected = Vec::new();
    let mut writer = cx.begun().await?;
    for round in 0..6 {
        let batch = records(&[&format!("batch {round}")]);
        writer.append(&batch).await.succeeds("appending")?;
        expected.extend(batch);
        // It dies, without a chance to put anything in order.
        drop(writer);
        cx.holds(&expected).await?;
        writer = cx.writer(&format!("writer {round}")).await?;
        cx.holds(&expected).await?;
    }
    Ok(())
}

pub(super) async fn order(cx: &Cx) -> Step {
    let (writer, mut expected) = (cx.begun().await?, Vec::new());
    let mut rng = cx.rng("order");
    for round in 0..20 {
        let batch: Vec<Record> = (0..rng.below(5)).map(|at| record(&format!("{round}.{at}"))).collect();
        let first = expected.len() as u64;
        let receipt = writer.append(&batch).await.succeeds("appending")?;
        expected.extend(batch);
        stands(receipt, first, expected.len() as u64)?;
        let position = writer.position().map(|cursor| cursor.position().get());
        ensure(position == Some(expected.len() as u64), "the writer at the end", || format!("{position:?}"))?;
    }
    cx.holds(&expected).await
}

pub(super) async fn whole(cx: &Cx) -> Step {
    let mut writer = cx.begun().await?;
    let mut rng = cx.rng("whole");
    let mut held: Vec<Record> = Vec::new();
    for round in 0..12 {
        let batch: Vec<Record> =
            (0..3).map(|at| record(&format!("{round}.{at} {}", "x".repeat(rng.below(5000))))).collect();
        let polls = rng.below(3);
        let done = {
            let mut append = writer.append(&batch);
            let mut left = polls;
            std::future::poll_fn(|context| match append.as_mut().poll(context) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if left == 0 => Poll::Ready(None),
                Poll::Pending => {
                    left -= 1;
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await
        };
        let acknowledged = done.transpose().succeeds("appending")?.is_some();
        drop(writer);
        writer = cx.writer(&format!("writer {round}")).await?;
        let found = cx.contents().await?.ok_or_else(|| failed("an epoch", "none"))?.records;
        let with = [&held[..], &batch[..]].concat();
        let is_whole = found == with || (!acknowledged && found == held);
        ensure(is_whole, "the batch as a whole, or nothing of it if the caller gave up", || {
            format!("{} records of {}, acknowledged: {acknowledged}", found.len(), with.len())
        })?;
        held = found;
    }
    Ok(())
}

pub(super) async fn concurrent(cx: &Cx) -> Step {
    const TASKS: usize = 24;
    let writer = cx.begun().await?;
    let futures: Vec<_> = (0..TASKS).map(|task| append_some(Arc::clone(&writer), task)).collect();
    let receipts = together(futures).await;
    let mut places = vec![None; TASKS * 2 * 3];
    for receipt in receipts {
        for (task, round, first) in receipt? {
            for at in 0..2 {
                let place = usize::try_from(first + at).unwrap_or(usize::MAX);
                let slot = places
                    .get_mut(place)
                    .ok_or_else(|| failed("a place in the journal", place.to_string()))?;
                let taken = slot.replace(record(&format!("{task} {round} {at}")));
                ensure(taken.is_none(), "places of their own", || format!("{place} is given twice"))?;
            }
        }
    }
    let expected: Vec<Record> = places.into_iter().flatten().collect();
    cx.holds(&expected).await
}

/// Three batches of two records, one after the other.
async fn append_some(writer: Arc<dyn JournalWriter>, task: usize) -> Step<Vec<(usize, usize, u64)>> {
    let mut receipts = Vec::new();
    for round in 0..3 {
        let batch = records(&[&format!("{task} {round} 0"), &format!("{task} {round} 1")]);
        let receipt = writer.append(&batch).await.succeeds("appending beside others")?;
        receipts.push((task, round, receipt.first.get()));
    }
    Ok(receipts)
}

pub(super) async fn any_bytes(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    let batches = [
        vec![Record::default()],
        vec![],
        vec![Record::default(), Record::from(&[0_u8, 255, 10, 13][..]), Record::default()],
        vec![Record::from(b"GSJ\x01 is how frames begin".as_slice()), Record::from(vec![b'x'; 3 << 20])],
        (0_u8..=255).map(|byte| Record::from(&[byte][..])).collect(),
    ];
    for batch in &batches {
        let receipt = writer.append(batch).await.succeeds("appending any bytes")?;
        let len = receipt.next.get() - receipt.first.get();
        ensure(len == batch.len() as u64, "a receipt for each", || len.to_string())?;
    }
    let base: Vec<u8> = (0..=255).collect();
    cx.holds(&batches.concat()).await?;
    writer.begin(&Record::from(base.clone())).await.succeeds("beginning with any base")?;
    let found = cx.contents().await?.map(|contents| contents.head.base);
    ensure(found == Some(Record::from(base)), "the base", || "another".to_owned())
}

pub(super) async fn needs_an_epoch(cx: &Cx) -> Step {
    let writer = cx.writer("a").await?;
    writer.append(&records(&["early"])).await.refused(ErrorKind::NoEpoch, "appending without an epoch")?;
    ensure(writer.position().is_none(), "no position", || "one".to_owned())?;
    writer.begin(&record("base")).await.succeeds("beginning an epoch")?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    writer.clear().await.succeeds("clearing")?;
    writer.append(&records(&["late"])).await.refused(ErrorKind::NoEpoch, "appending after clearing")?;
    ensure(cx.contents().await?.is_none(), "nothing", || "an epoch".to_owned())
}

/// Appends on two writers at once until one of them is refused; used by the cases of writers.
pub(super) async fn race(
    one: &Arc<dyn JournalWriter>,
    other: &Arc<dyn JournalWriter>,
) -> Step<Vec<(u64, Record)>> {
    let stop = Arc::new(AtomicBool::new(false));
    let futures: Vec<_> = both(one, other)
        .into_iter()
        .enumerate()
        .map(|(who, writer)| {
            let stop = Arc::clone(&stop);
            async move {
                let mut kept = Vec::new();
                for round in 0..20 {
                    let one = record(&format!("{who} {round}"));
                    match writer.append(std::slice::from_ref(&one)).await {
                        Ok(receipt) => kept.push((receipt.first.get(), one)),
                        Err(error) if error.kind() == ErrorKind::Fenced => {
                            stop.store(true, Ordering::SeqCst);
                            break;
                        }
                        Err(error) => return Err(error).succeeds("appending in a race"),
                    }
                }
                Ok(kept)
            }
        })
        .collect();
    let mut kept = Vec::new();
    for part in together(futures).await {
        kept.extend(part?);
    }
    ensure(stop.load(Ordering::SeqCst), "one of two writers is refused", || "both go on".to_owned())?;
    Ok(kept)
}
