//! The secrets provider of states in a bucket, which is never that of the service: who opens the bucket could not decrypt by it.
//!
//! The CLI names the provider of the service wherever no other is chosen, also in states without a secret. There it says nothing, and
//! the state keeps the provider that it had.

use bytes::Bytes;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, decode, readable_secrets, sealed_values};
use groundstate_pulumi_journal::Entry;
use groundstate_pulumi_snapshot::{SecretsProvider, Snapshot};
use serde::Deserialize;

use crate::deployment;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::path::StackPath;
use crate::update::Update;

/// The type of the secrets provider of the service.
const SERVICE: &str = "service";

/// Whether a state names the provider of the service, found without building the state wherever that is certain.
///
/// # Errors
///
/// `Invalid` for a state that cannot be read.
pub(crate) fn names_service(op: Op, path: &StackPath, state: &[u8]) -> Result<bool> {
    #[derive(Deserialize)]
    struct Export {
        deployment: Deployment,
    }
    #[derive(Deserialize)]
    struct Deployment {
        #[serde(default)]
        secrets_providers: Option<Provider>,
    }
    #[derive(Deserialize)]
    struct Provider {
        #[serde(default, rename = "type")]
        kind: String,
    }
    if let Ok(export) = serde_json::from_slice::<Export>(state) {
        return Ok(export.deployment.secrets_providers.is_some_and(|provider| provider.kind == SERVICE));
    }
    // A member may be there twice. Which one counts, the reader of states says.
    let snapshot = read(op, path, state)?.snapshot;
    Ok(snapshot.is_some_and(|snapshot| is_of_service(&snapshot)))
}

fn is_of_service(snapshot: &Snapshot) -> bool {
    snapshot.secrets_provider.as_ref().is_some_and(|provider| *provider.kind == *SERVICE)
}

fn read(op: Op, path: &StackPath, state: &[u8]) -> Result<DeploymentFile> {
    decode(state, &DecodeOptions::default()).map_err(|error| {
        let failure = Error::new(ErrorKind::Invalid, op, path);
        failure.because("the state cannot be read").with_source(error)
    })
}

/// Refuses a state with secrets that the service encrypted.
pub(crate) fn check_provider(op: Op, path: &StackPath, state: &[u8]) -> Result<()> {
    if !names_service(op, path, state)? {
        return Ok(());
    }
    match read(op, path, state)?.snapshot.is_some_and(|snapshot| has_secrets(&snapshot)) {
        true => Err(no_service_secrets(op, path)),
        false => Ok(()),
    }
}

/// A state with the provider that the stack has in place of its own.
pub(crate) fn with_provider(
    op: Op,
    path: &StackPath,
    state: &[u8],
    own: Option<SecretsProvider>,
) -> Result<Bytes> {
    let mut file = deployment::read(op, path, state)?;
    if let Some(snapshot) = &mut file.snapshot {
        snapshot.secrets_provider = own;
    }
    deployment::write(op, path, file)
}

impl Update {
    /// Refuses an entry of a journal that replaces the state by one with secrets that the service encrypted.
    pub(crate) fn check_secrets(&self, op: Op, entry: &Entry) -> Result<()> {
        let written = entry.new_snapshot.as_ref().filter(|_| self.stack.bucket().is_some());
        match written.is_some_and(|snapshot| is_of_service(snapshot) && has_secrets(snapshot)) {
            true => Err(no_service_secrets(op, self.stack.path())),
            false => Ok(()),
        }
    }
}

/// Returns `true` if something in a state is secret, or cannot be looked into.
fn has_secrets(snapshot: &Snapshot) -> bool {
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    snapshot
        .resources
        .iter()
        .chain(pending)
        .any(|resource| sealed_values(resource) > 0 || readable_secrets(resource).total() > 0)
}

/// The refusal of secrets that the service encrypts.
pub(crate) fn no_service_secrets(op: Op, path: &StackPath) -> Error {
    Error::new(ErrorKind::Invalid, op, path)
        .because("the stack is in a bucket, and programs that open the bucket could not decrypt secrets of the service")
        .next_step("use a secrets provider of its own, such as `--secrets-provider passphrase`")
}
