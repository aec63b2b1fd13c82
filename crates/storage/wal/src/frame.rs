//! Frames: how batches are laid down in files and objects so that damage is found, and a torn end told from it.
//!
//! A frame is a header of 40 bytes and a body. Numbers are little-endian.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 3 | `GSJ` and the version, 1 |
//! | 4 | the kind, see [`FrameKind`] |
//! | 5 to 7 | zeros |
//! | 8 to 15 | the position of the first record |
//! | 16 to 19 | how many records there are |
//! | 20 to 23 | the length of the body |
//! | 24 to 31 | the first 8 bytes of the SHA-256 digest of salt and body |
//! | 32 to 39 | the first 8 bytes of the SHA-256 digest of salt and header up to here |
//!
//! The body is the records, each behind its length in 4 bytes. The *salt* is what the place itself says, such as the number
//! of the file, so that bytes which belong elsewhere do not count. One batch is one frame, and the next is written only after
//! it is durable: so a frame that is whole proves that all before it once were.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::record::{Position, Record};

/// The bytes of a header.
pub const HEADER: usize = 40;
const MAGIC: [u8; 4] = *b"GSJ\x01";
/// How many bytes are hashed at most, for each byte that is there, before a search for whole frames gives up.
const PATIENCE: usize = 8;

/// What a frame is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameKind {
    /// Its records say what the file or object is about.
    Head,
    /// Its record is the base of an epoch.
    Base,
    /// Its records are a batch.
    Batch,
    /// Nothing comes after it: the writer ended on purpose.
    End,
    /// A writer takes over; its record names it.
    Fence,
    /// The epoch is over, and none follows.
    Clear,
}

const KINDS: [FrameKind; 6] =
    [FrameKind::Head, FrameKind::Base, FrameKind::Batch, FrameKind::End, FrameKind::Fence, FrameKind::Clear];

/// A frame that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// What it is there for.
    pub kind: FrameKind,
    /// The position of its first record.
    pub first: Position,
    /// Its records.
    pub records: Vec<Record>,
    /// Where it ends, counted from the beginning of the bytes it was read from.
    pub end: usize,
}

/// Why there is no frame at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameError {
    /// The bytes end before it does.
    Short,
    /// The header is not what was written.
    Header,
    /// The body is not what was written.
    Body,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "the bytes end within a frame",
            Self::Header => "the header of a frame is damaged",
            Self::Body => "the body of a frame is damaged",
        })
    }
}

impl std::error::Error for FrameError {}

/// How long the frame of these records is.
pub fn frame_len<'r>(records: impl IntoIterator<Item = &'r Record>) -> usize {
    let body = |sum: usize, record: &Record| sum.saturating_add(4).saturating_add(record.as_bytes().len());
    records.into_iter().fold(HEADER, body)
}

