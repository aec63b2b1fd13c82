//! The content of an object: what happened, by whom, and where it leads.

use crate::frame::{FrameKind, push_frame, read_frame};
use crate::{Epoch, Position, Record};

/// How many takeovers are remembered. Fewer would make no answer wrong, but more of them uncertain.
const TAKEOVERS: usize = 512;

/// Where a journal stands after an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tip {
    /// The number of the object.
    pub(crate) number: u64,
    /// The number of the object with the base; 0 when no epoch is stored.
    pub(crate) base: u64,
    /// The newest epoch, whether it is over or not.
    pub(crate) epoch: u64,
    /// The number of the object by which the writer took over.
    pub(crate) takeover: u64,
    /// The position of the next record.
    pub(crate) next: Position,
}

/// An object that was read.
pub(crate) struct Object {
    pub(crate) kind: FrameKind,
    pub(crate) tip: Tip,
    /// The position of its first record.
    pub(crate) first: Position,
    pub(crate) records: Vec<Record>,
}

impl Tip {
    /// The epoch that is stored.
    pub(crate) fn stored(&self) -> Option<Epoch> {
        (self.base > 0).then_some(Epoch::new(self.epoch))
    }
}

/// The bytes of the object that leads to `tip`. The writer's own id is in it, so that no two writers make equal objects.
pub(crate) fn encode(kind: FrameKind, tip: Tip, records: &[&Record], writer: &str) -> Result<Vec<u8>, usize> {
    let mut about: Vec<u8> =
        [tip.base, tip.epoch, tip.takeover].iter().flat_map(|number| number.to_le_bytes()).collect();
    about.extend_from_slice(writer.as_bytes());
    let about = Record::from(about);
    let all: Vec<&Record> = std::iter::once(&about).chain(records.iter().copied()).collect();
    let counted = if kind == FrameKind::Batch { records.len() as u64 } else { 0 };
    let first = Position::new(tip.next.get().saturating_sub(counted));
    let mut bytes = Vec::new();
    push_frame(&mut bytes, kind, first, &all, &tip.number.to_le_bytes())?;
    Ok(bytes)
}

/// The object of this number; nothing if that is not what the bytes are.
pub(crate) fn decode(bytes: &[u8], number: u64) -> Option<Object> {
    let frame = read_frame(bytes, 0, &number.to_le_bytes()).ok().filter(|frame| frame.end == bytes.len())?;
    let mut records = frame.records.into_iter();
    let about = records.next()?;
    let wide = |at: usize| Some(u64::from_le_bytes(about.as_bytes().get(at..at + 8)?.try_into().ok()?));
    let (base, epoch, takeover) = (wide(0)?, wide(8)?, wide(16)?);
    let records: Vec<Record> = records.collect();
    let counted = if frame.kind == FrameKind::Batch { records.len() as u64 } else { 0 };
    let tip = Tip { number, base, epoch, takeover, next: frame.first.plus(counted) };
    Some(Object { kind: frame.kind, tip, first: frame.first, records })
}

/// The records of a takeover: who it is, and the takeovers before it.
pub(crate) fn takeover_records(owner: &str, known: &[u64]) -> [Record; 2] {
    [Record::from(owner.as_bytes()), to_record(known)]
}

/// Numbers as a record.
pub(crate) fn to_record(numbers: &[u64]) -> Record {
    Record::from(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

/// The numbers in a record.
pub(crate) fn numbers_of(record: &Record) -> Vec<u64> {
    let chunks = record.as_bytes().chunks_exact(8);
    chunks.filter_map(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).collect()
}

/// The takeovers that the object of one names, without itself.
pub(crate) fn known_takeovers(object: &Object) -> Vec<u64> {
    object.records.get(1).map(numbers_of).unwrap_or_default()
}

/// Adds takeovers in order, and forgets those that are long over.
pub(crate) fn remember(known: &mut Vec<u64>, takeovers: &[u64]) {
    known.extend_from_slice(takeovers);
    known.sort_unstable();
    known.dedup();
    let many = known.len().saturating_sub(TAKEOVERS);
    known.drain(..many);
}

#[cfg(test)]
mod tests {
    use crate::frame::FrameKind;
    use crate::{Position, Record};

    use super::{Tip, decode, encode, known_takeovers, remember, takeover_records};

    #[test]
    fn objects_are_read_as_they_were_written_and_only_under_their_number() {
        let tip = Tip { number: 9, base: 4, epoch: 2, takeover: 3, next: Position::new(7) };
        let records = [Record::from(&b"a"[..]), Record::default()];
        let bytes = encode(FrameKind::Batch, tip, &records.each_ref(), "me").unwrap();
        let object = decode(&bytes, 9).unwrap();
        assert_eq!((object.tip, object.first, object.records), (tip, Position::new(5), records.to_vec()));
        assert!(decode(&bytes, 8).is_none());
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut], 9).is_none(), "{cut}");
        }
    }

    #[test]
    fn the_last_takeovers_are_remembered() {
        let mut known = Vec::new();
        (1..=600).for_each(|number| remember(&mut known, &[number, number - 1]));
        assert_eq!((known.len(), known.last()), (512, Some(&600)));
        let tip = Tip { number: 21, ..Tip::default() };
        let records = takeover_records("ann", &known);
        let bytes = encode(FrameKind::Fence, tip, &records.each_ref(), "me").unwrap();
        assert_eq!(known_takeovers(&decode(&bytes, 21).unwrap()), known);
    }
}
