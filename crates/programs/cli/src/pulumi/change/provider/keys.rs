//! Which keys a stack has, and which one it gets.

use std::path::Path;
use std::sync::Arc;

use groundstate_pulumi_backends::StackKey;
use groundstate_pulumi_deployment::{DeploymentFile, secrets_providers};
use groundstate_pulumi_secrets::cloud::{self, CloudState};
use groundstate_pulumi_secrets::passphrase::{self as salts, GivenPassphrase, Purpose, Salt};
use groundstate_pulumi_secrets::{Manager, OsEntropy, Passphrase, SecretsProviders};

use crate::input::stack_config::{ConfigFile, confirm};
use crate::pulumi::passphrase;
use crate::pulumi::secrets::{by_key_service, is_sealed, of_providers};
use crate::report::error::{Failure, Kind, Result, chain};

/// The provider that the command line names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'w> {
    Passphrase,
    /// The URL of a key.
    Url(&'w str),
}

impl<'w> Wanted<'w> {
    pub(super) fn parse(text: &'w str) -> Result<Self> {
        // Where Pulumi keeps stacks itself, its default is a passphrase.
        if matches!(text, salts::TYPE | "default") {
            return Ok(Self::Passphrase);
        }
        super::is_url(text)?;
        confirm(text);
        Ok(Self::Url(text))
    }

    /// What it is called in messages: parameters may name roles and contexts.
    pub(super) fn shown(self) -> &'w str {
        match self {
            Self::Passphrase => "a passphrase",
            Self::Url(url) => url.split('?').next().unwrap_or_default(),
        }
    }
}

/// What is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Both, with a new data key or salt.
    Fresh,
    /// The configuration alone: the state has the provider already.
    ConfigFollows,
    /// The state alone: the configuration has the provider already.
    StateFollows,
}

/// The managers that open what is stored, and the new one.
pub(super) struct Keys {
    pub(super) way: Way,
    /// What opens the state, if something in it is encrypted.
    pub(super) state: Option<Manager>,
    /// What opens the configuration, if something in it is encrypted.
    pub(super) config: Option<Manager>,
    pub(super) new: Manager,
    pub(super) notes: Vec<String>,
}

/// The managers that are named so far.
struct Named<'n> {
    wanted: Wanted<'n>,
    stack: Option<String>,
    state: Option<SecretsProviders>,
    config: Option<SecretsProviders>,
    /// The passphrase of the new salt.
    new: Option<Passphrase>,
}

impl Keys {
    /// Opens what is there, and makes the new key.
    pub(super) fn find(
        wanted: Wanted<'_>,
        passphrase_file: Option<&Path>,
        file: &DeploymentFile,
        config: Option<&ConfigFile>,
    ) -> Result<Self> {
        let unusable = |error: &dyn std::error::Error| Failure::new(Kind::Unusable, chain(error));
        let snapshot = file.snapshot.as_ref();
        let provider = snapshot.and_then(|snapshot| snapshot.secrets_provider.as_ref());
        let provider = provider.filter(|provider| !provider.kind.is_empty());
        let mut named = Named {
            wanted,
            stack: file.stack().map(str::to_owned),
            state: provider.map(secrets_providers).transpose().map_err(|error| unusable(&error))?,
            config: config
                .map(|file| file.config.providers())
                .transpose()
                .map_err(|error| unusable(&error))?
                .flatten(),
            new: None,
        };
        if matches!(wanted, Wanted::Passphrase) {
            named.new = Some(passphrase::new(passphrase_file, named.purpose())?);
        }
        let (way, new, notes) = named.decide(config.is_some())?;
        let is_sealed = way != Way::ConfigFollows && snapshot.is_some_and(is_sealed);
        let state = named.state.as_ref().filter(|_| is_sealed).map(|found| named.open(found)).transpose()?;
        let has_values = config.is_some_and(|file| file.config.ciphertexts().next().is_some());
        let config = match has_values && way != Way::StateFollows {
            true => Some(named.open_config()?),
            false => None,
        };
        Ok(Self { way, state, config, new, notes })
    }
}

