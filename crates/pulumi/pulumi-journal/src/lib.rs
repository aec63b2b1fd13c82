//! Journals of Pulumi snapshots: a base and entries instead of a whole snapshot for each step.
//!
//! A [`Recorder`] turns what an engine does into [`Entry`]s, text carries them to the owner of the base, and a [`Replayer`]
//! makes of both the snapshot they stand for.
//!
//! ```
//! use groundstate_pulumi_journal::pulumi_deployment::Secrets;
//! use groundstate_pulumi_journal::pulumi_snapshot::{Manifest, Resource, Snapshot};
//! use groundstate_pulumi_journal::{
//!     Base, DecodeOptions, Framing, Recorder, State, Step, StepKind, decode, encode_framed, replay,
//! };
//!
//! let snapshot = Snapshot::new([Resource::new("urn:a", "t")]);
//! let base = Base::new(snapshot.clone());
//! let mut recorder = Recorder::new(&base);
//! let mut entries = Vec::new();
//!
//! let new = State::new(Resource::new("urn:b", "t"));
//! let (running, begin) = recorder.begin(Step::new(StepKind::Create, None, Some(&new)))?;
//! entries.extend(begin.map(|recorded| recorded.entry));
//! new.change(|resource| resource.protect = true);
//! entries.extend(recorder.end(running, true)?.map(|recorded| recorded.entry));
//!
//! let text = encode_framed(&entries, Framing::Lines, Secrets::Sealed)?;
//! let mut arrived = decode(&text, &DecodeOptions::default())?.entries;
//! arrived.reverse();
//! let replayed = replay(snapshot, arrived, Manifest::default())?;
//! let urns: Vec<&str> = replayed.snapshot.resources.iter().map(|resource| resource.urn.as_str()).collect();
//! assert_eq!(urns, ["urn:b", "urn:a"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! - [`Entry`] is the model, [`decode`] and [`encode_framed`] are its text: lines, lists, or batches of a service.
//! - [`Replayer`] takes entries in any order and any number of times; [`replay`] takes all at once, and [`compact`] makes of a
//!   journal that is over the base of the next one. [`examples`] shows what entries do.
//! - [`Recorder`] is told of [`Step`]s on [`State`]s. [`must_write`] says what may wait.
//! - [`drop_dangling`] takes out what a refresh leaves behind.
//!
//! # What is deliberately absent
//!
//! - Storage, durability, concurrency: who stores entries, and when a step may begin, is for the crates above.
//! - Encryption: entries are sealed like snapshots, by `groundstate-pulumi-deployment`.
//! - Repairs: the result says nothing about its integrity until [`Replayed::record_integrity`] is called.
//! - I/O, async, clocks and randomness.
//!
//! # Features
//!
//! None.

mod compact;
mod engine;
mod entry;
pub mod examples;
mod ids;
mod record;
mod refresh;
mod replay;
mod wire;

pub use compact::{Compacted, compact};
pub use engine::{Base, State, StateId, Step, StepKind, must_write, outputs_changed};
pub use entry::{ENTRY_VERSION, Entry, EntryKind, Target};
pub use ids::{OperationId, SequenceId};
pub use record::{RecordError, Recorded, Recorder, Running};
pub use refresh::drop_dangling;
pub use replay::{Applied, Remark, ReplayError, Replayed, Replayer, replay};
pub use wire::{
    Code, DecodeError, DecodeOptions, Decoded, Framing, Problem, Problems, decode, decode_entry,
    encode_entry, encode_framed,
};

/// The format of deployments.
pub use groundstate_pulumi_deployment as pulumi_deployment;
/// The models of stacks.
pub use groundstate_pulumi_snapshot as pulumi_snapshot;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
