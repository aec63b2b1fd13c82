//! JSON as text with positions: reading that keeps the source, exact places of errors, and writing as Go's encoder does.
//!
//! State files are JSON, and what matters in them is that nothing changes unasked: digits of numbers, order of
//! members, escapes. So values stay text here until they are asked for.
//!
//! - [`Cursor`] walks a document front to back, checks every byte and copies none. Members are [`Str`]s and slices.
//! - [`RawJson`] carries one value as compact text, [`Extra`] the unknown members of an object.
//! - [`SourcePos`] and [`places`] turn offsets into line, column and JSON path, for the few that are shown.
//! - [`Mark`] is a place in a text that is read in pieces, without a path.
//! - [`follow_paths`] goes the other way, from paths to offsets; [`value_span`] gives the one value that a path means.
//! - [`Tape`] is one value as a flat list of tokens, for those who walk it several times; [`lexeme_end`] splits what may be no JSON.
//! - [`TopScan`] checks a document that arrives in pieces, and keeps only what members at its top say.
//! - [`Writer`] writes a document in a [`Layout`], [`push_json_string_as`] one string; [`indented`] gives a compact value its line breaks.
//!
//! ```
//! use groundstate_json::{Cursor, SourcePos};
//!
//! let text = br#"{ "resources": [ { "id": tru } ] }"#;
//! let stop = Cursor::new(text).skip().unwrap_err();
//! let place = SourcePos::of(text, stop.offset);
//! assert_eq!(place.to_string(), "line 1, column 29 (resources[0].id)");
//! ```
//!
//! # What is deliberately absent
//!
//! - Trees of values, serde, numbers as numbers.
//! - Knowledge of any format.
//! - I/O: the writer takes any [`std::io::Write`].
//! - Recursion: nesting is bounded by [`MAX_DEPTH`] and costs no stack.
//!
//! # Features
//!
//! - `serde`: [`RawJson`] as a string that holds its text, [`Extra`] as pairs, [`SourcePos`] as its members.

mod compact;
mod cursor;
mod escape;
mod lexeme;
mod mark;
mod paths;
mod places;
mod problems;
mod raw;
mod scan;
#[cfg(feature = "serde")]
mod serialization;
mod skip;
mod source_pos;
mod tape;
mod top;
mod write;

pub use compact::{compact, compact_as_written};
pub use cursor::{Cursor, Extremes, Kind, MAX_DEPTH, Stop, Str, SyntaxError, describe};
pub use escape::{Escapes, push_json_string, push_json_string_as};
pub use lexeme::lexeme_end;
pub use mark::Mark;
pub use paths::{PathStep, follow_paths, path_steps, value_span};
pub use places::places;
pub use problems::{Coded, Problems};
pub use raw::{Extra, RawJson, RawJsonError};
pub use source_pos::{SourcePos, push_name};
pub use tape::Tape;
pub use top::{Top, TopScan, TopValue};
pub use write::{Layout, Writer, indented};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
