//! Resource addresses, relative, absolute, by instance and by configuration.

use std::sync::Arc;

use super::{InstanceKey, Module, ModuleInstance};

/// What kind of block declares a resource. The derived order is the one lists use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceMode {
    /// An `ephemeral` block; never written to a state file.
    Ephemeral,
    /// A `data` block.
    Data,
    /// A `resource` block.
    Managed,
}

/// A resource inside its module: mode, type and name. The derived order is the one lists use.
///
/// Type and name come unchecked from files, so either may be empty or not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// Managed, data or ephemeral.
    pub mode: ResourceMode,
    /// The resource type, for example `aws_instance`.
    pub type_name: Arc<str>,
    /// The name given in configuration.
    pub name: Arc<str>,
}

/// A resource in a module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResource {
    /// The module instance that contains it.
    pub module: ModuleInstance,
    /// The resource inside that module.
    pub resource: Resource,
}

/// One instance of a resource in a module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResourceInstance {
    /// The resource.
    pub resource: AbsResource,
    /// Which instance of it.
    pub key: InstanceKey,
}

/// A resource as configuration declares it, without any key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// The module path without keys.
    pub module: Module,
    /// The resource inside that module.
    pub resource: Resource,
}
