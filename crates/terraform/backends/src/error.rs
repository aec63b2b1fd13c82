//! Why there is no backend.

use std::io;
use std::path::PathBuf;

use groundstate_common::InvalidId;

use crate::workdir::{Disagreement, Purpose};

/// Why a place could not be opened. None of the texts has the value of an option, which may be a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendsError {
    /// A URL of a scheme that no backend has.
    #[error("no backend has addresses that begin with {scheme}://, use one of {known}")]
    Scheme {
        /// What stands before the `://`.
        scheme: String,
        /// The schemes that there are.
        known: String,
    },
    /// A URL that names no place.
    #[error("{url} is not an address of a state: {why}")]
    Url {
        /// The URL without credentials and options.
        url: String,
        /// What is wrong, and what it should be.
        why: String,
    },
    /// A variable of the environment that is no text.
    #[error("the variable {name} is not valid UTF-8")]
    Variable {
        /// Which variable it is.
        name: String,
    },
    /// A type that is not known at all.
    #[error("there is no backend of the type {kind:?}, use one of {known}")]
    Unknown {
        /// The type.
        kind: String,
        /// The types that there are.
        known: String,
    },
    /// A type that Terraform or OpenTofu has and this registry has not.
    #[error("the backend {kind:?} is not among those that are built in: {known}")]
    NotBuiltIn {
        /// The type.
        kind: String,
        /// The types that there are.
        known: String,
    },
    /// An option that cannot be used.
    #[error("the option {name:?} of the backend {kind:?} cannot be used: {why}")]
    Option {
        /// The type.
        kind: String,
        /// The option.
        name: String,
        /// What is wrong, and what it should be.
        why: String,
    },
    /// Options of which one is not known to the service, or has the wrong form.
    #[error("the options of the backend {kind:?} cannot be used: {why}")]
    Options {
        /// The type.
        kind: String,
        /// What is wrong, and what it should be.
        why: String,
    },
    /// Options that make no client of a service.
    #[cfg(any(feature = "azurerm", feature = "gcs", feature = "s3"))]
    #[error("the backend {kind:?} cannot be opened")]
    Blobs {
        /// The type.
        kind: String,
        /// What is wrong, and what to change.
        source: groundstate_blobs::Error,
    },
    /// A file of the working directory that cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said of the file.
        source: io::Error,
    },
    /// A small file of a directory that is not read: no regular file, too large, or a link that leads elsewhere.
    #[error("{} is not read: {why}", path.display())]
    SmallFile {
        /// The file.
        path: PathBuf,
        /// What is wrong; nothing of the content.
        why: String,
    },
    /// A configuration whose backend block cannot be found out.
    #[error("cannot read the configuration in {}: {why}", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is wrong; nothing of the content.
        why: String,
    },
    /// What `init` recorded is not what the configuration says.
    #[error("the backend of {} is not known: {disagreement}", directory.display())]
    Disagreement {
        /// The working directory.
        directory: PathBuf,
        /// What differs.
        disagreement: Disagreement,
        /// What the place was wanted for.
        purpose: Purpose,
    },
    /// A configuration that cannot be read, so that nothing confirms what `init` recorded.
    #[error("the backend of {} is not known: {why}", directory.display())]
    Untrusted {
        /// The working directory.
        directory: PathBuf,
        /// Why the configuration cannot be read.
        why: String,
    },
    /// An option that a directory does not decide.
    #[error(
        "the option {name:?} of the backend {kind:?} is taken from a URL or the environment, not from a directory"
    )]
    DirectoryOption {
        /// The type.
        kind: String,
        /// The option.
        name: String,
    },
    /// The file that selects a workspace has no name in it.
    #[error("{} does not have the name of a workspace", path.display())]
    Selection {
        /// The file.
        path: PathBuf,
    },
    /// What `init` left behind is not what it should be.
    #[error("{} is not what `init` writes, so the backend of {} is unknown: {why}", path.display(), directory.display())]
    WorkingDirectory {
        /// The file.
        path: PathBuf,
        /// The working directory.
        directory: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// What is selected is no name of a workspace.
    #[error(transparent)]
    Workspace(#[from] InvalidId),
    /// A workspace is asked for where there is only one state.
    #[error(
        "{place} is a single state and has no workspace {workspace:?}, name its directory or its backend"
    )]
    NoWorkspaces {
        /// The place.
        place: String,
        /// The workspace.
        workspace: String,
    },
    /// The backend itself says no.
    #[error(transparent)]
    Backend(#[from] groundstate_statemgr::Error),
}
