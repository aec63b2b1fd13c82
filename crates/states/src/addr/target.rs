//! What a user may name on a command line: a module, a resource or an instance.

use super::{AbsResource, AbsResourceInstance, ModuleInstance};

/// A parsed address argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A module instance and everything inside it.
    Module(ModuleInstance),
    /// A resource with all its instances.
    Resource(AbsResource),
    /// One instance, named with its key.
    Instance(AbsResourceInstance),
}
