//! One segment: a frame that says where it belongs, and the batches behind it.

use std::fs;
use std::io;
use std::path::Path;

use crate::frame::{Frame, FrameError, FrameKind, frame_follows, push_frame, read_frame};
use crate::{Position, Record, Torn};

use super::names;

/// What a segment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The position of its first record.
    pub(crate) first: Position,
    /// How many bytes of the segment before it count.
    pub(crate) previous_end: u64,
}

/// The bytes of a segment, whose opening is whole.
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) opening: Opening,
    bytes: Vec<u8>,
    salt: [u8; 12],
    /// Where the first batch begins.
    body: usize,
}

/// Why a segment cannot be read.
#[derive(Debug)]
pub(crate) enum ReadFailure {
    Io(io::Error),
    /// A file was removed meanwhile: the epoch is over, or the list of files is out of date.
    Gone,
    /// Where the damage is, and what it is.
    Damaged(String, &'static str),
}

impl From<io::Error> for ReadFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What comes at a place in a segment.
pub(crate) enum Next {
    Frame(Frame),
    /// Nothing more.
    End,
    /// The remains of a batch.
    Torn(Torn),
}

/// Which epoch counts, as the newest writer says; none after an epoch was cleared.
pub(crate) fn read_head(folder: &Path, writer: u64) -> Result<Option<u64>, ReadFailure> {
    let name = names::head(writer);
    let bytes = match fs::read(folder.join(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReadFailure::Gone),
        Err(error) => return Err(error.into()),
    };
    let frame = read_frame(&bytes, 0, &salt(writer, u32::MAX)).ok();
    let epoch =
        frame.and_then(|frame| frame.records.first()?.as_bytes().try_into().ok().map(u64::from_le_bytes));
    let epoch = epoch.ok_or_else(|| {
        ReadFailure::Damaged(format!("byte 0 of {name}"), "it does not say which epoch counts")
    })?;
    Ok((epoch > 0).then_some(epoch))
}

/// What a writer puts into its file to say which epoch counts.
pub(crate) fn head_bytes(writer: u64, epoch: Option<u64>) -> Vec<u8> {
    let said = Record::from(&epoch.unwrap_or(0).to_le_bytes()[..]);
    let mut out = Vec::new();
    // A frame of eight bytes is never too long.
    push_frame(&mut out, FrameKind::Head, Position::START, &[&said], &salt(writer, u32::MAX))
        .unwrap_or_default();
    out
}

/// The base of an epoch.
pub(crate) fn read_base(folder: &Path, epoch: u64) -> Result<Record, ReadFailure> {
    let name = names::base(epoch);
    let bytes = match fs::read(folder.join(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReadFailure::Gone),
        Err(error) => return Err(error.into()),
    };
    let damaged = |what| ReadFailure::Damaged(format!("byte 0 of {name}"), what);
    let frame = read_frame(&bytes, 0, &salt(epoch, u32::MAX)).map_err(|_| damaged("the base is damaged"))?;
    frame.records.into_iter().next().ok_or_else(|| damaged("it holds no base"))
}

/// What makes frames of one segment mean nothing in another.
pub(crate) fn salt(epoch: u64, number: u32) -> [u8; 12] {
    let mut salt = [0; 12];
    salt[..8].copy_from_slice(&epoch.to_le_bytes());
    salt[8..].copy_from_slice(&number.to_le_bytes());
    salt
}

impl Opening {
    /// The bytes that a segment begins with.
    pub(crate) fn to_bytes(self, salt: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let end = Record::from(&self.previous_end.to_le_bytes()[..]);
        // A frame of eight bytes is never too long.
        push_frame(&mut out, FrameKind::Head, self.first, &[&end], salt).unwrap_or_default();
        out
    }
}

impl Segment {
    /// Reads a segment.
    pub(crate) fn read(folder: &Path, epoch: u64, number: u32) -> Result<Self, ReadFailure> {
        let (name, salt) = (names::segment(epoch, number), salt(epoch, number));
        let bytes = match fs::read(folder.join(&name)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReadFailure::Gone),
            Err(error) => return Err(error.into()),
        };
        // It got its name when its opening was durable, so there is no innocent reason for this one to be damaged.
        let damaged = |what| ReadFailure::Damaged(format!("byte 0 of {name}"), what);
        let frame = read_frame(&bytes, 0, &salt).map_err(|error| damaged(say(error)))?;
        let end = frame.records.first().and_then(|record| record.as_bytes().try_into().ok());
        let (FrameKind::Head, Some(end)) = (frame.kind, end) else {
            return Err(damaged("it does not begin as a segment"));
        };
        let opening = Opening { first: frame.first, previous_end: u64::from_le_bytes(end) };
        Ok(Self { opening, bytes, salt, body: frame.end, name })
    }

    /// Where the first batch begins.
    pub(crate) fn body(&self) -> usize {
        self.body
    }

    /// The batch at `at`. If another segment follows, this one has to be whole up to the `limit` that that one knows.
    pub(crate) fn next(&self, at: usize, first: Position, limit: Option<u64>) -> Result<Next, ReadFailure> {
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let damaged = |what| ReadFailure::Damaged(format!("byte {at} of {}", self.name), what);
        if let Some(limit) = limit {
            if at == limit {
                return Ok(Next::End);
            }
            let bytes = self.bytes.get(..limit).ok_or_else(|| damaged("it is shorter than it was"))?;
            let frame = read_frame(bytes, at, &self.salt).map_err(|error| damaged(say(error)))?;
            return Self::in_order(frame, first).ok_or_else(|| damaged("records are missing before it"));
        }
        if at == self.bytes.len() {
            return Ok(Next::End);
        }
        match read_frame(&self.bytes, at, &self.salt) {
            Ok(frame) => Self::in_order(frame, first).ok_or_else(|| damaged("records are missing before it")),
            Err(error) if frame_follows(&self.bytes, at, &self.salt) => Err(damaged(say(error))),
            Err(_) => {
                let left = self.bytes.len().saturating_sub(at);
                Ok(Next::Torn(Torn::new(format!("byte {at} of {}", self.name), left as u64)))
            }
        }
    }

    fn in_order(frame: Frame, first: Position) -> Option<Next> {
        (frame.first == first).then_some(Next::Frame(frame))
    }
}

fn say(error: FrameError) -> &'static str {
    match error {
        FrameError::Short => "a batch that was durable is cut off",
        FrameError::Header => "the header of a batch is damaged",
        _ => "a batch is damaged",
    }
}
