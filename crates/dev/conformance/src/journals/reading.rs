//! R1 to R4: what reading gives.

use groundstate_wal::{Cursor, ErrorKind, Position, replay};

use super::cx::{Cx, record, records, same};
use crate::failure::{Answer, Step, ensure, failed};

pub(super) async fn absent(cx: &Cx) -> Step {
    let nothing = |found: bool| ensure(!found, "no head", || "one".to_owned());
    let client = cx.client().await?;
    nothing(client.head().await.succeeds("reading where nothing is")?.is_some())?;
    let writer = cx.writer("a").await?;
    nothing(client.head().await.succeeds("reading before an epoch begins")?.is_some())?;
    writer.begin(&record("base")).await.succeeds("beginning an epoch")?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    writer.clear().await.succeeds("clearing")?;
    nothing(cx.contents().await?.is_some())?;
    writer.close().await.succeeds("closing")?;
    nothing(cx.contents().await?.is_some())
}

pub(super) async fn acknowledged(cx: &Cx) -> Step {
    let (writer, mut expected) = (cx.begun().await?, Vec::new());
    for round in 0..5 {
        let batch = records(&[&format!("{round} a"), &format!("{round} b")]);
        writer.append(&batch).await.succeeds("appending")?;
        expected.extend(batch);
        cx.holds(&expected).await?;
    }
    let head = cx.client().await?.head().await.succeeds("reading the head")?;
    ensure(head.is_some_and(|head| head.base == record("base")), "the base", || "another".to_owned())
}

pub(super) async fn no_writer(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    let reader = cx.client().await?;
    for round in 0..4 {
        writer.append(&records(&[&round.to_string()])).await.succeeds("appending beside a reader")?;
        let head = reader.head().await.succeeds("reading beside a writer")?;
        ensure(head.is_some(), "a head", || "none".to_owned())?;
    }
    drop(writer);
    cx.holds(&records(&["0", "1", "2", "3"])).await
}

pub(super) async fn positions(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    // Enough for several pages, in batches of different lengths, by writers that take over from each other.
    let mut writer = writer;
    let (mut expected, mut rng) = (Vec::new(), cx.rng("positions"));
    for round in 0..40 {
        let batch: Vec<_> = (0..rng.below(12)).map(|at| record(&format!("{round}/{at}"))).collect();
        writer.append(&batch).await.succeeds("appending")?;
        expected.extend(batch);
        if round % 16 == 15 {
            writer = cx.writer(&format!("writer {round}")).await?;
        }
    }
    let client = cx.client().await?;
    let head = client.head().await.succeeds("reading the head")?;
    let epoch = head.map(|head| head.epoch).unwrap_or_default();
    for from in [0, 1, 7, expected.len() / 2, expected.len() - 1, expected.len()] {
        let (mut found, start) = (Vec::new(), Cursor::new(epoch, Position::new(from as u64)));
        let mut places = Vec::new();
        let mut visit = |position: Position, record| {
            found.push(record);
            places.push(position.get());
            Ok(())
        };
        replay(&*client, start, &mut visit).await.succeeds("replaying from a position")?;
        same(&found, &expected[from..])?;
        let wanted: Vec<u64> = (from as u64..expected.len() as u64).collect();
        ensure(places == wanted, "the positions in order", || format!("{places:?}"))?;
    }
    let behind = Cursor::new(epoch, Position::new(expected.len() as u64 + 1));
    client.read(&behind).await.refused(ErrorKind::Invalid, "a position behind the end").map(drop)
}

pub(super) async fn over(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    let client = cx.client().await?;
    let head = client.head().await.succeeds("reading the head")?.ok_or_else(|| failed("a head", "none"))?;
    writer.begin(&record("another base")).await.succeeds("beginning an epoch")?;
    client.read(&head.start()).await.refused(ErrorKind::NoEpoch, "reading the epoch before")?;
    writer.clear().await.succeeds("clearing")?;
    client.read(&head.start()).await.refused(ErrorKind::NoEpoch, "reading after clearing").map(drop)
}

pub(super) async fn display(cx: &Cx) -> Step {
    let (one, other) = (cx.client().await?.to_string(), cx.client().await?.to_string());
    let is_name = !one.is_empty() && one.lines().count() == 1 && one == other;
    ensure(is_name, "one line, the same for both clients", || format!("{one:?} and {other:?}"))
}
