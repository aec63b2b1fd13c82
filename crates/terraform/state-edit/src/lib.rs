//! Edits, checks and comparisons of Terraform and OpenTofu states.
//!
//! An [`Editor`] makes changes by hand: moves, removals, other providers, taints, and scripts of many of these. It works
//! on a [`Document`](statefile::Document), of which it decodes only what it touches, or on a [`File`](statefile::File).
//! Every operation happens whole or not at all. Nothing is written here: [`Editor::edit`] gives the change of the
//! document that is to be written, [`Editor::to_file`] the whole model, [`Editor::preview`] the semantic difference.
//! Neither serial nor lineage is touched; the store that writes the state gives the next serial.
//!
//! ```
//! use groundstate_state_edit::statefile::Document;
//! use groundstate_state_edit::states::addr::Target;
//! use groundstate_state_edit::{Editor, MoveOptions};
//!
//! let text = r#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "null_resource",
//!     "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{}]}]}"#;
//! let document = Document::open(text.as_bytes().to_vec())?;
//! let mut editor = Editor::on_document(&document);
//! let from = Target::parse("null_resource.a")?;
//! let to = Target::parse("module.m.null_resource.a")?;
//! let done = editor.move_address(&from, &to, MoveOptions::default())?;
//! assert_eq!(done.changes[0].to_string(), r#"Move "null_resource.a" to "module.m.null_resource.a""#);
//! let written = editor.edit()?.expect("it works on a document").to_vec()?;
//! assert!(String::from_utf8(written)?.contains(r#""module":"module.m""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - [`OpenState`] opens a state of any version for an [`Editor`]; a [`Rewrite`] is what the editor leaves to be written.
//! - [`Script`]: many changes in one text, all of them or none.
//! - [`Transfer`]: a move from one state to another, in two steps between which nothing is lost.
//! - [`merge_errored`]: what an apply could not store, merged into what is stored.
//! - [`verify`] and its [`Rule`]s: everything that is wrong, unusual or dangerous in a state file.
//! - [`diff()`]: what differs in meaning between two states; [`members`]: one object, with its secrets marked.
//!
//! # How dependencies follow a move
//!
//! Objects record the resources of the configuration that they depend on, without keys. An entry that means what was
//! moved is replaced by the new address. It stays beside the new one if other instances that it means are still there.
//! Inside a module with keys an entry means the instance that the object itself is in, so a whole module that is moved
//! keeps its own dependencies. No object comes to depend on its own resource. Deposed objects and OpenTofu's
//! `depends_on` follow as well. A sorted list stays sorted.
//!
//! # What is deliberately absent
//!
//! - Formats: [`statefile`] reads and writes them, and salvages what is left of damaged files.
//! - Serials, locks and places: state managers.
//! - I/O, async, clocks and randomness.
//!
//! # Features
//!
//! - `serde`: [`Finding`]s and the models of [`states`], for other programs and stores. That is *not* the format of state files.

mod dependency;
mod diff;
mod editor;
mod error;
mod follow;
mod identity;
mod lookup;
mod mentions;
mod merge;
mod moves;
mod open_state;
mod provider;
mod remove;
mod repair;
mod rewrite;
mod script;
mod shift;
mod summary;
mod taint;
mod transfer;
mod verify;
mod word_search;
mod working_set;

pub use groundstate_common::Severity;
pub use groundstate_statefile as statefile;
pub use groundstate_statefile::states;

pub use diff::{
    ChangeKind, Diff, DiffValue, Entry, FieldChange, Member, Subject, SubjectNames, diff, members,
};
pub use editor::Editor;
pub use error::{MoveError, RemoveError, ReplaceProviderError, TaintError, WriteError};
pub use merge::{BaseUsed, Conflict, Dangling, MergeBase, MergeError, Merged, merge_errored};
pub use moves::MoveOptions;
pub use open_state::OpenState;
pub use repair::{RepairError, RepairPlan, RepairQuestion, RepairStep, repair};
pub use rewrite::Rewrite;
pub use script::{Script, ScriptError, ScriptFault, ScriptOptions, ScriptReport, StatementReport};
pub use summary::{Change, ProviderTaken, Summary};
pub use transfer::Transfer;
pub use verify::{Finding, Report, Rule, VerifyOptions, verify};

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
