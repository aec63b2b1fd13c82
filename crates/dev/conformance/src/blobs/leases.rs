//! Leases: who may hold one, and what it keeps others from.

use std::collections::BTreeMap;

use groundstate_blobs::{
    BlobStore, DeleteOptions, ErrorKind, GetOptions, LeaseDuration, LeaseId, LeaseState, Leases,
    Precondition, PutOptions,
};

use super::reading::{get, key, put};
use super::{Cx, needs};
use crate::failure::{Answer, Step, Stop, equal, failed, holds};

fn ids() -> Step<(LeaseId, LeaseId)> {
    let id =
        |last| LeaseId::parse(&format!("681fbb37-7302-b5fd-bac8-6224f8cc518{last}")).succeeds("a lease id");
    Ok((id('0')?, id('1')?))
}

fn leases(store: &dyn BlobStore) -> Step<&dyn Leases> {
    store.leases().ok_or_else(|| Stop::NotApplicable("the store has no leases".to_owned()))
}

pub(super) async fn exclude(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    needs(a.capabilities().leases, "leases")?;
    let (la, lb) = (leases(&a)?, leases(&b)?);
    let ((mine, yours), key) = (ids()?, key("k")?);
    la.acquire(&key, &mine, LeaseDuration::Infinite)
        .await
        .refused(ErrorKind::NotFound, "a lease on nothing")?;
    put(&a, &key, "1").await?;
    equal(
        "the state of the lease",
        &b.head(&key).await.succeeds("a look")?.and_then(|meta| meta.lease),
        &Some(LeaseState::Free),
    )?;
    la.acquire(&key, &mine, LeaseDuration::Infinite).await.succeeds("a lease")?;
    la.acquire(&key, &mine, LeaseDuration::Infinite).await.succeeds("the same lease again")?;
    lb.acquire(&key, &yours, LeaseDuration::Infinite)
        .await
        .refused(ErrorKind::LeaseHeld, "a second lease")?;
    equal(
        "the state of the lease",
        &b.head(&key).await.succeeds("a look")?.and_then(|meta| meta.lease),
        &Some(LeaseState::Held),
    )?;
    lb.release(&key, &yours).await.refused(ErrorKind::LeaseLost, "the release of another lease")?;
    la.release(&key, &mine).await.succeeds("the release")?;
    la.release(&key, &mine).await.refused(ErrorKind::LeaseLost, "the release of what is free")?;
    lb.acquire(&key, &yours, LeaseDuration::Infinite).await.succeeds("a lease after the release")?;
    holds(la.break_lease(&key).await.succeeds("a break")?, "a break says that a lease was held")?;
    holds(!la.break_lease(&key).await.succeeds("another break")?, "a break says that no lease was held")?;
    la.acquire(&key, &mine, LeaseDuration::Infinite).await.succeeds("a lease after the break")
}

pub(super) async fn protect(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    needs(a.capabilities().leases, "leases")?;
    let la = leases(&a)?;
    let ((mine, yours), key) = (ids()?, key("k")?);
    put(&a, &key, "1").await?;
    la.acquire(&key, &mine, LeaseDuration::Infinite).await.succeeds("a lease")?;
    for (lease, kind) in [(None, ErrorKind::LeaseHeld), (Some(&yours), ErrorKind::LeaseLost)] {
        let (mut write, mut delete) = (PutOptions::default(), DeleteOptions::default());
        (write.lease, delete.lease) = (lease.cloned(), lease.cloned());
        b.put(&key, "2".into(), &write).await.refused(kind, "a write without the lease in force")?;
        b.delete(&key, &delete).await.refused(kind, "a deletion without the lease in force")?;
        let outcome = leases(&b)?.set_metadata(&key, &BTreeMap::new(), &Precondition::Any, lease).await;
        outcome.refused(kind, "a description without the lease in force")?;
    }
    equal("what is stored after refusals", &get(&b, &key).await?.bytes, &"1".into())?;
    b.get(&key, &GetOptions::default().lease(&yours))
        .await
        .refused(ErrorKind::LeaseLost, "a read under another lease")?;
    b.get(&key, &GetOptions::default().lease(&mine)).await.succeeds("a read under the lease")?;

    let metadata = BTreeMap::from([("terraformlockid".to_owned(), "eyJ9".to_owned())]);
    let version =
        la.set_metadata(&key, &metadata, &Precondition::Any, Some(&mine)).await.succeeds("a description")?;
    let meta = b.head(&key).await.succeeds("a look")?.ok_or_else(|| failed("the blob", "it is gone"))?;
    equal("the metadata", &meta.attributes.metadata, &metadata)?;
    holds(meta.version.same_as(&version), "a description gives the version")?;
    equal("the content after a description", &get(&b, &key).await?.bytes, &"1".into())?;

    let write = PutOptions::expecting(Precondition::Version(version)).lease(&mine);
    a.put(&key, "2".into(), &write).await.succeeds("a write under lease and condition")?;
    a.put(&key, "3".into(), &write)
        .await
        .refused(ErrorKind::PreconditionFailed, "a write under the lease that expects what is gone")?;
    la.snapshot(&key, Some(&mine)).await.succeeds("a snapshot")?;
    la.break_lease(&key).await.succeeds("a break")?;
    a.put(&key, "3".into(), &PutOptions::default().lease(&mine))
        .await
        .refused(ErrorKind::LeaseLost, "a write under a broken lease")?;
    equal("what is stored in the end", &get(&b, &key).await?.bytes, &"2".into())
}
