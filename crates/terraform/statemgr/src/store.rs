//! The contract of stores: what an implementer writes, clause by clause.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::Timestamp;

use crate::capabilities::Capabilities;
use crate::error::Result;
use crate::holder::{FencingToken, LockGrant, LockHolder};
use crate::lock_info::{LockId, LockInfo};

/// One state in one place, as bytes: the trait that implementers fulfil.
///
/// Serials, lineages, formats and waiting are the [`Manager`](crate::Manager)'s business; a store reads, writes and
/// locks. A value of this type is a *client*: several may be open on one place, in one process or many, and what one
/// writes the others read. `Display` names the place, without credentials; neither does `Debug` show any.
///
/// # The contract
///
/// Each clause has cases of the same name in the conformance suite. A clause that begins with a capability in brackets
/// holds for stores that have it.
///
/// Reading
///
/// - **R1 `absent_reads_as_none`**: where nothing was written, where it was deleted, and where zero bytes lie, `read`
///   gives `None`. A missing container (bucket, database, directory that is never created) is `NotFound` instead, where
///   the service tells the two apart.
/// - **R2 `reads_own_and_others_writes`**: after `write` has returned, `read` of every client gives exactly those bytes,
///   unchanged, and the version that `write` returned, until the next write. A place that keeps text only refuses other bytes
///   as `Invalid`.
/// - **R3 `reads_whole_snapshots`**: during a write, `read` gives the old bytes or the new ones, never a part or a mixture.
/// - **R4 `reads_without_lock`**: `read` needs no lock, and works while another client holds it.
/// - **R5 `equal_versions_mean_equal_bytes`**: two reads that give equal versions give equal bytes. A read without a write
///   in between gives the version again.
///
/// Writing
///
/// - **W1 `write_replaces_all`**: a write replaces what is stored, shorter or longer, and creates the place if needed.
/// - **W2 `write_refuses_nothing`**: writing zero bytes is `Invalid`; `delete` removes a state.
/// - **W3 `write_is_all_or_nothing`**: a write that fails, or whose future is dropped, or whose process dies, leaves the old
///   bytes or the new ones. If it is not known which, the error is `Ambiguous`; any other kind means the old ones.
/// - **W4 `expect_absent`** \[conditional_write\]: with [`Expect::Absent`], `Conflict` unless R1 would give `None`.
/// - **W5 `expect_version`** \[conditional_write\]: with [`Expect::Version`], `Conflict` unless R2 would give that version;
///   the error has both in [`Error::mismatch`](crate::Error::mismatch).
/// - **W6 `check_and_write_are_one`** \[conditional_write\]: of any number of concurrent writes with the same expectation
///   other than [`Expect::Any`], at most one succeeds.
/// - **W7 `refused_writes_change_nothing`**: after `Conflict`, `LockLost`, `Unsupported`, `Invalid` and `Denied`, bytes,
///   version and lock are as before.
/// - **W8 `write_may_need_the_lock`**: a write without the lock while another client holds it either succeeds or is refused
///   with `Locked`; which of them is up to the store. One by the client that holds the lock is never refused for that.
///
/// Deleting \[delete\]
///
/// - **D1 `delete_removes`**: afterwards R1 holds, and [`Expect::Absent`] is fulfilled.
/// - **D2 `delete_is_repeatable`**: with [`Expect::Any`], deleting what is absent succeeds.
/// - **D3 `delete_honours_options`**: expectation and token count as they do for writes; a refused deletion changes nothing.
/// - **D4 `delete_keeps_the_lock`** \[locking\]: a lock that is held stays held under its id, and the count of tokens goes on.
///
/// Locking \[locking\]
///
/// - **L1 `lock_excludes`**: while a lock is held, `lock` of every client within the
///   [`exclusion`](Capabilities::exclusion), the holder included, is refused with `Locked`. What the exclusion claims about other
///   processes is tried from a second one.
/// - **L2 `lock_answers_at_once`**: `lock` does not wait for the holder. Waiting is [`lock_with`](crate::lock_with)'s.
/// - **L3 `unlock_frees`**: after `unlock` with the granted id, the next `lock` of any client succeeds.
/// - **L4 `unlock_needs_the_id`**: `unlock` with another id is refused with `Locked`, and the lock stays held.
/// - **L5 `unlock_twice_fails`**: `unlock` of what is not locked is `NotFound`.
/// - **L6 `lock_leaves_the_state_alone`**: locking and unlocking change neither bytes nor version; a place that was absent
///   is absent afterwards.
/// - **L7 `locks_are_told_apart`**: two grants have different ids if the documents they were asked with have.
/// - **L8 `refusal_names_the_holder`** \[holder\]: the error of L1 carries the holder's document, operation, who, version and
///   info as they were given and of any length, under an id that releases the lock.
/// - **L9 `a_dropped_lock_is_held_or_free`**: when the future of `lock` is dropped before it answers, the place is either
///   locked with the document's id or free.
///
/// Holder \[holder\]
///
/// - **H1 `holder_is_known`**: `lock_holder` of every client gives the holder while a lock is held, and `None` otherwise.
///
/// Force \[force_unlock\]
///
/// - **K1 `force_unlock_frees`**: `force_unlock` with the id in force frees the lock, whichever client took it.
/// - **K2 `force_unlock_needs_the_id`**: with another id it is `Locked` and changes nothing; without a lock, `NotFound`.
///
/// Leases \[lease\]
///
/// - **E1 `lease_expires`**: a grant says when it ends; after that, `lock` of another client succeeds, and the holder is
///   not given by H1.
/// - **E2 `renew_prolongs`**: `renew` with the id in force gives a later end and the same token. It may revive a lock that
///   has expired as long as no other client took it.
/// - **E3 `lost_lease_is_said`**: `renew` and `unlock` of a lock that has expired and went to another client, or was broken
///   by force, are `LockLost`, and the other's lock stays held. `unlock` of one that only expired succeeds.
///
/// Fencing \[fencing\]
///
/// - **F1 `tokens_grow`**: every grant at a place has a token larger than all before it, also across clients, releases and
///   deletions of the state.
/// - **F2 `outdated_tokens_are_refused`**: a write or deletion whose token is smaller than one that was granted later is
///   `LockLost`, whatever else it expects. Check and write are one, as in W6.
/// - **F3 `broken_locks_are_fenced`** \[force_unlock\]: so is one whose lock was broken by force, before anybody locks anew.
///
/// Everything
///
/// - **C1 `lacking_means_unsupported`**: what needs a capability that the store does not have is `Unsupported` and changes
///   nothing. That includes expectations other than [`Expect::Any`], tokens and `force`.
/// - **C2 `display_names_the_place`**: `Display` is not empty, one line, and equal for two clients of one place.
#[async_trait]
pub trait StateStore: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// What this store can do. The answer is the same for the life of the client.
    fn capabilities(&self) -> Capabilities;

    /// The bytes that are stored, and their version; `None` when nothing is.
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `Denied`, `Unavailable`, `Corrupt`.
    async fn read(&self) -> Result<Option<Stored>>;

    /// Replaces what is stored if `options` allow it, and gives the new version. Clones of the bytes share them, so that no store
    /// has to copy a large state.
    ///
    /// # Errors
    ///
    /// `Conflict`, `LockLost`, `Locked`, `Ambiguous`, `Invalid`, `Unsupported`, `Denied`, `Unavailable`.
    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version>;

    /// Removes what is stored if `options` allow it. Locks, and the count of tokens, stay.
    ///
    /// # Errors
    ///
    /// Those of [`write`](Self::write).
    async fn delete(&self, options: &WriteOptions) -> Result<()>;

    /// Takes the lock, or says at once who has it.
    ///
    /// # Errors
    ///
    /// `Locked`, `Unsupported`, `Denied`, `Unavailable`, `Ambiguous`.
    async fn lock(&self, info: &LockInfo) -> Result<LockGrant>;

    /// Prolongs a lock with a lease.
    ///
    /// # Errors
    ///
    /// `LockLost`, `NotFound`, `Unsupported`, `Denied`, `Unavailable`.
    async fn renew(&self, id: &LockId) -> Result<LockGrant>;

    /// Releases a lock that this client took.
    ///
    /// # Errors
    ///
    /// `Locked` for another id, `NotFound`, `LockLost`, `Unsupported`, `Denied`, `Unavailable`, `Ambiguous`.
    async fn unlock(&self, id: &LockId) -> Result<()>;

    /// Releases a lock, whichever client took it.
    ///
    /// # Errors
    ///
    /// Those of [`unlock`](Self::unlock).
    async fn force_unlock(&self, id: &LockId) -> Result<()>;

    /// Who holds the lock, if it is held.
    ///
    /// # Errors
    ///
    /// `Unsupported`, `Denied`, `Unavailable`, `Corrupt` when the record of the holder cannot be read.
    async fn lock_holder(&self) -> Result<Option<LockHolder>>;

    /// What a lock is in this place, for messages: the object, row or file, such as `s3://bucket/key.tflock`. Asks no service.
    fn lock_name(&self) -> String {
        self.to_string()
    }
}