/// Appends the frame of these records to `out`.
///
/// # Errors
///
/// The length when a frame cannot be that long; `out` is as before.
pub fn push_frame(
    out: &mut Vec<u8>,
    kind: FrameKind,
    first: Position,
    records: &[&Record],
    salt: &[u8],
) -> Result<(), usize> {
    let len = frame_len(records.iter().copied());
    let (Ok(body_len), Ok(count)) = (u32::try_from(len - HEADER), u32::try_from(records.len())) else {
        return Err(len);
    };
    let start = out.len();
    out.reserve(len);
    out.extend_from_slice(&MAGIC);
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
    out.extend_from_slice(&[u8::try_from(kind).unwrap_or_default(), 0, 0, 0]);
    out.extend_from_slice(&first.get().to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&body_len.to_le_bytes());
    out.extend_from_slice(&[0; 16]);
    for record in records {
        // Shorter than the body, whose length fits.
        let len = u32::try_from(record.as_bytes().len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(record.as_bytes());
    }
    let body_sum = sum(salt, &out[start + HEADER..]);
    out[start + 24..start + 32].copy_from_slice(&body_sum);
    let header_sum = sum(salt, &out[start..start + 32]);
    out[start + 32..start + 40].copy_from_slice(&header_sum);
    Ok(())
}

/// Reads the frame that begins at `at`.
///
/// # Errors
///
/// When there is none, or not all of it.
pub fn read_frame(bytes: &[u8], at: usize, salt: &[u8]) -> Result<Frame, FrameError> {
    let header = header(bytes, at, salt)?;
    let body = bytes.get(at + HEADER..header.end).ok_or(FrameError::Short)?;
    if sum(salt, body) != header.body_sum {
        return Err(FrameError::Body);
    }
    let records = split(body, header.count).ok_or(FrameError::Body)?;
    Ok(Frame { kind: header.kind, first: header.first, records, end: header.end })
}

/// Whether some frame that is whole begins behind `at`: then what stands at `at` was once durable, and is damaged now.
///
/// What is too tangled to be searched through in little time counts as damaged, too.
pub fn frame_follows(bytes: &[u8], at: usize, salt: &[u8]) -> bool {
    let mut budget = bytes.len().saturating_mul(PATIENCE).saturating_add(1 << 16);
    for next in at.saturating_add(1)..bytes.len() {
        if !bytes[next..].starts_with(&MAGIC) {
            continue;
        }
        let Some(rest) = budget.checked_sub(HEADER) else { return true };
        budget = rest;
        let Ok(header) = header(bytes, next, salt) else { continue };
        let Some(body) = bytes.get(next + HEADER..header.end) else { continue };
        let Some(rest) = budget.checked_sub(body.len()) else { return true };
        budget = rest;
        if sum(salt, body) == header.body_sum {
            return true;
        }
    }
    false
}

struct Header {
    kind: FrameKind,
    first: Position,
    count: usize,
    end: usize,
    body_sum: [u8; 8],
}

fn header(bytes: &[u8], at: usize, salt: &[u8]) -> Result<Header, FrameError> {
    let rest = bytes.get(at..).ok_or(FrameError::Short)?;
    let Some(header) = rest.first_chunk::<HEADER>() else {
        return Err(if MAGIC.starts_with(&rest[..rest.len().min(4)]) || rest.starts_with(&MAGIC) {
            FrameError::Short
        } else {
            FrameError::Header
        });
    };
    let (said, sums) = header.split_at(32);
    if !said.starts_with(&MAGIC) || sum(salt, said) != sums {
        return Err(FrameError::Header);
    }
    let kind = KINDS.get(usize::from(said[4])).copied().ok_or(FrameError::Header)?;
    let number =
        |from: usize| u32::from_le_bytes([said[from], said[from + 1], said[from + 2], said[from + 3]]);
    let wide = |from: usize| u64::from(number(from)) | u64::from(number(from + 4)) << 32;
    let index = |number: u32| usize::try_from(number).map_err(|_| FrameError::Header);
    let end = (at + HEADER).checked_add(index(number(20))?).ok_or(FrameError::Header)?;
    let body_sum = wide(24).to_le_bytes();
    Ok(Header { kind, first: Position::new(wide(8)), count: index(number(16))?, end, body_sum })
}

/// The records of a body, which must fill it.
fn split(mut body: &[u8], count: usize) -> Option<Vec<Record>> {
    // Each record takes four bytes at least, so that a number alone cannot ask for memory.
    let mut records = Vec::with_capacity(count.min(body.len() / 4));
    for _ in 0..count {
        let (len, rest) = body.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        records.push(Record::from(record));
        body = rest;
    }
    body.is_empty().then_some(records)
}

fn sum(salt: &[u8], bytes: &[u8]) -> [u8; 8] {
    let digest = Sha256::new().chain_update(salt).chain_update(bytes).finalize();
    let mut sum = [0; 8];
    sum.iter_mut().zip(digest.iter()).for_each(|(to, from)| *to = *from);
    sum
}

#[cfg(test)]
mod tests {
    use super::{FrameError, FrameKind, HEADER, frame_follows, push_frame, read_frame};
    use crate::record::{Position, Record};

    fn frames() -> Vec<u8> {
        let mut out = Vec::new();
        for (first, texts) in [(0, &["", "one"][..]), (2, &[]), (2, &["GSJ\x01 is the mark"])] {
            let records: Vec<Record> = texts.iter().map(|text| Record::from(text.as_bytes())).collect();
            let records: Vec<&Record> = records.iter().collect();
            push_frame(&mut out, FrameKind::Batch, Position::new(first), &records, b"salt").unwrap();
        }
        out
    }

    #[test]
    fn gives_back_what_was_put_in() {
        let bytes = frames();
        let first = read_frame(&bytes, 0, b"salt").unwrap();
        assert_eq!(first.records, [Record::default(), Record::from(&b"one"[..])]);
        let second = read_frame(&bytes, first.end, b"salt").unwrap();
        assert_eq!(
            (second.records.len(), second.first, second.end),
            (0, Position::new(2), first.end + HEADER)
        );
        assert_eq!(read_frame(&bytes, second.end, b"salt").unwrap().end, bytes.len());
        assert_eq!(read_frame(&bytes, 0, b"another"), Err(FrameError::Header));
        assert_eq!(read_frame(&bytes, bytes.len(), b"salt"), Err(FrameError::Short));
        assert_eq!(read_frame(&bytes, bytes.len() + 1, b"salt"), Err(FrameError::Short));
    }

    #[test]
    fn is_cut_off_at_any_byte_without_being_taken_for_another() {
        let bytes = frames();
        let first = read_frame(&bytes, 0, b"salt").unwrap();
        for cut in 0..first.end {
            assert_eq!(read_frame(&bytes[..cut], 0, b"salt"), Err(FrameError::Short), "{cut}");
            assert!(!frame_follows(&bytes[..cut], 0, b"salt"));
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed_and_what_follows_is_found() {
        let bytes = frames();
        let first = read_frame(&bytes, 0, b"salt").unwrap();
        for bit in 0..first.end * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read_frame(&bytes, 0, b"salt").is_err(), "bit {bit}");
            assert!(frame_follows(&bytes, 0, b"salt"), "bit {bit}");
        }
    }

    #[test]
    fn what_is_too_tangled_to_search_counts_as_damaged() {
        assert!(frame_follows(&b"GSJ\x01".repeat(100_000), 0, b"salt"));
        assert!(!frame_follows(&b"GSJ\x01".repeat(100), 0, b"salt"));
    }
}
