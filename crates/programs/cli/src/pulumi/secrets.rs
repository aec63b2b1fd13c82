//! Opening the secrets of a deployment, for those who ask to see them and have the passphrase, or the rights in a key service.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use groundstate_common::{OsIds, SystemClock};
use groundstate_json::RawJson;
use groundstate_pulumi_backends::key_services::KeyContext;
use groundstate_pulumi_backends::{CloudSecrets, CloudSecretsError};
use groundstate_pulumi_deployment::{
    DeploymentFile, SecretsError, forget_ciphertexts, open_snapshot, rewrite_sealed_references,
    sealed_values, secrets_providers,
};
use groundstate_pulumi_secrets::cloud;
use groundstate_pulumi_secrets::passphrase::GivenPassphrase;
use groundstate_pulumi_secrets::{
    DefaultProvider, ErrorCrypter, Manager, OsEntropy, Provider, SecretsProviders,
};
use groundstate_pulumi_snapshot::{Properties, Resource, SecretsProvider, Snapshot, Urn};
use groundstate_statemgr::TokioSleeper;
use tokio::runtime::Builder;

use super::passphrase;
use crate::input::stack_config::is_confirmed;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;

/// What Pulumi says where there are secrets that it cannot open.
pub(super) const NO_MANAGER: &str =
    "snapshot contains encrypted secrets but no secrets manager could be found";

/// Opens all secrets. Asks for a passphrase only if one is encrypted.
pub(super) fn open(file: &mut DeploymentFile) -> Result<()> {
    let stack = file.stack().map(str::to_owned);
    let Some(snapshot) = file.snapshot.as_mut() else { return Ok(()) };
    if !is_sealed(snapshot) {
        // Secrets that are written readable become values too.
        return open_snapshot(snapshot, &ErrorCrypter::new(NO_MANAGER)).map(drop).map_err(failure);
    }
    let manager = manager(snapshot, stack)?;
    match &manager {
        Some(manager) => open_snapshot(snapshot, manager.decrypter()),
        None => open_snapshot(snapshot, &ErrorCrypter::new(NO_MANAGER)),
    }
    .map(drop)
    .map_err(failure)
}

/// Opens the secrets in the outputs of the stack, and no others.
pub(super) fn open_outputs(file: &mut DeploymentFile) -> Result<()> {
    if let Some(snapshot) = file.snapshot.as_mut() {
        let root: Vec<Arc<Resource>> = snapshot
            .root_stack()
            .map(|(index, _)| index)
            .into_iter()
            .filter_map(|index| snapshot.resources.get(index).map(Arc::clone))
            .collect();
        snapshot.resources = root;
        snapshot.pending_operations.clear();
        for resource in &mut snapshot.resources {
            let resource = Arc::make_mut(resource);
            (resource.inputs, resource.replacement_trigger) = (Properties::Absent, None);
        }
    }
    open(file)
}

/// The manager that the snapshot names, if it names one.
pub(super) fn manager(snapshot: &Snapshot, stack: Option<String>) -> Result<Option<Manager>> {
    manager_by(snapshot, stack, passphrase::source())
}

/// The same, with this passphrase.
pub(super) fn manager_by(
    snapshot: &Snapshot,
    stack: Option<String>,
    passphrase: GivenPassphrase,
) -> Result<Option<Manager>> {
    let named = snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty());
    let Some(provider) = named else { return Ok(None) };
    let providers =
        secrets_providers(provider).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    of_providers(&providers, stack, passphrase).map(Some)
}

/// The manager of this state.
pub(super) fn of_providers(
    providers: &SecretsProviders,
    stack: Option<String>,
    passphrase: GivenPassphrase,
) -> Result<Manager> {
    if providers.kind() == cloud::TYPE {
        return by_key_service(async |secrets| secrets.open(providers).await);
    }
    #[cfg(feature = "http")]
    if providers.kind() == groundstate_pulumi_backends::ServiceSecrets::TYPE {
        return super::service_secrets::manager(providers);
    }
    let mut default = DefaultProvider::new(Arc::new(passphrase), Arc::new(OsEntropy));
    if let Some(stack) = stack {
        default = default.for_stack(stack);
    }
    default.of_type(providers).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
}

