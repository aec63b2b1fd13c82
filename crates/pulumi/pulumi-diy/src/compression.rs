//! How checkpoints and histories are compressed.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// How large a text may be that is unpacked: a few bytes can mean very many.
const LARGEST: u64 = 1 << 32;

/// How large it may be however few bytes mean it.
const ROOM: u64 = 1 << 28;

/// How many times its bytes it may be beyond that; states are mostly 10 to 50 times theirs.
const GROWTH: u64 = 200;

/// How a file is compressed. Reading goes by the first bytes, the ending of a key only says how it was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    #[default]
    Plain,
    /// By gzip, with `.gz` behind the key.
    Gzip,
    /// By zstd, with `.zst` behind the key.
    Zstd,
}

impl Compression {
    /// All three, in the order in which lists have their keys.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Gzip, Self::Zstd];

    /// What stands behind a key.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }

    /// What the first bytes show.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, 0x08, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// The text compressed. The same text always gives the same bytes.
    ///
    /// # Errors
    ///
    /// Those of the compressor, which has no reason to fail on memory.
    pub fn pack(self, text: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Plain => Ok(Cow::Borrowed(text)),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(text)?;
                encoder.finish().map(Cow::Owned)
            }
            Self::Zstd => zstd(text).map(Cow::Owned),
        }
    }

    /// What the bytes mean, whatever they are compressed by.
    ///
    /// # Errors
    ///
    /// The bytes are damaged, or mean far more than a state can be.
    pub fn unpack(bytes: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        let largest = (bytes.len() as u64).saturating_mul(GROWTH).clamp(ROOM, LARGEST);
        Self::unpack_up_to(bytes, largest)
    }

    fn unpack_up_to(bytes: &[u8], largest: u64) -> io::Result<Cow<'_, [u8]>> {
        let text = match Self::of(bytes) {
            Self::Plain => return Ok(Cow::Borrowed(bytes)),
            Self::Gzip => limited(MultiGzDecoder::new(bytes), largest)?,
            Self::Zstd => unzstd(bytes, largest)?,
        };
        Ok(Cow::Owned(text))
    }

    /// A name without the ending of a compression, of which one is taken away at most.
    pub(crate) fn strip(name: &str) -> &str {
        name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name)
    }
}

#[cfg(feature = "zstd")]
fn zstd(text: &[u8]) -> io::Result<Vec<u8>> {
    zstd::encode_all(text, zstd::DEFAULT_COMPRESSION_LEVEL)
}

#[cfg(feature = "zstd")]
fn unzstd(bytes: &[u8], largest: u64) -> io::Result<Vec<u8>> {
    limited(zstd::Decoder::with_buffer(bytes)?, largest)
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: &[u8]) -> io::Result<Vec<u8>> {
    Err(without_zstd())
}

#[cfg(not(feature = "zstd"))]
fn unzstd(_: &[u8], _: u64) -> io::Result<Vec<u8>> {
    Err(without_zstd())
}

#[cfg(not(feature = "zstd"))]
fn without_zstd() -> io::Error {
    let message = "this program is built without zstd; build it with the feature `zstd`";
    io::Error::new(io::ErrorKind::Unsupported, message)
}

fn limited(reader: impl Read, largest: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    reader.take(largest.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > largest {
        return Err(io::Error::other(format!("it unpacks to more than {largest} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this build can pack.
    fn built() -> impl Iterator<Item = Compression> {
        let is_built = |one: &Compression| cfg!(feature = "zstd") || *one != Compression::Zstd;
        Compression::ALL.into_iter().filter(is_built)
    }

    #[cfg(not(feature = "zstd"))]
    #[test]
    fn without_zstd_the_feature_is_named() {
        let errors = [
            Compression::Zstd.pack(b"{}").map(Cow::into_owned),
            Compression::unpack(&[0x28, 0xb5, 0x2f, 0xfd]).map(Cow::into_owned),
        ];
        for error in errors {
            assert!(error.unwrap_err().to_string().contains("feature `zstd`"));
        }
    }

    #[test]
    fn every_form_is_read_by_its_first_bytes() -> io::Result<()> {
        let text = "{\"a\":1}".repeat(1000);
        for compression in built() {
            let packed = compression.pack(text.as_bytes())?;
            assert_eq!(Compression::of(&packed), compression);
            assert_eq!(packed, compression.pack(text.as_bytes())?, "the same bytes each time");
            assert_eq!(Compression::unpack(&packed)?, text.as_bytes());
        }
        Ok(())
    }

    #[test]
    fn what_is_cut_off_or_grows_too_far_is_refused() -> io::Result<()> {
        let text = vec![b'0'; 1 << 20];
        for compression in built().skip(1) {
            let packed = compression.pack(&text)?;
            assert!(Compression::unpack(&packed[..packed.len() / 2]).is_err(), "{compression:?}");
            assert!(Compression::unpack_up_to(&packed, 1 << 20).is_ok());
            let error = Compression::unpack_up_to(&packed, (1 << 20) - 1).map_err(|error| error.to_string());
            assert_eq!(error, Err("it unpacks to more than 1048575 bytes".to_owned()));
        }
        Ok(())
    }
}
