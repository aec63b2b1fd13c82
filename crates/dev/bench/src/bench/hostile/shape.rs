//! What a hostile input is.

use std::fs;
use std::io;
use std::path::Path;

/// An input that is made to be expensive, and what reads it.
#[derive(Debug)]
pub(super) struct Shape {
    /// Verb, then what is special about the input.
    pub(super) name: &'static str,
    /// How large the smaller of the two inputs is; what it counts is the shape's own.
    pub(super) size: usize,
    /// Writes the files of a size into a folder, and gives the bytes that the command reads.
    pub(super) write: fn(&Path, usize) -> io::Result<u64>,
    /// The command, which runs in that folder.
    pub(super) arguments: &'static [&'static str],
    /// The exit code that the command ends with.
    pub(super) code: i32,
}

/// A shape whose command ends with code 0.
pub(super) const fn shape(
    name: &'static str,
    size: usize,
    write: fn(&Path, usize) -> io::Result<u64>,
    arguments: &'static [&'static str],
) -> Shape {
    Shape { name, size, write, arguments, code: 0 }
}

/// The same shape, of which the command ends with this code.
pub(super) const fn ending(code: i32, shape: Shape) -> Shape {
    Shape { code, ..shape }
}

/// Writes one file, and gives its length.
pub(super) fn file(folder: &Path, name: &str, text: &str) -> io::Result<u64> {
    fs::write(folder.join(name), text)?;
    Ok(text.len() as u64)
}
