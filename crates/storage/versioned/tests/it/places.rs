//! The stores that hold documents, each with clients of its own.

use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs_cloud::{AzureBlobs, AzureSettings, GcsBlobs, GcsSettings, S3Blobs, S3Settings};
use groundstate_blobs_fs::FileBlobs;
use groundstate_blobs_postgres::{TableBlobs, TableSettings};
use groundstate_conformance::ThreadSleeper;
use groundstate_testkit::{AzureServer, GcsServer, S3Server, server_of_peer};
use groundstate_versioned::blobs::{BlobStore, Context, Retry};
use groundstate_versioned::common::{IdSource, OsIds, SystemClock};
use groundstate_versioned::{
    Document, Documents, ListFilter, LockOutcome, Name, NewLock, Retention, Settings, SweepOptions,
    UnlockOutcome, WriteOptions, WriteOutcome,
};

/// The key that emulators of Azure have.
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Opens a client of one container.
type Open = Box<dyn Fn() -> Arc<dyn BlobStore>>;

pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(ThreadSleeper), Arc::new(OsIds))
}

/// Small sizes, so that everything happens.
pub(crate) fn documents(store: Arc<dyn BlobStore>) -> Documents {
    let settings = Settings::default().root("states").with_inline_limit(64).with_part_size(100);
    Documents::open(store, context(), settings).unwrap()
}

pub(crate) fn name() -> Name {
    Name::parse("Team/prod état").unwrap()
}

/// Counts in a document, each step under the lock.
async fn count(document: &Document, client: usize, steps: usize) {
    for step in 0..steps {
        let lock = NewLock::new(format!("{client}-{step}")).document(vec![0xfe; 100]);
        let token = loop {
            match document.lock(&lock).await.unwrap() {
                LockOutcome::Locked(held) => break held.token,
                LockOutcome::Held(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                outcome => panic!("{outcome:?}"),
            }
        };
        let count = match document.read().await.unwrap() {
            Some(reader) => {
                let bytes = reader.collect(1 << 20).await.unwrap();
                std::str::from_utf8(&bytes).unwrap().trim().parse::<usize>().unwrap()
            }
            None => 0,
        };
        // Some have parts.
        let text = format!("{}{}", count + 1, " ".repeat(step % 3 * 150));
        let content = document.content(text).await.unwrap();
        let options = WriteOptions::default().lock(lock.id.as_str()).token(token);
        let outcome = document.write(&content, &options).await.unwrap();
        assert!(matches!(outcome, WriteOutcome::Written(_)), "{outcome:?}");
        if step % 3 == 1 {
            document.sweep(&SweepOptions::default().grace(Duration::ZERO)).await.unwrap();
        }
        let outcome = document.unlock(&lock.id).await.unwrap();
        assert!(matches!(outcome, UnlockOutcome::Unlocked(_) | UnlockOutcome::Already(_)), "{outcome:?}");
    }
}

/// Clients count together; then the history is complete, and what a sweep leaves is what it keeps.
fn check(open: &Open) {
    const CLIENTS: usize = 3;
    const STEPS: usize = 4;
    // Clients are opened outside of a runtime.
    let stores: Vec<_> = (0..CLIENTS + 1).map(|_| open()).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let clients = stores.iter().take(CLIENTS).enumerate().map(|(client, store)| {
            let document = documents(Arc::clone(store)).document(&name());
            tokio::spawn(async move { count(&document, client, STEPS).await })
        });
        let clients: Vec<_> = clients.collect();
        for client in clients {
            client.await.unwrap();
        }
        let documents = documents(Arc::clone(&stores[CLIENTS]));
        let document = documents.document(&name());
        let page = document.versions(None, 100).await.unwrap();
        assert_eq!((page.versions.len(), page.missing.len()), (CLIENTS * STEPS, 0));
        for version in &page.versions {
            let bytes = document.open(version).await.unwrap().collect(1 << 20).await.unwrap();
            let count: u64 = std::str::from_utf8(&bytes).unwrap().trim().parse().unwrap();
            assert_eq!((count, version.token), (version.number, Some(version.number)));
        }
        let listed = documents.list(&ListFilter::prefix("Team/")).await.unwrap();
        assert_eq!(listed.documents.iter().map(|listed| &listed.name).collect::<Vec<_>>(), [&name()]);
        let retention = Retention::Newest { count: 2, younger: None };
        let options = SweepOptions::default().retention(retention).grace(Duration::ZERO);
        for _ in 0..3 {
            documents.sweep(&options).await.unwrap();
        }
        let page = document.versions(None, 100).await.unwrap();
        assert_eq!(page.versions.iter().map(|version| version.number).collect::<Vec<_>>(), [12, 11]);
        let left = document.sweep(&options).await.unwrap();
        assert_eq!((left.parts, left.records, left.versions), (0, 0, 0));
    });
    drop(stores);
}

fn retried(store: impl BlobStore) -> Arc<dyn BlobStore> {
    Arc::new(Retry::new(store, Default::default(), context()))
}

#[test]
fn clients_share_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    check(&(Box::new(move || Arc::new(FileBlobs::open(&path).unwrap()) as Arc<dyn BlobStore>) as Open));
}

#[test]
fn clients_share_a_bucket_of_s3() {
    let server = S3Server::start_blocking();
    server.create_bucket("states");
    check(
        &(Box::new(move || {
            let mut settings = S3Settings::new();
            for (name, value) in [
                ("bucket", "states"),
                ("region", "us-east-1"),
                ("access_key", "AKIATEST"),
                ("secret_key", "s3cr3t"),
                ("endpoints.s3", server.endpoint().as_str()),
                ("use_path_style", "true"),
            ] {
                settings.set(name, value).unwrap();
            }
            retried(S3Blobs::open(&settings, &context()).unwrap())
        }) as Open),
    );
}

#[test]
fn clients_share_a_bucket_of_google() {
    let server = GcsServer::start_blocking();
    server.create_bucket("states");
    check(
        &(Box::new(move || {
            let mut settings = GcsSettings::new();
            for (name, value) in [
                ("bucket", "states"),
                ("access_token", "t0ken"),
                ("storage_custom_endpoint", &format!("{}/storage/v1/", server.endpoint())),
            ] {
                settings.set(name, value).unwrap();
            }
            retried(GcsBlobs::open(&settings).unwrap())
        }) as Open),
    );
}

#[test]
fn clients_share_a_container_of_azure() {
    let server = AzureServer::start_blocking();
    server.require_key("devstoreaccount1", KEY);
    server.create_container("states");
    check(
        &(Box::new(move || {
            let mut settings = AzureSettings::new();
            for (name, value) in [
                ("storage_account_name", "devstoreaccount1"),
                ("container_name", "states"),
                ("access_key", KEY),
                ("endpoint", &server.account_endpoint()),
            ] {
                settings.set(name, value).unwrap();
            }
            retried(AzureBlobs::open(&settings).unwrap())
        }) as Open),
    );
}

#[test]
fn clients_share_a_table_of_postgresql() {
    let Some(server) = server_of_peer("postgres", "GROUNDSTATE_PG") else { return };
    let table = format!("versioned_{:x}", OsIds.number().unwrap());
    let settings = TableSettings::parse(&format!("{server}&table={table}"), &|_| None).unwrap();
    let created = TableBlobs::open(&settings).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(created.create_table()).unwrap();
    check(&(Box::new(move || retried(TableBlobs::open(&settings).unwrap())) as Open));
}
