//! `groundstate change-secrets-provider`: a stack and its configuration under another key.
//!
//! The state is written first and the configuration after it, each at once. Whatever ends the command in between, both name the key
//! that opens them, and the same command goes on.

mod keys;
mod state;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use groundstate_pulumi_backends::{KeyUrl, Project, StackConfig, StackKey};
use groundstate_pulumi_secrets::{Ciphertext, Manager as Secrets, Plaintext};
use groundstate_statemgr::{Expect, Manager, WriteOptions};

use self::keys::{Keys, Wanted, Way, is_same, stack_key};
use self::state::{Resealed, reseal, verify};
use super::done::{Change, Changed, Done};
use super::report::Report;
use super::run::{encoded, read};
use crate::args::ChangeSecretsProviderArgs;
use crate::input::location::{StateLocation, with_suffix};
use crate::input::remote::RemoteStack;
use crate::input::stack_config::ConfigFile;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::text::count;
use crate::session::backup::backup;
use crate::session::files;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::state_error::StateError;

/// What the lock is for, and what a broken deployment is recorded with.
const OPERATION: &str = "state-change-secrets-provider";

/// Encrypts a stack and its configuration anew.
pub(crate) fn change_secrets_provider(args: &ChangeSecretsProviderArgs, found: StateLocation) -> Result {
    let wanted = Wanted::parse(&args.provider)?;
    let config = configuration(args, &found)?;
    let keep = backup(&found, &args.change, OPERATION)?;
    let opened = ManagedState::open(found, Some(keep), !args.change.lock.no_lock)?;
    let name = opened.name.clone();
    let again = opened.command("change-secrets-provider", &[&args.provider]);
    let work = Work { args, wanted, config, name: &name, again };
    let changed = match args.change.dry_run {
        true => unlocked(&opened, async |manager| work.run(manager, None).await)?,
        false => {
            let info = lock_info(&opened, OPERATION)?;
            locked(&opened, &args.change.lock, info, async |manager, interrupts| {
                work.run(manager, Some(interrupts)).await
            })?
        }
    };
    Report {
        state: &name,
        dry_run: args.change.dry_run,
        backup: opened.kept(),
        changed: &changed,
        other: None,
    }
    .print(args.change.json)?;
    Ok(Outcome::Clean)
}

/// The file with the configuration of the stack: the one that is named, or that of the project directory.
fn configuration(args: &ChangeSecretsProviderArgs, found: &StateLocation) -> Result<Option<PathBuf>> {
    if let Some(path) = &args.config_file {
        let there = std::fs::metadata(path).map_err(|error| Failure::unreadable(path, &error));
        return there.map(|_| Some(path.clone()));
    }
    let Some((stack, remote)) = found.remote().and_then(|remote| Some((remote.stack()?, remote))) else {
        return Ok(None);
    };
    let Some(folder) = remote.place.directory.as_deref() else {
        return here(stack);
    };
    let folder = std::path::absolute(folder).map_err(|error| Failure::unreadable(folder, &error))?;
    let project = Project::find(&folder)
        .map_err(|error| Failure::new(Kind::Usage, chain(&error)))?
        .map(|project| project.stack_config(stack.stack_name()));
    Ok(project)
}

/// The configuration that the project of the present directory has of a stack that an address names.
fn here(stack: &RemoteStack) -> Result<Option<PathBuf>> {
    let folder = std::path::absolute(".").map_err(|error| Failure::unreadable(Path::new("."), &error))?;
    // A project of another name has nothing to do with the stack, whatever is wrong with it.
    let project = Project::find(&folder).ok().flatten();
    let project = project.filter(|project| stack.project_name() == Some(project.name().as_str()));
    let path = project.map(|project| project.stack_config(stack.stack_name()));
    Ok(path.filter(|path| path.is_file()))
}

/// The change of one stack.
struct Work<'w> {
    args: &'w ChangeSecretsProviderArgs,
    wanted: Wanted<'w>,
    config: Option<PathBuf>,
    name: &'w str,
    /// The command once more.
    again: String,
}

/// A configuration that has been encrypted anew, but not written.
struct Config {
    file: ConfigFile,
    text: String,
    values: usize,
}

