//! Writing and deleting under conditions.

use bytes::Bytes;
use groundstate_blobs::{
    Attributes, BlobVersion, DeleteOptions, ErrorKind, GetOptions, Key, LeaseId, Precondition, PutOptions,
};

use super::reading::{get, key, put};
use super::{Cx, needs};
use crate::executor::{BoxFuture, together};
use crate::failure::{Answer, Step, equal, failed, holds};

fn expecting(version: &BlobVersion) -> PutOptions {
    PutOptions::expecting(Precondition::Version(version.clone()))
}

pub(super) async fn whole(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("k")?;
    let content = |n: u8| Bytes::from(vec![n; 20_000 + usize::from(n) * 7_000]);
    put(&a, &key, content(0)).await?;
    let writer: BoxFuture<'_, Step> = Box::pin(async {
        for n in 1..20 {
            put(&a, &key, content(n)).await?;
        }
        Ok(())
    });
    let reader: BoxFuture<'_, Step> = Box::pin(async {
        for _ in 0..20 {
            let bytes = get(&b, &key).await?.bytes;
            let first = bytes.first().copied().unwrap_or_default();
            holds(bytes == content(first), "a read during writes gives one content, whole")?;
        }
        Ok(())
    });
    together(vec![writer, reader]).await.into_iter().collect()
}

pub(super) async fn create_once(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    needs(a.capabilities().conditional_put, "conditional writes")?;
    let key = key("lock.tflock")?;
    let once = PutOptions::expecting(Precondition::Absent);
    let version = a.put(&key, "a".into(), &once).await.succeeds("the first creation")?;
    for client in [&a, &b] {
        client
            .put(&key, "b".into(), &once)
            .await
            .refused(ErrorKind::PreconditionFailed, "another creation")?;
    }
    let blob = get(&b, &key).await?;
    equal("what is stored after refusals", &blob.bytes, &"a".into())?;
    holds(blob.version().same_as(&version), "refusals leave the version")?;
    b.delete(&key, &DeleteOptions::default()).await.succeeds("a deletion")?;
    b.put(&key, "b".into(), &once).await.succeeds("a creation after the deletion").map(drop)
}

pub(super) async fn create_once_of_many(cx: &Cx) -> Step {
    const CREATORS: usize = 64;
    needs(cx.open().await?.capabilities().conditional_put, "conditional writes")?;
    let key = key("race")?;
    let mut clients = Vec::new();
    for _ in 0..CREATORS {
        clients.push(cx.open().await?);
    }
    let once = PutOptions::expecting(Precondition::Absent);
    let attempt = |at: usize| -> BoxFuture<'_, _> {
        let (client, key, once) = (&clients[at], &key, &once);
        Box::pin(async move { client.put(key, format!("creator {at}").into(), once).await })
    };
    let outcomes = together((0..CREATORS).map(attempt).collect()).await;
    let mut winners = Vec::new();
    for (at, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(_) => winners.push(at),
            other => drop(other.refused(ErrorKind::PreconditionFailed, "a creation that lost")?),
        }
    }
    equal("the number of winners", &winners.len(), &1)?;
    equal(
        "what is stored",
        &get(&clients[0], &key).await?.bytes,
        &Bytes::from(format!("creator {}", winners[0])),
    )
}

pub(super) async fn compare_and_swap(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    needs(a.capabilities().conditional_put, "conditional writes")?;
    let (key, other) = (key("k")?, key("other")?);
    let first = put(&a, &key, "1").await?;
    let second =
        b.put(&key, "2".into(), &expecting(&first)).await.succeeds("a write that expects what is stored")?;
    a.put(&key, "3".into(), &expecting(&first))
        .await
        .refused(ErrorKind::PreconditionFailed, "a write that expects what is gone")?;
    a.put(&other, "3".into(), &expecting(&second))
        .await
        .refused(ErrorKind::PreconditionFailed, "a write that expects a version where nothing is stored")?;
    let blob = get(&a, &key).await?;
    equal("what is stored after refusals", &blob.bytes, &"2".into())?;
    holds(blob.version().same_as(&second), "refusals leave the version")?;
    equal("what was never written", &a.get(&other, &GetOptions::default()).await.succeeds("a read")?, &None)?;
    // A version that was read, and one that came by its text, are as good as the one that the write gave.
    let third = a
        .put(&key, "3".into(), &expecting(blob.version()))
        .await
        .succeeds("a write that expects what was read")?;
    let text = third
        .to_string()
        .parse::<BlobVersion>()
        .map_err(|error| failed("a version by its text", error.to_string()))?;
    b.put(&key, "4".into(), &expecting(&text))
        .await
        .succeeds("a write that expects a version by its text")
        .map(drop)
}

