//! Who may write which file, and which time a write gets.
//!
//! A write of a key excludes the writes of all keys that share a slot with it, in every process. It also shares the lock of the
//! whole directory, which releases before this one took alone for each write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groundstate_durable::remove;

use crate::folders::identity;
use crate::tree::OWN;

/// How many keys can be written at a time. A lock file for each stays in the directory, and so does what a crash left of one draft.
const SLOTS: u64 = 256;

/// File systems round times; each step is tried until the time that is kept is a new one.
const STEPS: [Duration; 5] = [
    Duration::from_nanos(1),
    Duration::from_nanos(100),
    Duration::from_micros(1),
    Duration::from_millis(1),
    Duration::from_secs(2),
];

/// The right to write a key, until it is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Shared with all writes of this release. It holds the latest time that a release before gave to a write.
    whole: File,
    /// The slot's lock, held alone.
    _slot: File,
    folder: PathBuf,
    number: u64,
    private: bool,
}

impl Guard {
    /// Waits for the right to write the key.
    /// A `private` lock is one that only processes of this user can take.
    pub(crate) fn take(root: &Path, key: &str, private: bool) -> io::Result<Self> {
        let open = |path: &Path| open(path, private);
        let whole = whole(root, private)?;
        let (folder, number) = (root.join(format!("{OWN}writes")), slot_of(key));
        let path = folder.join(format!("{number:02x}.lock"));
        let slot = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_folder(&folder, private)?;
                // The draft that a release before left when it crashed.
                remove(&root.join(format!("{OWN}new")))?;
                open(&path)?
            }
            opened => opened?,
        };
        fs2::FileExt::lock_exclusive(&slot)?;
        Ok(Self { whole, _slot: slot, folder, number, private })
    }

    /// Where the content is written before it gets its name. The next write of the slot overwrites what a crash left there.
    pub(crate) fn draft(&self) -> PathBuf {
        self.folder.join(format!("{:02x}.new", self.number))
    }

    /// Gives a file a time that no other write was given, later than `replaced` too.
    pub(crate) fn date(&mut self, file: &File, replaced: Option<SystemTime>) -> io::Result<SystemTime> {
        let mut clock = open(&self.folder.join("clock"), self.private)?;
        fs2::FileExt::lock_exclusive(&clock)?;
        let latest = kept_time(&mut clock)?.max(kept_time(&mut self.whole)?);
        let floor = replaced.map_or(latest, |replaced| replaced.max(latest));
        let mut time = file.metadata()?.modified()?;
        for step in STEPS {
            if time > floor {
                break;
            }
            file.set_modified(floor.checked_add(step).ok_or(io::ErrorKind::InvalidData)?)?;
            time = file.metadata()?.modified()?;
        }
        if time <= floor {
            return Err(io::Error::other("the file system keeps no times"));
        }
        clock.seek(SeekFrom::Start(0))?;
        clock.write_all(&nanos(time).to_be_bytes())?;
        Ok(time)
    }
}

/// Locks the whole directory together with other writers.
fn whole(root: &Path, private: bool) -> io::Result<File> {
    let path = root.join(format!("{OWN}lock"));
    loop {
        let whole = open(&path, private)?;
        fs2::FileExt::lock_shared(&whole)?;
        // Another process may have removed the file since it was opened. Then later writers lock another file.
        if is_at(&whole, &path)? {
            return Ok(whole);
        }
    }
}

/// Returns `true` if this open file is the one that has the name.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(named) => Ok(identity(&file.metadata()?) == identity(&named)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the files of ours from a directory, if no other process writes in it. The next writer makes them anew.
///
/// A later write must have a later time than each write before. So the files stay if the clock of the file system is not beyond the
/// latest time.
pub(crate) fn sweep(root: &Path) -> io::Result<()> {
    let path = root.join(format!("{OWN}lock"));
    let mut whole = OpenOptions::new().read(true).write(true).open(&path)?;
    if identity(&whole.metadata()?).is_none() || fs2::FileExt::try_lock_exclusive(&whole).is_err() {
        return Ok(());
    }
    let folder = root.join(format!("{OWN}writes"));
    if !is_at(&whole, &path)? || !is_past(&folder, &mut whole)? {
        return Ok(());
    }
    for entry in fs::read_dir(&folder)? {
        fs::remove_file(entry?.path())?;
    }
    fs::remove_dir(&folder)?;
    // Until the name is gone, every other process waits for this lock.
    fs::remove_file(&path)
}

/// Waits a short time until the file system gives later times than all writes have. Returns `false` if it does not.
fn is_past(folder: &Path, whole: &mut File) -> io::Result<bool> {
    const LOOKS: usize = 20;
    let mut clock = OpenOptions::new().read(true).open(folder.join("clock"))?;
    let latest = kept_time(&mut clock)?.max(kept_time(whole)?);
    let probe = folder.join("probe");
    for _ in 0..LOOKS {
        fs::write(&probe, "")?;
        if fs::metadata(&probe)?.modified()? > latest {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

/// Opens a lock file. Any user who can open the file can lock it and so stop all writes. A private file is therefore closed to
/// other users, also where an earlier release made it readable.
fn open(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        return Ok(file);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

/// Creates the folder of the files of ours.
fn create_folder(folder: &Path, private: bool) -> io::Result<()> {
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::DirBuilderExt;
        return fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    #[cfg(not(unix))]
    let _ = private;
    fs::create_dir_all(folder)
}

/// The time that a file of ours holds. A file that was never written to is as good as one of the year 1970.
fn kept_time(file: &mut File) -> io::Result<SystemTime> {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::Start(0))?;
    let nanos = match file.read_exact(&mut bytes) {
        Ok(()) => u64::from_be_bytes(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
        Err(error) => return Err(error),
    };
    Ok(UNIX_EPOCH + Duration::from_nanos(nanos))
}

/// The slot of a key: the hash FNV-1a, which all processes compute alike. Some file systems take upper and lower case for the same name.
fn slot_of(key: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in key.to_lowercase().bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) % SLOTS
}

/// Nanoseconds since 1970, as many as fit: until the year 2554.
pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::slot_of;

    #[test]
    fn names_that_a_file_system_may_take_for_one_share_a_slot_and_others_spread() {
        assert_eq!(slot_of("heads/Shop!.json"), slot_of("heads/shop!.json"));
        let slots: BTreeSet<u64> = (0..256).map(|number| slot_of(&format!("heads/{number}!.json"))).collect();
        assert!(slots.len() > 128, "{}", slots.len());
    }
}
