//! Comparison of the key in `Pulumi.STACK.yaml` with that of the state.

use std::path::{Path, PathBuf};

use groundstate_pulumi_deployment::secrets_providers;
use groundstate_pulumi_integrity::Finding;
use groundstate_pulumi_secrets::SecretsProviders;
use groundstate_pulumi_snapshot::Snapshot;
use serde_json::Value;

use super::admission::configuration;
use crate::input::location::StateLocation;
use crate::input::stack;
use crate::input::stack_config::ConfigFile;
use crate::report::error::{Result, chain};
use crate::report::messages::Messages;

/// Secrets provider in the configuration of a stack.
pub(crate) struct ConfiguredKey {
    path: PathBuf,
    providers: SecretsProviders,
}

impl ConfiguredKey {
    /// Reads the configuration of the stack that an argument names. Returns `None` if there is no configuration, or if it names no key.
    pub(crate) fn of(argument: &Path) -> Result<Option<Self>> {
        if !stack::is_stack(argument)? {
            return Ok(None);
        }
        let found = StateLocation::to_read(argument)?;
        let Some(path) = found.remote().and_then(configuration) else { return Ok(None) };
        let providers = ConfigFile::read(&path).map(|file| file.config.providers());
        match providers {
            Ok(Ok(providers)) => Ok(providers.map(|providers| Self { path, providers })),
            Ok(Err(error)) => {
                let why = chain(&error);
                Messages::stderr().warning(&format!("{} is not compared: {why}", path.display()));
                Ok(None)
            }
            Err(failure) => {
                Messages::stderr()
                    .warning(&format!("the configuration is not compared: {}", failure.message));
                Ok(None)
            }
        }
    }

    /// Compares with the key of a state. A state that cannot be read or names no key is the subject of other rules.
    pub(crate) fn compare(&self, snapshot: &Snapshot) -> Option<Finding> {
        let named = snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty())?;
        let own = secrets_providers(named).ok()?;
        if own.kind() == self.providers.kind() && content(&own) == content(&self.providers) {
            return None;
        }
        let path = self.path.display();
        let message = match own.kind() == self.providers.kind() {
            true => format!("the `{}` key of the state is not the one in {path}", own.kind()),
            false => format!(
                "the state has a key of the type `{}`, and {path} names one of the type `{}`",
                own.kind(),
                self.providers.kind()
            ),
        };
        Some(Finding::of_configuration(message))
    }
}

/// The state of a manager, whatever white space it is written with.
fn content(providers: &SecretsProviders) -> Value {
    providers.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default()
}
