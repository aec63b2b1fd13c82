//! PostgreSQL that goes away: between two requests of ours, within a save, and for longer than is waited.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_pulumi_backends::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, Page, PutOptions, Result,
};
use groundstate_pulumi_backends::pulumi_diy::{
    ErrorKind, LockOptions, Options, Stack, StackFilter, Unguarded, Update,
};
use groundstate_testkit::PulumiPlace;
use tokio_postgres::{Client, NoTls};

use crate::support::{backend, holder, reference, store};

/// A place of which connections can be ended.
pub(crate) struct Place {
    pub(crate) url: String,
    table: String,
    application: String,
    server: String,
}

impl Place {
    pub(crate) fn new() -> Option<Self> {
        let place = PulumiPlace::postgres()?;
        let (server, rest) = place.url().split_once("table=")?;
        let table = rest.split('&').next().unwrap_or(rest).to_owned();
        let application = format!("app_{table}");
        let url = format!("{}&application_name={application}", place.url());
        Some(Self { url, table, application, server: server.trim_end_matches(['?', '&']).to_owned() })
    }

    /// A connection of the owner of the server.
    async fn owner(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// Ends the connections of an application; only those that wait for a row if that is asked for. Gives how many there were.
async fn terminate(owner: &Client, application: &str, waiting: bool) -> usize {
    let condition = if waiting { " AND wait_event_type = 'Lock'" } else { "" };
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1{condition}"
    );
    owner.query(&sql, &[&application]).await.unwrap().len()
}

/// Ends all connections before the request of a number.
struct Ending {
    store: Arc<dyn BlobStore>,
    owner: Client,
    application: String,
    at: AtomicUsize,
    made: AtomicUsize,
    ended: AtomicUsize,
}

impl Ending {
    async fn next(&self) {
        if self.made.fetch_add(1, Ordering::SeqCst) == self.at.load(Ordering::SeqCst) {
            self.ended.fetch_add(terminate(&self.owner, &self.application, false).await, Ordering::SeqCst);
        }
    }

    /// From now on. Gives how many requests were made before.
    fn end_at(&self, at: usize) -> usize {
        self.at.store(at, Ordering::SeqCst);
        self.made.swap(0, Ordering::SeqCst)
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.store, f)
    }
}

