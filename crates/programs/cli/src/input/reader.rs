//! Inputs that several threads read at once.

use std::fs::File;
use std::io::{self, Read};

/// What can be read from any offset on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'t> {
    /// A file of so many bytes.
    File(&'t File, u64),
    /// What is in memory.
    Text(&'t [u8]),
}

impl<'t> Input<'t> {
    /// How many bytes there are.
    pub(crate) fn len(self) -> u64 {
        match self {
            Self::File(_, length) => length,
            Self::Text(text) => text.len() as u64,
        }
    }

    /// Reads from an offset on, beside others that read the same handle, so that all see the same file even when
    /// another takes its place meanwhile.
    pub(crate) fn from(self, offset: u64) -> Reader<'t> {
        Reader { input: self, offset }
    }
}

/// Reads an input from an offset on.
#[derive(Debug)]
pub(crate) struct Reader<'t> {
    input: Input<'t>,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match self.input {
            #[cfg(unix)]
            Input::File(file, _) => std::os::unix::fs::FileExt::read_at(file, into, self.offset)?,
            #[cfg(windows)]
            Input::File(file, _) => std::os::windows::fs::FileExt::seek_read(file, into, self.offset)?,
            Input::Text(text) => {
                let mut rest =
                    usize::try_from(self.offset).ok().and_then(|from| text.get(from..)).unwrap_or_default();
                rest.read(into)?
            }
        };
        self.offset += read as u64;
        Ok(read)
    }
}

/// An offset in a text that is meant to be held.
pub(crate) fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::Error::other("the file is too large for this machine"))
}
