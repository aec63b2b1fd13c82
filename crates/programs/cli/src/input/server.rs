//! The configuration of the server, from a file, from variables, from the command line.

use std::path::PathBuf;
use std::sync::Arc;

use groundstate_blobs::Context;
use groundstate_common::{OsIds, SystemClock};
use groundstate_server::config::{Config, ConfigError, Sources};
use groundstate_server::edge::OpenError;
use groundstate_statemgr::TokioSleeper;

use crate::args::ServerArgs;
use crate::report::error::{Failure, Kind, Result, chain};

/// Says the same as `--config`.
const FILE: &str = "GROUNDSTATE_CONFIG";

/// What the variables and the common arguments say; a command adds arguments of its own before it builds the configuration.
pub(crate) fn sources(args: &ServerArgs) -> Result<Sources> {
    let of_variable = || std::env::var_os(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let sources = match args.config.clone().or_else(of_variable) {
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

/// The configuration that the values come to.
pub(crate) fn build(sources: &Sources) -> Result<Config> {
    sources.build(&variable).map_err(|error| refused(&error))
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
    let failure = Failure::new(Kind::NoState, chain(error));
    match error {
        OpenError::NoServer { .. } => {
            failure.hint("name the store of the server with `--store`, or its configuration with `--config`")
        }
        OpenError::Directory { .. } | OpenError::ReadOnly { .. } => {
            failure.hint("name a directory that this user can write to with `--store DIRECTORY`")
        }
        OpenError::NotConditional { .. } => {
            failure.hint("use a directory, or a store that has conditional writes")
        }
        _ => failure,
    }
}