#[async_trait]
impl BlobStore for Ending {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.next().await;
        self.store.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.next().await;
        self.store.head(key).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.next().await;
        self.store.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.next().await;
        self.store.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.next().await;
        self.store.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

/// A checkpoint of this stack that says `note`.
pub(crate) fn document(stack: &Stack, note: &str) -> bytes::Bytes {
    let name = stack.reference().stack();
    let urn = format!("urn:pulumi:{name}::shop::pulumi:pulumi:Stack::shop-{name}");
    let root = format!(
        r#"{{"urn":"{urn}","custom":false,"type":"pulumi:pulumi:Stack","outputs":{{"note":"{note}"}}}}"#
    );
    let latest = format!(
        r#"{{"manifest":{{"time":"2026-01-02T03:04:05.6Z","magic":"","version":""}},"resources":[{root}],"metadata":{{}}}}"#
    );
    format!(r#"{{"version":3,"checkpoint":{{"stack":"{}","latest":{latest}}}}}"#, stack.reference()).into()
}

async fn stored(stack: &Stack) -> bytes::Bytes {
    stack.read().await.unwrap().unwrap().bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_end_between_any_two_requests_of_an_update_are_replaced() {
    let Some(place) = Place::new() else { return };
    let opened = store(&place.url, &[]).await;
    let ending = Arc::new(Ending {
        store: opened.store,
        owner: place.owner().await,
        application: place.application.clone(),
        at: AtomicUsize::new(usize::MAX),
        made: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    });
    let stack = backend(Arc::clone(&ending) as _, Options::default()).await.stack(&reference("s"));
    stack.create(Arc::new(Unguarded), None).await.unwrap();
    let mut update = 0;
    loop {
        ending.end_at(update);
        let note = update.to_string();
        let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
        let mut writer = stack.writer(Arc::clone(&lock) as _);
        for text in ["begun", note.as_str()] {
            writer.save(document(&stack, text)).await.unwrap();
        }
        stack.record(&Update::default(), &lock).await.unwrap();
        lock.release().await.unwrap();
        let made = ending.end_at(usize::MAX);
        assert_eq!(stored(&stack).await, document(&stack, &note), "ended at request {update}");
        assert!(stack.locks().await.unwrap().is_empty(), "ended at request {update}");
        update += 1;
        assert_eq!(stack.history(1, 0).await.unwrap().total, update, "each update is recorded once");
        if made < update {
            break;
        }
    }
    assert!(update > 15, "{update}");
    assert!(ending.ended.load(Ordering::SeqCst) >= update - 1, "{:?}", ending.ended);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_ends_within_a_save_loses_no_state_and_doubles_none() {
    let Some(place) = Place::new() else { return };
    let stack = backend(store(&place.url, &[]).await.store, Options::default()).await.stack(&reference("s"));
    stack.create(Arc::new(Unguarded), None).await.unwrap();
    let (owner, blocker) = (place.owner().await, place.owner().await);
    for note in ["1", "2", "3"] {
        let before = stored(&stack).await;
        // Another transaction has the row of the checkpoint, so that the write waits.
        let row =
            format!("BEGIN; SELECT 1 FROM {} WHERE key LIKE '%/stacks/shop/s.json' FOR UPDATE", place.table);
        blocker.batch_execute(&row).await.unwrap();
        let end = async {
            while terminate(&owner, &place.application, true).await == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let seen = stored(&stack).await;
            blocker.batch_execute("ROLLBACK").await.unwrap();
            seen
        };
        let mut writer = stack.writer(Arc::new(Unguarded));
        let (saved, seen) = tokio::join!(writer.save(document(&stack, note)), end);
        assert_eq!(seen, before, "readers see the state before");
        saved.unwrap();
        assert_eq!(stored(&stack).await, document(&stack, note));
        let copy = stack.copies().await.unwrap().into_iter().next().unwrap();
        assert_eq!(stack.read_copy(&copy).await.unwrap().bytes, before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_away_is_named_and_the_stack_is_as_it_was() {
    let Some(place) = Place::new() else { return };
    let owner = place.owner().await;
    let role = format!("r_{}", place.table);
    // The table exists before the role uses it.
    let stack = backend(store(&place.url, &[]).await.store, Options::default()).await.stack(&reference("s"));
    stack.create(Arc::new(Unguarded), None).await.unwrap();
    let grant = format!(
        "CREATE ROLE {role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {role}",
        place.table
    );
    owner.batch_execute(&grant).await.unwrap();
    let theirs =
        backend(store(&format!("{}&user={role}", place.url), &[]).await.store, Options::default()).await;
    let stack_of_role = theirs.stack(&reference("s"));
    let lock = Arc::new(stack_of_role.lock(&holder(), &LockOptions::default()).await.unwrap());
    let mut writer = stack_of_role.writer(Arc::clone(&lock) as _);
    writer.save(document(&stack, "1")).await.unwrap();

    owner.batch_execute(&format!("ALTER ROLE {role} NOLOGIN")).await.unwrap();
    assert!(terminate(&owner, &place.application, false).await > 0);
    for error in [
        writer.save(document(&stack, "2")).await.unwrap_err(),
        stack_of_role.read().await.unwrap_err(),
        theirs.stacks(&StackFilter::default()).await.unwrap_err(),
        lock.release().await.unwrap_err(),
    ] {
        assert!(matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unavailable), "{error}");
        let text = error.to_string();
        assert!(text.contains("postgres://") && text.contains(".pulumi/"), "{text}");
    }
    assert_eq!(stored(&stack).await, document(&stack, "1"), "others read what was acknowledged");
    assert_eq!(stack.locks().await.unwrap().len(), 2, "the lock and its lease are named");

    owner.batch_execute(&format!("ALTER ROLE {role} LOGIN")).await.unwrap();
    writer.save(document(&stack, "3")).await.unwrap();
    lock.release().await.unwrap();
    assert_eq!(stored(&stack).await, document(&stack, "3"));
    assert!(stack.locks().await.unwrap().is_empty());
}
