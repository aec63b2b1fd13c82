//! How a state in a file is written, and what is kept beside it.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of an [`FsStore`](crate::FsStore).
///
/// ```
/// use groundstate_statemgr_fs::{Backup, FsOptions};
///
/// let options = FsOptions::new().backup(Backup::None).read_from("old.tfstate");
/// assert_eq!(options.backup, Backup::None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsOptions {
    /// Where reads come from until the first write of this client, as Terraform's `-state` has it; never written. The
    /// path of the store is then `-state-out`.
    pub read_path: Option<PathBuf>,
    /// Where the state that is overwritten goes.
    pub backup: Backup,
    /// How new states take the place of old ones.
    pub publish: Publish,
    /// Whether locks come with tokens; their count is a small file beside the state.
    pub fencing: bool,
    /// How long to wait for a process that is in the middle of a read or write without having asked for the lock.
    pub busy_timeout: Duration,
}

/// Where the state goes that a write replaces.
///
/// A backup is made by the first write that changes something after the client was opened, and by the first one after
/// each release of its lock. It is a copy of the bytes that the owner of the state alone can read, whatever the
/// permissions of the state are. A symbolic link at its path is not followed, and another user's file is not replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backup {
    /// To the path of the state with `.backup` after it, where Terraform keeps it.
    #[default]
    Beside,
    /// To this path.
    At(PathBuf),
    /// Nowhere.
    None,
}

/// How a new state takes the place of the old one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Publish {
    /// By overwriting the file behind a journal: for files that other programs may open.
    ///
    /// A Terraform that waits for the lock has opened the file already. If it were replaced, that Terraform would write
    /// its state into a file without a name.
    #[default]
    InPlace,
    /// By renaming a new file over it: for folders that only this crate writes. Half the writing, and no journal.
    Rename,
}

impl FsOptions {
    /// One path for reading and writing, a backup beside it, written in place, with tokens.
    pub fn new() -> Self {
        Self {
            read_path: None,
            backup: Backup::Beside,
            publish: Publish::InPlace,
            fencing: true,
            busy_timeout: Duration::from_secs(10),
        }
    }

    /// Reads from `path` until the first write.
    #[must_use]
    pub fn read_from(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_path = Some(path.into());
        self
    }

    /// Sets where the overwritten state goes.
    #[must_use]
    pub fn backup(mut self, backup: Backup) -> Self {
        self.backup = backup;
        self
    }

    /// Sets how new states take the place of old ones.
    #[must_use]
    pub fn publish(mut self, publish: Publish) -> Self {
        self.publish = publish;
        self
    }

    /// Turns tokens on or off.
    #[must_use]
    pub fn fencing(mut self, yes: bool) -> Self {
        self.fencing = yes;
        self
    }

    /// Sets how long to wait for a process that is reading or writing right now.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }
}

impl Default for FsOptions {
    fn default() -> Self {
        Self::new()
    }
}
