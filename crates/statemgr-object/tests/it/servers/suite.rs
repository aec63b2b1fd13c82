//! The conformance suite over servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use groundstate_conformance::{BoxFuture, Conditions, Harness, Place, Settings, Trouble, run};
use groundstate_statemgr::{Backend, Result, StateStore, WorkspaceName};
use groundstate_testkit::{Fault, GcsServer};

use super::google::create_bucket;
use super::{RUNTIME, google, google_blobs};

/// Counts the buckets that were asked for.
static BUCKETS: AtomicU64 = AtomicU64::new(0);

/// Where a cloud is played.
enum Cloud {
    /// Google's, by a server of each place's own.
    Google,
    /// Google's, at this address.
    GoogleAt(String),
}

#[async_trait]
impl Harness for Cloud {
    fn name(&self) -> String {
        match self {
            Self::Google => "Google Cloud Storage, test kit".to_owned(),
            Self::GoogleAt(endpoint) => format!("Google Cloud Storage at {endpoint}"),
        }
    }

    async fn place(&self) -> Result<Arc<dyn Place>> {
        let number = BUCKETS.fetch_add(1, Ordering::Relaxed);
        let bucket = format!("states-{}-{number}", std::process::id());
        let (server, endpoint) = match self {
            Self::Google => {
                let server = GcsServer::start_blocking();
                server.create_bucket(&bucket);
                let endpoint = server.endpoint();
                (Some(server), endpoint)
            }
            Self::GoogleAt(endpoint) => {
                create_bucket(endpoint, &bucket);
                (None, endpoint.clone())
            }
        };
        Ok(Arc::new(InBucket { server, endpoint, bucket }))
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }
}

struct InBucket {
    server: Option<GcsServer>,
    endpoint: String,
    bucket: String,
}

#[async_trait]
impl Place for InBucket {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        google(google_blobs(&self.endpoint, &self.bucket, &[]), &self.bucket)
            .store(&WorkspaceName::default_name())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(false) };
        server.put_object(&self.bucket, "a/b/default.tfstate", "");
        Ok(true)
    }

    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        let backend = google(google_blobs(&self.endpoint, "nothing-here", &[]), "nothing-here");
        Ok(self.server.is_some().then(|| backend.store(&WorkspaceName::default_name())).transpose()?)
    }

    async fn disturb(&self, trouble: Trouble) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(false) };
        server.fault(match trouble {
            Trouble::RefuseRequest => Fault::unavailable(0).times(1),
            Trouble::LoseAnswer => Fault::drop_after_commit().times(1),
            _ => return Ok(false),
        });
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(google(google_blobs(&self.endpoint, &self.bucket, &[]), &self.bucket))))
    }
}

mod google_here {
    groundstate_conformance::suite!(super::Cloud::Google; calm, errors);
}

#[test]
fn google_where_the_environment_says() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(endpoint) = std::env::var("GROUNDSTATE_GCS_ENDPOINT") else {
        println!("not run: google_where_the_environment_says, GROUNDSTATE_GCS_ENDPOINT is not set");
        return Ok(());
    };
    let calm = Conditions::find("calm").ok_or("there are such conditions")?;
    let report = run(Arc::new(Cloud::GoogleAt(endpoint)), &Settings::default().conditions(vec![calm]));
    let failures: Vec<String> = report.failures().map(|case| format!("{case:?}")).collect();
    assert!(report.is_success(), "{}", failures.join("\n"));
    Ok(())
}
