//! Encrypting the secrets in an entry.

use std::sync::Arc;

use groundstate_pulumi_deployment::{SecretsError, seal_snapshot};
use groundstate_pulumi_journal::Entry;
use groundstate_pulumi_secrets::Encrypter;
use groundstate_pulumi_snapshot::{Resource, Snapshot};

/// Gives every secret in an entry a ciphertext that has none.
pub(super) fn seal(entry: &mut Entry, encrypter: &dyn Encrypter) -> Result<(), SecretsError> {
    if let Some(snapshot) = &mut entry.new_snapshot {
        seal_snapshot(snapshot, encrypter)?;
    }
    if let Some(state) = &mut entry.state {
        seal_resource(state, encrypter)?;
    }
    if let Some(operation) = &mut entry.operation {
        seal_resource(&mut operation.resource, encrypter)?;
    }
    Ok(())
}

fn seal_resource(resource: &mut Arc<Resource>, encrypter: &dyn Encrypter) -> Result<(), SecretsError> {
    let mut alone = Snapshot { resources: vec![Arc::clone(resource)], ..Snapshot::default() };
    seal_snapshot(&mut alone, encrypter)?;
    if let Some(sealed) = alone.resources.pop() {
        *resource = sealed;
    }
    Ok(())
}
