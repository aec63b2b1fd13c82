//! Secrets on their way: kept where the target opens them too, and else encrypted anew.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use groundstate_common::hex;
use groundstate_pulumi_backends::pulumi_http::ServiceStack;
use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, decode, encode, readable_values, seal_snapshot,
    secrets_providers,
};
use groundstate_pulumi_secrets::passphrase::{self as salts, GivenPassphrase, Purpose};
use groundstate_pulumi_secrets::{Manager, OsEntropy, SecretsProviders};
use groundstate_pulumi_snapshot::Snapshot;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::config;
use crate::args::StacksMigrateArgs;
use crate::input::pulumi;
use crate::input::stack_config::confirm;
use crate::pulumi::secrets::{by_key_service, failure, of_providers, opened, provider};
use crate::pulumi::{passphrase, service_secrets};
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::text::count;

/// The type of managers whose key a service keeps, which no other place has.
const SERVICE: &str = "service";

/// Which manager secrets get.
enum Wanted {
    /// That of the source, except for one of a service.
    Kept,
    Service,
    Passphrase(Option<PathBuf>),
    Url(String),
}

/// What encrypts the states of one stack anew.
pub(super) struct Recoder {
    wanted: Wanted,
    /// The stack that they go to, if it is one of a service.
    target: Option<ServiceStack>,
    new: RefCell<Option<Arc<Manager>>>,
    /// What opens states, by what they say of their manager.
    old: RefCell<HashMap<String, Arc<Manager>>>,
}

impl Recoder {
    pub(super) fn to_service(args: &StacksMigrateArgs, target: ServiceStack) -> Self {
        Self::new(args, Some(target))
    }

    pub(super) fn to_bucket(args: &StacksMigrateArgs) -> Self {
        Self::new(args, None)
    }

    fn new(args: &StacksMigrateArgs, target: Option<ServiceStack>) -> Self {
        let wanted = match args.secrets_provider.as_deref() {
            None => Wanted::Kept,
            Some(SERVICE | "default") if target.is_some() => Wanted::Service,
            Some(salts::TYPE | "default") => Wanted::Passphrase(args.new_passphrase_file.clone()),
            Some(url) => Wanted::Url(url.to_owned()),
        };
        Self { wanted, target, new: RefCell::default(), old: RefCell::default() }
    }

    /// A state as the target gets it, an export; `name` is for messages.
    pub(super) fn state(&self, text: &[u8], name: &str) -> Result<Vec<u8>> {
        let mut file = read(text, name)?;
        let Some(snapshot) = file.snapshot.as_mut() else { return Ok(text.to_vec()) };
        let old = providers(snapshot)?;
        let Some(new) = self.manager_for(old.as_ref(), name)? else {
            return self.sealed(text, file, old.as_ref(), name);
        };
        let manager = old.as_ref().map(|old| self.opener(old)).transpose()?;
        opened(snapshot, manager.as_deref())?;
        snapshot.secrets_provider = Some(provider(new.providers())?);
        seal_snapshot(snapshot, new.encrypter()).map_err(failure)?;
        encode(&file, &EncodeOptions::default()).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
    }

    /// A state whose manager stays. What is readable in it is encrypted on its way.
    fn sealed(
        &self,
        text: &[u8],
        mut file: DeploymentFile,
        old: Option<&SecretsProviders>,
        name: &str,
    ) -> Result<Vec<u8>> {
        let Some(snapshot) = file.snapshot.as_mut() else { return Ok(text.to_vec()) };
        let readable = readable_values(snapshot);
        if readable == 0 {
            return Ok(text.to_vec());
        }
        let manager = match (old, &self.target) {
            (Some(old), _) => self.opener(old).map_err(|failure| {
                let secrets = count(readable, "secret");
                let message = format!(
                    "cannot encrypt {secrets} of {name}, which would be stored readable: {}",
                    failure.message
                );
                Failure { message, ..failure }
            })?,
            (None, Some(stack)) => Arc::new(service_secrets::of_stack(stack)?),
            (None, None) => {
                let secrets = count(readable, "secret");
                let message =
                    format!("{name} names no secrets provider, and {secrets} would be stored readable");
                return Err(Failure::new(Kind::Unusable, message).hint(
                    "`--secrets-provider passphrase`, or the URL of a key, encrypts them on their way",
                ));
            }
        };
        seal_snapshot(snapshot, manager.encrypter()).map_err(failure)?;
        if old.is_none() {
            snapshot.secrets_provider = Some(provider(manager.providers())?);
            self.old.borrow_mut().insert(of(manager.providers()), manager);
        }
        encode(&file, &EncodeOptions::default()).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
    }

    /// The configuration in a history, whose secrets the manager of this state has encrypted.
    pub(super) fn config(&self, text: &RawValue, state: &[u8], name: &str) -> Result<Box<RawValue>> {
        let file = read(state, name)?;
        let old = file.snapshot.as_ref().map(providers).transpose()?.flatten();
        let (Some(new), Some(old)) = (self.manager_for(old.as_ref(), name)?, old) else {
            return Ok(text.to_owned());
        };
        let manager = self.opener(&old)?;
        config::recoded(text, &manager, &new).map_err(|why| {
            Failure::new(Kind::Unusable, format!("the configuration in the history of {name}: {why}"))
        })
    }

