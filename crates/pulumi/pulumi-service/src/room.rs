//! Room in memory for work that grows with what is stored.

use std::any::Any;
use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::stacks::Stacks;

/// Bytes that are in use until this is dropped.
pub type Slot = Box<dyn Any + Send + Sync>;

/// The memory that large work takes its bytes from.
pub trait Room: fmt::Debug + Send + Sync {
    /// The most that one piece of work can get.
    fn most(&self) -> u64;

    /// Takes bytes. More than [`most`](Self::most) counts as that: such work is done alone. None if others use them now.
    fn take(&self, bytes: u64) -> Option<Slot>;
}

/// Room without a limit, for programs that do one thing at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Endless;

impl Room for Endless {
    fn most(&self) -> u64 {
        u64::MAX
    }

    fn take(&self, _: u64) -> Option<Slot> {
        Some(Box::new(()))
    }
}

/// Copies of a checkpoint while the next one is made of it: the stored one, the text that is made, the text that is stored.
pub(crate) const OF_CHECKPOINT: u64 = 4;
/// Bytes in memory for a byte of a state and of its journal while they become the next state.
pub(crate) const OF_REPLAY: u64 = 6;

impl Stacks {
    /// Takes room for work on so many stored bytes, each of which takes `each` bytes of memory.
    ///
    /// # Errors
    ///
    /// `Unavailable` if others use it.
    pub(crate) fn take_room(&self, op: Op, place: impl fmt::Display, bytes: u64, each: u64) -> Result<Slot> {
        self.room().take(bytes.saturating_mul(each)).ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, op, place).because("the memory for requests is in use")
        })
    }
}
