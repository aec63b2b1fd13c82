//! The redo journal of a write in place: a header of one sector, and the whole new state behind it.
//!
//! The header is also the mark that the state file bears at its beginning while it is being overwritten. So a marked
//! file says itself which journal finishes it, and a file without a mark is whole, whatever journal is beside it.
//! The design is told in `docs/design/0004-redo-journal.md`.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::digest;
use crate::files;

/// The length of the header: a sector, which disks write whole or not at all.
pub(crate) const HEADER: usize = 512;

/// What a mark begins with. No text begins with a zero byte, and no program reads such a file as a state.
const MAGIC: &[u8] = b"\0groundstate journal 1\n";

/// The header of a journal, and the mark of the write that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    bytes: Vec<u8>,
    digest: String,
    len: u64,
}

impl Header {
    pub(crate) fn new(digest: String, len: u64, journal: &Path) -> Self {
        let name = journal.file_name().unwrap_or_default().to_string_lossy().replace(char::is_control, "?");
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(format!("sha256 {digest}\nlength {len}\n\n").as_bytes());
        let text = format!(
            "This state file was being written when its writer stopped. The whole new state is in\n{name}\n\
             beside it; the next groundstate command on this file puts it in place.\n"
        );
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(HEADER - 1, b' ');
        bytes.push(b'\n');
        Self { bytes, digest, len }
    }

    /// The header that `bytes` begin with, if they do.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        let text = std::str::from_utf8(bytes.strip_prefix(MAGIC)?).ok()?;
        let mut lines = text.lines();
        let digest = lines.next()?.strip_prefix("sha256 ")?;
        let len = lines.next()?.strip_prefix("length ")?.parse().ok()?;
        (digest.len() == 64).then(|| Self { bytes: bytes.to_vec(), digest: digest.to_owned(), len })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

/// What the beginning of a state file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It is a state.
    None,
    /// It is a state that begins as marks do, or what is left of a mark where the new state is shorter than one.
    Cut,
    /// It was being overwritten.
    Whole,
}

impl Mark {
    /// Reads the mark in the first bytes of a file: all it has, or at least [`HEADER`].
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [] => Self::None,
            _ if head.starts_with(MAGIC) => Self::Whole,
            _ if MAGIC.starts_with(head) => Self::Cut,
            _ => Self::None,
        }
    }
}

/// A whole journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    header: Header,
}

impl Journal {
    /// The journal at `path`, if its header is there. Whether the rest is as well, [`verify`](Self::verify) tells.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = files::open(path)? else { return Ok(None) };
        let header = Header::parse(&files::read_at(&file, 0, HEADER)?);
        Ok(header.map(|header| Self { file, header }))
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether this journal finishes the write that a file with this beginning and length was interrupted in.
    pub(crate) fn finishes(&self, head: &[u8], len: u64) -> bool {
        let head = head.get(..HEADER).unwrap_or(head);
        match Mark::of(head) {
            Mark::None => false,
            // A state shorter than a mark leaves only the beginning of one.
            _ if head.len() < HEADER => len == self.header.len && self.header.bytes.starts_with(head),
            _ => head == self.header.bytes,
        }
    }

    /// Whether the state in it is what the header says.
    pub(crate) fn verify(&self) -> io::Result<bool> {
        let (digest, len) = digest::of_file(&self.file, HEADER as u64)?;
        Ok(digest == self.header.digest && len == self.header.len)
    }

    /// The state in it, if it is what the header says.
    pub(crate) fn payload(&self) -> io::Result<Option<Vec<u8>>> {
        let Ok(len) = usize::try_from(self.header.len) else { return Ok(None) };
        // The header may say anything; what the file has bounds what is read.
        let have = self.file.metadata()?.len().saturating_sub(HEADER as u64);
        if have != self.header.len {
            return Ok(None);
        }
        let bytes = files::read_at(&self.file, HEADER as u64, len)?;
        Ok((digest::of_bytes(&bytes) == self.header.digest).then_some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{HEADER, Header, MAGIC, Mark};

    fn header(len: u64) -> Header {
        Header::new("a".repeat(64), len, Path::new("/x/.terraform.tfstate.groundstate-journal"))
    }

    #[test]
    fn a_header_fills_one_sector_and_is_read_back() {
        let header = header(7);
        assert_eq!(header.bytes().len(), HEADER);
        assert_eq!(Header::parse(header.bytes()), Some(header));
    }

    #[test]
    fn long_names_are_cut_and_leave_the_rest_readable() {
        let name = "n".repeat(250);
        let header = Header::new("b".repeat(64), u64::MAX, Path::new(&name));
        assert_eq!(header.bytes().len(), HEADER);
        assert_eq!(Header::parse(header.bytes()).map(|header| header.len()), Some(u64::MAX));
    }

    #[test]
    fn states_bear_no_mark_and_beginnings_of_a_mark_are_told_apart() {
        let mark = header(1).bytes().to_vec();
        for (head, expected) in [
            (&b""[..], Mark::None),
            (b"{}", Mark::None),
            (b"\0\0", Mark::None),
            (b"\0groundstate journal 2\n", Mark::None),
            (b"\0", Mark::Cut),
            (MAGIC, Mark::Whole),
            (&mark[..HEADER - 1], Mark::Whole),
            (&mark, Mark::Whole),
        ] {
            assert_eq!(Mark::of(head), expected, "{head:?}");
        }
    }
}
