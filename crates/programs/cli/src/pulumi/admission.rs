//! Admission of states to a stack: every secret gets under the key of the place before the state is stored.
//!
//! As with `pulumi stack import`, a manager that the state names itself stays, except that of another stack of a service: its key goes
//! away with that stack.

use std::path::PathBuf;

use bytes::Bytes;
use groundstate_pulumi_backends::Project;
#[cfg(feature = "http")]
use groundstate_pulumi_backends::ServiceSecrets;
#[cfg(feature = "http")]
use groundstate_pulumi_backends::pulumi_http::ServiceStack;
use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, decode, open_snapshot, readable_values, seal_snapshot, secrets_providers,
};
use groundstate_pulumi_integrity::{GateError, Rule, pass_gate};
use groundstate_pulumi_secrets::{Manager, SecretsProviders};
use groundstate_pulumi_snapshot::Snapshot;

use super::change::encoded;
use super::secrets::{failure, is_sealed, of_providers, opened, provider};
#[cfg(feature = "http")]
use super::service_secrets;
use super::{passphrase, stack_folder};
use crate::args::Force;
use crate::input::location::StateLocation;
use crate::input::pulumi;
use crate::input::remote::Remote;
use crate::input::stack_config::{ConfigFile, confirm};
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::text::count;

/// Type of managers whose key a service keeps.
const SERVICE: &str = "service";

/// Place that a state goes to, with what encrypts secrets there.
pub(super) struct Place {
    name: String,
    /// The stack, if it is one of a service.
    #[cfg(feature = "http")]
    service: Option<ServiceStack>,
    /// Configuration of the stack, which names its manager before the first update.
    config: Option<PathBuf>,
    is_file: bool,
    /// Names of the project and the stack.
    names: Option<(String, String)>,
}

/// State that may be stored.
pub(super) struct Admitted {
    /// If `true`, the secrets are not as they were in the file.
    pub(super) changed: bool,
    /// Remarks for people.
    pub(super) warnings: Vec<String>,
}

impl Admitted {
    fn unchanged(warnings: Vec<String>) -> Self {
        Self { changed: false, warnings }
    }
}

impl Place {
    /// Returns the place of a bucket or a file. The stack of a service is given to [`of_service`](Self::of_service).
    pub(super) fn of(found: &StateLocation) -> Self {
        Self {
            name: found.name().to_owned(),
            #[cfg(feature = "http")]
            service: None,
            config: found.remote().and_then(configuration),
            is_file: found.remote().is_none(),
            names: found
                .remote()
                .and_then(Remote::stack)
                .and_then(|stack| Some((stack.project_name()?.to_owned(), stack.stack_name().to_owned()))),
        }
    }

    #[cfg(feature = "http")]
    pub(super) fn of_service(found: &StateLocation, stack: ServiceStack) -> Self {
        let names = Some((stack.path().project.clone(), stack.path().stack.clone()));
        Self { service: Some(stack), names, ..Self::of(found) }
    }

    /// Returns the place, and asks the service which stack is meant. Not to be called where a runtime is at work.
    pub(super) fn resolved(found: &StateLocation) -> Result<Self> {
        #[cfg(feature = "http")]
        if let Some(service) = found.remote().and_then(Remote::service) {
            let stack = crate::input::runtime::runtime()?.block_on(service.stack());
            let stack = stack.map_err(|error| service.failure(&error))?;
            return Ok(Self::of_service(found, stack.clone()));
        }
        Ok(Self::of(found))
    }

    /// Puts every secret of a file under the key that it needs in this place, in which `present` is stored.
    ///
    /// # Errors
    ///
    /// Returns an error if a key is needed and not at hand.
    pub(super) fn secure(
        &self,
        file: &mut DeploymentFile,
        present: Option<&Snapshot>,
        name: &str,
        force: &Force,
    ) -> Result<Admitted> {
        let stack = file.stack().map(str::to_owned);
        match &mut file.snapshot {
            Some(snapshot) => self.secure_snapshot(snapshot, present, (name, stack), force),
            None => Ok(Admitted::unchanged(Vec::new())),
        }
    }