/// The key services of stacks, with the data keys that they have unwrapped so far.
fn key_services() -> &'static CloudSecrets {
    static SERVICES: OnceLock<CloudSecrets> = OnceLock::new();
    SERVICES.get_or_init(|| {
        let (clock, sleeper) = (Arc::new(SystemClock), Arc::new(TokioSleeper));
        let context = KeyContext::new(clock, sleeper, Arc::new(OsIds), Arc::new(OsEntropy));
        CloudSecrets::new(context, |name| std::env::var(name).ok()).trusting(is_confirmed)
    })
}

/// Asks a key service, on a thread of its own: a verb may be waiting for its store meanwhile.
pub(super) fn by_key_service<T: Send>(
    ask: impl AsyncFnOnce(&CloudSecrets) -> Result<T, CloudSecretsError> + Send,
) -> Result<T> {
    let failed = |error: &dyn std::error::Error| Failure::new(Kind::Unusable, chain(error));
    waited(async || ask(key_services()).await).map_err(|error| failed(&error))?.map_err(|error| match error {
        CloudSecretsError::Untrusted { .. } => failed(&error)
            .hint("`--trust-directory` accepts it; use it for your own stacks and directories only")
            .hint("or set PULUMI_CLOUD_SECRET_OVERRIDE to the URL that you use"),
        error => failed(&error),
    })
}

/// Waits for an answer of the network, on a thread of its own.
pub(super) fn waited<T: Send>(ask: impl AsyncFnOnce() -> T + Send) -> std::io::Result<T> {
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            Ok(runtime.block_on(ask()))
        });
        asked.join()
    });
    answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Lets references inside of encrypted secrets follow the resources that have new names, if there is a passphrase that opens
/// them. Does not prompt. Gives warnings.
pub(super) fn follow(snapshot: &mut Snapshot, renamed: &[(Urn, Urn)]) -> Result<Vec<String>> {
    let Some((first, _)) = renamed.first() else { return Ok(Vec::new()) };
    let names: HashMap<&Urn, &Urn> = renamed.iter().map(|(old, new)| (old, new)).collect();
    let mut rename = |urn: &Urn| names.get(urn).map(|new| (*new).clone());
    let none = ErrorCrypter::new(NO_MANAGER);
    let sealed = rewrite_sealed_references(snapshot, (&none, &none), &mut rename).map_err(failure)?;
    if sealed.unopened == 0 {
        return Ok(Vec::new());
    }
    let manager = manager_by(snapshot, None, passphrase::given()).ok().flatten();
    let found = match &manager {
        Some(manager) => {
            let crypters = (manager.decrypter(), manager.encrypter());
            rewrite_sealed_references(snapshot, crypters, &mut rename).map_err(failure)?
        }
        None => sealed,
    };
    if found.unopened == 0 {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "{} cannot be opened, so references to {first} may be left inside; to change those too, go back with \
         `groundstate undo` and do it again with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE set",
        count(found.unopened, "encrypted value")
    )])
}

/// Opens all secrets, also those that stand readable in the state, and forgets how they were encrypted.
pub(super) fn opened(snapshot: &mut Snapshot, manager: Option<&Manager>) -> Result<()> {
    match manager {
        Some(manager) => open_snapshot(snapshot, manager.decrypter()),
        None => open_snapshot(snapshot, &ErrorCrypter::new(NO_MANAGER)),
    }
    .map_err(failure)?;
    forget_ciphertexts(snapshot).map_err(failure)?;
    Ok(())
}

/// What a state says of the manager of its secrets.
pub(super) fn provider(providers: &SecretsProviders) -> Result<SecretsProvider> {
    let state = providers.state().map(RawJson::parse).transpose();
    let state = state.map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
    Ok(SecretsProvider { kind: providers.kind().into(), state, ..SecretsProvider::default() })
}

/// Why secrets cannot be opened or sealed.
pub(super) fn failure(error: SecretsError) -> Failure {
    Failure::new(Kind::Unusable, chain(&error))
}

/// Whether a secret is there that only a manager can open.
pub(super) fn is_sealed(snapshot: &Snapshot) -> bool {
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    snapshot.resources.iter().chain(pending).any(|resource| sealed_values(resource) > 0)
}
