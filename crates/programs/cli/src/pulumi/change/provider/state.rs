//! The state under another key: opened, encrypted anew, and opened once more.

use groundstate_pulumi_deployment::{DeploymentFile, seal_snapshot, secrets_providers};
use groundstate_pulumi_secrets::Manager;
use groundstate_pulumi_snapshot::Snapshot;

use super::super::run::{Edited, Soundness, edit, read};
use super::OPERATION;
use super::keys::{Keys, is_same};
use crate::pulumi::change::done::Done;
use crate::pulumi::secrets::{failure, opened, provider};
use crate::report::error::{Failure, Kind, Result};

/// A state that has been encrypted anew, but not written.
pub(super) struct Resealed {
    pub(super) edited: Edited,
    /// The same with all secrets opened. It is never written.
    pub(super) plain: Snapshot,
    /// How many values are encrypted.
    pub(super) values: usize,
}

pub(super) fn reseal(before: DeploymentFile, name: &str, keys: &Keys) -> Result<Resealed> {
    let (mut plain, mut values) = (Snapshot::default(), 0);
    let edited = edit(before, name, (OPERATION, Soundness::Whatever), |snapshot, _| {
        opened(snapshot, keys.state.as_ref())?;
        plain = snapshot.clone();
        snapshot.secrets_provider = Some(provider(keys.new.providers())?);
        values = seal_snapshot(snapshot, keys.new.encrypter()).map_err(failure)?;
        Ok(Done::default())
    })?;
    Ok(Resealed { edited, plain, values })
}

/// Fails unless this is a state whose secrets the manager opens to what they were.
pub(super) fn verify(bytes: &[u8], name: &str, plain: &Snapshot, manager: &Manager) -> Result<()> {
    let mut again = read(bytes, name)?;
    let wrong = || {
        let message = format!("the secrets of {name} differ when they are decrypted with the new provider");
        Failure::new(Kind::Conflict, message)
            .hint("another process may have changed the state; look at it before running the command again")
    };
    let snapshot = again.snapshot.as_mut().ok_or_else(wrong)?;
    let named = snapshot.secrets_provider.as_ref().and_then(|provider| secrets_providers(provider).ok());
    if !named.is_some_and(|named| is_same(&named, manager.providers())) {
        return Err(wrong());
    }
    opened(snapshot, Some(manager))?;
    match snapshot.resources == plain.resources && snapshot.pending_operations == plain.pending_operations {
        true => Ok(()),
        false => Err(wrong()),
    }
}
