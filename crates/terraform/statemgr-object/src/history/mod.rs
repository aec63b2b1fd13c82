//! Every snapshot kept: earlier states beside the present one, and the way back to them.
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_blobs::{Key, MemoryBlobs};
//! use groundstate_common::{FixedClock, Timestamp};
//! use groundstate_statemgr::{Expect, History, SharedMemory, StateStore, WriteOptions};
//! use groundstate_statemgr_object::history::{BlobHistory, Retention, RollbackOptions, WithHistory, rollback};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = Key::parse("prod/terraform.tfstate")?;
//! let history = BlobHistory::new(Arc::new(MemoryBlobs::new("states")), &key);
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let store = WithHistory::new(SharedMemory::new("prod").open(), history.clone(), Retention::everything(), clock);
//!
//! let first = r#"{"version": 4, "serial": 1, "lineage": "a", "outputs": {}, "resources": []}"#;
//! let second = r#"{"version": 4, "serial": 2, "lineage": "a", "outputs": {}, "resources": []}"#;
//! let version = store.write(first.into(), &WriteOptions::expecting(Expect::Absent)).await?;
//! store.write(second.into(), &WriteOptions::expecting(Expect::Version(version))).await?;
//!
//! let entries = history.list().await?;
//! assert_eq!(entries.iter().filter_map(|entry| entry.serial).map(|serial| serial.get()).collect::<Vec<_>>(), [2, 1]);
//! let snapshot = history.read(&entries[1].id).await?;
//! let back = rollback(&store, &snapshot.bytes, &RollbackOptions::default()).await?;
//! assert_eq!((back.of.get(), back.serial.get()), (1, 3));
//! # Ok(())
//! # }
//! ```

mod blobs;
mod name;
mod policy;
mod rollback;
mod store;

pub use blobs::BlobHistory;
pub use policy::{Keeping, Retention};
pub use rollback::{RollbackOptions, RolledBack, rollback};
pub use store::WithHistory;
