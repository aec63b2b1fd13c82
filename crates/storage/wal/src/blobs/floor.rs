//! The floor of a journal: below which number objects may have been removed, and who had taken over by then.
//!
//! An object is created only where there is none, so a number that was removed can be created again. A writer that was
//! paused may do so however long it slept. What it created counts only if nothing had been removed there before, and the
//! floor, which is raised before anything is removed, tells.

use crate::frame::{FrameKind, push_frame, read_frame};
use crate::{Error, ErrorKind, Op, Position, Record, Result};
use groundstate_blobs::{BlobVersion, ErrorKind as BlobErrorKind, GetOptions, Key, Precondition, PutOptions};

use super::failure::failed;
use super::object::{numbers_of, remember, to_record};
use super::reading::Objects;

/// How often to raise it anew when others raise it at the same time.
const ATTEMPTS: usize = 16;
/// What tells its frame from those of objects, whose numbers never come so far.
const SALT: [u8; 8] = u64::MAX.to_le_bytes();

/// The content of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Floor {
    /// Objects of smaller numbers may have been removed.
    pub(crate) number: u64,
    /// The numbers of the last takeovers, in order.
    pub(crate) takeovers: Vec<u64>,
}

/// What an object is worth that a writer has created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is part of the journal, or was when it was created.
    Counts,
    /// Another writer had taken over before; no reader sees the object.
    Overtaken,
    /// So many writers have taken over since that it cannot be told.
    Unknown,
}

impl Floor {
    /// What the object of this number is worth, created by the writer that took over by the object `takeover`.
    pub(crate) fn standing(&self, number: u64, takeover: u64) -> Standing {
        if number >= self.number {
            return Standing::Counts;
        }
        let Ok(at) = self.takeovers.binary_search(&takeover) else { return Standing::Unknown };
        match self.takeovers.get(at + 1) {
            Some(next) if *next <= number => Standing::Overtaken,
            // The next writer took over behind it, so it has read the object.
            Some(_) => Standing::Counts,
            None => Standing::Unknown,
        }
    }

    fn encode(&self) -> Option<Vec<u8>> {
        let records = [to_record(&[self.number]), to_record(&self.takeovers)];
        let mut bytes = Vec::new();
        push_frame(&mut bytes, FrameKind::Fence, Position::START, &records.each_ref(), &SALT).ok()?;
        Some(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let frame = read_frame(bytes, 0, &SALT).ok().filter(|frame| frame.end == bytes.len())?;
        let [number, takeovers] = <[Record; 2]>::try_from(frame.records).ok()?;
        Some(Self { number: *numbers_of(&number).first()?, takeovers: numbers_of(&takeovers) })
    }
}

impl Objects {
    fn floor_key(&self, op: Op) -> Result<Key> {
        Key::parse(&format!("{}floor", self.prefix)).map_err(|error| failed(op, self, error))
    }

    /// The floor, and its version; zero before the first removal.
    pub(crate) async fn floor(&self, op: Op) -> Result<(Floor, Option<BlobVersion>)> {
        let key = self.floor_key(op)?;
        let found = self.store.get(&key, &GetOptions::default()).await;
        let Some(blob) = found.map_err(|error| failed(op, self, error))? else {
            return Ok((Floor::default(), None));
        };
        let corrupt = || Error::new(ErrorKind::Corrupt, op, self).at(format!("the object {key}"));
        Ok((Floor::decode(&blob.bytes).ok_or_else(corrupt)?, Some(blob.meta.version)))
    }

    /// Raises the floor to this number, and adds these takeovers. It never sinks.
    pub(crate) async fn raise_floor(&self, op: Op, number: u64, takeovers: &[u64]) -> Result<()> {
        let key = self.floor_key(op)?;
        for _ in 0..ATTEMPTS {
            let (mut floor, version) = self.floor(op).await?;
            floor.number = floor.number.max(number);
            remember(&mut floor.takeovers, takeovers);
            let bytes = floor.encode().ok_or_else(|| Error::new(ErrorKind::Internal, op, self))?;
            let put = PutOptions::expecting(Precondition::of(version.as_ref()));
            match self.store.put(&key, bytes.into(), &put).await {
                Ok(_) => return Ok(()),
                Err(error)
                    if matches!(
                        error.kind(),
                        BlobErrorKind::PreconditionFailed | BlobErrorKind::Ambiguous
                    ) => {}
                Err(error) => return Err(failed(op, self, error)),
            }
        }
        let message = "other writers change its floor all the time";
        Err(Error::new(ErrorKind::Unavailable, op, self).because(message))
    }
}

#[cfg(test)]
mod tests {
    use super::{Floor, Standing};

    #[test]
    fn it_is_read_as_it_was_written() {
        for floor in [Floor::default(), Floor { number: 9, takeovers: vec![1, 3, 7] }] {
            let bytes = floor.encode().unwrap();
            assert_eq!(Floor::decode(&bytes), Some(floor));
            assert_eq!(Floor::decode(&bytes[1..]), None);
        }
    }

    #[test]
    fn what_was_created_after_a_takeover_in_a_place_that_was_swept_counts_for_nothing() {
        let floor = Floor { number: 20, takeovers: vec![3, 9, 15] };
        for (number, takeover, expected) in [
            (20, 3, Standing::Counts),
            // The writer of 3 was followed by that of 9.
            (8, 3, Standing::Counts),
            (9, 3, Standing::Overtaken),
            (12, 3, Standing::Overtaken),
            (12, 9, Standing::Counts),
            (16, 15, Standing::Unknown),
            // Later epochs are forgotten.
            (2, 1, Standing::Unknown),
        ] {
            assert_eq!(floor.standing(number, takeover), expected, "{number} of {takeover}");
        }
    }
}
