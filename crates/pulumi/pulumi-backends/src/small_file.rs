//! Small files that a stranger may have made: what they are is looked at before they are read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use groundstate_blobs::{Error, ErrorKind, Op, Result};

/// How large such a file may be.
const LIMIT: u64 = 1 << 20;

/// The text of a regular file of at most 1 MiB; nothing if there is none.
///
/// # Errors
///
/// `Denied`, `Unavailable`, and `Corrupt` for all that is no regular file, too large, or no text. None of them has a part of the
/// content.
pub(crate) fn text(path: &Path) -> Result<Option<String>> {
    let wrong = |why: &str| Error::new(ErrorKind::Corrupt, Op::Read, path.display()).because(why);
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(failed(path, error)),
    };
    if !file.metadata().map_err(|error| failed(path, error))?.is_file() {
        return Err(wrong("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|error| failed(path, error))?;
    if bytes.len() as u64 > LIMIT {
        return Err(wrong("it has more than 1 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8 text"))
}

pub(crate) fn failed(path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    let why = error.to_string();
    Error::new(kind, Op::Read, path.display()).because(why).with_source(error)
}

/// Opens without waiting: a pipe must not hang the command.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits());
    }
    options.open(path)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
