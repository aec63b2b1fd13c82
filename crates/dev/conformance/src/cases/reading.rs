//! R1 to R5: what a read gives.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Stored, WriteOptions};

use crate::cx::{Client, Cx, put, read, reads, reads_nothing, reads_the_same};
use crate::executor::{BoxFuture, yield_now};
use crate::failure::{Answer, Step, describe_bytes, describe_stored, ensure, fail, not_applicable};

pub(super) async fn absent(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    reads_nothing(&a, "A").await?;
    reads_nothing(&b, "B").await?;
    // Reading creates nothing either.
    reads_nothing(&cx.open().await?, "C").await
}

pub(super) async fn deleted(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    put(&a, &cx.document()).await?;
    b.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
    reads_nothing(&a, "A").await?;
    reads_nothing(&b, "B").await
}

pub(super) async fn zero_bytes(cx: &Cx) -> Step {
    if !cx.place.put_zero_bytes().await.succeeds("putting zero bytes")? {
        return not_applicable("the harness cannot put zero bytes there (`TestStore::put_zero_bytes`)");
    }
    let (a, b) = cx.two().await?;
    reads_nothing(&a, "A").await?;
    let document = cx.document();
    let options = if cx.capabilities.conditional_write {
        WriteOptions::expecting(groundstate_statemgr::Expect::Absent)
    } else {
        WriteOptions::any()
    };
    let version =
        a.write(Bytes::copy_from_slice(&document), &options).await.succeeds("a write over zero bytes")?;
    reads(&b, "B", &document, Some(&version)).await.map(drop)
}

pub(super) async fn no_container(cx: &Cx) -> Step {
    let Some(store) = cx.place.open_without_container().await.succeeds("opening a client")? else {
        return not_applicable(
            "the harness has no place without container (`TestStore::open_without_container`)",
        );
    };
    let client = cx.client(store);
    client.read().await.refused(ErrorKind::NotFound, "a read where the container is missing").map(drop)
}

pub(super) async fn others_writes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for round in 0..4 {
        let (writer, name) = if round % 2 == 0 { (&a, "A") } else { (&b, "B") };
        let document = cx.document();
        let version = put(writer, &document).await?;
        // The writer, one that has read before, and one that is opened afterwards.
        reads(&a, &format!("A, after a write by {name},"), &document, Some(&version)).await?;
        reads(&b, &format!("B, after a write by {name},"), &document, Some(&version)).await?;
        reads(&cx.open().await?, "a new client", &document, Some(&version)).await?;
    }
    Ok(())
}

pub(super) async fn any_bytes(cx: &Cx) -> Step {
    if cx.capabilities.force_write {
        return not_applicable("the store looks into states, so it need not take other bytes");
    }
    let (a, b) = cx.two().await?;
    let samples: [&[u8]; 6] = [
        b"\0",
        b"\xff\xfe not UTF-8 \xc3\x28",
        b"\xef\xbb\xbf{\"a\": 1}\r\n\r\n",
        b"{ \"b\" : 1.0e2,\t\"b\":2 , \"a\":\"\\u00e9\" }   ",
        b"\n",
        b"it's 'quoted' \"twice\" \\ % ; -- $1 {0}",
    ];
    for sample in samples {
        let is_text = std::str::from_utf8(sample).is_ok_and(|text| !text.contains('\0'));
        let before = read(&b).await?;
        let what = format!("a write of {sample:?}");
        let version = match a.write(Bytes::copy_from_slice(sample), &WriteOptions::any()).await {
            // A place that keeps text only says so, and alters nothing.
            Err(error) if !is_text && error.kind() == ErrorKind::Invalid => {
                reads_the_same(&b, &format!("B, after {what} was refused,"), before.as_ref()).await?;
                continue;
            }
            outcome => outcome.succeeds(&what)?,
        };
        reads(&b, &format!("B, after a write of {sample:?},"), sample, Some(&version)).await?;
    }
    Ok(())
}

pub(super) async fn megabytes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    for size in [65_535, 1 << 20, (5 << 20) + 1] {
        let document = cx.document_of(size);
        let version = put(&a, &document).await?;
        reads(&b, "B", &document, Some(&version)).await?;
    }
    Ok(())
}

pub(super) async fn restart(cx: &Cx) -> Step {
    let document = cx.document();
    let a = cx.open().await?;
    put(&a, &document).await?;
    drop(a);
    if !cx.place.restart().await.succeeds("a restart of the service")? {
        return not_applicable("the harness cannot restart the service (`TestStore::restart`)");
    }
    reads(&cx.open().await?, "a client after the restart", &document, None).await.map(drop)
}

