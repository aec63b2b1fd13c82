//! Moving a stack to another name, another layout or another bucket.
//!
//! A move is planned by reads alone, and carried out in an order in which a process that is killed leaves every object in one of
//! the two places: what is to happen is written down, everything is copied, then the checkpoint is written under the new name, then what
//! is old is removed, its checkpoint last. The same move again goes on.

mod carry_out;
mod intent;
mod objects;
mod plan;
mod upgrade;

use std::fmt;

use bytes::Bytes;
use groundstate_blobs::Key;

pub(crate) use intent::Intent;
pub use upgrade::{LegacyStack, Upgrade, UpgradeOptions, Upgraded, UpgradedStack};

use crate::stack::{Checkpoint, Variant};
use crate::{Op, Stack};

const OP: Op = Op::Move;

/// How a stack is moved. The default removes what was moved, and refuses references to providers that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelocateOptions {
    /// Leaves the stack where it was, too: a copy in another bucket.
    pub keep_source: bool,
    /// Leaves references to providers that cannot be read as they are, with a warning.
    pub force: bool,
}

impl RelocateOptions {
    /// Leaves the stack where it was, too.
    #[must_use]
    pub fn keep_source(mut self) -> Self {
        self.keep_source = true;
        self
    }

    /// Leaves references to providers that cannot be read as they are.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }
}

/// A move that was planned: what [`carry_out`](Self::carry_out) does. Made by [`Stack::relocation`].
#[derive(Debug)]
#[must_use = "a plan moves nothing until it is carried out"]
pub struct Relocation {
    source: Stack,
    target: Stack,
    options: RelocateOptions,
    /// What is written down before the first write.
    intent: Intent,
    /// Whether that is written down already.
    is_resumed: bool,
    /// What the source has now; nothing if a killed process has removed it.
    present: Option<Checkpoint>,
    /// Variants of the checkpoint that do not count.
    outdated: Vec<Variant>,
    /// What is to be written as the checkpoint; nothing if that was done.
    document: Option<NewCheckpoint>,
    objects: Vec<MovedObject>,
    changed: usize,
    warnings: Vec<String>,
}

/// The checkpoint under the new name.
struct NewCheckpoint {
    key: Key,
    bytes: Bytes,
}

impl fmt::Debug for NewCheckpoint {
    /// Shows the size of the checkpoint only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewCheckpoint").field("key", &self.key).field("bytes", &self.bytes.len()).finish()
    }
}

/// An object that belongs to a stack, with its name before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedObject {
    /// Its key before.
    pub from: Key,
    /// Its key after.
    pub to: Key,
    /// Its size in bytes, as it is stored.
    pub size: u64,
}

/// What a move did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relocated {
    /// The key of the checkpoint under the new name.
    pub checkpoint: Key,
    /// How many objects beside the checkpoint were moved.
    pub objects: usize,
    /// How many resources have other names now.
    pub changed: usize,
    /// Whether a process that was killed had begun it.
    pub is_resumed: bool,
    /// What should not be so, a sentence each.
    pub warnings: Vec<String>,
}

impl Relocation {
    /// The stack that is moved.
    pub fn source(&self) -> &Stack {
        &self.source
    }

    /// The stack that it becomes.
    pub fn target(&self) -> &Stack {
        &self.target
    }

    /// The objects beside the checkpoint: tags, history, backups and other copies.
    pub fn objects(&self) -> &[MovedObject] {
        &self.objects
    }

    /// How many resources get other names.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// Whether a process that was killed has begun it.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// What should not be so, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
