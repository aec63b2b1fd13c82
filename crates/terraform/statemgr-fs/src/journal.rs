//! The journal of a write in place, and the mark that the state file bears at its beginning meanwhile.
//!
//! A redo journal has the new state behind a header, which is the mark as well; an undo journal is a plain copy of the old
//! state, the backup under a second name, and only the mark says what it must be. So a marked file says itself which
//! state it is, and a file without a mark is whole, whatever journal is beside it.
//! The design is told in `docs/design/0004-write-journal.md`.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::digest;
use crate::files;

/// The length of the header: a sector, which disks write whole or not at all.
pub(crate) const HEADER: usize = 512;

/// What a mark begins with. No text begins with a zero byte, and no program reads such a file as a state.
const MAGIC: &[u8] = b"\0groundstate journal ";

/// Which state a journal has, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The new state, behind the header.
    Redo,
    /// The old state, and nothing else.
    Undo,
}

impl Form {
    const ALL: [Self; 2] = [Self::Redo, Self::Undo];

    /// The first line of a header after [`MAGIC`].
    fn version(self) -> &'static str {
        match self {
            Self::Redo => "1\n",
            Self::Undo => "2\n",
        }
    }

    /// Where the state begins.
    fn offset(self) -> u64 {
        match self {
            Self::Redo => HEADER as u64,
            Self::Undo => 0,
        }
    }

    /// What the header tells people, who find it in place of a state.
    fn text(self, name: &str) -> String {
        match self {
            Self::Redo => format!(
                "This state file was being written when its writer stopped. The whole new state is in\n{name}\n\
                 beside it; the next groundstate command on this file puts it in place.\n"
            ),
            Self::Undo => format!(
                "This state file was being written when its writer stopped. The whole old state is\n{name}\n\
                 beside it; the next groundstate command on this file, or a copy of that over it, restores it.\n"
            ),
        }
    }
}

/// The header of a journal, and the mark of the write that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    bytes: Vec<u8>,
    form: Form,
    digest: String,
    len: u64,
}

impl Header {
    pub(crate) fn new(form: Form, digest: String, len: u64, journal: &Path) -> Self {
        let name = journal.file_name().unwrap_or_default().to_string_lossy().replace(char::is_control, "?");
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(form.version().as_bytes());
        bytes.extend_from_slice(format!("sha256 {digest}\nlength {len}\n\n").as_bytes());
        bytes.extend_from_slice(form.text(&name).as_bytes());
        bytes.resize(HEADER - 1, b' ');
        bytes.push(b'\n');
        Self { bytes, form, digest, len }
    }

    /// The header that `bytes` begin with, if they do.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let form = Form::ALL.into_iter().find(|form| rest.starts_with(form.version().as_bytes()))?;
        // The text for people may be cut within a character.
        let text = String::from_utf8_lossy(rest);
        let mut lines = text.lines().skip(1);
        let digest = lines.next()?.strip_prefix("sha256 ")?;
        let len = lines.next()?.strip_prefix("length ")?.parse().ok()?;
        (digest.len() == 64).then(|| Self { bytes: bytes.to_vec(), form, digest: digest.to_owned(), len })
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

    /// Whether the journal with this header finishes the write that a file with this beginning and length was
    /// interrupted in.
    fn finishes(&self, head: &[u8], len: u64) -> bool {
        let head = head.get(..HEADER).unwrap_or(head);
        match Mark::of(head) {
            Mark::None => false,
            // A state shorter than a mark leaves only the beginning of one.
            _ if head.len() < HEADER => len == self.len && self.bytes.starts_with(head),
            _ => head == self.bytes,
        }
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

/// The journal of a write that was begun.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    header: Header,
}

impl Journal {
    pub(crate) fn new(file: File, header: Header) -> Self {
        Self { file, header }
    }

    /// The journal at `path` that has the state of a file with this beginning and length, if it is there. Whether the state
    /// in it is whole, [`verify`](Self::verify) tells.
    pub(crate) fn of(path: &Path, head: &[u8], len: u64) -> io::Result<Option<Self>> {
        let mark = Header::parse(head);
        let Some(file) = files::open(path)? else { return Ok(None) };
        if let Some(header) = mark.filter(|header| header.form == Form::Undo) {
            return Ok(Some(Self { file, header }));
        }
        let header = Header::parse(&files::read_at(&file, 0, HEADER)?);
        let header = header.filter(|header| header.form == Form::Redo && header.finishes(head, len));
        Ok(header.map(|header| Self { file, header }))
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where the state begins in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.header.form.offset()
    }

    /// Whether the state in it is what the header says.
    pub(crate) fn verify(&self) -> io::Result<bool> {
        let (digest, len) = digest::of_file(&self.file, self.offset())?;
        Ok(digest == self.header.digest && len == self.header.len)
    }

    /// The state in it, if it is what the header says.
    pub(crate) fn payload(&self) -> io::Result<Option<Vec<u8>>> {
        let Ok(len) = usize::try_from(self.header.len) else { return Ok(None) };
        // The header may say anything; what the file has bounds what is read.
        let have = self.file.metadata()?.len().saturating_sub(self.offset());
        if have != self.header.len {
            return Ok(None);
        }
        let bytes = files::read_at(&self.file, self.offset(), len)?;
        Ok((digest::of_bytes(&bytes) == self.header.digest).then_some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Form, HEADER, Header, MAGIC, Mark};

    fn header(form: Form, len: u64) -> Header {
        Header::new(form, "a".repeat(64), len, Path::new("/x/.terraform.tfstate.groundstate-journal"))
    }

    #[test]
    fn a_header_fills_one_sector_and_is_read_back() {
        for form in Form::ALL {
            let header = header(form, 7);
            assert_eq!(header.bytes().len(), HEADER);
            assert_eq!(Header::parse(header.bytes()), Some(header));
        }
    }

    #[test]
    fn long_names_are_cut_and_leave_the_rest_readable() {
        for (form, name) in
            Form::ALL.into_iter().flat_map(|form| [(form, "n"), (form, "\u{fffd}"), (form, "é")])
        {
            for count in 80..250 {
                let name = name.repeat(count);
                let header = Header::new(form, "b".repeat(64), u64::MAX, Path::new(&name));
                assert_eq!(header.bytes().len(), HEADER);
                assert_eq!(Header::parse(header.bytes()).map(|header| header.len()), Some(u64::MAX));
            }
        }
    }

    #[test]
    fn states_bear_no_mark_and_beginnings_of_a_mark_are_told_apart() {
        let mark = header(Form::Redo, 1).bytes().to_vec();
        for (head, expected) in [
            (&b""[..], Mark::None),
            (b"{}", Mark::None),
            (b"\0\0", Mark::None),
            (b"\0groundstate 2\n", Mark::None),
            (b"\0", Mark::Cut),
            (header(Form::Undo, 1).bytes(), Mark::Whole),
            (b"\0groundstate journal 3\nof a later version", Mark::Whole),
            (MAGIC, Mark::Whole),
            (&mark[..HEADER - 1], Mark::Whole),
            (&mark, Mark::Whole),
        ] {
            assert_eq!(Mark::of(head), expected, "{head:?}");
        }
    }
}
