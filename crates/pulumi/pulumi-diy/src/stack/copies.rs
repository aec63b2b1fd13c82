//! Copies of the state of a stack, from which it can be restored.

use std::fmt;

use futures_util::stream::{self, StreamExt};
use groundstate_blobs::{Key, Listed};
use groundstate_common::Timestamp;

use super::{Checkpoint, Stack};
use crate::backend::{folder, objects};
use crate::{Compression, Error, ErrorKind, Op, Result, StackDetails};

/// Who keeps a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CopySource {
    /// The `.bak` copy: what the last save, or the last update of this program, replaced.
    Previous,
    /// A backup after an update.
    Backup,
    /// The state that an update in the history left.
    History,
    /// A checkpoint that was retained when it was saved.
    Retained,
    /// What a killed write left. It is no copy to restore from.
    Temporary,
}

/// A copy of the state of a stack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StateCopy {
    /// Who keeps it.
    pub source: CopySource,
    /// The key of the object that holds it.
    pub key: Key,
    /// When it was made: by its name, or by the store.
    pub time: Option<Timestamp>,
    /// Its size in bytes, as it is stored.
    pub size: u64,
}

impl fmt::Display for CopySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Previous => "bak",
            Self::Backup => "backup",
            Self::History => "history",
            Self::Retained => "retained",
            Self::Temporary => "temporary",
        })
    }
}

impl Stack {
    /// All copies of the state, the newest first. None is read.
    ///
    /// # Errors
    ///
    /// Those of requests.
    pub async fn copies(&self) -> Result<Vec<StateCopy>> {
        let layout = self.backend().layout();
        let reference = self.checked(Op::List)?;
        let store = &**self.backend().store();
        let base = layout.checkpoint(reference);
        let mut copies = Vec::new();
        for listed in objects(store, &base).await? {
            let behind = listed.name.strip_prefix(&base).unwrap_or_default();
            let behind = Compression::ALL
                .iter()
                .rev()
                .find_map(|one| behind.strip_prefix(one.ending()))
                .unwrap_or(behind);
            match behind {
                ".bak" => copies.extend(self.copy(CopySource::Previous, &listed, None)),
                _ => {
                    let time = behind.strip_prefix('.').and_then(time_of);
                    copies.extend(time.and_then(|time| self.copy(CopySource::Retained, &listed, Some(time))));
                }
            }
        }
        let name = reference.stack().as_str();
        for (source, prefix, between, ending) in [
            (CopySource::Backup, layout.backups(reference), '.', ".json"),
            (CopySource::History, layout.history(reference), '-', ".checkpoint.json"),
        ] {
            for listed in folder(store, &prefix).await?.objects {
                let file = Compression::strip(&listed.name).strip_prefix(&prefix).unwrap_or_default();
                // Copies of a stack that was renamed keep the name from before.
                let stamp = file.strip_suffix(ending).and_then(|file| match file.strip_prefix(name) {
                    Some(stamp) => stamp.strip_prefix(between),
                    None => file.rsplit_once(between).map(|(_, stamp)| stamp),
                });
                let time = stamp.and_then(time_of);
                copies.extend(time.and_then(|time| self.copy(source, &listed, Some(time))));
            }
        }
        copies.sort_by(|a, b| (b.time, a.source, &b.key).cmp(&(a.time, b.source, &a.key)));
        Ok(copies)
    }

    /// What the copies say, in their order. As many are read at a time as the options say.
    pub async fn describe(&self, copies: &[StateCopy]) -> Vec<Result<StackDetails>> {
        let read = stream::iter(copies).map(|copy| async { self.read_copy(copy).await?.details() });
        read.buffered(self.backend().options().workers.get()).collect().await
    }

    /// Reads a copy.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if it was removed meanwhile, and those of [`read`](Self::read).
    pub async fn read_copy(&self, copy: &StateCopy) -> Result<Checkpoint> {
        let place = self.backend().place(copy.key.as_str());
        self.read_object(&copy.key).await?.ok_or_else(|| Error::new(ErrorKind::NotFound, Op::Read, place))
    }

    fn copy(&self, source: CopySource, listed: &Listed, time: Option<Timestamp>) -> Option<StateCopy> {
        let key = Key::parse(&listed.name).ok()?;
        let (time, size) = (time.or(listed.meta.last_modified), listed.meta.size);
        Some(StateCopy { source, key, time, size })
    }
}

/// The time in a name: nanoseconds since 1970.
pub(crate) fn time_of(text: &str) -> Option<Timestamp> {
    const SECOND: u64 = 1_000_000_000;
    let stamp: u64 = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())??;
    Timestamp::from_unix(i64::try_from(stamp / SECOND).ok()?, u32::try_from(stamp % SECOND).ok()?).ok()
}
