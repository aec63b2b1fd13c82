//! State in files: the store that Terraform and OpenTofu users have, without its ways of losing a state.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_statemgr_fs::common::{Clock, OsIds, SystemClock};
//! use groundstate_statemgr_fs::statemgr::{Expect, LockInfo, StateStore, WriteOptions};
//! use groundstate_statemgr_fs::FsStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("terraform.tfstate");
//! let store = FsStore::open(&path, Arc::new(SystemClock))?;
//!
//! // While this lock is held, terraform waits for it or says who has it.
//! let grant = store.lock(&LockInfo::new(&OsIds, SystemClock.now(), "example")?).await?;
//! let options = WriteOptions::expecting(Expect::Absent).fence(grant.fence);
//! let version = store.write(r#"{"version":4,"serial":1}"#.into(), &options).await?;
//! store.unlock(&grant.id).await?;
//!
//! assert_eq!(store.read().await?.map(|stored| stored.version), Some(version));
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`FsStore`] is one client of one file. Give it to a `Manager` for serials, lineages and formats; on its own it reads,
//!   writes and locks bytes.
//! - [`FsOptions`] has the second path that Terraform's `-state` and `-state-out` make, where the [`Backup`] goes, and how
//!   new states are [published](Publish).
//! - [`Process`] says in a lock document which process holds the lock, and finds out whether it still runs.
//! - [`FsWorkspaces`] are the states of a working directory, as Terraform's local backend lays them out.
//!
//! # What it promises
//!
//! - **A state is old or new, and whole**, after a crash of the program or the machine, a full disk or a signal. A journal
//!   beside the file has one of them while the file is overwritten in place: the backup serves as one. The next process
//!   that opens the file settles what was interrupted, also to read. Other programs refuse a half-written file, since it begins with a zero byte; they do
//!   not take it for an empty one.
//! - **Locks exclude** terraform and tofu (record locks of fcntl), scripts that use flock(1), and other clients in any
//!   process, this one included. A Terraform that waits keeps its place: the file is never replaced under it.
//! - **A lock says who holds it**: the document beside the state is Terraform's, with process and host in its free text.
//! - **Writes can be conditional.** Versions are digests of the bytes, so a change by a program that knows nothing of
//!   versions is seen too.
//! - Permissions and the owner of a file stay; new files are their owner's alone. Symbolic links are followed.
//!
//! # What it cannot do
//!
//! - Break locks by force, or let them expire: the kernel keeps them as long as their process has the file open, and
//!   gives them up when it ends.
//! - Exclude other hosts from a file system that they share, beyond what that file system does about record locks.
//! - Keep a read from seeing half a state while a *Terraform* writes it, which it does without a journal. A read that
//!   the write overlaps is repeated.
//! - On Windows the lock is LockFileEx's, as Terraform's is; then only the holder can read a locked file. On macOS
//!   record locks belong to the process: another client of the process that opens the file ends them, and flock's
//!   remains. Neither system is among those that the tests run on.
//!
//! # What is deliberately absent
//!
//! - A runtime. Each operation runs on a thread of its own, and any executor can wait for it.
//! - Formats: bytes are bytes here.
//! - The environment: variables such as `TF_WORKSPACE` are for programs to read.
//!
//! # Features
//!
//! - `os`: `common` has the clock and the randomness of the system.

mod backup_copy;
mod changes;
mod client;
mod digest;
mod document;
mod failure;
mod fence;
mod file_lock;
mod files;
mod hashed_read;
mod held_lock;
mod in_place;
mod journal;
mod locking;
mod openers;
mod options;
mod parallel;
mod process;
mod record;
mod recovery;
mod replace;
mod slot;
mod snapshot;
mod staged;
mod stamp;
mod state_path;
mod store;
mod undo;
mod wanted;
mod workspaces;
mod writing;

pub use groundstate_statemgr::WorkspaceName;
pub use options::{Backup, FsOptions, Publish};
pub use process::Process;
pub use store::FsStore;
pub use workspaces::FsWorkspaces;

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