    pub(super) fn secure_snapshot(
        &self,
        snapshot: &mut Snapshot,
        present: Option<&Snapshot>,
        (name, stack): (&str, Option<String>),
        force: &Force,
    ) -> Result<Admitted> {
        let own = named(snapshot)?;
        let is_foreign = own.as_ref().is_some_and(|own| own.kind() == SERVICE && !self.is_own(own));
        let readable = readable_values(snapshot);
        let stays_readable =
            readable > 0 && (force.accepted().accepts(Rule::SecretReadable) || self.keeps_readable(present));
        if !is_foreign && (readable == 0 || stays_readable) {
            let warning = format!("{} of {name} stand readable in {}", count(readable, "secret"), self.name);
            return Ok(Admitted::unchanged((readable > 0).then_some(warning).into_iter().collect()));
        }
        let explained = |failure: Failure| self.explain(failure, name, readable, is_foreign);
        let secured = match own.filter(|_| !is_foreign) {
            Some(own) => {
                let manager = unlocked(&own, stack).map_err(explained)?;
                seal_snapshot(snapshot, manager.encrypter()).map_err(|error| explained(failure(error)))?;
                return Ok(Admitted { changed: true, warnings: vec![encrypted(readable, name)] });
            }
            None => self.rekeyed(snapshot, present, stack),
        };
        let kept = secured.map_err(explained);
        match kept {
            // Nothing that is readable is stored by this.
            Err(failure) if force.is_whole() && readable == 0 => Ok(Admitted::unchanged(vec![format!(
                "the secrets of {name} stay under the key of another stack: {}",
                failure.message
            )])),
            Err(failure) => Err(failure),
            Ok(values) => {
                let mut warnings: Vec<String> = Vec::new();
                if values > 0 && is_foreign {
                    warnings.push(format!(
                        "{} of {name} were encrypted by the key of another stack, and have that of {} now",
                        count(values, "secret"),
                        self.name
                    ));
                } else if readable > 0 {
                    warnings.push(encrypted(readable, name));
                }
                Ok(Admitted { changed: true, warnings })
            }
        }
    }

    /// Returns `true` for a file of the user whose secrets are readable already, such as an export with `--show-secrets`.
    pub(super) fn keeps_readable(&self, present: Option<&Snapshot>) -> bool {
        self.is_file && present.is_some_and(|present| readable_values(present) > 0)
    }

    /// Returns the names of the project and the stack, as far as the address has them.
    pub(super) fn names(&self) -> Option<(String, String)> {
        self.names.clone()
    }

    /// Encrypts all secrets by the manager of this place. Gives the number of those that were encrypted by another key.
    fn rekeyed(
        &self,
        snapshot: &mut Snapshot,
        present: Option<&Snapshot>,
        stack: Option<String>,
    ) -> Result<usize> {
        let is_needed = is_sealed(snapshot) || readable_values(snapshot) > 0;
        let old = named(snapshot)?;
        let Some(new) = self.manager(present, stack.clone())? else {
            if is_needed {
                let message = format!("{} names no secrets provider", self.name);
                return Err(Failure::new(Kind::Unusable, message));
            }
            // The next update gives it that of the configuration.
            snapshot.secrets_provider = None;
            return Ok(0);
        };
        let new_provider = provider(new.providers())?;
        let mut work = snapshot.clone();
        let is_sealed = is_sealed(&work);
        // What this very stack has encrypted under a former name, or at a former address of the service, stays.
        if is_sealed
            && new.providers().kind() == SERVICE
            && open_snapshot(&mut snapshot.clone(), new.decrypter()).is_ok()
        {
            seal_snapshot(&mut work, new.encrypter()).map_err(failure)?;
            work.secrets_provider = Some(new_provider);
            *snapshot = work;
            return Ok(0);
        }
        let values = if is_sealed {
            let old = old.as_ref().map(|old| unlocked(old, stack)).transpose()?;
            opened(&mut work, old.as_ref())?;
            seal_snapshot(&mut work, new.encrypter()).map_err(failure)?
        } else {
            seal_snapshot(&mut work, new.encrypter()).map_err(failure)?;
            0
        };
        work.secrets_provider = Some(new_provider);
        *snapshot = work;
        Ok(values)
    }

    /// Returns the manager of the place: that of the stored state, of the service, or of the configuration.
    pub(super) fn manager(
        &self,
        present: Option<&Snapshot>,
        stack: Option<String>,
    ) -> Result<Option<Manager>> {
        let present = present.map(named).transpose()?.flatten();
        if let Some(present) = present.filter(|present| present.kind() != SERVICE || self.is_own(present)) {
            return unlocked(&present, stack).map(Some);
        }
        #[cfg(feature = "http")]
        if let Some(stack) = &self.service {
            return service_secrets::of_stack(stack).map(Some);
        }
        let Some(path) = &self.config else { return Ok(None) };
        let config = ConfigFile::read(path)?.config;
        config.secrets_provider().into_iter().for_each(confirm);
        let providers = config.providers().map_err(|error| {
            Failure::new(Kind::Unusable, format!("{}: {}", path.display(), chain(&error)))
        })?;
        providers.map(|providers| unlocked(&providers, stack)).transpose()
    }

