//! Who may write, and which time a write gets.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// File systems round times; each step is tried until the time that is kept is a new one.
const STEPS: [Duration; 5] = [
    Duration::from_nanos(1),
    Duration::from_nanos(100),
    Duration::from_micros(1),
    Duration::from_millis(1),
    Duration::from_secs(2),
];

/// The right to write, until it is dropped. The file keeps the latest time that a write was given.
#[derive(Debug)]
pub(crate) struct Guard {
    file: File,
    latest: SystemTime,
}

impl Guard {
    /// Waits for the right to write.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        fs2::FileExt::lock_exclusive(&file)?;
        let mut bytes = [0; 8];
        // A file that was never written to is as good as one of the year 1970.
        let nanos = match file.read_exact(&mut bytes) {
            Ok(()) => u64::from_be_bytes(bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(error),
        };
        Ok(Self { file, latest: UNIX_EPOCH + Duration::from_nanos(nanos) })
    }

    /// Gives a file a time that no other write was given, later than `replaced` too.
    pub(crate) fn date(&mut self, file: &File, replaced: Option<SystemTime>) -> io::Result<SystemTime> {
        let floor = replaced.map_or(self.latest, |replaced| replaced.max(self.latest));
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
        self.latest = time;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&nanos(time).to_be_bytes())?;
        Ok(time)
    }
}

/// Nanoseconds since 1970, as many as fit: until the year 2554.
pub(crate) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
