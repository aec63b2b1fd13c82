//! Addresses: what names a module, resource, instance, provider or checkable object.
//!
//! Every kind of address is a type of its own; `parse` reads the text that Terraform and OpenTofu print, `Display`
//! prints it. Parsing skips blanks and comments and brings keys into normalization form C, so the printed text may
//! differ from the one that was read.
//!
//! # Plain text
//!
//! The `is_plain` functions look at a text without building an address. They say yes only to ASCII text that the
//! parser accepts and that is printed as it stands, which holds for nearly every address in a state file.
//!
//! ```
//! use groundstate_states::addr::{AbsResource, ConfigResource};
//!
//! let text = "module.app.aws_instance.web";
//! assert!(ConfigResource::is_plain(text));
//! assert_eq!(AbsResource::parse(text)?.to_config().to_string(), text);
//! # Ok::<(), groundstate_states::addr::AddrError>(())
//! ```
//!
//! # Kinds do not mix
//!
//! ```compile_fail,E0308
//! use groundstate_states::addr::{AbsResource, Resource};
//!
//! fn remove(_resource: &AbsResource) {}
//! remove(&Resource::managed("aws_instance", "web"));
//! ```

mod checkable;
mod contain;
mod error;
mod grammar;
mod ident;
mod key;
mod lexer;
mod module;
mod number;
mod plain;
mod provider;
mod quote;
mod resource;
mod source;
mod target;

pub use checkable::{Checkable, CheckableKind, ConfigCheckable};
pub use error::{AddrError, AddrErrorKind};
pub use ident::is_identifier;
pub use key::InstanceKey;
pub use module::{Module, ModuleInstance, ModuleStep};
pub use provider::{ProviderConfig, ProviderInstance};
pub use resource::{AbsResource, AbsResourceInstance, ConfigResource, Resource, ResourceMode};
pub use source::{OPENTOFU_REGISTRY, ProviderSource, TERRAFORM_REGISTRY};
pub use target::Target;
