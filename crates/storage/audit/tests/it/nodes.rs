//! Many nodes on one store.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_audit::Reader;
use groundstate_blobs::{BlobStore, Retry, RetryPolicy};
use groundstate_blobs_cloud::{S3Blobs, S3Settings};
use groundstate_blobs_fs::FileBlobs;
use groundstate_testkit::{Fault, S3Server};

use crate::support::{Outcomes, context, event, location, memory, open, verified};

async fn nodes_record_at_the_same_time(store: Arc<dyn BlobStore>, nodes: u64, each: u64) -> Outcomes {
    let mut tasks = Vec::new();
    for node in 0..nodes {
        let (log, recorder) = open(&store, &format!("node-{node}"));
        tasks.push(tokio::spawn(recorder.run()));
        for writer in 0..4 {
            let log = log.clone();
            tasks.push(tokio::spawn(async move {
                for number in 0..each {
                    log.record(event(node * 10_000 + writer * 1000 + number)).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await?;
    }
    let report = verified(&store).await;
    assert!(report.is_intact(), "{:?}", report.findings);
    let total = nodes * 4 * each;
    assert_eq!((report.entries, report.waiting), (total, 0));
    let found = Reader::new(location(&store)).newest(usize::MAX, &|_| true).await?.records;
    let objects: BTreeSet<_> = found.iter().map(|(_, record)| record.object.clone()).collect();
    assert_eq!((objects.len() as u64, found.len() as u64), (total, total), "each event is there, and once");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_on_one_bucket_make_one_chain() -> Outcomes {
    nodes_record_at_the_same_time(memory(), 4, 15).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_on_one_directory_make_one_chain() -> Outcomes {
    let folder = tempfile::tempdir()?;
    nodes_record_at_the_same_time(Arc::new(FileBlobs::create(folder.path())?), 3, 4).await
}

/// A bucket, whose answers get lost now and then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_on_a_bucket_in_the_network_make_one_chain_although_answers_get_lost() -> Outcomes {
    let server = S3Server::start_blocking();
    server.create_bucket("states");
    let mut settings = S3Settings::new();
    for (name, value) in [
        ("bucket", "states"),
        ("region", "us-east-1"),
        ("access_key", "AKIATEST"),
        ("secret_key", "s3cr3t"),
        ("endpoints.s3", &server.endpoint()),
        ("use_path_style", "true"),
    ] {
        settings.set(name, value)?;
    }
    let policy = RetryPolicy::default().attempts(20);
    let store = Arc::new(Retry::new(S3Blobs::open(&settings, &context())?, policy, context()));
    server.seed(7);
    server.fault(Fault::after_commit_500().on("PUT", "*").chance(0.1));
    server.fault(Fault::after_commit_500().on("DELETE", "*").chance(0.1));
    nodes_record_at_the_same_time(store, 3, 3).await
}
