#![doc = include_str!("../README.md")]
//!
//! # Finding your way
//!
//! - [`decode`] and [`encode`] with [`File`]: the whole model.
//! - [`Document`] and [`Edit`]: parts of a document, and changes that leave the rest alone.
//! - [`list()`], [`outputs`]: reading in pieces.
//! - [`ReadError`], [`Problem`], [`Code`], [`Place`]: what is wrong and where.
//! - [`Note`], [`Loss`], [`losses_in`]: what changed and what would be lost.
//! - [`Dialect`], [`Style`], [`WriterVersion`]: who wrote it, and how.

mod checks;
mod decode;
mod dialect;
mod diff;
mod document;
mod edit;
mod encode;
mod file;
mod index;
mod instance;
mod json;
mod loss;
mod members;
mod note;
mod output_value;
mod problem;
mod scan;
mod sensitive;
mod sink;
mod sniff;
mod text;
mod upgrade;
mod value;
mod walk;
mod wire;
mod writer_version;

pub use decode::{DecodeOptions, decode};
pub use dialect::{Dialect, Evidence};
pub use diff::{ChangeKind, Diff, DiffValue, Entry, FieldChange, Subject, diff};
pub use document::Document;
pub use edit::Edit;
pub use encode::{EncodeError, EncodeOptions, encode, encode_to, states_marshal_equal};
pub use file::{File, Style};
pub use json::Place;
pub use loss::{Loss, losses_in};
pub use note::{Note, NoteKind};
pub use problem::{Code, Problem, Problems, ReadError};
pub use scan::{
    Block, Blocks, Listed, Listing, ListingPart, ScanError, expect_resource, list, list_part, outputs,
};
pub use text::{type_json, value_json};
pub use writer_version::{WriterVersion, WriterVersionError};
