//! Imports: a whole state, and waiting until the service has stored it.

use std::time::Duration;

use bytes::Bytes;
use groundstate_common::Backoff;
use groundstate_pulumi_protocol::{
    Capability, ImportedStack, StackCall, UntypedDeployment, UpdateCall, UpdateState, UpdateStatus, decode,
};

use crate::connection::Call;
use crate::{ErrorKind, Op, Result, ServiceStack};

/// The first and the longest wait between two looks at an import.
const WAITS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// How long an import is waited for.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The newest version of deployments that every service stores.
const KNOWN_VERSION: u64 = 3;

impl ServiceStack {
    /// Replaces the state by a deployment, an export as [`export`](Self::export) gives it, and waits until the service has stored it.
    ///
    /// The request is not repeated once it was sent. The service replaces whatever is there: only a caller that has looked at the
    /// version just before knows what, and an update that begins and ends between that look and this request is replaced too. Its
    /// state stays in the history. [`import_over`](Self::import_over) knows better.
    ///
    /// # Errors
    ///
    /// `Invalid` for what is no deployment, `Unsupported` for one of a version that the service does not store, `Running` while an
    /// update runs, `NotFound`; `Ambiguous` if the answer got lost, or if the import did not end.
    pub async fn import(&self, deployment: Bytes) -> Result<ImportedStack> {
        self.import_if(deployment, None).await
    }

    /// The same in place of the state whose [`export`](Self::export) has this SHA-256, in lower-case hexadecimal digits, and of no other
    /// one: the service checks it where it [can](crate::Service::can_import_conditionally), and otherwise this is [`import`](Self::import).
    ///
    /// # Errors
    ///
    /// As [`import`](Self::import), and `Changed`.
    pub async fn import_over(&self, deployment: Bytes, expected: &str) -> Result<ImportedStack> {
        let expected = self.service.can_import_conditionally().await?.then_some(expected);
        self.import_if(deployment, expected).await
    }

    async fn import_if(&self, deployment: Bytes, expected: Option<&str>) -> Result<ImportedStack> {
        const OP: Op = Op::Import;
        let invalid = |why: String| self.error(ErrorKind::Invalid, OP).because(why);
        let document: UntypedDeployment = decode(&deployment).map_err(|error| invalid(error.to_string()))?;
        document.checked().map_err(|error| invalid(error.to_string()))?;
        self.check_version(document.version).await?;
        drop(document);
        let mut call = self.call(OP, StackCall::Import).body(deployment);
        if let Some(expected) = expected {
            call = call.query(Capability::EXPECTED_SHA256, expected);
        }
        let imported: ImportedStack = self.service.0.connection.ask(&call).await?;
        if imported.update_id.is_empty() {
            return Err(self.service.0.connection.no_document(&call, "it names no update"));
        }
        self.wait_for(&imported.update_id).await?;
        Ok(imported)
    }

    /// Refuses a deployment of a version that the service does not say it stores. The CLI would drop what the older version lacks.
    async fn check_version(&self, version: u64) -> Result<()> {
        if version <= KNOWN_VERSION {
            return Ok(());
        }
        let stored = self.service.capabilities().await?.deployment_schema_version().unwrap_or(KNOWN_VERSION);
        if version <= stored {
            return Ok(());
        }
        let why =
            format!("the deployment has version {version}, and the service stores versions up to {stored}");
        Err(self.error(ErrorKind::Unsupported, Op::Import).because(why))
    }

    /// Waits until an update is over.
    async fn wait_for(&self, update: &str) -> Result<()> {
        const OP: Op = Op::Import;
        let mut waits = Backoff::new(WAITS.0, WAITS.1);
        let (mut waited, mut token) = (Duration::ZERO, None);
        loop {
            let mut call: Call<'_> = self.update_call(OP, update, UpdateCall::Status);
            if let Some(token) = token.take() {
                call = call.query("continuationToken", token);
            }
            let status: Result<UpdateStatus> = self.service.0.connection.ask(&call).await;
            match status {
                Ok(status) if status.status == UpdateState::Succeeded => return Ok(()),
                Ok(status) if status.status.is_final() => {
                    let why =
                        format!("the service has not stored the state: the import has {}", status.status);
                    return Err(self.error(ErrorKind::Invalid, OP).because(why));
                }
                Ok(status) => token = status.continuation_token,
                // The state was sent, and what became of it is not known.
                Err(error) if waited >= PATIENCE || error.kind() != ErrorKind::Unavailable => {
                    let why =
                        format!("the state was sent, and what became of it is not known: {}", error.reason());
                    let doubt = self.error(ErrorKind::Ambiguous, OP).because(why).with_source(error);
                    return Err(doubt.next_step("look at the history of the stack"));
                }
                Err(_) => {}
            }
            if waited >= PATIENCE {
                let why = format!("the import had not ended after {} s", PATIENCE.as_secs());
                return Err(self.error(ErrorKind::Ambiguous, OP).because(why));
            }
            let wait = waits.wait();
            waited += wait;
            self.service.0.connection.sleeper.sleep(wait).await;
        }
    }
}
