//! Lossless reader and writer of Terraform and OpenTofu state files.
//!
//! ```
//! use groundstate_statefile::states::Serial;
//! use groundstate_statefile::{DecodeOptions, Document, EncodeOptions, decode, encode};
//!
//! let text = br#"{"version": 4, "serial": 7, "lineage": "a", "future_member": [1.50]}"#;
//!
//! // The whole model; unknown members are kept.
//! let file = decode(text, &DecodeOptions::default())?;
//! let canonical = encode(&file, &EncodeOptions::default())?;
//! assert!(String::from_utf8(canonical)?.contains("1.50"));
//!
//! // One change that leaves every other byte alone.
//! let document = Document::open(text.to_vec())?;
//! let changed = document.edit().serial(Serial::new(8)).to_vec()?;
//! assert_eq!(changed, br#"{"version": 4, "serial": 8, "lineage": "a", "future_member": [1.50]}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Formats 1 to 4 are read, format 4 is written. The crate does no I/O of its own and knows nothing of places, locks
//! or clocks: managers build on it. The README compares the three ways to read.
//!
//! # Finding your way
//!
//! - [`decode`] and [`encode`] with [`File`]: the whole model.
//! - [`Document`] and [`Edit`]: parts of a document, and changes that leave the rest alone; [`Document::attribute`] and
//!   [`Edit::attribute`] for one attribute.
//! - [`list()`], [`outputs`]: reading in pieces.
//! - [`ReadError`], [`Problem`], [`Code`], [`SourcePos`]: what is wrong and where.
//! - [`Note`], [`Loss`], [`losses_in`], [`unread_by`]: what changed and what would be lost.
//! - [`salvage()`]: what can be read of a damaged file.
//! - [`walk`]: the text part by part, for rules that need no model.
//! - [`Dialect`], [`Style`], [`WriterVersion`]: who wrote it, and how.

mod checks;
mod decode;
mod dialect;
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
mod patches;
mod problem;
mod readable;
mod salvage;
mod scan;
mod sensitive;
mod shared;
mod sink;
mod sniff;
mod text;
mod upgrade;
mod value;
pub mod walk;
mod wire;
mod writer_version;

pub use checks::sorted_checks;
pub use decode::{DecodeOptions, decode};
pub use dialect::Dialect;
pub use document::Document;
pub use edit::{AttributeError, Edit};
pub use encode::{EncodeError, EncodeOptions, encode, encode_equally, encode_to};
pub use file::{File, Style};
pub use index::ResourceEntry;
pub use json::{SourcePos, push_json_string};
pub use loss::{Loss, losses_in, unread_by};
pub use note::{Note, NoteKind};
pub use patches::Patches;
pub use problem::{Code, Problem, Problems, ReadError};
pub use salvage::{
    Duplicate, DuplicateObject, Lost, SalvageError, Salvaged, duplicates, from_utf16, salvage,
    without_bad_serial, without_objects,
};
pub use scan::{
    Block, Blocks, END, Listed, Listing, ListingPart, ScanError, expect_resource, leading_outputs, list,
    list_part, outputs, outputs_within,
};
pub use sniff::version;
pub use text::{sensitive_paths_json, type_json, value_json};
pub use writer_version::{WriterVersion, WriterVersionError};

/// The models that files are read into and written from.
pub use groundstate_states as states;

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
