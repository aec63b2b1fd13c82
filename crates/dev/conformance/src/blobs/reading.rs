//! Reading: what is absent, what was written, ranges and conditions.

use bytes::Bytes;
use groundstate_blobs::{Blob, BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, PutOptions};

use super::{Cx, needs};
use crate::failure::{Answer, Step, equal, failed, holds};

pub(super) fn key(text: &str) -> Step<Key> {
    Key::parse(text).succeeds("a key")
}

/// Reads a blob that has to be there.
pub(super) async fn get(store: &dyn BlobStore, key: &Key) -> Step<Blob> {
    let blob = store.get(key, &GetOptions::default()).await.succeeds("a read")?;
    blob.ok_or_else(|| failed(format!("what was written as {key}"), "nothing"))
}

pub(super) async fn put(
    store: &dyn BlobStore,
    key: &Key,
    bytes: impl Into<Bytes>,
) -> Step<groundstate_blobs::BlobVersion> {
    store.put(key, bytes.into(), &PutOptions::default()).await.succeeds("a write")
}

pub(super) async fn absent(cx: &Cx) -> Step {
    let store = cx.open().await?;
    let key = key("a/b")?;
    let ranged = GetOptions::default().range(0..10);
    for options in [GetOptions::default(), ranged, GetOptions::default().range(3..3)] {
        equal("a read of what is absent", &store.get(&key, &options).await.succeeds("a read")?, &None)?;
    }
    equal("the description", &store.head(&key).await.succeeds("a look")?, &None)?;
    let was_there =
        store.delete(&key, &DeleteOptions::default()).await.succeeds("a deletion of what is absent")?;
    equal("its answer", &was_there, &!store.capabilities().tells_deletions)
}

pub(super) async fn deleted(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("k")?;
    for _ in 0..2 {
        put(&a, &key, "1").await?;
        let was_there = b.delete(&key, &DeleteOptions::default()).await.succeeds("a deletion")?;
        holds(was_there, "a deletion says that there was something")?;
        for client in [&a, &b] {
            equal("a read", &client.get(&key, &GetOptions::default()).await.succeeds("a read")?, &None)?;
            equal("a look", &client.head(&key).await.succeeds("a look")?, &None)?;
        }
    }
    Ok(())
}

pub(super) async fn written(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("env:/dev/terraform.tfstate")?;
    let mut last = None;
    for text in ["1", "longer than before", "2"] {
        let version = put(&a, &key, text).await?;
        for client in [&a, &b, &cx.open().await?] {
            let blob = get(client, &key).await?;
            equal("the bytes", &blob.bytes, &Bytes::from(text))?;
            holds(blob.version().same_as(&version), "a read gives the version that the write gave")?;
            equal("the size", &blob.meta.size, &(text.len() as u64))?;
            equal("the range", &blob.range, &(0..text.len() as u64))?;
            let meta = client.head(&key).await.succeeds("a look")?;
            holds(
                meta.is_some_and(|meta| meta.version.same_as(&version) && meta.size == text.len() as u64),
                "a look gives version and size",
            )?;
        }
        holds(
            last.replace(version.clone())
                .is_none_or(|last: groundstate_blobs::BlobVersion| !last.same_as(&version)),
            "another content has another version",
        )?;
    }
    Ok(())
}

pub(super) async fn any_bytes(cx: &Cx) -> Step {
    let store = cx.open().await?;
    let all: Vec<u8> = (0..=255).collect();
    for (name, bytes) in
        [("zero", Vec::new()), ("one", vec![0]), ("all", all), ("lines", b"\r\n\n\r".to_vec())]
    {
        let key = key(name)?;
        put(&store, &key, bytes.clone()).await?;
        let blob = get(&store, &key).await?;
        equal(name, &blob.bytes.to_vec(), &bytes)?;
        equal("the size", &blob.meta.size, &(bytes.len() as u64))?;
    }
    Ok(())
}

pub(super) async fn megabytes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("large")?;
    let bytes: Bytes =
        (0..6_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>().into();
    put(&a, &key, bytes.clone()).await?;
    holds(get(&b, &key).await?.bytes == bytes, "six megabytes are read as they were written")?;
    let blob = b
        .get(&key, &GetOptions::default().range(5_999_990..7_000_000))
        .await
        .succeeds("a read of the end")?;
    let end = blob.map(|blob| (blob.bytes, blob.meta.size));
    equal("the end", &end, &Some((bytes.slice(5_999_990..), 6_000_000)))
}

pub(super) async fn ranges(cx: &Cx) -> Step {
    let store = cx.open().await?;
    let key = key("k")?;
    put(&store, &key, "0123456789").await?;
    for (range, text, start) in [
        (0..10, "0123456789", 0),
        (0..1, "0", 0),
        (3..7, "3456", 3),
        (8..100, "89", 8),
        (9..u64::MAX, "9", 9),
        (10..12, "", 10),
        (50..60, "", 10),
        (4..4, "", 4),
    ] {
        let blob = store
            .get(&key, &GetOptions::default().range(range.clone()))
            .await
            .succeeds("a read of a range")?;
        let seen = blob.map(|blob| (blob.bytes, blob.range.start, blob.meta.size));
        equal(&format!("the range {range:?}"), &seen, &Some((Bytes::from(text), start, 10)))?;
    }
    let empty = super::reading::key("empty")?;
    put(&store, &empty, "").await?;
    let blob = store
        .get(&empty, &GetOptions::default().range(0..5))
        .await
        .succeeds("a read of a range of nothing")?;
    equal("a range of nothing", &blob.map(|blob| (blob.bytes.len(), blob.meta.size)), &Some((0, 0)))
}

pub(super) async fn ranges_of_one_content(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("k")?;
    let first = put(&a, &key, "0123456789").await?;
    let half = GetOptions::default().range(0..5).if_match(&first);
    equal(
        "the first half",
        &a.get(&key, &half).await.succeeds("a read")?.map(|blob| blob.bytes),
        &Some("01234".into()),
    )?;
    put(&b, &key, "abcdefghij").await?;
    for range in [5..10, 50..60, 4..4] {
        let rest = GetOptions::default().range(range).if_match(&first);
        a.get(&key, &rest)
            .await
            .refused(ErrorKind::PreconditionFailed, "a read of a content that is gone")?;
    }
    Ok(())
}

pub(super) async fn conditional_reads(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("k")?;
    let first = put(&a, &key, "1").await?;
    let changed = GetOptions::default().if_none_match(&first);
    b.get(&key, &changed).await.refused(ErrorKind::NotModified, "a read of what is known")?;
    put(&a, &key, "2").await?;
    equal(
        "what changed",
        &b.get(&key, &changed).await.succeeds("a read")?.map(|blob| blob.bytes),
        &Some("2".into()),
    )?;
    let old = GetOptions::default().if_match(&first);
    b.get(&key, &old).await.refused(ErrorKind::PreconditionFailed, "a read of what is gone").map(drop)
}

pub(super) async fn display(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let text = a.to_string();
    holds(!text.is_empty() && !text.contains('\n'), "the name of the place is one line")?;
    equal("the name of the place for another client", &b.to_string(), &text)?;
    needs(!a.capabilities().leases || a.leases().is_some(), "leases")
        .and_then(|()| equal("whether there are leases", &a.leases().is_some(), &a.capabilities().leases))
}
