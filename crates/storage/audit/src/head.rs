//! The head: how far the chain is known to go, so that an end that was cut off is found, and where it begins.

use groundstate_blobs::BlobVersion;
use groundstate_blobs::sealed::{seal, unseal};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::error::Result;
use crate::location::{HEAD, Location, Written};
use crate::op::Op;

/// How often to write it when other nodes write it at the same time.
const ATTEMPTS: usize = 8;

/// The format that is written, with a checksum.
const FORMAT: u64 = 2;
/// The format before, without one. It is read until the head is raised.
const BARE: u64 = 1;

/// The content of the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    #[serde(rename = "v")]
    pub(crate) format: u64,
    /// The last segment, as far as it is known; later ones may be there.
    pub(crate) segment: u64,
    /// An entry of it, from which on others may be there.
    pub(crate) end: Checkpoint,
    /// The first segment that is kept.
    pub(crate) first_segment: u64,
    /// What stands before it.
    pub(crate) start: Checkpoint,
}

impl Head {
    /// That of a log in which nothing is.
    pub(crate) fn empty() -> Self {
        Self { format: FORMAT, first_segment: 1, ..Self::default() }
    }

    fn to_bytes(self) -> Vec<u8> {
        let text = serde_json::to_string(&self).unwrap_or_default();
        match self.format {
            BARE => (text + "\n").into_bytes(),
            _ => seal(&text).into_bytes(),
        }
    }

    /// Reads what [`to_bytes`](Self::to_bytes) writes, and nothing else.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let unsealed = unseal(bytes).ok()?;
        let format = if unsealed.is_some() { FORMAT } else { BARE };
        let head: Self = serde_json::from_slice(unsealed.as_deref().unwrap_or(bytes)).ok()?;
        (head.format == format && head.to_bytes() == bytes).then_some(head)
    }
}

/// What is stored in its place.
#[derive(Clone, Debug)]
pub(crate) enum StoredHead {
    Absent,
    Valid(Head, BlobVersion),
    Damaged,
}

impl StoredHead {
    /// The head that is to be believed.
    pub(crate) fn head(&self) -> Option<Head> {
        match self {
            Self::Valid(head, _) => Some(*head),
            Self::Absent | Self::Damaged => None,
        }
    }
}

impl Location {
    pub(crate) async fn head(&self, op: Op) -> Result<StoredHead> {
        let Some(blob) = self.get(op, HEAD).await? else { return Ok(StoredHead::Absent) };
        Ok(Head::parse(&blob.bytes)
            .map_or(StoredHead::Damaged, |head| StoredHead::Valid(head, blob.meta.version)))
    }

    /// Creates the head of a log in which nothing is, if there is none.
    pub(crate) async fn create_head(&self, op: Op) -> Result<()> {
        self.put(op, HEAD, &Head::empty().to_bytes(), None).await.map(drop)
    }

    /// Changes the head; `change` gives nothing if it is as it should be. One that is damaged stays, as evidence.
    pub(crate) async fn change_head(&self, op: Op, change: impl Fn(Head) -> Option<Head>) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let (head, version) = match self.head(op).await? {
                StoredHead::Absent => (Head::empty(), None),
                StoredHead::Valid(head, version) => (head, Some(version)),
                StoredHead::Damaged => return Ok(()),
            };
            let Some(changed) = change(head) else { return Ok(()) };
            let changed = Head { format: FORMAT, ..changed };
            if let Written::Yes(_) = self.put(op, HEAD, &changed.to_bytes(), version.as_ref()).await? {
                return Ok(());
            }
        }
        // Others have written it so often that it is at least as new.
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BARE, Head};
    use crate::checkpoint::Checkpoint;
    use crate::hash::Hash;

    #[test]
    fn heads_are_read_as_they_were_written_and_other_spellings_are_refused() {
        let end = Checkpoint { count: 7, hash: Hash::of(b"x") };
        let head = Head { segment: 2, end, ..Head::empty() };
        let bytes = head.to_bytes();
        assert_eq!(Head::parse(&bytes), Some(head));
        let text = String::from_utf8(bytes).unwrap();
        for wrong in [text.replace(":2", ": 2"), text.replace("\"v\":2", "\"v\":1"), text.trim().to_owned()] {
            assert_eq!(Head::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn flipped_bit_of_a_head_is_damage_and_one_without_a_checksum_is_read() {
        let head = Head { segment: 2, ..Head::empty() };
        let bytes = head.to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::parse(&damaged), None, "bit {bit}");
        }
        let bare = Head { format: BARE, ..head };
        assert_eq!(Head::parse(&bare.to_bytes()), Some(bare));
    }
}
