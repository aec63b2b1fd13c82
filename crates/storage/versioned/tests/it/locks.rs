//! Taking, renewing, releasing and breaking locks.

use std::time::Duration;

use groundstate_versioned::{
    BreakOutcome, Ending, LockOutcome, NewLock, RenewOutcome, UnlockOutcome, WriteOptions, WriteOutcome,
};

use crate::support::{bench, written};

#[tokio::test]
async fn one_of_two_ids_gets_the_lock_and_its_document_is_kept_byte_for_byte() {
    let bench = bench();
    let document = bench.document("prod");
    for bytes in [&b"{ \"ID\" : 1 }"[..], b"\xff\0", b""] {
        let lock = NewLock::new("a").document(bytes).by("ana");
        let LockOutcome::Locked(mine) = document.lock(&lock).await.unwrap() else { panic!() };
        assert_eq!((&mine.document[..], mine.by.as_str()), (bytes, "ana"));
        let LockOutcome::Held(held) = document.lock(&NewLock::new("b")).await.unwrap() else { panic!() };
        assert_eq!((held.id.as_str(), &held.document[..], held.token), ("a", bytes, mine.token));
        assert!(
            matches!(document.unlock("b").await.unwrap(), UnlockOutcome::Lost(loss) if loss.holder.is_some())
        );
        assert!(matches!(document.unlock("a").await.unwrap(), UnlockOutcome::Unlocked(_)));
    }
}

#[tokio::test]
async fn lost_lock_and_unlock_answers_are_success_when_asked_again() {
    let bench = bench();
    let document = bench.document("prod");
    let lock = NewLock::new("a").document("{}");
    for again in 0..3 {
        let LockOutcome::Locked(mine) = document.lock(&lock).await.unwrap() else { panic!() };
        assert_eq!(mine.token, 1, "attempt {again}");
    }
    assert!(matches!(document.unlock("a").await.unwrap(), UnlockOutcome::Unlocked(_)));
    assert!(matches!(document.unlock("a").await.unwrap(), UnlockOutcome::Already(_)));
    let LockOutcome::Locked(other) = document.lock(&NewLock::new("b")).await.unwrap() else { panic!() };
    assert_eq!(other.token, 2);
    assert!(matches!(document.unlock("a").await.unwrap(), UnlockOutcome::Already(ended) if ended.token == 1));
    assert!(matches!(document.unlock("c").await.unwrap(), UnlockOutcome::Lost(loss) if loss.ended.is_none()));
}

#[tokio::test]
async fn a_lease_that_is_over_can_be_taken_and_until_then_be_renewed() {
    let bench = bench();
    let document = bench.document("prod");
    let lease = Some(Duration::from_secs(60));
    let lock = NewLock::new("a").lease(lease);
    document.lock(&lock).await.unwrap();
    bench.clock.advance(Duration::from_secs(59));
    assert!(matches!(document.lock(&NewLock::new("b")).await.unwrap(), LockOutcome::Held(_)));

    // Over, but the document has it still.
    bench.clock.advance(Duration::from_secs(61));
    assert!(document.head().await.unwrap().lock().is_none());
    let RenewOutcome::Renewed(renewed) = document.renew("a", lease).await.unwrap() else { panic!() };
    assert_eq!(renewed.token, 1);
    assert!(matches!(document.lock(&NewLock::new("b")).await.unwrap(), LockOutcome::Held(_)));

    bench.clock.advance(Duration::from_secs(60));
    let LockOutcome::Locked(theirs) = document.lock(&NewLock::new("b")).await.unwrap() else { panic!() };
    assert_eq!(theirs.token, 2);
    let RenewOutcome::Lost(loss) = document.renew("a", lease).await.unwrap() else { panic!() };
    assert_eq!(loss.holder.unwrap().id, "b");
    assert_eq!(loss.ended.unwrap().how, Ending::Expired);
    let content = document.content("x").await.unwrap();
    let late = document.write(&content, &WriteOptions::default().lock("a")).await.unwrap();
    assert!(matches!(late, WriteOutcome::Lost(_)), "{late:?}");
}

#[tokio::test]
async fn a_holder_finds_out_who_broke_its_lock_and_why() {
    let bench = bench();
    let document = bench.document("prod");
    document.lock(&NewLock::new("a")).await.unwrap();
    let other = document.break_lock(Some("x"), "ana", "left").await.unwrap();
    assert!(matches!(other, BreakOutcome::Other(lock) if lock.id == "a"));
    let broken = document.break_lock(Some("a"), "ana", "the runner is gone").await.unwrap();
    assert!(matches!(broken, BreakOutcome::Broken(lock) if lock.id == "a"));
    assert!(matches!(document.break_lock(None, "ana", "").await.unwrap(), BreakOutcome::NotLocked));
    let UnlockOutcome::Lost(loss) = document.unlock("a").await.unwrap() else { panic!() };
    let how = Ending::Broken { by: "ana".to_owned(), reason: "the runner is gone".to_owned() };
    assert_eq!((loss.holder.is_none(), loss.ended.unwrap().how), (true, how));
}

#[tokio::test]
async fn tokens_grow_over_deletions_and_an_old_token_writes_nothing() {
    let bench = bench();
    let document = bench.document("prod");
    for token in 1..4 {
        let LockOutcome::Locked(lock) = document.lock(&NewLock::new("ci")).await.unwrap() else { panic!() };
        assert_eq!(lock.token, token);
        let options = WriteOptions::default().lock("ci");
        assert_eq!(written(&document, "x", &options.clone().token(token)).await.token, Some(token));
        let content = document.content("y").await.unwrap();
        let old = document.write(&content, &options.clone().token(token - 1)).await.unwrap();
        assert!(matches!(old, WriteOutcome::Lost(_)), "{old:?}");
        document.delete(&options).await.unwrap();
        document.unlock("ci").await.unwrap();
    }
}
