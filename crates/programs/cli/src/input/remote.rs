//! Where an argument leads: to a file, or to a state that a backend keeps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_backends::{BackendsError, PlaceUrl};
use groundstate_statemgr::{Backend, StateStore};

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
    /// The name of its project, if the name of the stack has it.
    pub(crate) fn project_name(&self) -> Option<&str> {
        let name = match self {
            Self::Bucket(stack) => stack.full_name(),
            #[cfg(feature = "http")]
            Self::Service(found) => found.name.as_str(),
        };
        match name.split('/').collect::<Vec<_>>()[..] {
            [_, project, _] => Some(project),
            _ => None,
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
}

impl Remote {
    pub(crate) fn new(place: groundstate_backends::Location, argument: &str) -> Result<Self> {
        warn(&place);
        let store = place.opened.backend.store(&place.workspace).map_err(BackendsError::from)?;
        let argument = match argument.split_once('?') {
            // Options may be secrets.
            Some((url, _)) if PlaceUrl::is_url(argument) => format!("{url}?…"),
            _ => argument.to_owned(),
        };
        Ok(Self { name: store.to_string(), place, store, argument, stack: None })
    }

    /// The same for a Pulumi stack, whose argument has no secrets.
    pub(crate) fn of_stack(
        place: groundstate_backends::Location,
        argument: &str,
        stack: RemoteStack,
    ) -> Result<Self> {
        Ok(Self { stack: Some(stack), argument: argument.to_owned(), ..Self::new(place, argument)? })
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