    /// The new manager; nothing if that of the state stays.
    fn manager_for(&self, old: Option<&SecretsProviders>, name: &str) -> Result<Option<Arc<Manager>>> {
        let is_of_service = old.is_some_and(|old| old.kind() == SERVICE);
        if matches!(self.wanted, Wanted::Kept) && !is_of_service {
            return Ok(None);
        }
        if let Some(new) = &*self.new.borrow() {
            return Ok(Some(Arc::clone(new)));
        }
        let unusable = |error: &dyn std::error::Error| Failure::new(Kind::Unusable, chain(error));
        let new = match (&self.wanted, &self.target) {
            (Wanted::Kept | Wanted::Service, Some(stack)) => service_secrets::of_stack(stack)?,
            (Wanted::Kept | Wanted::Service, None) => {
                let message =
                    format!("a service encrypts the secrets of {name}, and a bucket has no such key");
                return Err(Failure::new(Kind::Unusable, message).hint(
                    "`--secrets-provider passphrase`, or the URL of a key, encrypts them anew on their way",
                ));
            }
            (Wanted::Passphrase(file), _) => {
                let new = passphrase::new(file.as_deref(), Purpose::Protect)?;
                salts::create(&new, Arc::new(OsEntropy)).map_err(|error| unusable(&error))?.1
            }
            (Wanted::Url(url), _) => {
                confirm(url);
                by_key_service(async |secrets| secrets.create(url).await)?.1
            }
        };
        let new = Arc::new(new);
        *self.new.borrow_mut() = Some(Arc::clone(&new));
        // It opens what it has written.
        self.old.borrow_mut().insert(of(new.providers()), Arc::clone(&new));
        Ok(Some(new))
    }

    /// The manager that opens what was stored with this one: with the passphrase of the source, or, for what an earlier run has written, the new one.
    fn opener(&self, old: &SecretsProviders) -> Result<Arc<Manager>> {
        if let Some(known) = self.old.borrow().get(&of(old)) {
            return Ok(Arc::clone(known));
        }
        let mut opened = open(old, passphrase::source());
        if let (Err(_), Wanted::Passphrase(Some(file))) = (&opened, &self.wanted)
            && old.kind() == salts::TYPE
            && let Ok(manager) = open(old, passphrase::of_file(file))
        {
            opened = Ok(manager);
        }
        let opened = Arc::new(opened?);
        self.old.borrow_mut().insert(of(old), Arc::clone(&opened));
        Ok(opened)
    }

    /// Whether two states are the same, in whatever way their secrets are encrypted. Where that decides it and one cannot be opened, the reason is
    /// the error.
    pub(super) fn is_same(&self, one: &[u8], other: &[u8]) -> Result<bool> {
        if one == other {
            return Ok(true);
        }
        let read = |text: &[u8]| decode(text, &DecodeOptions::default()).ok().map(|file| file.snapshot);
        Ok(match (read(one), read(other)) {
            (Some(None), Some(None)) => true,
            (Some(Some(one)), Some(Some(other))) => one == other || self.is_same_opened(one, other)?,
            // A stack without a state, and one that was exported before its first update.
            (Some(Some(state)), Some(None)) | (Some(None), Some(Some(state))) => {
                state.resources.is_empty() && state.pending_operations.is_empty()
            }
            _ => false,
        })
    }

    fn is_same_opened(&self, mut one: Snapshot, mut other: Snapshot) -> Result<bool> {
        let urns = |snapshot: &Snapshot| -> Vec<String> {
            snapshot.resources.iter().map(|resource| resource.urn.to_string()).collect()
        };
        // No secret makes states of different resources the same.
        if urns(&one) != urns(&other) {
            return Ok(false);
        }
        self.open(&mut one)?;
        self.open(&mut other)?;
        Ok(one.resources == other.resources && one.pending_operations == other.pending_operations)
    }

    fn open(&self, snapshot: &mut Snapshot) -> Result<()> {
        let old = providers(snapshot)?;
        let manager = old.as_ref().map(|old| self.opener(old)).transpose()?;
        opened(snapshot, manager.as_deref())
    }
}

/// What tells managers apart.
fn of(providers: &SecretsProviders) -> String {
    format!("{}\n{}", providers.kind(), providers.state().unwrap_or_default())
}

/// The manager, if this passphrase opens it, or whatever else its type needs.
fn open(providers: &SecretsProviders, passphrase: GivenPassphrase) -> Result<Manager> {
    let opened = of_providers(providers, None, passphrase)?;
    match opened.lock_reason() {
        Some(reason) => Err(Failure::new(Kind::Unusable, reason)),
        None => Ok(opened),
    }
}

fn providers(snapshot: &Snapshot) -> Result<Option<SecretsProviders>> {
    let named = snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty());
    named.map(secrets_providers).transpose().map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
}

fn read(text: &[u8], name: &str) -> Result<DeploymentFile> {
    decode(text, &DecodeOptions::default()).map_err(|error| pulumi::failure(&error, name, text))
}

/// The SHA-256 of a text.
pub(super) fn digest(text: &[u8]) -> String {
    hex(&Sha256::digest(text))
}
