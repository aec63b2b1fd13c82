//! The conformance suite over servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use groundstate_conformance::{
    Address, BoxFuture, Conditions, Disturbance, Harness, Settings, TestStore, run,
};
use groundstate_statemgr::{Backend, Error, ErrorKind, Op, Result, StateStore, WorkspaceName};
use groundstate_statemgr_object::AzureBackend;
use groundstate_testkit::{AzureServer, Fault, GcsServer};

use super::google::create_bucket;
use super::{AZURE_KEY, RUNTIME, azure, azure_blobs, google, google_blobs};

/// Counts the buckets that were asked for.
static BUCKETS: AtomicU64 = AtomicU64::new(0);

/// Where a cloud is played.
enum Cloud {
    /// Google's, by a server of each place's own.
    Google,
    /// Google's, at this address.
    GoogleAt(String),
    /// Azure's, by a server of each place's own.
    Azure,
    /// Azure's, at this address.
    AzureAt(String),
}

#[async_trait]
impl Harness for Cloud {
    fn name(&self) -> String {
        match self {
            Self::Google => "Google Cloud Storage, test kit".to_owned(),
            Self::GoogleAt(endpoint) => format!("Google Cloud Storage at {endpoint}"),
            Self::Azure => "Azure Blob Storage, test kit".to_owned(),
            Self::AzureAt(endpoint) => format!("Azure Blob Storage at {endpoint}"),
        }
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let number = BUCKETS.fetch_add(1, Ordering::Relaxed);
        let bucket = format!("states-{}-{number}", std::process::id());
        Ok(match self {
            Self::Google => {
                let server = GcsServer::start_blocking();
                server.create_bucket(&bucket);
                let endpoint = server.endpoint();
                Arc::new(InBucket { server: Some(server), endpoint, bucket })
            }
            Self::GoogleAt(endpoint) => {
                create_bucket(endpoint, &bucket);
                Arc::new(InBucket { server: None, endpoint: endpoint.clone(), bucket })
            }
            Self::Azure => {
                let server = AzureServer::start_blocking();
                server.require_key("devstoreaccount1", AZURE_KEY);
                server.create_container(&bucket);
                let endpoint = server.account_endpoint();
                Arc::new(InContainer { server: Some(server), endpoint, container: bucket })
            }
            Self::AzureAt(endpoint) => {
                let made = groundstate_testkit::TestBackend::azurerm();
                let name = |name: &str| made.settings()[name].as_str().unwrap_or_default().to_owned();
                // The address may have another account as its path.
                let server = endpoint.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
                let endpoint = format!("{server}/{}", name("storage_account_name"));
                Arc::new(InContainer { server: None, endpoint, container: name("container_name") })
            }
        })
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        let wrong = || Error::new(ErrorKind::Invalid, Op::Other("open"), address);
        let (endpoint, name) = address.rsplit_once(' ').ok_or_else(wrong)?;
        let name_of_state = WorkspaceName::default_name();
        match self {
            Self::Google | Self::GoogleAt(_) => {
                google(google_blobs(endpoint, name, &[]), name).store(&name_of_state)
            }
            Self::Azure | Self::AzureAt(_) => azure(azure_blobs(endpoint, name), name).store(&name_of_state),
        }
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
impl TestStore for InBucket {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        google(google_blobs(&self.endpoint, &self.bucket, &[]), &self.bucket)
            .store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        Address::At(format!("{} {}", self.endpoint, self.bucket))
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

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(false) };
        server.fault(match disturbance {
            Disturbance::RefuseRequest => Fault::unavailable(0).times(1),
            Disturbance::LoseAnswer => Fault::drop_after_commit().times(1),
            _ => return Ok(false),
        });
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(google(google_blobs(&self.endpoint, &self.bucket, &[]), &self.bucket))))
    }
}

struct InContainer {
    server: Option<AzureServer>,
    endpoint: String,
    container: String,
}

impl InContainer {
    fn backend(&self) -> AzureBackend {
        azure(azure_blobs(&self.endpoint, &self.container), &self.container)
    }
}

#[async_trait]
impl TestStore for InContainer {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.backend().store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        Address::At(format!("{} {}", self.endpoint, self.container))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(false) };
        server.put_blob(&self.container, "prod.tfstate", "");
        Ok(true)
    }

    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        let backend = azure(azure_blobs(&self.endpoint, "nothing-here"), "nothing-here");
        Ok(self.server.is_some().then(|| backend.store(&WorkspaceName::default_name())).transpose()?)
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(false) };
        server.fault(match disturbance {
            Disturbance::RefuseRequest => Fault::unavailable(0).times(1),
            Disturbance::LoseAnswer => Fault::drop_after_commit().times(1),
            _ => return Ok(false),
        });
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.backend())))
    }
}

mod azure_here {
    groundstate_conformance::suite!(super::Cloud::Azure; calm, errors);
}

mod google_here {
    groundstate_conformance::suite!(super::Cloud::Google; calm, errors);
}

/// Runs all cases on a server that the environment names; `false` if it names none.
fn run_where(
    variable: &str,
    cloud: fn(String) -> Cloud,
    test: &str,
) -> Result<bool, Box<dyn std::error::Error>> {
    let Ok(endpoint) = std::env::var(variable) else { return Ok(false) };
    let calm = Conditions::find("calm").ok_or("there are such conditions")?;
    let settings = Settings::default().conditions(vec![calm]).restart_test(module_path!(), test);
    let report = run(Arc::new(cloud(endpoint)), &settings);
    let failures: Vec<String> = report.failures().map(|case| format!("{case:?}")).collect();
    assert!(report.is_success(), "{}", failures.join("\n"));
    Ok(true)
}

#[test]
fn google_where_the_environment_says() -> Result<(), Box<dyn std::error::Error>> {
    if !run_where("GROUNDSTATE_GCS_ENDPOINT", Cloud::GoogleAt, "google_where_the_environment_says")? {
        println!("not run: google_where_the_environment_says, GROUNDSTATE_GCS_ENDPOINT is not set");
    }
    Ok(())
}

#[test]
fn azure_where_the_environment_says() -> Result<(), Box<dyn std::error::Error>> {
    if !run_where("GROUNDSTATE_AZURE_ENDPOINT", Cloud::AzureAt, "azure_where_the_environment_says")? {
        println!("not run: azure_where_the_environment_says, GROUNDSTATE_AZURE_ENDPOINT is not set");
    }
    Ok(())
}
