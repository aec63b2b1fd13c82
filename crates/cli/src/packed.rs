//! States that are compressed by gzip, as some backends store them.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// What compressed bytes begin with.
const MAGIC: &[u8] = &[0x1f, 0x8b];

/// How large a text may be that is unpacked: a few bytes can stand for very many.
const LARGEST: u64 = 1 << 32;

/// Whether bytes that begin so are compressed.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    begin.starts_with(MAGIC)
}

/// What the bytes say.
pub(crate) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    unpack_up_to(bytes, LARGEST)
}

fn unpack_up_to(bytes: &[u8], largest: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).take(largest + 1).read_to_end(&mut text)?;
    if text.len() as u64 > largest {
        return Err(io::Error::other(format!("it is larger than {largest} bytes")));
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
    use super::{is_packed, pack, unpack, unpack_up_to};

    #[test]
    fn unpacks_what_it_packs() {
        for text in [&b""[..], b"{}", &[7; 100_000]] {
            let packed = pack(text).unwrap();
            assert!(is_packed(&packed) && !is_packed(text));
            assert_eq!(unpack(&packed).unwrap(), text);
            assert_eq!(pack(text).unwrap(), packed);
        }
    }

    #[test]
    fn refuses_damage_and_what_grows_beyond_measure() {
        let packed = pack(&[7; 100_000]).unwrap();
        assert!(unpack(&packed[..packed.len() - 1]).is_err());
        assert!(unpack(&packed[..2]).is_err());
        assert!(unpack_up_to(&packed, 99_999).unwrap_err().to_string().contains("larger than 99999"));
        assert_eq!(unpack_up_to(&packed, 100_000).unwrap().len(), 100_000);
    }
}