impl Work<'_> {
    /// Gives what was done, and whether the state was written.
    async fn run(&self, manager: &Manager, interrupts: Option<&Interrupts>) -> Result<Changed, StateError> {
        let store = manager.store();
        let nothing = || Failure::new(Kind::NoState, format!("{} is empty, so it holds no state", self.name));
        let stored = store.read().await?.ok_or_else(nothing)?;
        let before = read(&stored.bytes, self.name)?;
        let file = self.config.as_deref().map(ConfigFile::read).transpose()?;
        let mut keys =
            Keys::find(self.wanted, self.args.new_passphrase_file.as_deref(), &before, file.as_ref())?;
        let config = match file {
            Some(file) if keys.way != Way::StateFollows => Some(self.rekeyed(file, &keys)?),
            _ => None,
        };
        let state = match &before.snapshot {
            Some(_) if keys.way != Way::ConfigFollows => Some(reseal(before, self.name, &keys)?),
            _ => None,
        };
        let mut done = self.done(&keys, state.as_ref(), config.as_ref());
        done.warnings.append(&mut keys.notes);
        let bytes = match &state {
            Some(Resealed { edited, plain, .. }) => {
                let bytes = encoded(&edited.file)?;
                verify(&bytes, self.name, plain, &keys.new)?;
                Some(Bytes::from(bytes))
            }
            None => None,
        };
        if let (Some(interrupts), Some(bytes)) = (interrupts, &bytes) {
            interrupts.check()?;
            let conditions = WriteOptions::expecting(Expect::Version(stored.version));
            store.write(bytes.clone(), &conditions).await?;
            let back = store.read().await?.map(|back| back.bytes);
            if let Some(Resealed { plain, .. }) = &state {
                verify(&back.unwrap_or_default(), self.name, plain, &keys.new)?;
            }
        }
        if let (Some(_), Some(config)) = (interrupts, &config) {
            self.store(config).map_err(|failure| match bytes.is_some() {
                true => failure.hint(format!(
                    "{} has the new provider, but its configuration still has the old one; run `{}` to complete the change",
                    self.name, self.again
                )),
                false => failure,
            })?;
        }
        let written = interrupts.is_some() && (bytes.is_some() || config.is_some());
        let diff = state.map(|state| state.edited.diff).unwrap_or_default();
        Ok(Changed { done, diff, written })
    }

    /// The configuration under the new key, which has been read and opened once more.
    fn rekeyed(&self, file: ConfigFile, keys: &Keys) -> Result<Config> {
        let path = file.path.display();
        let failed =
            |why: String| Failure::new(Kind::Unusable, format!("{path} cannot be encrypted anew: {why}"));
        let key = stack_key(keys.new.providers())?;
        let old = keys.config.as_ref().unwrap_or(&keys.new);
        let text = file.config.changed(StackKey::from(&key), old, &keys.new);
        let text = text.map_err(|error| failed(chain(&error)))?;
        let again = StackConfig::parse(&text).map_err(|error| failed(chain(&error)))?;
        let is_named =
            again.providers().ok().flatten().is_some_and(|found| is_same(&found, keys.new.providers()));
        let values = file.config.ciphertexts().count();
        if !is_named || plaintexts(&file.config, old)? != plaintexts(&again, &keys.new)? {
            return Err(failed("what was encrypted does not decrypt to the same".to_owned()));
        }
        Ok(Config { file, text, values })
    }

    /// Writes the configuration, after a copy of what it was.
    fn store(&self, config: &Config) -> Result<()> {
        let path = &config.file.path;
        if !config.file.is_unchanged() {
            let message = format!("another process has changed {} meanwhile", path.display());
            return Err(Failure::new(Kind::Conflict, message).hint("the configuration was not written"));
        }
        if let (Some(text), Some(copy)) = (&config.file.text, self.copy(path)) {
            files::put(&copy, text.as_bytes()).map_err(|error| Failure::unwritable(&copy, &error))?;
        }
        files::replace_whole(path, config.text.as_bytes()).map_err(|error| Failure::unwritable(path, &error))
    }

    /// Where the configuration before goes.
    fn copy(&self, path: &Path) -> Option<PathBuf> {
        let is_unwanted = self.args.change.backup.as_deref() == Some(Path::new("-"));
        (!is_unwanted).then(|| with_suffix(path, ".backup"))
    }

    fn done(&self, keys: &Keys, state: Option<&Resealed>, config: Option<&Config>) -> Done {
        let provider = self.wanted.shown();
        let mut changes = Vec::new();
        let mut change = |what: &str, values: usize, file: Option<&Path>| {
            let values = count(values, "value");
            let copy = file.filter(|_| config.is_some_and(|config| config.file.text.is_some()));
            let copy = copy
                .and_then(|path| self.copy(path))
                .map_or_else(String::new, |copy| format!("; what it was is in {}", copy.display()));
            let done = format!("Encrypted {values} of {what} for {provider}{copy}");
            let change =
                Change::new("encrypt", "", done, format!("Would encrypt {values} of {what} for {provider}"));
            let change = change.member("to", provider.to_owned());
            changes.push(match file {
                Some(path) => change.member("file", path.display().to_string()),
                None => change,
            });
        };
        if let Some(Resealed { values, .. }) = state {
            change(self.name, *values, None);
        }
        if let Some(Config { file, values, .. }) = config {
            change(&file.path.display().to_string(), *values, Some(&file.path));
        }
        let mut warnings = Vec::new();
        if self.config.is_none() {
            warnings.push(format!(
                "the stack's `Pulumi.STACK.yaml` is not changed, because its path is not known here: pulumi refuses the stack until that file has the new provider too; run `{0}` in the directory of the project, or `{0} --config-file Pulumi.STACK.yaml`",
                self.again
            ));
        }
        let success = match keys.way {
            Way::Fresh => format!("The secrets provider is {provider} now"),
            Way::ConfigFollows => {
                format!("The configuration now has the key of the state, from {provider}")
            }
            Way::StateFollows => {
                format!("The state now has the key of the configuration, from {provider}")
            }
        };
        Done { changes, warnings, success }
    }
}

/// The encrypted values of a configuration, opened.
fn plaintexts(config: &StackConfig, secrets: &Secrets) -> Result<Vec<Plaintext>> {
    let sealed: Vec<Ciphertext> = config.ciphertexts().map(Ciphertext::new).collect();
    let opened = secrets.decrypter().decrypt_batch(&sealed.iter().collect::<Vec<_>>());
    opened.map_err(|error| Failure::new(Kind::Unusable, chain(&error)))
}

/// Whether a provider is one that the command knows, for messages of the command line.
fn is_url(text: &str) -> Result<()> {
    KeyUrl::parse(text).map(drop).map_err(|error| {
        Failure::new(Kind::Usage, error.to_string())
            .hint("write `passphrase`, or the URL of a key such as `awskms://alias/NAME`")
    })
}
