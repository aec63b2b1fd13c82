//! Pulumi's files to the model of `groundstate-pulumi-snapshot` and back: exports and checkpoints, versions 1 to 4.
//!
//! [`decode`] reads what `stack export` prints, what backends of their own store, and files from before there were versions;
//! [`encode`] writes version 3, or 4 if the deployment has features. What Pulumi wrote is written unchanged byte for
//! byte.
//!
//! ```
//! use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, encode};
//!
//! let text = br#"{"version":3,"deployment":{"manifest":{"time":"2024-05-06T07:08:09.1+02:00","magic":"","version":""},"resources":[{"urn":"urn:pulumi:dev::shop::a:b:C::x","custom":false,"type":"a:b:C","outputs":{"size":1.50}}],"metadata":{}}}"#;
//! let mut file = decode(text, &DecodeOptions::default())?;
//! assert_eq!(encode(&file, &EncodeOptions::default())?, text);
//!
//! let snapshot = file.snapshot.as_mut().expect("there is a deployment");
//! snapshot.resource_mut(0).expect("there is a resource").taint = true;
//! let written = String::from_utf8(encode(&file, &EncodeOptions::default())?)?;
//! assert!(written.starts_with(r#"{"version":4,"features":["taint"],"#));
//! assert!(written.contains(r#""outputs":{"size":1.50}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - [`DeploymentFile`] is the model with its [`Envelope`] and [`Style`]. Inputs and outputs stay text.
//! - [`decode_map`] and [`encode_map`] turn that text into values and back; [`rewrite_references`] changes names inside of it.
//! - [`open_snapshot`] and [`seal_snapshot`] decrypt and encrypt the secrets of a snapshot by the crypters of
//!   `groundstate-pulumi-secrets`, [`open_secrets`] and [`seal_secrets`] those of one map by any function.
//! - [`diff`] compares two files by meaning, [`encode_resource`] writes one resource.
//! - [`RawDeployment`] takes a deployment from one envelope to the other without a look inside.
//! - [`PartReader`] and [`PartWriter`] do parts of deployments that stand in other documents, and [`has_byte_strings`] tells
//!   what such a document has to say about them.
//! - [`condense`] reads a text in blocks and leaves out what cannot be at fault, for checks of large files; [`condense_part`] does so
//!   for threads that share a text, each from a resource that [`Beginning`] expects.
//! - [`Offsets`] finds where each resource stands in a text, for findings that know its index alone.
//! - [`ReadError`] has all problems of a document, each with a code, a JSON path, line and column.
//!
//! # What is deliberately absent
//!
//! - Integrity: broken snapshots are read and written. Rules are the model's.
//! - Keys and encryption: crypters come from outside.
//! - I/O, async, clocks, environments: readers take bytes, writers any [`std::io::Write`].
//!
//! # Features
//!
//! None.

mod condense;
mod decode;
mod diff;
mod encode;
mod features;
mod file;
mod intern;
mod members;
mod note;
mod offsets;
mod part;
mod problem;
mod property;
mod raw;
mod reader;
mod secrets;
mod sink;
mod upgrade;
mod wire;

pub use groundstate_json::{Escapes, Layout, SourcePos};

pub use condense::{Beginning, Condensed, CondensedPart, Element, condense, condense_part};
pub use decode::{DecodeOptions, EnvelopeKind, decode};
pub use diff::{Change, ChangeKind, Diff, FieldChange, Side, Subject, diff};
pub use encode::{EncodeError, EncodeOptions, Secrets, encode, encode_resource, encode_to};
pub use features::has_byte_strings;
pub use file::{Checkpoint, DeploymentFile, Envelope, Style};
pub use note::{Note, NoteKind};
pub use offsets::Offsets;
pub use part::{Part, PartProblem, PartReader, PartWriter};
pub use problem::{Code, Problem, Problems, ReadError};
pub use property::{
    CiphertextCheck, PropertyError, PropertyErrorKind, Salvaged, UNREADABLE, decode_map, decode_value,
    encode_map, encode_value, open_secrets, rewrite_references, salvage_map, salvage_value, seal_secrets,
    sealed_secrets, unsealed_secrets,
};
pub use raw::RawDeployment;
pub use secrets::{
    ReadableSecrets, SealedReferences, SecretsError, forget_ciphertexts, open_snapshot, readable_secrets,
    readable_values, rewrite_sealed_references, seal_snapshot, sealed_values, secrets_providers,
    stack_outputs,
};

/// The models of stacks.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
