//! States that are compressed by gzip, as some backends store them.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use groundstate_statemgr::{
    Error, ErrorKind, Op, Result, StateStore, Stored, Version, WriteOptions, forward_locking,
};

use crate::input::family::{is_packed, may_be_state};
use crate::report::error::{Failure, Kind};

/// How large a text may be that is unpacked: a few bytes can stand for very many.
const LARGEST: u64 = 1 << 32;

/// How large it may be however few bytes stand for it.
const ROOM: u64 = 1 << 28;

/// How many times its bytes it may be beyond that; states are mostly 10 to 50 times theirs.
const GROWTH: u64 = 200;

/// So much shows whether a text can be a state at all.
const BEGIN: u64 = 1 << 16;

/// What the bytes say; only the beginning if that shows that it is not a state.
pub(crate) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    unpack_up_to(bytes, largest(bytes.len() as u64))
}

/// How large a text of so many bytes may be.
fn largest(packed: u64) -> u64 {
    packed.saturating_mul(GROWTH).clamp(ROOM, LARGEST)
}

fn unpack_up_to(bytes: &[u8], largest: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes);
    decoder.by_ref().take(BEGIN).read_to_end(&mut text)?;
    if !may_be_state(&text) {
        return Ok(text);
    }
    decoder.take((largest + 1).saturating_sub(BEGIN)).read_to_end(&mut text)?;
    if text.len() as u64 > largest {
        let message = format!("it is larger than {largest} bytes; if it is to be, unpack it with `gunzip`");
        return Err(io::Error::other(message));
    }
    Ok(text)
}

/// The text compressed. The same text always gives the same bytes.
pub(crate) fn pack(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Why compressed bytes cannot be read, unless they can be unpacked.
pub(crate) fn damage(bytes: &[u8], name: &str) -> Option<Failure> {
    let error = unpack(bytes).err().filter(|_| is_packed(bytes))?;
    let message = format!("{name} is compressed by gzip and cannot be unpacked: {error}");
    Some(Failure::new(Kind::NotState, message))
}

/// As much as can be unpacked, and why that is not everything.
pub(crate) fn unpack_damaged(bytes: &[u8]) -> (Vec<u8>, Option<io::Error>) {
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(largest(bytes.len() as u64));
    let damage = io::copy(&mut decoder, &mut text).err();
    (text, damage)
}

/// A store whose states may be compressed: reading unpacks them, and what was compressed is compressed again when it is
/// written. Versions and conditions are those of the bytes that are stored.
#[derive(Debug)]
pub(crate) struct PackedStore {
    store: Arc<dyn StateStore>,
    /// What was read last was compressed.
    is_packed: AtomicBool,
}

impl PackedStore {
    pub(crate) fn new(store: Arc<dyn StateStore>) -> Self {
        Self { store, is_packed: AtomicBool::new(false) }
    }
}

impl fmt::Display for PackedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for PackedStore {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        let stored = self.store.read().await?;
        let packed = stored.as_ref().is_some_and(|stored| is_packed(&stored.bytes));
        self.is_packed.store(packed, Ordering::Release);
        match stored {
            // What is damaged goes on as it is: no reader takes it for a state, and it can still be replaced by force.
            Some(stored) if packed => Ok(Some(match unpack(&stored.bytes) {
                Ok(text) => Stored::new(text, stored.version).written_at(stored.modified),
                Err(_) => stored,
            })),
            stored => Ok(stored),
        }
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        if !self.is_packed.load(Ordering::Acquire) {
            return self.store.write(bytes, options).await;
        }
        let packed = pack(&bytes).map_err(|error| {
            Error::new(ErrorKind::Internal, Op::Other("compress"), self).with_source(error)
        })?;
        self.store.write(packed.into(), options).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, ROOM, is_packed, largest, pack, unpack, unpack_up_to};

    #[test]
    fn unpacks_what_it_packs() {
        for text in [&b""[..], b"{}", &[b' '; 100_000]] {
            let packed = pack(text).unwrap();
            assert!(is_packed(&packed) && !is_packed(text));
            assert_eq!(unpack(&packed).unwrap(), text);
            assert_eq!(pack(text).unwrap(), packed);
        }
    }

    #[test]
    fn refuses_damage_and_what_grows_beyond_measure() {
        let packed = pack(&[b' '; 100_000]).unwrap();
        assert!(unpack(&packed[..packed.len() - 1]).is_err());
        assert!(unpack(&packed[..2]).is_err());
        assert!(unpack_up_to(&packed, 99_999).unwrap_err().to_string().contains("larger than 99999"));
        assert_eq!(unpack_up_to(&packed, 100_000).unwrap().len(), 100_000);
    }
    #[test]
    fn what_is_no_state_is_unpacked_no_further_than_needed() {
        let text = unpack(&pack(&[7; 1_000_000]).unwrap()).unwrap();
        assert_eq!(text, [7; 1 << 16]);
        assert_eq!([0, 2_000_000, u64::MAX].map(largest), [ROOM, 400_000_000, LARGEST]);
    }
}
