//! Why no graph can be built, and what is odd about one that was.

use std::fmt;

use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource, Module, ProviderConfig};

use crate::cbd::CbdCause;
use crate::graph::OperationGraph;
use crate::input::Action;
use crate::node::NodeKey;
use crate::report::CycleReport;

/// Everything that is wrong with an input, never just the first thing.
#[derive(Debug)]
#[non_exhaustive]
pub struct BuildErrors {
    /// What is wrong, at least one thing.
    pub errors: Vec<BuildError>,
    /// The graph with the cycles, when cycles are all that is wrong: it can be drawn.
    pub cyclic: Option<Box<OperationGraph>>,
}

/// One thing that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two entries for one instance.
    #[error("{addr} is given twice as an instance, merge the two entries")]
    DuplicateInstance {
        /// The instance.
        addr: AbsResourceInstance,
    },
    /// Two changes of one object.
    #[error("two changes are planned for {}, keep one", Object(addr, *deposed))]
    DuplicateChange {
        /// The instance.
        addr: AbsResourceInstance,
        /// The deposed object, if it is not the current one.
        deposed: Option<DeposedKey>,
    },
    /// Two blocks of one resource.
    #[error("{addr} is declared twice, merge the two entries")]
    DuplicateResource {
        /// The resource.
        addr: ConfigResource,
    },
    /// A deposed object can only go.
    #[error("{action} is planned for {}, but a deposed object can only be deleted or forgotten", Object(addr, Some(*key)))]
    DeposedActionInvalid {
        /// The instance.
        addr: AbsResourceInstance,
        /// The deposed object.
        key: DeposedKey,
        /// What is planned.
        action: Action,
    },
    /// A change of a deposed object that there is not.
    #[error("a change is planned for {}, but the instance has no such object", Object(addr, Some(*key)))]
    NoSuchDeposed {
        /// The instance.
        addr: AbsResourceInstance,
        /// The key.
        key: DeposedKey,
    },
    /// A change that needs a current object.
    #[error("{action} is planned for {addr}, which has no current object")]
    NoCurrent {
        /// The instance.
        addr: AbsResourceInstance,
        /// What is planned.
        action: Action,
    },
    /// A creation where there is a current object.
    #[error("create is planned for {addr}, which has a current object: plan an update or a replacement")]
    AlreadyExists {
        /// The instance.
        addr: AbsResourceInstance,
    },
    /// An action that resources of this mode do not know.
    #[error("{action} is planned for {addr}, but {}", if *.action == Action::Read { "only a data resource can do that" } else { "a data resource cannot do that" })]
    ModeMismatch {
        /// The instance.
        addr: AbsResourceInstance,
        /// What is planned.
        action: Action,
    },
    /// An instance that is to exist although nothing declares it.
    #[error(
        "{addr} is to exist after the run, but its resource is not declared: plan to delete or to forget it"
    )]
    NotDeclared {
        /// The instance.
        addr: AbsResourceInstance,
    },
    /// A deposed key of the wrong form.
    #[error("the deposed key {key} of {addr} is not 8 lower-case hexadecimal digits")]
    BadDeposedKey {
        /// The instance.
        addr: AbsResourceInstance,
        /// The key.
        key: DeposedKey,
    },
    /// A provider that is not in the list.
    #[error(
        "{user} needs {provider}, which is not among the provider configurations: add it, or forget what it manages"
    )]
    UnknownProvider {
        /// The resource or instance.
        user: String,
        /// The provider configuration.
        provider: ProviderConfig,
    },
    /// Both targets and excludes are given.
    #[error("targets and excludes are both given, use one of them")]
    TargetsAndExcludes,
    /// Configuration that depends on itself.
    #[error("{0}")]
    ConfigCycle(CycleReport<ConfigNode>),
    /// A replacement in an order that cannot be.
    #[error(
        "{addr} is planned delete-then-create but must be create-then-delete: {cause}; plan it create-then-delete"
    )]
    ReplaceOrderConflict {
        /// The instance.
        addr: AbsResourceInstance,
        /// What demands create before destroy.
        cause: CbdCause,
    },
    /// As before, in the profile `Classic`: the record says create before destroy.
    #[error(
        "{addr} is planned delete-then-create but recorded as create before destroy: the new object would be destroyed"
    )]
    InconsistentReplaceOrder {
        /// The instance.
        addr: AbsResourceInstance,
    },
    /// A node that waits for itself.
    #[error("Self reference: {node}")]
    SelfReference {
        /// The node.
        node: NodeKey,
    },
    /// Nodes that wait for each other.
    #[error("{0}")]
    Cycle(CycleReport<NodeKey>),
    /// More operations or edges than the graph can number.
    #[error("the graph has more than 2^31 nodes or edges, order a part of it")]
    TooLarge,
}

/// What is odd, without keeping a graph from being built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A block that refers to itself; the reference is dropped.
    #[error("{addr} refers to itself; the reference is left out")]
    SelfDependency {
        /// The resource.
        addr: ConfigResource,
    },
    /// A reference to a resource that is neither declared nor has instances.
    #[error("{from} depends on {to}, which is not declared and has no instances")]
    UnknownDependency {
        /// The resource, or the label of the provider, that refers.
        from: String,
        /// What it refers to.
        to: ConfigResource,
    },
    /// A record that an object depends on its own resource; it is dropped.
    #[error("the state records that {} depends on itself; the entry is left out", Object(addr, *deposed))]
    SelfStateDependency {
        /// The instance.
        addr: AbsResourceInstance,
        /// The deposed object, if it is not the current one.
        deposed: Option<DeposedKey>,
    },
    /// A planned destruction of an object that is recorded to stay.
    #[error("{} is planned to be destroyed, but recorded to be left alone: it only leaves the state", Object(addr, *deposed))]
    SkipDestroy {
        /// The instance.
        addr: AbsResourceInstance,
        /// The deposed object, if it is not the current one.
        deposed: Option<DeposedKey>,
    },
    /// Objects that live on after everything was to be destroyed.
    #[error("{}", Forgotten(addrs))]
    ForgottenInDestroy {
        /// Their instances.
        addrs: Vec<AbsResourceInstance>,
    },
}

/// A vertex of the graph of configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigNode {
    /// The configuration of a provider.
    Provider(ProviderConfig),
    /// A resource.
    Resource(ConfigResource),
    /// All of a module.
    Module(Module),
}

struct Object<'a>(&'a AbsResourceInstance, Option<DeposedKey>);
struct Forgotten<'a>(&'a [AbsResourceInstance]);

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            None => self.0.fmt(f),
            Some(key) => write!(f, "{} (deposed {key})", self.0),
        }
    }
}

impl fmt::Display for Forgotten<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no object is forgotten"),
            [only] => write!(f, "{only} is forgotten and not destroyed"),
            [first, ..] => {
                write!(
                    f,
                    "{} objects are forgotten and not destroyed, the first of them {first}",
                    self.0.len()
                )
            }
        }
    }
}

impl fmt::Display for ConfigNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(id) => id.fmt(f),
            Self::Resource(addr) => addr.fmt(f),
            Self::Module(module) => module.fmt(f),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errors.as_slice() {
            [error] => error.fmt(f),
            errors => {
                write!(f, "{} things are wrong:", errors.len())?;
                errors.iter().try_for_each(|error| write!(f, "\n- {error}"))
            }
        }
    }
}

impl std::error::Error for BuildErrors {}

impl From<Vec<BuildError>> for BuildErrors {
    fn from(errors: Vec<BuildError>) -> Self {
        Self { errors, cyclic: None }
    }
}
