//! The small files of a project and of the home of Pulumi, which a stranger may have made.

use std::io;
use std::path::Path;

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_durable::{Links, is_unsuitable, small_text};

/// How large such a file may be.
const LIMIT: u64 = 1 << 20;

/// The text of a regular file of at most 1 MiB; nothing if there is none.
///
/// # Errors
///
/// `Denied`, `Unavailable`, and `Corrupt` for all that is no regular file, too large, or no text. None of them has a part of the
/// content.
pub(crate) fn text(path: &Path) -> Result<Option<String>> {
    small_text(path, LIMIT, Links::Follow).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        _ if is_unsuitable(&error) => ErrorKind::Corrupt,
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    let why = error.to_string();
    Error::new(kind, Op::Read, path.display()).because(why).with_source(error)
}
