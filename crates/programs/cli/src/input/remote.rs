//! Where an argument leads: to a file, or to a state that a backend keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_backends::{BackendsError, PlaceUrl};
use groundstate_common::{shell_command, shell_word};
use groundstate_statemgr::{Backend, StateStore};

use crate::input::environment::Environment;
#[cfg(feature = "http")]
use crate::input::service::FoundService;
use crate::input::stack_store::StackBackend;
use crate::report::error::Result;
use crate::report::messages::Messages;

/// What an argument stands for.
#[derive(Clone, Debug)]
pub(crate) enum Located {
    /// A file, or a path at which there is none, and the working directory that named it.
    File(PathBuf, Option<PathBuf>),
    Remote(Box<Remote>),
}

/// A state that is not in a file.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// The state as messages name it.
    pub(crate) name: String,
    pub(crate) place: groundstate_backends::Location,
    pub(crate) store: Arc<dyn StateStore>,
    /// What to write into commands that are to name it.
    pub(crate) argument: String,
    /// The argument alone does not mean the workspace.
    is_chosen: bool,
    /// The stack, if it is one of Pulumi.
    stack: Option<RemoteStack>,
}

/// A Pulumi stack that is not in a file.
#[derive(Clone, Debug)]
pub(crate) enum RemoteStack {
    /// In a directory, a bucket or a database.
    Bucket(StackBackend),
    /// In a service.
    #[cfg(feature = "http")]
    Service(FoundService),
}

impl RemoteStack {
    /// The name of the stack, if the command line has it beside the directory.
    fn name_given(&self) -> Option<&str> {
        match self {
            Self::Bucket(stack) => stack.name_given(),
            #[cfg(feature = "http")]
            Self::Service(found) => found.is_named.then_some(found.name.as_str()),
        }
    }

    /// The name of the stack alone, without its organization and project.
    pub(crate) fn stack_name(&self) -> &str {
        match self {
            Self::Bucket(stack) => stack.stack_name(),
            #[cfg(feature = "http")]
            Self::Service(found) => found.stack_name(),
        }
    }

    /// The name of its project, if its full name is known.
    pub(crate) fn project_name(&self) -> Option<&str> {
        let name = match self {
            Self::Bucket(stack) => stack.full_name(),
            #[cfg(feature = "http")]
            Self::Service(found) => found.full_name(),
        };
        let mut parts = name.rsplit('/').skip(1);
        parts.next().filter(|_| parts.next().is_some())
    }
}

impl Remote {
    pub(crate) fn new(place: groundstate_backends::Location, argument: &str) -> Result<Self> {
        warn(&place);
        let store = place.opened.backend.store(&place.workspace).map_err(BackendsError::from)?;
        let argument = match argument.split_once('?') {
            Some((url, _)) if PlaceUrl::is_url(argument) => format!("{url}{}", shown_options(argument)),
            _ => argument.to_owned(),
        };
        let chosen = Environment::of_process().chosen().cloned();
        let is_chosen = chosen.as_ref() == Some(&place.workspace);
        let name = store.to_string();
        remember(&name, &argument);
        Ok(Self { name, place, store, argument, is_chosen, stack: None })
    }

    /// The same for a Pulumi stack, whose argument has no secrets.
    pub(crate) fn of_stack(
        place: groundstate_backends::Location,
        argument: &str,
        stack: RemoteStack,
    ) -> Result<Self> {
        let remote = Self::new(place, argument)?;
        remember(&remote.name, argument);
        Ok(Self { stack: Some(stack), argument: argument.to_owned(), ..remote })
    }

    /// Sets whether a command has to name the workspace beside the argument.
    #[must_use]
    pub(crate) fn chosen(self, is_chosen: bool) -> Self {
        Self { is_chosen, ..self }
    }

    /// A command on this state with more arguments behind it, which can be pasted.
    pub(crate) fn command(&self, verb: &str, more: &[&str]) -> String {
        let arguments = [&[self.argument.as_str()], more].concat();
        let command = shell_command(&format!("groundstate {verb}"), &arguments);
        match &self.stack {
            Some(stack) => match stack.name_given() {
                Some(stack) => format!("{command} --stack {}", shell_word(stack)),
                None => command,
            },
            None if self.is_chosen => {
                format!("{command} --workspace {}", shell_word(self.place.workspace.as_str()))
            }
            None => command,
        }
    }

    /// Its place in words: two ways to name one state have the same, and two states never have.
    pub(crate) fn identity(&self) -> String {
        match &self.stack {
            Some(RemoteStack::Bucket(stack)) => stack.identity(),
            #[cfg(feature = "http")]
            Some(RemoteStack::Service(found)) => found.identity(),
            None => self.name.clone(),
        }
    }

