//! Reading some bytes of a state, for who needs one value of a large one.

use std::ops::Range;

use groundstate_blobs::{BlobVersion, GetOptions};
use groundstate_statemgr::{Error, Result, Stored, Version};

use crate::failure::failed;
use crate::store::ObjectStateStore;

const OP: &str = "read a part of";

impl ObjectStateStore {
    /// The bytes in this range, cut off at the end of the state, and the size of the whole; nothing where no state is.
    ///
    /// With a `version`, the bytes are of that one: so several parts are of the same state.
    ///
    /// # Errors
    ///
    /// `Unsupported` where the store reads no ranges, and where a digest is kept, since only the whole state has it.
    /// `Conflict` if the state has another version by now, and those of
    /// [`StateStore::read`](groundstate_statemgr::StateStore::read).
    pub async fn read_part(
        &self,
        range: Range<u64>,
        version: Option<&Version>,
    ) -> Result<Option<(Stored, u64)>> {
        if self.digests.is_some() || !self.blobs.capabilities().ranges {
            return Err(Error::unsupported(OP, self));
        }
        let mut options = GetOptions::default().range(range);
        options.lease = self.lease();
        if let Some(version) = version {
            let unknown = || Error::conflict(OP, self, version, "another one");
            let version: BlobVersion = version.as_str().parse().map_err(|_| unknown())?;
            options = options.if_match(&version);
        }
        let blob = self.blobs.get(&self.key, &options).await.map_err(|error| failed(OP, self, error))?;
        Ok(blob.filter(|blob| blob.meta.size > 0).map(|blob| {
            let version = Version::new(&blob.version().to_string());
            (Stored::new(blob.bytes.to_vec(), version), blob.meta.size)
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groundstate_blobs::{Key, MemoryBlobs};
    use groundstate_conformance::block_on;
    use groundstate_statemgr::{ErrorKind, StateStore, Version, WriteOptions};

    use crate::store::ObjectStateStore;

    #[test]
    fn parts_are_of_one_state_and_know_its_size() {
        let key = Key::parse("a.tfstate").unwrap();
        let store = ObjectStateStore::new(Arc::new(MemoryBlobs::new("tests")), key);
        assert_eq!(block_on(store.read_part(0..4, None)).unwrap(), None);
        let version = block_on(store.write(b"0123456789", &WriteOptions::any())).unwrap();
        let (part, size) = block_on(store.read_part(2..4, None)).unwrap().unwrap();
        assert_eq!((&*part.bytes, size, &part.version), (&b"23"[..], 10, &version));
        let (part, _) = block_on(store.read_part(8..99, Some(&version))).unwrap().unwrap();
        assert_eq!(part.bytes, b"89");
        block_on(store.write(b"other", &WriteOptions::any())).unwrap();
        for old in [version, Version::new("of another store")] {
            let error = block_on(store.read_part(0..4, Some(&old))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        }
    }
}