/// What a store holds.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// The bytes, as they were written.
    pub bytes: Vec<u8>,
    /// Which write they come from.
    pub version: Version,
    /// When they were written, if the place says.
    pub modified: Option<Timestamp>,
}

impl Stored {
    /// Bytes and their version.
    pub fn new(bytes: Vec<u8>, version: Version) -> Self {
        Self { bytes, version, modified: None }
    }

    /// With the time at which they were written, as far as the place says.
    #[must_use]
    pub fn written_at(self, modified: Option<Timestamp>) -> Self {
        Self { modified, ..self }
    }
}

impl fmt::Debug for Stored {
    /// Shows the size only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, version, modified } = self;
        let mut shown = f.debug_struct("Stored");
        shown.field("bytes", &bytes.len()).field("version", version).field("modified", modified).finish()
    }
}

/// Tells one stored content of a place from another: an ETag, a generation, a digest.
///
/// Only equality has meaning, and only at one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Arc<str>);

impl Version {
    /// The version that the store calls `token`.
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    /// The store's name for it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What must be stored for a write to happen.
///
/// There are these three and no more to come: a store has to know all of them, so it may match them without a rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Expect {
    /// Anything, or nothing.
    #[default]
    Any,
    /// No state is stored.
    Absent,
    /// This version.
    Version(Version),
}

