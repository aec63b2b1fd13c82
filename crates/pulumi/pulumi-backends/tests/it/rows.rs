//! Stacks in PostgreSQL whose names are patterns to it, and many that lock one at a time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{OsIds, Sleeper, SystemClock};
use groundstate_pulumi_backends::blobs::Context;
use groundstate_pulumi_backends::pulumi_diy::{
    Backend, Guard, LockOptions, Options, RemoveOptions, StackFilter, Unguarded,
};

use crate::interrupted::{Place, document};
use crate::support::{backend, holder, reference, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_are_patterns_are_stacks_of_their_own() {
    let Some(place) = Place::new() else { return };
    let backend = backend(store(&place.url, &[]).await.store, Options::default()).await;
    let names = ["a_b", "a-b", "aXb"];
    let mut held = Vec::new();
    for name in names {
        let stack = backend.stack(&reference(name));
        let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
        stack.create(Arc::clone(&lock) as _, None).await.unwrap();
        stack.writer(Arc::clone(&lock) as _).save(document(&stack, name)).await.unwrap();
        stack.record(&Default::default(), &lock).await.unwrap();
        held.push(lock);
    }
    let listed: Vec<String> =
        backend.stack_names(&StackFilter::default()).await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(listed, ["organization/shop/a-b", "organization/shop/aXb", "organization/shop/a_b"]);
    for name in names {
        let stack = backend.stack(&reference(name));
        assert_eq!(stack.read().await.unwrap().unwrap().bytes, document(&stack, name));
        assert_eq!(stack.history(1, 0).await.unwrap().total, 1);
        let locks = stack.locks().await.unwrap();
        assert!(
            locks.len() == 2 && locks.iter().all(|lock| lock.key.contains(&format!("/{name}"))),
            "{locks:?}"
        );
        let kinds: Vec<_> = stack.leftovers().await.unwrap().found.iter().map(|one| one.kind).collect();
        assert!(kinds.is_empty(), "{kinds:?}");
    }
    // Without a `.bak`, of which a removal of the original makes an error.
    let gone = backend.stack(&reference("a_b"));
    gone.remove(&held[0], &RemoveOptions::default().force().backups()).await.unwrap();
    let (blank, options) = (backend.stack(&reference("blank")), RemoveOptions::default().backups());
    blank.create(Arc::new(Unguarded), None).await.unwrap();
    blank.remove(&Unguarded, &options).await.unwrap();
    for (name, lock) in names.iter().zip(held) {
        lock.release().await.unwrap();
        assert_eq!(backend.stack(&reference(name)).exists().await.unwrap(), *name != "a_b");
    }
}

#[derive(Debug)]
struct Timer;

#[async_trait]
impl Sleeper for Timer {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration / 50).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_ten_connections_one_holds_the_lock_and_each_gets_it() {
    let Some(place) = Place::new() else { return };
    drop(backend(store(&place.url, &[]).await.store, Options::default()).await);
    let (inside, mut tasks) = (Arc::new(AtomicUsize::new(0)), tokio::task::JoinSet::new());
    for _ in 0..10 {
        let opened = store(&place.url, &[]).await;
        let inside = Arc::clone(&inside);
        tasks.spawn(async move {
            let context = Context::new(Arc::new(SystemClock), Arc::new(Timer), Arc::new(OsIds));
            let backend = Backend::open(opened.store, context, Options::default()).await.unwrap();
            let stack = backend.stack(&reference("s"));
            let options = LockOptions::default().timeout(Duration::from_secs(120));
            let lock = stack.lock(&holder(), &options).await.unwrap();
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
            lock.check().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
            let token = lock.token().unwrap();
            lock.release().await.unwrap();
            token
        });
    }
    let mut tokens = BTreeSet::new();
    while let Some(token) = tasks.join_next().await {
        assert!(tokens.insert(token.unwrap()), "each holder has a fencing token of its own");
    }
    assert_eq!(tokens.len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stacks_under_the_other_form_of_the_url_are_not_shown_and_said() {
    let Some(place) = Place::new() else { return };
    let (server, query) = place.url.split_once('?').unwrap();
    let (host, database) = server.rsplit_once('/').unwrap();
    let url = format!("{host}?{query}");
    let variables = [("PGDATABASE".to_owned(), database.to_owned())];
    let (with_path, without) = (store(&place.url, &[]).await, store(&url, &variables).await);
    assert_eq!(with_path.other_form_with_stacks().await.unwrap(), None);
    let stack = backend(Arc::clone(&with_path.store), Options::default()).await.stack(&reference("s"));
    stack.create(Arc::new(Unguarded), None).await.unwrap();
    let other = backend(Arc::clone(&without.store), Options::default()).await;
    assert!(other.stack_names(&StackFilter::default()).await.unwrap().is_empty());
    let form = without.other_form_with_stacks().await.unwrap().unwrap();
    assert!(form.starts_with(&format!("postgres://HOST/{database}, ")), "{form}");
    assert_eq!(with_path.other_form_with_stacks().await.unwrap(), None);
    other.stack(&reference("t")).create(Arc::new(Unguarded), None).await.unwrap();
    let form = with_path.other_form_with_stacks().await.unwrap().unwrap();
    assert!(form.ends_with(&format!("PGDATABASE={database}")), "{form}");
}
