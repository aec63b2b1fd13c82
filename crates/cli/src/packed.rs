//! States that are compressed by gzip, as some backends store them.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::source::may_be_state;

/// What compressed bytes begin with.
const MAGIC: &[u8] = &[0x1f, 0x8b];

/// How large a text may be that is unpacked: a few bytes can stand for very many.
const LARGEST: u64 = 1 << 32;

/// How large it may be however few bytes stand for it.
const ROOM: u64 = 1 << 28;

/// How many times its bytes it may be beyond that; states are mostly 10 to 50 times theirs.
const GROWTH: u64 = 200;

/// So much shows whether a text can be a state at all.
const BEGIN: u64 = 1 << 16;

/// Whether bytes that begin so are compressed.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    begin.starts_with(MAGIC)
}

/// What the bytes say; only the beginning if that shows that it is no state.
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
