//! Module paths, with keys (`ModuleInstance`) and without (`Module`).

use std::sync::Arc;

use super::InstanceKey;

/// One step of a module instance path: a call's name and the key of the instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleStep {
    /// Name of the module call.
    pub name: Arc<str>,
    /// Which instance of the call.
    pub key: InstanceKey,
}

/// The address of a module instance, for example `module.store["eu"].module.db`; the root has no steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Arc<[ModuleStep]>);

/// The path of a module in configuration, without keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module(Arc<[Arc<str>]>);
