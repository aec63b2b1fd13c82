//! Addresses of objects that conditions can check.

use std::sync::Arc;

use super::{AbsResourceInstance, ConfigResource, Module, ModuleInstance};

/// The kinds of checkable object, in the spelling of state files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckableKind {
    /// `resource`
    Resource,
    /// `output`
    Output,
    /// `check`
    Check,
    /// `var`
    InputVariable,
}

/// A checkable object of one module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checkable {
    /// A resource instance.
    Resource(AbsResourceInstance),
    /// An output, check block or input variable of a module instance.
    Named {
        /// Which of the three.
        kind: CheckableKind,
        /// The module instance.
        module: ModuleInstance,
        /// Its name.
        name: Arc<str>,
    },
}

/// A checkable object of the configuration, without any key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigCheckable {
    /// A resource.
    Resource(ConfigResource),
    /// An output, check block or input variable.
    Named {
        /// Which of the three.
        kind: CheckableKind,
        /// The module path.
        module: Module,
        /// Its name.
        name: Arc<str>,
    },
}
