//! The configuration of the server, from a file, from variables, from the command line.

use std::path::PathBuf;
use std::sync::Arc;

use groundstate_blobs::Context;
use groundstate_common::{OsIds, SystemClock, shell_word};
use groundstate_server::EncryptionError;
use groundstate_server::config::{Config, ConfigError, Sources, StorePlace};
use groundstate_server::edge::{OpenError, StoreNote};
use groundstate_statemgr::TokioSleeper;

use crate::args::ServerArgs;
use crate::report::error::{Failure, Kind, Result, chain};

/// Says the same as `--config`.
const FILE: &str = "GROUNDSTATE_CONFIG";

/// What the variables and the common arguments say; a command adds arguments of its own before it builds the configuration.
pub(crate) fn sources(args: &ServerArgs) -> Result<Sources> {
    let sources = match configuration(args) {
        Some(path) => Sources::new().read_file(&path),
        None => Ok(Sources::new()),
    };
    let sources = sources.and_then(|sources| sources.environment(std::env::vars_os()));
    let sources = sources.and_then(|sources| {
        args.settings.iter().try_fold(sources, |sources, setting| sources.setting("--set", setting))
    });
    let sources = sources.and_then(|sources| match &args.store {
        Some(store) => sources.argument("--store", "store", store),
        None => Ok(sources),
    });
    sources.map_err(|error| refused(&error))
}

/// The file that remembers the store of this configuration.
pub(crate) fn note(args: &ServerArgs, place: &StorePlace) -> Option<StoreNote> {
    match configuration(args) {
        Some(path) => Some(StoreNote::beside(&path)),
        None => StoreNote::of_user(place, &variable),
    }
}

/// The file of the configuration, if there is one.
fn configuration(args: &ServerArgs) -> Option<PathBuf> {
    let of_variable = || std::env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    args.config.clone().or_else(of_variable)
}

/// The configuration that the values come to.
pub(crate) fn build(sources: &Sources) -> Result<Config> {
    sources.build(&variable).map_err(|error| refused(&error))
}

/// The configuration that the values come to, for a server or a command that reads what it has stored.
pub(crate) fn configured(args: &ServerArgs, sources: &Sources) -> Result<Config> {
    let mut config = build(sources)?;
    config.made_key_file = note(args, &config.store).map(|note| note.key_file());
    Ok(config)
}

/// The failure of a store whose encryption cannot be opened.
pub(crate) fn of_encryption(error: &EncryptionError) -> Failure {
    let failure = Failure::new(Kind::of_cause(error).unwrap_or(Kind::NoState), chain(error));
    match error {
        EncryptionError::NoKey => failure.hint(
            "name a key by `pulumi.secrets_key_file`, made with `openssl rand -base64 32`, or one of a key service by `pulumi.secrets_key`",
        ),
        EncryptionError::Lost { .. } | EncryptionError::Unwrap { .. } => failure.hint(
            "restore that key, or name it by `pulumi.secrets_key_file` or `pulumi.secrets_key`; no other key opens the store, and none is made",
        ),
        EncryptionError::MissingKeyring | EncryptionError::DamagedKeyring => {
            failure.hint("restore `groundstate/keys.json` of the store from a backup")
        }
        _ => failure,
    }
}

/// A variable of the environment that is text.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Everything that is wrong with a configuration.
pub(crate) fn refused(error: &ConfigError) -> Failure {
    let mut problems = error.problems().iter();
    let first = problems.next().map(ToString::to_string).unwrap_or_default();
    let failure = Failure::new(Kind::Usage, first).details(problems.map(ToString::to_string));
    let mut hints: Vec<&String> =
        error.problems().iter().filter_map(|problem| problem.hint.as_ref()).collect();
    hints.dedup();
    hints.into_iter().fold(failure, |failure, hint| failure.hint(hint.as_str()))
}

/// The clock, the timer and the ids of servers and of their stores.
pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
}

/// The failure of a store that cannot be opened.
pub(crate) fn unusable(error: &OpenError) -> Failure {
    let kind = Kind::of_cause(error).unwrap_or(Kind::NoState);
    let failure = Failure::new(kind, chain(error));
    match error {
        OpenError::NoServer { .. } => {
            failure.hint("name the store of the server with `--store`, or its configuration with `--config`")
        }
        OpenError::Absent { .. } => failure.hint(
            "mount or restore the store if there is one; a new one is made by `groundstate serve --init`",
        ),
        OpenError::Gone { note, .. } | OpenError::Other { note, .. } => failure.hint(format!(
            "mount or restore the store; if another one is meant to be there, remove {}",
            note.display()
        )),
        OpenError::Unmarked { .. } | OpenError::Layout { layout: None, .. } => {
            failure.hint("see `groundstate store check`; `groundstate store repair` marks the store again")
        }
        OpenError::Open { path, .. } => failure.hint(format!(
            "look who put what into it, then close it with `chmod 700 {}`",
            shell_word(&path.to_string_lossy())
        )),
        OpenError::Directory { .. } | OpenError::ReadOnly { .. } => {
            failure.hint("name a directory that this user can write to with `--store DIRECTORY`")
        }
        OpenError::NotConditional { .. } => {
            failure.hint("use a directory, or a store that has conditional writes")
        }
        _ => failure,
    }
}