impl Expect {
    /// Whether what is stored, of this version or nothing, is what is expected.
    pub fn is_met_by(&self, stored: Option<&Version>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => stored.is_none(),
            Self::Version(version) => stored == Some(version),
        }
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Absent => f.write_str("nothing"),
            Self::Version(version) => write!(f, "version {version}"),
        }
    }
}

/// Under which conditions to write or delete.
///
/// ```
/// use groundstate_statemgr::{Expect, FencingToken, Version, WriteOptions};
///
/// let options = WriteOptions::expecting(Expect::Version(Version::new("7"))).fence(FencingToken::new(3));
/// assert_eq!(options.expect.to_string(), "version 7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// What must be stored.
    pub expect: Expect,
    /// The token of the lock that the writer holds.
    pub fence: Option<FencingToken>,
    /// Tells a store that checks serials or lineages itself not to; it overrides neither `expect` nor `fence`.
    pub force: bool,
}

impl WriteOptions {
    /// Whatever is stored, without a token.
    pub fn any() -> Self {
        Self::default()
    }

    /// Only if this is stored.
    pub fn expecting(expect: Expect) -> Self {
        Self { expect, ..Self::default() }
    }

    /// Adds the token of the lock.
    #[must_use]
    pub fn fence(mut self, token: impl Into<Option<FencingToken>>) -> Self {
        self.fence = token.into();
        self
    }

    /// Overrides the store's own checks.
    #[must_use]
    pub fn force(mut self, yes: bool) -> Self {
        self.force = yes;
        self
    }
}

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: StateStore + ?Sized> StateStore for $pointer<T> {
            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }

            async fn read(&self) -> Result<Option<Stored>> {
                (**self).read().await
            }

            async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
                (**self).write(bytes, options).await
            }

            async fn delete(&self, options: &WriteOptions) -> Result<()> {
                (**self).delete(options).await
            }

            async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
                (**self).lock(info).await
            }

            async fn renew(&self, id: &LockId) -> Result<LockGrant> {
                (**self).renew(id).await
            }

            async fn unlock(&self, id: &LockId) -> Result<()> {
                (**self).unlock(id).await
            }

            async fn force_unlock(&self, id: &LockId) -> Result<()> {
                (**self).force_unlock(id).await
            }

            fn lock_name(&self) -> String {
                (**self).lock_name()
            }

            async fn lock_holder(&self) -> Result<Option<LockHolder>> {
                (**self).lock_holder().await
            }
        }
    };
}

forward!(Arc);
forward!(Box);
