//! Nodes of an operation graph: single operations, their names and their order.

use std::cmp::Ordering;
use std::fmt;

use groundstate_states::DeposedKey;
use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, Module, ModuleInstance, ProviderConfig, Resource, ResourceMode,
};

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct OpNode {
    /// Which operation on which object.
    pub key: NodeKey,
    /// What it does.
    pub kind: OpKind,
    /// The provider that does it; none for what only changes the state.
    pub provider: Option<ProviderConfig>,
    /// Whether the new object comes before the old one goes.
    pub cbd: bool,
    /// Where the old object is put before the new one is made.
    pub deposes_to: Option<DeposedKey>,
    /// The object leaves the state and is not destroyed.
    pub skip_destroy: bool,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OpKind {
    /// Brings about the current object.
    Apply(ApplyKind),
    /// Destroys the current object.
    Destroy,
    /// Destroys a deposed object.
    DestroyDeposed(DeposedKey),
    /// Drops the current object from the state.
    Forget,
    /// Drops a deposed object from the state.
    ForgetDeposed(DeposedKey),
    /// Configures a provider.
    Provider,
    /// Shuts a provider down.
    ProviderClose,
}

/// How the current object is brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ApplyKind {
    /// Nothing changes; conditions are checked.
    Check,
    /// A new object.
    Create,
    /// A data resource is read.
    Read,
    /// A change in place.
    Update,
    /// The creating half of a replacement.
    ReplaceCreate,
    /// A new object in place of one that was forgotten.
    ForgetCreate,
}

/// Names a node. The order of keys decides wherever nothing else does: providers, then operations by address and part,
/// then the shutdown of providers.
///
/// `Display` prints the label, which no two nodes of a graph share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum NodeKey {
    /// The configuration of a provider.
    Provider(ProviderConfig),
    /// An operation on an instance.
    Operation {
        /// The instance.
        addr: AbsResourceInstance,
        /// Which operation on it.
        part: Part,
    },
    /// The shutdown of a provider.
    ProviderClose(ProviderConfig),
}

/// Which of the operations on an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Part {
    /// Create, read, update, check, or the creating half of a replacement.
    Apply,
    /// The current object leaves the state.
    Forget,
    /// A deposed object leaves the state.
    ForgetDeposed(DeposedKey),
    /// The current object is destroyed.
    Destroy,
    /// A deposed object is destroyed.
    DestroyDeposed(DeposedKey),
}

impl NodeKey {
    /// The key of an operation.
    #[must_use]
    pub fn operation(addr: AbsResourceInstance, part: Part) -> Self {
        Self::Operation { addr, part }
    }

    /// The instance, if the node is an operation on one.
    #[must_use]
    pub fn addr(&self) -> Option<&AbsResourceInstance> {
        match self {
            Self::Operation { addr, .. } => Some(addr),
            Self::Provider(_) | Self::ProviderClose(_) => None,
        }
    }

    /// Which operation it is, if the node is an operation on an instance.
    #[must_use]
    pub fn part(&self) -> Option<Part> {
        match self {
            Self::Operation { part, .. } => Some(*part),
            Self::Provider(_) | Self::ProviderClose(_) => None,
        }
    }

    fn class(&self) -> u8 {
        match self {
            Self::Provider(_) => 0,
            Self::Operation { .. } => 1,
            Self::ProviderClose(_) => 2,
        }
    }
}

impl Part {
    /// Whether an object is destroyed.
    #[must_use]
    pub fn is_destroy(self) -> bool {
        matches!(self, Self::Destroy | Self::DestroyDeposed(_))
    }
}

impl OpKind {
    /// The name of the kind in listings and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Apply(ApplyKind::Check) => "check",
            Self::Apply(ApplyKind::Create) => "create",
            Self::Apply(ApplyKind::Read) => "read",
            Self::Apply(ApplyKind::Update) => "update",
            Self::Apply(ApplyKind::ReplaceCreate) => "replace-create",
            Self::Apply(ApplyKind::ForgetCreate) => "forget-create",
            Self::Destroy => "destroy",
            Self::DestroyDeposed(_) => "destroy-deposed",
            Self::Forget => "forget",
            Self::ForgetDeposed(_) => "forget-deposed",
            Self::Provider => "provider",
            Self::ProviderClose => "provider-close",
        }
    }
}

/// Compares instances as the graph orders them: module steps one by one, then mode (managed first), type, name, key.
pub(crate) fn cmp_instances(a: &AbsResourceInstance, b: &AbsResourceInstance) -> Ordering {
    cmp_modules(a.module(), b.module())
        .then_with(|| cmp_in_module(&a.resource.resource, &b.resource.resource))
        .then_with(|| a.key.cmp(&b.key))
}

/// Compares resources as the graph orders them.
pub(crate) fn cmp_resources(a: &ConfigResource, b: &ConfigResource) -> Ordering {
    cmp_paths(&a.module, &b.module).then_with(|| cmp_in_module(&a.resource, &b.resource))
}

/// Compares provider configurations as the graph orders them.
pub(crate) fn cmp_providers(a: &ProviderConfig, b: &ProviderConfig) -> Ordering {
    cmp_paths(&a.module, &b.module).then_with(|| a.source.cmp(&b.source)).then_with(|| a.alias.cmp(&b.alias))
}

fn cmp_modules(a: &ModuleInstance, b: &ModuleInstance) -> Ordering {
    a.steps().cmp(b.steps())
}

fn cmp_paths(a: &Module, b: &Module) -> Ordering {
    a.steps().cmp(b.steps())
}

pub(crate) fn cmp_in_module(a: &Resource, b: &Resource) -> Ordering {
    let mode = |resource: &Resource| match resource.mode {
        ResourceMode::Managed => 0,
        ResourceMode::Data => 1,
        ResourceMode::Ephemeral => 2,
    };
    mode(a).cmp(&mode(b)).then_with(|| a.type_name.cmp(&b.type_name)).then_with(|| a.name.cmp(&b.name))
}

impl Ord for NodeKey {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Operation { addr: a, part: p }, Self::Operation { addr: b, part: q }) => {
                cmp_instances(a, b).then_with(|| p.cmp(q))
            }
            (Self::Provider(a), Self::Provider(b)) | (Self::ProviderClose(a), Self::ProviderClose(b)) => {
                cmp_providers(a, b)
            }
            _ => self.class().cmp(&other.class()),
        }
    }
}

impl PartialOrd for NodeKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(id) => id.fmt(f),
            Self::ProviderClose(id) => write!(f, "{id} (close)"),
            Self::Operation { addr, part } => match part {
                Part::Apply => addr.fmt(f),
                Part::Forget => write!(f, "{addr} (forget)"),
                Part::ForgetDeposed(key) => write!(f, "{addr} (forget deposed {key})"),
                Part::Destroy => write!(f, "{addr} (destroy)"),
                Part::DestroyDeposed(key) => write!(f, "{addr} (destroy deposed {key})"),
            },
        }
    }
}
