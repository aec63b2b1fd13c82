//! W1 to W4: who may write.

use groundstate_wal::{ErrorKind, OpenOptions};

use super::appending::race as append_in_a_race;
use super::cx::{Cx, record, records, same};
use crate::failure::{Answer, Step, ensure};

pub(super) async fn newest(cx: &Cx) -> Step {
    let older = cx.begun().await?;
    older.append(&records(&["one"])).await.succeeds("appending")?;
    let newer = cx.writer("b").await?;
    older.append(&records(&["never"])).await.refused(ErrorKind::Fenced, "appending after a takeover")?;
    cx.holds(&records(&["one"])).await?;
    newer.append(&records(&["two"])).await.succeeds("appending by the newer writer")?;
    older.append(&records(&["never"])).await.refused(ErrorKind::Fenced, "appending once more")?;
    cx.holds(&records(&["one", "two"])).await
}

/// However many writers came in between, and whatever they removed.
pub(super) async fn sleeper(cx: &Cx) -> Step {
    let older = cx.begun().await?;
    older.append(&records(&["one"])).await.succeeds("appending")?;
    for _ in 0..24 {
        let newer = cx.writer("b").await?;
        newer.begin(&record("base")).await.succeeds("beginning")?;
        newer.append(&records(&["two"])).await.succeeds("appending by the newer writer")?;
        newer.clear().await.succeeds("clearing")?;
        newer.close().await.succeeds("closing")?;
    }
    older.append(&records(&["never"])).await.refused(ErrorKind::Fenced, "appending after many takeovers")?;
    let found = cx.contents().await?;
    ensure(found.is_none(), "nothing of a writer that was fenced off", || format!("{found:?}"))
}

pub(super) async fn every_operation(cx: &Cx) -> Step {
    for operation in 0..4 {
        let older = cx.begun().await?;
        older.append(&records(&["one"])).await.succeeds("appending")?;
        let newer = cx.writer("b").await?;
        match operation {
            0 => older
                .begin(&record("never"))
                .await
                .refused(ErrorKind::Fenced, "beginning after a takeover")
                .map(drop)?,
            1 => older.clear().await.refused(ErrorKind::Fenced, "clearing after a takeover").map(drop)?,
            2 => older.close().await.succeeds("closing after a takeover")?,
            _ => drop(older),
        }
        cx.holds(&records(&["one"])).await?;
        newer.append(&records(&["two"])).await.succeeds("appending by the newer writer")?;
        cx.holds(&records(&["one", "two"])).await?;
        newer.close().await.succeeds("closing")?;
    }
    Ok(())
}

pub(super) async fn race(cx: &Cx) -> Step {
    let older = cx.begun().await?;
    let newer = cx.writer("b").await?;
    let mut kept = append_in_a_race(&older, &newer).await?;
    kept.sort_by_key(|(place, _)| *place);
    let found = cx.contents().await?.map(|contents| contents.records).unwrap_or_default();
    let kept: Vec<_> = kept.into_iter().map(|(_, record)| record).collect();
    same(&found, &kept)
}

pub(super) async fn locked(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    match cx.client().await?.open(&OpenOptions::new("b")).await {
        // It is alive, and the store knows.
        Err(error) if error.kind() == ErrorKind::Locked => {
            writer.append(&records(&["two"])).await.succeeds("appending after a refusal of another")?;
            cx.holds(&records(&["one", "two"])).await?;
            drop(writer);
            // Stores may take a moment to notice, so this is not tested by opening again without taking over.
            cx.writer("c").await.map(drop)
        }
        // The store cannot tell, so it was a takeover.
        Ok(newer) => {
            writer
                .append(&records(&["never"]))
                .await
                .refused(ErrorKind::Fenced, "appending after a takeover")?;
            newer.append(&records(&["two"])).await.succeeds("appending by the newer writer")?;
            cx.holds(&records(&["one", "two"])).await
        }
        other => other.succeeds("opening beside a writer").map(drop),
    }
}

pub(super) async fn closed(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    writer.close().await.succeeds("closing")?;
    writer.close().await.succeeds("closing again")?;
    writer.append(&records(&["never"])).await.refused(ErrorKind::Closed, "appending after closing")?;
    writer.begin(&record("never")).await.refused(ErrorKind::Closed, "beginning after closing")?;
    writer.clear().await.refused(ErrorKind::Closed, "clearing after closing")?;
    cx.holds(&records(&["one"])).await?;
    let options = OpenOptions::new("b");
    let next = cx.client().await?.open(&options).await.succeeds("opening after a writer was closed")?;
    next.append(&records(&["two"])).await.succeeds("appending")?;
    cx.holds(&records(&["one", "two"])).await
}

pub(super) async fn goes_on(cx: &Cx) -> Step {
    let mut expected = Vec::new();
    let mut writer = cx.begun().await?;
    for round in 0..8 {
        // Some write nothing, some little, some are closed and some die.
        for at in 0..round % 3 {
            let batch = records(&[&format!("{round}.{at}")]);
            let receipt = writer.append(&batch).await.succeeds("appending")?;
            let first = receipt.first.get();
            ensure(first == expected.len() as u64, format!("place {}", expected.len()), || {
                first.to_string()
            })?;
            expected.extend(batch);
        }
        if round % 2 == 0 {
            writer.close().await.succeeds("closing")?;
        }
        writer = cx.writer(&format!("writer {round}")).await?;
        let at = writer.position().map(|cursor| cursor.position().get());
        ensure(at == Some(expected.len() as u64), "the new writer at the end", || format!("{at:?}"))?;
    }
    cx.holds(&expected).await
}
