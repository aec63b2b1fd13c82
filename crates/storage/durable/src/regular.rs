//! Regular files, told from what has no end or no other side before they are opened.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Whether a symbolic link at the end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The file behind the link is opened.
    Follow,
    /// A link is refused: where it leads was looked at before, and what is there now was put there since.
    Refuse,
}

/// Opens a regular file for reading. Named pipes, devices and sockets are refused before they are opened, and one that takes
/// the place of the file meanwhile is not waited for.
///
/// # Errors
///
/// Those of the system; [`special`] for what is no regular file.
pub fn open_regular(path: &Path, links: Links) -> io::Result<(File, Metadata)> {
    let found = match links {
        Links::Follow => fs::metadata(path)?,
        Links::Refuse => fs::symlink_metadata(path)?,
    };
    if !found.is_file() {
        return Err(special(&found));
    }
    let file = options(links).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(special(&metadata)) }
}

/// The text of a regular file of at most `limit` bytes; nothing if there is none.
///
/// # Errors
///
/// Those of [`open_regular`]; `InvalidData` for a file that is larger or not UTF-8 text. None of them has a part of the content.
pub fn small_text(path: &Path, limit: u64, links: Links) -> io::Result<Option<String>> {
    let file = match open_regular(path, links) {
        Ok((file, _)) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(wrong(format!("it has more than {} KiB", limit >> 10)));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong("it is not UTF-8 text".to_owned()))
}

/// Why something that is not a regular file is refused: `IsADirectory`, or `InvalidInput` with what it is.
pub fn special(metadata: &Metadata) -> io::Error {
    if metadata.is_dir() {
        return io::ErrorKind::IsADirectory.into();
    }
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}, not a regular file", kind(metadata)))
}

/// Whether a file was refused for what it is or holds, and not because reading it failed.
pub fn is_unsuitable(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory};
    matches!(error.kind(), InvalidData | InvalidInput | IsADirectory)
}

fn options(links: Links) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
        options.custom_flags(match links {
            Links::Follow => O_NONBLOCK,
            Links::Refuse => O_NONBLOCK | O_NOFOLLOW,
        });
    }
    #[cfg(not(unix))]
    let _ = links;
    options
}

#[cfg(unix)]
fn kind(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something else",
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "something else"
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use super::{Links, is_unsuitable, small_text};

    #[test]
    fn only_small_texts_in_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("text"), "12345").unwrap();
        std::fs::write(at("binary"), b"hush\xff").unwrap();
        symlink("text", at("link")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();

        let read = |path: &Path, limit, links| small_text(path, limit, links);
        assert_eq!(read(&at("text"), 5, Links::Refuse).unwrap().as_deref(), Some("12345"));
        assert_eq!(read(&at("link"), 5, Links::Follow).unwrap().as_deref(), Some("12345"));
        for absent in ["none", "text/x", "none/x"] {
            assert_eq!(read(&at(absent), 5, Links::Follow).unwrap(), None, "{absent}");
        }
        for (path, limit, links, why) in [
            (at("text"), 4, Links::Follow, "it has more than 0 KiB"),
            (at("binary"), 99, Links::Follow, "it is not UTF-8 text"),
            (at("link"), 5, Links::Refuse, "it is a symbolic link, not a regular file"),
            (at("socket"), 5, Links::Follow, "it is a socket, not a regular file"),
            (at("pipe"), 5, Links::Follow, "it is a named pipe, not a regular file"),
            ("/dev/zero".into(), 5, Links::Follow, "it is a device, not a regular file"),
            (at(""), 5, Links::Follow, "is a directory"),
        ] {
            let error = read(&path, limit, links).unwrap_err();
            assert_eq!(error.to_string(), why, "{}", path.display());
            assert!(is_unsuitable(&error), "{error:?}");
        }
    }
}