    /// Whether it is a Pulumi stack, in a backend of the user's own or in a service.
    pub(crate) fn is_stack(&self) -> bool {
        self.stack.is_some()
    }

    /// The stack, if it is one.
    pub(crate) fn stack(&self) -> Option<&RemoteStack> {
        self.stack.as_ref()
    }

    /// The stack, if it is one of a service.
    #[cfg(feature = "http")]
    pub(crate) fn service(&self) -> Option<&FoundService> {
        match &self.stack {
            Some(RemoteStack::Service(found)) => Some(found),
            _ => None,
        }
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.place.opened.backend
    }

    /// Where files go that belong to this state: the working directory that named it, or the present one.
    pub(crate) fn folder(&self) -> &Path {
        self.place.directory.as_deref().unwrap_or(Path::new(""))
    }

    /// The path that a copy of this state would have in that folder.
    pub(crate) fn copy(&self) -> PathBuf {
        let last = self.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or("terraform.tfstate");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let mut name: String = last.chars().map(plain).collect();
        let workspace: String = self.place.workspace.as_str().chars().map(plain).collect();
        if !self.place.workspace.is_default() && !name.contains(&workspace) {
            name.push('.');
            name.push_str(&workspace);
        }
        self.folder().join(name)
    }
}

/// Options of addresses that say where and how, and are no secrets.
const SHOWN_OPTIONS: [&str; 49] = [
    "awssdk",
    "bucket",
    "conditional_write",
    "disableSSL",
    "disable_https",
    "dynamodb_endpoint",
    "dynamodb_table",
    "encrypt",
    "endpoint",
    "endpoints.dynamodb",
    "endpoints.s3",
    "environment",
    "force_path_style",
    "history",
    "history_keep",
    "history_max_age",
    "hostaddr",
    "index_name",
    "kms_key_id",
    "lock_method",
    "metadata",
    "no_tmp_dir",
    "prefix",
    "profile",
    "region",
    "resource_group_name",
    "role_arn",
    "s3ForcePathStyle",
    "schema_name",
    "shared_config_file",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_region_validation",
    "skip_requesting_account_id",
    "skip_s3_checksum",
    "snapshot",
    "sslmode",
    "sslrootcert",
    "storage_account_name",
    "strict_locks",
    "strict_table",
    "table_name",
    "trust_lock",
    "unlock_method",
    "use_lockfile",
    "use_path_style",
    "verify_lock",
    "workspace",
    "workspace_key_prefix",
];

/// The query of an address in a shown command. What may be a secret is replaced by a mark.
pub(crate) fn shown_options(address: &str) -> String {
    let Some((_, query)) = address.split_once('?') else { return String::new() };
    let is_shown = |pair: &&str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // An endpoint may have a user and a password.
        SHOWN_OPTIONS.contains(&name) && !value.contains(['@', '%'])
    };
    let given: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let mut shown: Vec<&str> = given.iter().copied().filter(is_shown).collect();
    if shown.len() < given.len() {
        shown.push("…");
    }
    if shown.is_empty() { String::new() } else { format!("?{}", shown.join("&")) }
}

/// Arguments for commands on the states of this run that are in no file, by the names that messages have for them.
static ARGUMENTS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

fn remember(name: &str, argument: &str) {
    let mut arguments = ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    arguments.insert(name.to_owned(), argument.to_owned());
}

/// A command on a state that messages call by this name, to be shown: with the argument that led to it, as the name of a stack
/// or of an object in a bucket is none.
pub(crate) fn command_on(command: &str, name: &str) -> String {
    let arguments = ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(argument) = arguments.get(name) else { return shell_command(command, &[name]) };
    let mut text = shell_command(command, &[argument]);
    let environment = Environment::of_process();
    if let Some(stack) = environment.stack() {
        text.push_str(&format!(" --stack {}", shell_word(stack)));
    }
    if let Some(workspace) = environment.chosen() {
        text.push_str(&format!(" --workspace {}", shell_word(workspace.as_str())));
    }
    text
}

/// Shows what a user should know of the settings of a place, each line once in a run.
pub(crate) fn warn(place: &groundstate_backends::Location) {
    warn_once(&place.opened.warnings);
}

/// Shows each of these lines once in a run.
pub(crate) fn warn_once(warnings: &[String]) {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for warning in warnings {
        if shown.insert(warning.clone()) {
            Messages::stderr().warning(warning);
        }
    }
}
