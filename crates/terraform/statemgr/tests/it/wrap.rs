//! Wrappers around stores.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::{Clock, FixedClock};
use groundstate_statemgr::{
    ErrorKind, ReadOnly, Result, Retry, RetryPolicy, SharedMemory, StateStore, WriteOptions,
    refresh_and_read, write_and_persist,
};

use crate::support::{Fault, Script, clock, info, kind, manager, state};

#[tokio::test]
async fn a_read_only_store_refuses_every_change() -> Result<()> {
    let place = SharedMemory::new("prod");
    write_and_persist(&manager(place.open()), &state("a")).await?;
    let store = ReadOnly::new(place.open());
    let id = info("1").id;
    assert_eq!(
        kind(store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await),
        Some(ErrorKind::Unsupported)
    );
    assert_eq!(kind(store.delete(&WriteOptions::any()).await), Some(ErrorKind::Unsupported));
    assert_eq!(kind(store.lock(&info("1")).await), Some(ErrorKind::Unsupported));
    assert_eq!(kind(store.renew(&id).await), Some(ErrorKind::Unsupported));
    assert_eq!(kind(store.unlock(&id).await), Some(ErrorKind::Unsupported));
    assert_eq!(kind(store.force_unlock(&id).await), Some(ErrorKind::Unsupported));
    assert_eq!(store.lock_holder().await?, None);
    assert_eq!(store.capabilities().to_string(), "holder");
    let manager = manager(store);
    assert_eq!(refresh_and_read(&manager).await?, Some(state("a")));
    assert_eq!(kind(write_and_persist(&manager, &state("b")).await), Some(ErrorKind::Unsupported));
    Ok(())
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_asked_again() -> Result<()> {
    let (script, time) = (Script::new(&SharedMemory::new("prod")), clock());
    let policy = RetryPolicy::default().attempts(3).delays(Duration::from_secs(1), Duration::from_secs(60));
    let manager = manager(Retry::new(script.clone(), policy, Arc::<FixedClock>::clone(&time)));
    script.fail_next(Fault::Fail(ErrorKind::Unavailable));
    script.fail_next(Fault::Fail(ErrorKind::Unavailable));
    write_and_persist(&manager, &state("a")).await?;
    assert_eq!(script.calls(), ["get", "put 1", "put 1", "put 1"]);
    assert_eq!(time.now().to_string(), "1970-01-01T00:00:03Z");
    for _ in 0..3 {
        script.fail_next(Fault::Fail(ErrorKind::Unavailable));
    }
    assert_eq!(kind(write_and_persist(&manager, &state("b")).await), Some(ErrorKind::Unavailable));
    Ok(())
}

#[tokio::test]
async fn what_may_have_happened_is_not_repeated() -> Result<()> {
    let script = Script::new(&SharedMemory::new("prod"));
    let manager = manager(Retry::new(script.clone(), RetryPolicy::default(), clock()));
    for kind in [ErrorKind::Ambiguous, ErrorKind::Denied] {
        script.calls();
        script.fail_next(Fault::Fail(kind));
        write_and_persist(&manager, &state(&format!("{kind:?}"))).await.unwrap_err();
        assert_eq!(script.calls().iter().filter(|call| call.starts_with("put")).count(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn pointers_to_stores_are_stores() -> Result<()> {
    let place = SharedMemory::new("prod");
    let boxed: Box<dyn StateStore> = Box::new(place.open());
    let shared: Arc<dyn StateStore> = Arc::new(boxed);
    write_and_persist(&manager(shared), &state("a")).await?;
    assert!(place.open().read().await?.is_some());
    Ok(())
}
