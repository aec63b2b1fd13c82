//! What an operation graph is built from: declared resources, known objects, planned changes.

use std::collections::BTreeMap;

use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Module, ProviderConfig};
use groundstate_states::{DeposedKey, Generation, ObjectStatus};

/// Everything that [`build`](crate::build) looks at. The order in which the lists are filled never reaches a result.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The resources that have a configuration block.
    pub resources: Vec<ResourceConfig>,
    /// The provider configurations; none when providers are not to be nodes of the graph.
    pub providers: Option<Vec<ProviderInput>>,
    /// The instances that have objects, with these.
    pub instances: Vec<InstanceInput>,
    /// What is planned. An instance or object that is not mentioned stays as it is.
    pub changes: Vec<PlannedChange>,
}

/// A declared resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceConfig {
    /// Its address.
    pub addr: ConfigResource,
    /// Whether its own block says create before destroy.
    pub create_before_destroy: bool,
    /// What the block depends on directly, or through values that are not resources: locals, variables, outputs,
    /// `depends_on`. The caller flattens those.
    pub dependencies: Vec<DepRef>,
    /// The provider configuration it uses.
    pub provider: ProviderConfig,
    /// Whether it has preconditions or postconditions, which are checked even when nothing changes.
    pub has_conditions: bool,
}

/// Something that configuration refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DepRef {
    /// A resource.
    Resource(ConfigResource),
    /// A whole module: all resources declared in it and below it.
    Module(Module),
}

/// A provider configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInput {
    /// Its address.
    pub id: ProviderConfig,
    /// What its configuration refers to. Every resource of the provider depends on these.
    pub config_dependencies: Vec<DepRef>,
}

/// An instance that has objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceInput {
    /// Its address.
    pub addr: AbsResourceInstance,
    /// The provider configuration recorded with it.
    pub provider: ProviderConfig,
    /// The current object.
    pub current: Option<ObjectRecord>,
    /// The objects that wait to be destroyed.
    pub deposed: BTreeMap<DeposedKey, ObjectRecord>,
}

/// What a state records about one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRecord {
    /// Ready or tainted.
    pub status: ObjectStatus,
    /// The resources it depends on, without keys. States hold all of them, near and far; nothing here relies on that.
    pub dependencies: Vec<ConfigResource>,
    /// The instances it depends on (OpenTofu); carried along, without an effect on the order.
    pub depends_on_instances: Vec<AbsResourceInstance>,
    /// The effective flag at the time of writing.
    pub create_before_destroy: bool,
    /// The remote object is to be left alone when this one is removed.
    pub skip_destroy: bool,
}

/// What is planned for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    /// The instance.
    pub addr: AbsResourceInstance,
    /// Which of its objects.
    pub object: Generation,
    /// What happens.
    pub action: Action,
}

/// A planned action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Nothing; conditions are checked.
    NoOp,
    /// A new object is made.
    Create,
    /// A data resource is read.
    Read,
    /// The object is changed in place.
    Update,
    /// The object is replaced by a new one.
    Replace(ReplaceOrder),
    /// The object is destroyed.
    Delete,
    /// The object is dropped from the state and lives on.
    Forget,
    /// The object is dropped from the state, then a new one is made.
    ForgetThenCreate,
    /// A new object is made, then the old one is dropped from the state.
    CreateThenForget,
}

/// In which order a replacement is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplaceOrder {
    /// As the effective create-before-destroy flag says.
    Auto,
    /// The old object goes first.
    DeleteThenCreate,
    /// The new object comes first.
    CreateThenDelete,
}

impl ResourceConfig {
    /// A declared resource without dependencies, flags and conditions.
    #[must_use]
    pub fn new(addr: ConfigResource, provider: ProviderConfig) -> Self {
        Self { addr, create_before_destroy: false, dependencies: Vec::new(), provider, has_conditions: false }
    }
}

impl InstanceInput {
    /// An instance without objects.
    #[must_use]
    pub fn new(addr: AbsResourceInstance, provider: ProviderConfig) -> Self {
        Self { addr, provider, current: None, deposed: BTreeMap::new() }
    }
}

impl PlannedChange {
    /// A change of the current object.
    #[must_use]
    pub fn current(addr: AbsResourceInstance, action: Action) -> Self {
        Self { addr, object: Generation::Current, action }
    }

    /// A change of a deposed object.
    #[must_use]
    pub fn deposed(addr: AbsResourceInstance, key: DeposedKey, action: Action) -> Self {
        Self { addr, object: Generation::Deposed(key), action }
    }
}

impl Action {
    /// The name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoOp => "no-op",
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Replace(ReplaceOrder::Auto) => "replace",
            Self::Replace(ReplaceOrder::DeleteThenCreate) => "delete-then-create",
            Self::Replace(ReplaceOrder::CreateThenDelete) => "create-then-delete",
            Self::Delete => "delete",
            Self::Forget => "forget",
            Self::ForgetThenCreate => "forget-then-create",
            Self::CreateThenForget => "create-then-forget",
        }
    }

    /// Whether the instance has a current object when this is done.
    #[must_use]
    pub fn is_desired(self) -> bool {
        !matches!(self, Self::Delete | Self::Forget)
    }
}