pub(super) async fn loses_nothing(cx: &Cx) -> Step {
    const CLIENTS: usize = 8;
    const TIMES: usize = 10;
    needs(cx.open().await?.capabilities().conditional_put, "conditional writes")?;
    let key = key("counter")?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(cx.open().await?);
    }
    let count = |at: usize| -> BoxFuture<'_, Step> {
        let (client, key) = (&clients[at], &key);
        Box::pin(async move {
            let mut done = 0;
            while done < TIMES {
                let stored = client.get(key, &GetOptions::default()).await.succeeds("a read")?;
                let text =
                    stored.as_ref().map_or("0 ", |blob| std::str::from_utf8(&blob.bytes).unwrap_or_default());
                let number: usize =
                    text.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or_default();
                let options =
                    PutOptions::expecting(Precondition::of(stored.as_ref().map(|blob| blob.version())));
                // The name of the client tells its writes from others' of the same number.
                match client.put(key, format!("{} by {at}", number + 1).into(), &options).await {
                    Ok(_) => done += 1,
                    refused => {
                        drop(refused.refused(ErrorKind::PreconditionFailed, "an increment that lost")?)
                    }
                }
            }
            Ok(())
        })
    };
    together((0..CLIENTS).map(count).collect()).await.into_iter().collect::<Step>()?;
    let bytes = get(&clients[0], &key).await?.bytes;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    equal("the sum", &text.split(' ').next(), &Some((CLIENTS * TIMES).to_string().as_str()))
}

pub(super) async fn conditional_delete(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let key = key("k")?;
    let absent = DeleteOptions::expecting(Precondition::Absent);
    a.delete(&key, &absent).await.refused(ErrorKind::Invalid, "a deletion of what is to be absent")?;
    needs(a.capabilities().conditional_delete, "conditional deletions")?;
    let first = put(&a, &key, "1").await?;
    let second = put(&b, &key, "2").await?;
    a.delete(&key, &DeleteOptions::version(&first))
        .await
        .refused(ErrorKind::PreconditionFailed, "a deletion of what is gone")?;
    equal("what is stored after the refusal", &get(&b, &key).await?.bytes, &"2".into())?;
    let current = DeleteOptions::version(&second);
    holds(
        a.delete(&key, &current).await.succeeds("a deletion of what is stored")?,
        "it says that there was something",
    )?;
    equal("a read afterwards", &b.get(&key, &GetOptions::default()).await.succeeds("a read")?, &None)?;
    holds(
        !b.delete(&key, &current).await.succeeds("a deletion of a version where nothing is stored")?,
        "it says that there was nothing",
    )
}

pub(super) async fn attributes(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    needs(a.capabilities().attributes, "attributes")?;
    let key = key("k")?;
    let attributes = Attributes::content_type("application/json")
        .with_metadata("Terraformlockid", "eyJ9")
        .with_metadata("owner", "me");
    let options = PutOptions::default().attributes(attributes.clone());
    a.put(&key, "{}".into(), &options).await.succeeds("a write with attributes")?;
    equal("the attributes of a read", &get(&b, &key).await?.meta.attributes, &attributes)?;
    let meta = b.head(&key).await.succeeds("a look")?;
    equal("the attributes of a look", &meta.map(|meta| meta.attributes), &Some(attributes))?;
    put(&a, &key, "{}").await?;
    equal("the metadata after a write without", &get(&b, &key).await?.meta.attributes.metadata.len(), &0)
}

pub(super) async fn lacking(cx: &Cx) -> Step {
    let store = cx.open().await?;
    let can = store.capabilities();
    let lease = LeaseId::parse("681fbb37-7302-b5fd-bac8-6224f8cc5180").succeeds("a lease id")?;
    let version = put(&store, &key("k")?, "1").await?;
    let mut options = Vec::new();
    if !can.conditional_put {
        options.extend([PutOptions::expecting(Precondition::Absent), expecting(&version)]);
    }
    if !can.leases {
        options.push(PutOptions::default().lease(&lease));
    }
    if !can.attributes {
        options.push(PutOptions::default().attributes(Attributes::content_type("text/plain")));
    }
    for options in &options {
        let absent = Key::parse("absent").succeeds("a key")?;
        for key in [&key("k")?, &absent] {
            let outcome = store.put(key, "2".into(), options).await;
            outcome.refused(ErrorKind::Unsupported, &format!("a write with {options:?}"))?;
        }
        equal("what is stored", &get(&store, &key("k")?).await?.bytes, &"1".into())?;
        equal("what is not", &store.head(&absent).await.succeeds("a look")?, &None)?;
    }
    if !can.leases {
        let read = GetOptions::default().lease(&lease);
        store.get(&key("k")?, &read).await.refused(ErrorKind::Unsupported, "a read under a lease")?;
        let delete = DeleteOptions::default().lease(&lease);
        store
            .delete(&key("k")?, &delete)
            .await
            .refused(ErrorKind::Unsupported, "a deletion under a lease")?;
    }
    Ok(())
}
