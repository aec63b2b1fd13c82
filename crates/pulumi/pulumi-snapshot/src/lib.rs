//! Models of Pulumi snapshots: what a stack's state says, as plain data, and who needs whom in it.
//!
//! A [`Snapshot`] holds [`Resource`]s in order, [`Operation`]s whose outcome is not known, and a [`Manifest`]. Resources are
//! named by [`Urn`]s. Their inputs and outputs are [`Properties`]: text until [`PropertyValue`]s are asked for.
//!
//! ```
//! use groundstate_pulumi_snapshot::{DependencyGraph, PropertyMap, Resource, Snapshot, Urn};
//!
//! let root = Urn::root_stack("dev", "shop");
//! let urn = Urn::build("dev", "shop", root.qualified_type(), "aws:s3/bucket:Bucket", "assets");
//! let mut bucket = Resource::new(urn, "aws:s3/bucket:Bucket");
//! bucket.parent = Some(root.clone());
//! bucket.inputs = PropertyMap::from_iter([("acl", "private")]).into();
//!
//! let mut snapshot = Snapshot::new([Resource::new(root, "pulumi:pulumi:Stack"), bucket]);
//! assert_eq!(snapshot.root_stack().map(|(index, _)| index), Some(0));
//!
//! let before = snapshot.clone();
//! snapshot.resource_mut(1).unwrap().protect = true;
//! assert!(!before.resources[1].protect, "a clone is not changed");
//!
//! let graph = DependencyGraph::new(&snapshot.resources)?;
//! assert_eq!(graph.parents_of(1), [0]);
//! # Ok::<(), groundstate_pulumi_snapshot::GraphError>(())
//! ```
//!
//! # Where to look
//!
//! - Broken snapshots are data too: [`Urn`], [`ProviderRef`], [`TypeToken`] and the identifiers hold any text, and say
//!   whether it is valid when asked. [`StackName`] and [`ProjectName`] are checked.
//! - [`Resource::all_dependencies`] enumerates the edges of a resource, [`Resource::rewrite_urns`] changes every name in it.
//! - [`UrnIndex`] finds resources by name, where names repeat. [`DependencyGraph`] answers who needs whom.
//! - [`Secret`] keeps the ciphertext it was read from until its value changes.
//! - [`PropertyValue::deep_equals`] compares what properties mean. `==` compares all there is.
//!
//! # What is deliberately absent
//!
//! - Files and their formats: no bytes. The crate `groundstate-pulumi-deployment` reads and writes them.
//! - Encryption: a secret is sealed or open, and others turn one into the other.
//! - I/O, async, clocks and randomness.
//! - Secrets in `Debug`: secrets, inputs, outputs and the text of assets show their size at most.
//!
//! # Features
//!
//! - `serde` (off by default): snapshots and all that is in them, for other programs and stores. That is **not** the format
//!   of exports and checkpoints. URNs are strings, and what is no URN is refused in both directions: a snapshot with broken
//!   names is repaired first, or its file is kept. Secrets are their ciphertexts; one that has not been encrypted is refused,
//!   and what was decrypted stays out.

mod alias;
mod dependency;
mod feature;
mod graph;
mod hash;
mod manifest;
mod metadata;
mod names;
mod operation;
mod properties;
mod property;
mod property_dependencies;
mod provider_ref;
mod resource;
#[cfg(feature = "serde")]
mod serialization;
mod snapshot;
mod text;
mod time;
mod type_token;
mod urn;
mod urn_index;

pub use groundstate_json::{Extra, RawJson};
pub use groundstate_pulumi_secrets::Ciphertext;

pub use alias::{AliasParent, AliasParts, AliasSpec, AliasTarget, create_urn};
pub use dependency::{Dependency, DependencyKind, UrnField};
pub use feature::Feature;
pub use graph::{DependencyGraph, GraphError, dependency_dag};
pub use manifest::{Manifest, Plugin, SecretsProvider};
pub use metadata::{Extension, IntegrityErrorMetadata, SnapshotMetadata, Snippet, SnippetDescriptor};
pub use names::{ProjectName, StackName, check_tag, project_name, stack_name};
pub use operation::{Operation, OperationType};
pub use properties::{Properties, StoredValue};
pub use property::{
    Archive, ArchiveContent, Asset, Number, NumberError, Output, PropertyMap, PropertyPath,
    PropertyPathError, PropertyPathStep, PropertyValue, ResourceReference, Secret,
};
pub use property_dependencies::PropertyDependencies;
pub use provider_ref::{ProviderRef, ProviderRefError, UNKNOWN, is_default_provider};
pub use resource::{CustomTimeouts, HookType, Resource, StackFrame, Timeouts};
pub use snapshot::Snapshot;
pub use text::{ExtensionRef, ResourceId, SnippetId};
pub use time::Time;
pub use type_token::{PROVIDERS_MODULE, ROOT_STACK_TYPE, TypeToken};
pub use urn::{Urn, UrnError};
pub use urn_index::{UrnIndex, UrnNumber};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
