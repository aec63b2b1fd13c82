//! Files that are replaced whole and durably, and threads for calls that wait for disks.
//!
//! ```
//! use groundstate_durable::{Draft, Taken};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let state = folder.path().join("state");
//! for (taken, is_new) in [(Taken::Refuse, true), (Taken::Refuse, false), (Taken::Replace, true)] {
//!     let draft = Draft::create(folder.path().join("new"))?;
//!     assert_eq!(draft.publish(&state, taken).is_ok(), is_new);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`Draft`] is a file on its way to its name; [`Draft::publish`] gives it that name so that a crash leaves the old content
//!   or the new one. Its error says whether the name may have changed.
//! - [`create_new`], [`remove`], [`sync_folder`] and [`is_named`] are the steps, for stores that need another order.
//! - [`open_regular`] and [`small_text`] read files that another user may have made: nothing without an end or another side.
//! - [`offload`] and [`spawn`] need no runtime. Errors made by `groundstate_common::failure!` say themselves what a missing
//!   thread is ([`groundstate_common::ThreadFailure`]).
//!
//! # What is deliberately absent
//!
//! - Writing in place behind a journal: that is the business of `groundstate-statemgr-fs`.
//! - Which kind of error a full disk is: the contracts differ in what their callers can do about it.

mod draft;
mod files;
mod offload;
mod regular;

pub use draft::{Draft, Taken, Unpublished};
pub use files::{absent_is_none, create_new, is_named, parent, remove, sync_folder};
pub use offload::{offload, spawn};
pub use regular::{Links, is_unsuitable, open_regular, small_text, special};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
