//! E1 and E2: beginning and ending epochs.

use std::task::Poll;

use groundstate_wal::{Contents, Record};

use super::cx::{Cx, record, records};
use crate::executor::together;
use crate::failure::{Answer, Step, ensure, failed};

pub(super) async fn begin(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    let mut last = writer.position().map(|cursor| cursor.epoch()).unwrap_or_default();
    for round in 0..4 {
        writer.append(&records(&["gone", "soon"])).await.succeeds("appending")?;
        let base = record(&format!("base {round}"));
        let epoch = writer.begin(&base).await.succeeds("beginning an epoch")?;
        ensure(epoch > last, format!("an epoch after {last}"), || epoch.to_string())?;
        last = epoch;
        let contents = cx.contents().await?.ok_or_else(|| failed("an epoch", "none"))?;
        let is_new =
            contents.head.epoch == epoch && contents.head.base == base && contents.records.is_empty();
        ensure(is_new, "the new base and no records", || format!("{contents:?}"))?;
        let at = writer.position().map(|cursor| (cursor.epoch(), cursor.position().get()));
        ensure(at == Some((epoch, 0)), "the writer at its start", || format!("{at:?}"))?;
    }
    Ok(())
}

/// Whether the contents are those of an epoch that the cases make: `N` as base, and `N` as each record.
fn is_one_epoch(contents: &Contents, records: usize) -> bool {
    contents.records.len() <= records && contents.records.iter().all(|record| *record == contents.head.base)
}

pub(super) async fn all_or_nothing(cx: &Cx) -> Step {
    let mut rng = cx.rng("all or nothing");
    let mut writer = cx.writer("a").await?;
    let mut number = 0;
    for round in 0..16 {
        number += 1;
        let base = record(&format!("{number} {}", "x".repeat(rng.below(20_000))));
        let before = cx.contents().await?;
        // The caller gives up after a few polls, and the writer dies.
        let mut left = rng.below(4);
        let finished = {
            let mut begin = writer.begin(&base);
            std::future::poll_fn(|context| match begin.as_mut().poll(context) {
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
        finished.transpose().succeeds("beginning an epoch")?;
        drop(writer);
        writer = cx.writer(&format!("writer {round}")).await?;
        let after = cx.contents().await?;
        let is_new = after.as_ref().is_some_and(|after| after.head.base == base && after.records.is_empty());
        let is_old = after.as_ref().map(|after| (&after.head.base, &after.records))
            == before.as_ref().map(|before| (&before.head.base, &before.records));
        ensure(is_new || is_old, "the old epoch or the new one", || format!("{after:?}"))?;
        if let Some(contents) = after {
            writer.append(std::slice::from_ref(&contents.head.base)).await.succeeds("appending")?;
        }
    }
    Ok(())
}

pub(super) async fn beside_readers(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    let write = async {
        for round in 0..12 {
            let base = record(&format!("base {round}"));
            writer.begin(&base).await.succeeds("beginning an epoch")?;
            let batch: Vec<Record> = vec![base; 3];
            writer.append(&batch).await.succeeds("appending")?;
            if round % 4 == 3 {
                writer.clear().await.succeeds("clearing")?;
            }
        }
        Ok(())
    };
    let read = async {
        for _ in 0..40 {
            if let Some(contents) = cx.contents().await? {
                ensure(is_one_epoch(&contents, 3), "records of one epoch", || format!("{contents:?}"))?;
            }
        }
        Ok(())
    };
    let both: Vec<std::pin::Pin<Box<dyn Future<Output = Step> + Send + '_>>> =
        vec![Box::pin(write), Box::pin(read)];
    together(both).await.into_iter().collect()
}
