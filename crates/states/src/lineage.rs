//! Lineage and serial: which history a snapshot belongs to, and its place in it.

use std::sync::Arc;

/// The opaque identifier of a chain of snapshots; empty in files that predate it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lineage(Arc<str>);

/// The position of a snapshot inside its lineage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Serial(u64);
