//! Module paths, with keys (`ModuleInstance`) and without (`Module`).

use std::cmp::Ordering;
use std::sync::Arc;

use super::InstanceKey;

/// One step of a module instance path: a call's name and the key of the instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// Name of the module call.
    pub name: Arc<str>,
    /// Which instance of the call.
    pub key: InstanceKey,
}

/// The address of a module instance, for example `module.store["eu"].module.db`; the root has no steps.
///
/// Ordered as lists are: shorter paths first, then step by step by name and key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Arc<[ModuleStep]>);

impl ModuleInstance {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The instance `key` of the module called `name` inside this one.
    #[must_use]
    pub fn child(&self, name: &str, key: InstanceKey) -> Self {
        let step = ModuleStep { name: name.into(), key };
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The steps from the root, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[ModuleStep] {
        &self.0
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ModuleStep> for ModuleInstance {
    fn from_iter<I: IntoIterator<Item = ModuleStep>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The path of a module in configuration, without keys.
///
/// Ordered as lists are: shorter paths first, then step by step by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module(Arc<[Arc<str>]>);

impl Module {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The module called `name` inside this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([Arc::from(name)]).collect())
    }

    /// The names of the calls from the root, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Arc<str>] {
        &self.0
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Arc<str>> for Module {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl Ord for Module {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Module {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
