//! What an operation did: lines for users, and what else it touched.

use std::fmt;

use groundstate_states::DeposedKey;
use groundstate_states::Generation;
use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, ConfigResource, ProviderInstance, ProviderSource, Target,
};

/// What one operation did to a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The changes that were asked for, in a stable order.
    pub changes: Vec<Change>,
    /// Objects whose recorded dependencies were changed along with it, at the addresses they have now, sorted.
    pub dependents: Vec<(AbsResourceInstance, Generation)>,
    /// Addresses that matched nothing, where that is no error.
    pub missing: Vec<Target>,
    /// Moved instances that have another provider configuration now: that of the resource they joined.
    pub providers: Vec<ProviderTaken>,
}

/// A moved instance takes the provider configuration of the resource that it joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTaken {
    /// The instance at its new address.
    pub instance: AbsResourceInstance,
    /// The configuration it had.
    pub from: ProviderInstance,
    /// The configuration it has.
    pub to: ProviderInstance,
}

/// One change of one thing. `Display` gives the line that Terraform prints for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A module instance, resource or instance has another address.
    Moved {
        /// The old address.
        from: Target,
        /// The new one.
        to: Target,
    },
    /// An instance is gone with all its objects.
    Removed(AbsResourceInstance),
    /// A resource without instances is gone.
    RemovedEmptyResource(AbsResource),
    /// A deposed object is gone; the other objects of its instance stay.
    RemovedDeposed(AbsResourceInstance, DeposedKey),
    /// The objects of an instance no longer have a recorded identity.
    IdentityRemoved(AbsResourceInstance),
    /// A resource has another provider.
    ProviderReplaced {
        /// The resource.
        resource: AbsResource,
        /// The provider it had.
        from: ProviderSource,
        /// The provider it has.
        to: ProviderSource,
    },
    /// The objects of an instance no longer record that they depend on a resource.
    DependencyRemoved {
        /// The instance.
        instance: AbsResourceInstance,
        /// What it depended on.
        dependency: ConfigResource,
    },
    /// The current object is to be replaced.
    Tainted(AbsResourceInstance),
    /// The current object is usable again.
    Untainted(AbsResourceInstance),
}

impl Summary {
    /// Whether the operation found nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.changes.len()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { from, to } => {
                write!(f, "Move {} to {}", quoted(&from.to_string()), quoted(&to.to_string()))
            }
            Self::Removed(instance) => write!(f, "Removed {instance}"),
            Self::RemovedEmptyResource(resource) => write!(f, "Removed {resource}"),
            Self::RemovedDeposed(instance, key) => write!(f, "Removed {instance} (deposed {key})"),
            Self::IdentityRemoved(instance) => write!(f, "Removed identity of {instance}"),
            Self::ProviderReplaced { resource, from, to } => {
                write!(f, "Replaced provider of {resource}: {from} by {to}")
            }
            Self::DependencyRemoved { instance, dependency } => {
                write!(f, "Removed dependency of {instance} on {dependency}")
            }
            Self::Tainted(instance) => {
                write!(f, "Resource instance {instance} has been marked as tainted.")
            }
            Self::Untainted(instance) => {
                write!(f, "Resource instance {instance} has been successfully untainted.")
            }
        }
    }
}

impl fmt::Display for ProviderTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider of {}: {} -> {}", self.instance, self.from, self.to)
    }
}

/// The text in quotes, escaped as Go does it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
