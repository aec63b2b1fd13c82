//! State models of Terraform and OpenTofu: what a state file says, as plain data, and every change of it.
//!
//! A [`State`] holds modules, a [`Module`] resources, a [`Resource`] instances, and an instance its current object and
//! the deposed ones. An [`ObjectSrc`] keeps the provider's attributes as the text they were read as. Addresses of all
//! kinds are in [`addr`].
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_states::addr::{AbsResource, AbsResourceInstance, InstanceKey, ProviderConfig, ProviderInstance};
//! use groundstate_states::{ObjectSrc, RawJson, State};
//!
//! let text = "provider[\"registry.opentofu.org/hashicorp/aws\"]";
//! let config = ProviderConfig::parse(text, "registry.opentofu.org")?;
//! let provider = ProviderInstance { config, key: InstanceKey::None };
//! let object = ObjectSrc::new(1, RawJson::parse(r#"{ "id": "i-1" }"#)?);
//!
//! let mut state = State::new();
//! let web = AbsResourceInstance::parse("module.app[0].aws_instance.web")?;
//! state.set_resource_instance_current(&web, Some(Arc::new(object)), &provider);
//!
//! let before = state.clone();
//! state.move_resource(&web.resource, &AbsResource::parse("aws_instance.web")?)?;
//! let listed: Vec<String> = state.resource_instances().map(|(addr, _)| addr.to_string()).collect();
//! assert_eq!(listed, ["aws_instance.web"]);
//! assert_eq!(state.modules().count(), 1, "a module disappears with its last content");
//! assert!(before.resource_instance(&web).is_some(), "a clone is not changed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - Questions, changes with their housekeeping, and moves are methods of [`State`]; those inside one module are also
//!   methods of [`Module`]. [`SyncState`] lets many threads use one state.
//! - `==` compares everything; [`ObjectSrc::is_equivalent`] and [`managed_resources_equal`] ignore what has no meaning.
//! - [`RawJson`] and [`Extra`] carry what is not understood; [`Value`], [`Type`] and [`Number`] are what outputs are
//!   made of; [`decode_flatmap`] reads the attributes of states older than Terraform 0.12.
//! - [`Lineage`] and [`Serial`] belong to snapshots. They are defined here, and no model holds one.
//!
//! # What is deliberately absent
//!
//! - Files and their formats: no bytes. The crate `groundstate-statefile` reads and writes them.
//! - I/O, async, clocks and randomness: deposed keys are made of numbers that the caller draws.
//! - Provider schemas: attributes are never decoded by one.
//! - Secrets in `Debug`: attributes, private data, local values and sensitive outputs show their size at most.
//!
//! # Features
//!
//! - `serde`: the models, for other programs and stores, with addresses as strings that are checked when they are read. This is
//!   *not* the format of state files, which `groundstate-statefile` writes, and shows every value, sensitive ones too.

pub mod addr;
mod check;
mod deposed;
mod edit;
mod equality;
mod flatmap;
mod lineage;
mod module;
mod moves;
mod number;
mod object;
mod output;
mod path;
mod query;
mod resource;
#[cfg(feature = "serde")]
mod serialization;
mod set_order;
mod state;
mod state_edit;
mod sync;
mod value;

pub use groundstate_json::{Extra, RawJson, RawJsonError};

pub use check::{CheckAggregate, CheckObject, CheckResults, CheckStatus};
pub use deposed::{DeposedKey, DeposedKeyError, DeposedObject, Generation};
pub use equality::managed_resources_equal;
pub use flatmap::{Decoded, FlatmapError, decode_flatmap};
pub use lineage::{Lineage, Serial};
pub use module::Module;
pub use moves::{ModuleCall, MoveError, MoveOutcome};
pub use number::{Number, NumberError};
pub use object::{Attributes, ObjectSrc, ObjectStatus};
pub use output::OutputValue;
pub use path::{AttributePath, PathStep, PathStepKind};
pub use resource::{Resource, ResourceInstance};
pub use state::State;
pub use state_edit::EditError;
pub use sync::{StateGuard, SyncState};
pub use value::{MAX_VALUE_DEPTH, ObjectType, Type, Value};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