    /// Returns `true` if a manager of a service is that of the stack here.
    #[cfg(feature = "http")]
    fn is_own(&self, providers: &SecretsProviders) -> bool {
        self.service
            .as_ref()
            .is_some_and(|stack| ServiceSecrets::of_stack(stack.clone()).is_named_by(providers))
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "without services no stack is in one")]
    fn is_own(&self, _: &SecretsProviders) -> bool {
        false
    }

    fn explain(&self, failure: Failure, name: &str, readable: usize, is_foreign: bool) -> Failure {
        let why = failure.message.clone();
        let message = match is_foreign {
            true => format!(
                "cannot encrypt the secrets of {name} for {}: another stack of a service has encrypted them: {why}",
                self.name
            ),
            false => format!(
                "cannot encrypt {} of {name}, which would be stored readable: {why}",
                count(readable, "secret")
            ),
        };
        let failure = Failure { message, ..failure }.hint(
            "give the key of the stack, such as by PULUMI_CONFIG_PASSPHRASE, PULUMI_CONFIG_PASSPHRASE_FILE or `pulumi login`",
        );
        match is_foreign {
            false => failure.hint(format!("`--force={}` stores them readable", Rule::SecretReadable)),
            true if readable == 0 => failure.hint("`--force` stores it with the key of the other stack"),
            true => failure,
        }
    }

    /// Admits the text of a state, which keeps its bytes where no secret changes.
    pub(super) fn secure_text(
        &self,
        text: Vec<u8>,
        present: Option<&Snapshot>,
        name: &str,
        force: &Force,
    ) -> Result<(Bytes, Vec<String>)> {
        let mut file =
            decode(&text, &DecodeOptions::default()).map_err(|error| pulumi::failure(&error, name, &text))?;
        let admitted = self.secure(&mut file, present, name, force)?;
        let text = if admitted.changed { encoded(&file)? } else { text };
        Ok((text.into(), admitted.warnings))
    }
}

/// Refuses a snapshot with errors that are not accepted. Readable secrets are encrypted behind the gate.
pub(super) fn gate(snapshot: &Snapshot, name: &str, force: &Force) -> Result<Vec<String>> {
    let passed = pass_gate(snapshot, &force.accepted().and(Rule::SecretReadable));
    let passed = passed.map_err(|error| {
        let message = format!("snapshot integrity failure; refusing to use it: {error}");
        hinted(Failure::new(Kind::Unusable, message), &error, name)
    })?;
    let accepted = passed.into_iter().filter(|finding| finding.rule != Rule::SecretReadable);
    Ok(accepted.take(10).map(|finding| format!("accepted: {finding}")).collect())
}

/// Adds the commands that go on after the gate has refused a state.
pub(super) fn hinted(failure: Failure, error: &GateError, name: &str) -> Failure {
    let check = groundstate_common::shell_command("groundstate check", &[name]);
    failure
        .hint(format!("`{check}` shows all that is wrong; `--force` stores it nevertheless"))
        .hint(format!("`--force={}` accepts these findings and no others", error.codes()))
}

fn encrypted(readable: usize, name: &str) -> String {
    format!("{} of {name} stood readable there; now stored encrypted", count(readable, "secret"))
}

fn named(snapshot: &Snapshot) -> Result<Option<SecretsProviders>> {
    let named = snapshot.secrets_provider.as_ref().filter(|provider| !provider.kind.is_empty());
    named.map(secrets_providers).transpose().map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
}

/// Returns the manager, if its key is at hand.
fn unlocked(providers: &SecretsProviders, stack: Option<String>) -> Result<Manager> {
    let manager = of_providers(providers, stack, passphrase::source())?;
    match manager.lock_reason() {
        Some(reason) => Err(Failure::new(Kind::Unusable, reason)),
        None => Ok(manager),
    }
}

/// Returns the configuration of a stack: that in the directory that names the stack, or that of the project in which the command runs,
/// if it is the project of the stack.
pub(super) fn configuration(remote: &Remote) -> Option<PathBuf> {
    let stack = remote.stack()?;
    let project = match remote.place.directory.as_deref() {
        Some(folder) => Project::find(&stack_folder(folder)).ok().flatten()?,
        None => {
            let here = Project::find(&std::env::current_dir().ok()?).ok().flatten()?;
            Some(here).filter(|here| stack.project_name() == Some(here.name().as_str()))?
        }
    };
    Some(project.stack_config(stack.stack_name())).filter(|path| path.is_file())
}
