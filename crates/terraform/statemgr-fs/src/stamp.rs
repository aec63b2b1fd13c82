//! What the file system tells about a file without reading it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groundstate_common::Timestamp;

/// Which file it is, and when and how long it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    id: FileId,
    len: u64,
    modified: Option<SystemTime>,
}

/// Tells files apart: device and number of the inode. Where there is no such thing, all are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl Stamp {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        Ok(Self { id: FileId::of(&meta), len: meta.len(), modified: meta.modified().ok() })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// When it was last written.
    pub(crate) fn modified(&self) -> Option<Timestamp> {
        let since = self.modified?.duration_since(UNIX_EPOCH).ok()?;
        Timestamp::from_unix(i64::try_from(since.as_secs()).ok()?, since.subsec_nanos()).ok()
    }
}

impl FileId {
    /// Whether both paths are names of one file.
    pub(crate) fn same(one: &Path, other: &Path) -> bool {
        let id = |path| std::fs::metadata(path).map(|meta| Self::of(&meta)).ok();
        cfg!(unix) && id(one).is_some_and(|found| id(other) == Some(found))
    }

    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(meta.dev(), meta.ino())
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Self {
        Self(0, 0)
    }
}

/// Gives the file a time of writing that it has not had before, so that readers notice the write.
///
/// The kernel's own times move in steps of several milliseconds: two writes within one step would look like one.
pub(crate) fn touch(file: &File, before: &Stamp) -> io::Result<()> {
    let latest = [file.metadata()?.modified().ok(), before.modified].into_iter().flatten().max();
    let Some(latest) = latest else { return Ok(()) };
    match latest.checked_add(Duration::from_nanos(100)).map(|time| file.set_modified(time)) {
        // Only its owner may set a time. Others wait for the kernel's next step.
        Some(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => tick(file, latest),
        Some(outcome) => outcome,
        None => Ok(()),
    }
}

/// Has the kernel give the file a time after `latest`, by a change that changes nothing.
fn tick(file: &File, latest: SystemTime) -> io::Result<()> {
    for _ in 0..50 {
        sleep(Duration::from_millis(2));
        let meta = file.metadata()?;
        file.set_len(meta.len())?;
        if file.metadata()?.modified().is_ok_and(|time| time > latest) {
            break;
        }
    }
    Ok(())
}