pub(super) async fn snapshots(cx: &Cx) -> Step {
    let clients = cx.clients(3).await?;
    for round in 0..16 {
        let documents = alternating(cx, 4);
        put(&clients[0], &documents[0]).await?;
        let documents = &documents;
        let mut futures: Vec<BoxFuture<'_, Step>> = vec![Box::pin(write_all(&clients[0], &documents[1..]))];
        for client in &clients[1..] {
            futures.push(Box::pin(async move {
                for _ in 0..5 {
                    one_of(&read(client).await?, documents)?;
                    yield_now().await;
                }
                Ok(())
            }));
        }
        // The writer stands still half way, then a reader does, each a step later than before; then chance decides.
        let part = format!("snapshots{round}");
        let outcomes = match round {
            0..6 => cx.stop_first(&part, round, futures).await,
            6..12 => {
                futures.rotate_left(1);
                cx.stop_first(&part, round - 6, futures).await
            }
            _ => cx.interleave(&part, futures).await,
        };
        outcomes.into_iter().collect::<Step>()?;
    }
    Ok(())
}

pub(super) async fn snapshots_on_threads(cx: &Cx) -> Step {
    let documents = Arc::new(alternating(cx, 40));
    let clients = cx.clients(3).await?;
    put(&clients[0], &documents[0]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let mut futures: Vec<BoxFuture<'static, Step>> = Vec::new();
    for (number, client) in clients.into_iter().enumerate() {
        let (documents, done) = (Arc::clone(&documents), Arc::clone(&done));
        futures.push(match number {
            0 => Box::pin(async move {
                let outcome = write_all(&client, &documents[1..]).await;
                done.store(true, Ordering::SeqCst);
                outcome
            }),
            _ => Box::pin(async move {
                // At least one read comes after the last write.
                let mut last = false;
                while !last {
                    last = done.load(Ordering::SeqCst);
                    one_of(&read(&client).await?, &documents)?;
                }
                Ok(())
            }),
        });
    }
    cx.on_threads(futures).await?.into_iter().collect()
}

async fn write_all(client: &Client, documents: &[Vec<u8>]) -> Step {
    for document in documents {
        put(client, document).await?;
    }
    Ok(())
}

/// Documents that grow and shrink, so that a torn one has a length that none of them has, or other letters.
fn alternating(cx: &Cx, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| cx.document_of(if number % 2 == 0 { 400 } else { 60_000 })).collect()
}

fn one_of(stored: &Option<Stored>, documents: &[Vec<u8>]) -> Step {
    let whole = stored.as_ref().is_some_and(|stored| documents.contains(&stored.bytes));
    ensure(whole, "a read during a write gives one of the documents that were written", || {
        describe_stored(stored.as_ref())
    })
}

pub(super) async fn without_lock(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let first = cx.document();
    put(&a, &first).await?;
    let grant = a.lock(&cx.info("a")).await.succeeds("a lock of A")?;
    reads(&b, "B, while A holds the lock,", &first, None).await?;
    let second = cx.document();
    let held = WriteOptions::any().fence(grant.fence);
    let version = a
        .write(Bytes::copy_from_slice(&second), &held)
        .await
        .succeeds("a write of A, which holds the lock,")?;
    reads(&b, "B, while A holds the lock,", &second, Some(&version)).await?;
    reads(&cx.open().await?, "a client opened while A holds the lock", &second, Some(&version)).await?;
    a.unlock(&grant.id).await.succeeds("the release")
}

pub(super) async fn versions(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let documents = [cx.document(), cx.document_of(5_000), cx.document()];
    let mut seen: HashMap<String, Vec<u8>> = HashMap::new();
    // Contents come back, in another order and behind deletions; a version may come back only with its content.
    for (round, number) in [0, 1, 0, 0, 2, 1, 2, 0].into_iter().enumerate() {
        let (writer, reader) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let document = &documents[number];
        let written = writer
            .write(Bytes::copy_from_slice(document), &WriteOptions::any().force(cx.capabilities.force_write))
            .await;
        let version = written.succeeds("a write that expects anything")?;
        for client in [writer, reader, writer] {
            reads(client, "a client, without a write in between,", document, Some(&version)).await?;
        }
        if let Some(before) = seen.insert(version.as_str().to_owned(), document.clone())
            && before != *document
        {
            let expected = format!("version {:?} means {}", version.as_str(), describe_bytes(&before));
            return fail(expected, describe_bytes(document));
        }
        if round % 3 == 2 && cx.capabilities.delete {
            reader.delete(&WriteOptions::any()).await.succeeds("a deletion")?;
            reads_nothing(writer, "a client after a deletion").await?;
        }
    }
    Ok(())
}
