//! Addresses: what names a module, resource, instance, provider or checkable object.
//!
//! Every kind of address is a type of its own; `parse` reads the text that Terraform prints, `Display` prints it.

mod checkable;
mod key;
mod module;
mod provider;
mod resource;
mod target;

pub use checkable::{Checkable, CheckableKind, ConfigCheckable};
pub use key::InstanceKey;
pub use module::{Module, ModuleInstance, ModuleStep};
pub use provider::{ProviderConfig, ProviderInstance, ProviderSource};
pub use resource::{AbsResource, AbsResourceInstance, ConfigResource, Resource, ResourceMode};
pub use target::Target;