impl Named<'_> {
    /// Whether state and configuration name the same key.
    fn have_one_key(&self) -> bool {
        self.state.as_ref().zip(self.config.as_ref()).is_some_and(|(one, other)| is_same(one, other))
    }

    /// Whether the new passphrase replaces one, which the environment gives then.
    fn purpose(&self) -> Purpose {
        let is_salted = |found: &SecretsProviders| found.kind() == salts::TYPE;
        match (&self.state, &self.config) {
            (Some(one), Some(other)) if is_salted(one) != is_salted(other) => Purpose::Protect,
            (Some(found), _) | (None, Some(found)) if is_salted(found) => Purpose::Rotate,
            _ => Purpose::Protect,
        }
    }

    /// Where only one of the two has the provider, an earlier change was ended before the other was written: it follows.
    fn decide(&self, has_config: bool) -> Result<(Way, Manager, Vec<String>)> {
        if has_config && self.state.is_some() && !self.have_one_key() {
            for (found, way) in [(&self.state, Way::ConfigFollows), (&self.config, Way::StateFollows)] {
                if let Some(manager) = found.as_ref().and_then(|found| self.wanted_of(found)) {
                    return Ok((way, manager, Vec::new()));
                }
            }
        }
        match (self.wanted, &self.new) {
            (Wanted::Url(url), _) => {
                let (_, manager, notes) = by_key_service(async |secrets| secrets.create(url).await)?;
                Ok((Way::Fresh, manager, notes))
            }
            (Wanted::Passphrase, new) => {
                let missing = || Failure::new(Kind::Usage, "there is no new passphrase");
                let new = new.as_ref().ok_or_else(missing)?;
                let made = salts::create(new, Arc::new(OsEntropy));
                let (_, manager) = made.map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
                Ok((Way::Fresh, manager, Vec::new()))
            }
        }
    }

    /// The manager of this state, if it is of the provider that is wanted and can be opened.
    fn wanted_of(&self, found: &SecretsProviders) -> Option<Manager> {
        match self.wanted {
            Wanted::Url(url) if found.kind() == cloud::TYPE => {
                let is_same = CloudState::parse(found).is_ok_and(|state| state.url() == url);
                let open = || by_key_service(async |secrets| secrets.open_by(url, found).await).ok();
                if is_same { open() } else { None }
            }
            Wanted::Passphrase if found.kind() == salts::TYPE => {
                let given = GivenPassphrase::new().with_variable(Some(self.new.as_ref()?.expose()));
                let manager = of_providers(found, self.stack.clone(), given).ok()?;
                manager.lock_reason().is_none().then_some(manager)
            }
            _ => None,
        }
    }

    fn open(&self, found: &SecretsProviders) -> Result<Manager> {
        let manager = of_providers(found, self.stack.clone(), passphrase::source())?;
        match manager.lock_reason() {
            Some(reason) => Err(Failure::new(Kind::Unusable, reason)),
            None => Ok(manager),
        }
    }

    fn open_config(&self) -> Result<Manager> {
        let none = || {
            let message = "the configuration has encrypted values, and neither it nor the state names a secrets provider";
            Failure::new(Kind::Unusable, message)
        };
        let found = self.config.as_ref().or(self.state.as_ref()).ok_or_else(none)?;
        let failure = match self.open(found) {
            Err(failure) => failure,
            opened => return opened,
        };
        // Pulumi goes on with the engine of the URL before: then that of the state opens it.
        let former =
            self.state.as_ref().filter(|state| found.kind() == cloud::TYPE && !is_same(state, found));
        let former = former.and_then(|state| CloudState::parse(state).ok());
        let former = former.filter(|state| state.url().starts_with("hashivault://"));
        let opened = former
            .and_then(|state| by_key_service(async |secrets| secrets.open_by(state.url(), found).await).ok());
        opened.ok_or(failure)
    }
}

/// Whether two managers have the same key, however their states are laid out.
pub(super) fn is_same(one: &SecretsProviders, other: &SecretsProviders) -> bool {
    match (stack_key(one), stack_key(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.is_compatible(other),
    }
}

/// What a configuration has to get its key with.
#[derive(PartialEq, Eq)]
pub(super) enum OwnedKey {
    Salt(Salt),
    Cloud(CloudState),
}

impl<'k> From<&'k OwnedKey> for StackKey<'k> {
    fn from(key: &'k OwnedKey) -> Self {
        match key {
            OwnedKey::Salt(salt) => Self::Salt(salt.as_str()),
            OwnedKey::Cloud(state) => Self::Cloud(state),
        }
    }
}

/// What a configuration has to get the key of this manager with.
pub(super) fn stack_key(providers: &SecretsProviders) -> Result<OwnedKey> {
    let unusable = |error: &dyn std::error::Error| Failure::new(Kind::Unusable, chain(error));
    match providers.kind() {
        cloud::TYPE => CloudState::parse(providers).map(OwnedKey::Cloud).map_err(|error| unusable(&error)),
        _ => salts::salt(providers).map(OwnedKey::Salt).map_err(|error| unusable(&error)),
    }
}
