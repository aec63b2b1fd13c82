//! Small JSON documents that carry a checksum of their own text.
//!
//! The last member of a sealed object is `sum`: the SHA-256 of all bytes before it, in hexadecimal digits. So `sha256sum` can check a document
//! by hand, and a reader needs no order of members and no spelling of numbers to agree with the writer.
//!
//! A text that ends otherwise has no seal. The format number of a document says whether it has to have one: a reader refuses a
//! document without a seal whose format has seals, and one with a seal whose format has none. A flipped bit therefore never turns a sealed document
//! into an old one.
//!
//! ```
//! use groundstate_blobs::sealed::{seal, unseal};
//!
//! let text = seal(r#"{"format":2,"name":"prod"}"#);
//! assert!(text.starts_with(r#"{"format":2,"name":"prod","sum":""#));
//! assert_eq!(unseal(text.as_bytes()).unwrap().as_deref(), Some(&br#"{"format":2,"name":"prod"}"#[..]));
//! assert!(unseal(text.replace("prod", "dev").as_bytes()).is_err());
//! assert_eq!(unseal(b"{}"), Ok(None));
//! ```

use groundstate_common::hex;
use sha2::{Digest as _, Sha256};

const BEGIN: &str = ",\"sum\":\"";
const END: &str = "\"}\n";
/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// The checksum of a document is not that of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenSeal;

impl std::fmt::Display for BrokenSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("its checksum is not that of its text")
    }
}

impl std::error::Error for BrokenSeal {}

/// Adds the checksum to the text of an object that has at least one member.
pub fn seal(object: &str) -> String {
    let object = object.trim_end();
    let body = object.strip_suffix('}').unwrap_or(object).trim_end();
    format!("{body}{BEGIN}{}{END}", hex(&Sha256::digest(body.as_bytes())))
}

/// Gives the object without its checksum; none for a text that has no seal.
///
/// # Errors
///
/// When the checksum is not that of the text.
pub fn unseal(text: &[u8]) -> Result<Option<Vec<u8>>, BrokenSeal> {
    let Some((body, sum)) = split(text) else { return Ok(None) };
    if hex(&Sha256::digest(body)).as_bytes() != sum {
        return Err(BrokenSeal);
    }
    let mut object = body.to_vec();
    object.push(b'}');
    Ok(Some(object))
}

/// The text before the seal, and the digits of the seal.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = text.strip_suffix(END.as_bytes())?;
    let (rest, sum) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(BEGIN.as_bytes())?, sum))
}

#[cfg(test)]
mod tests {
    use super::{BrokenSeal, seal, unseal};

    #[test]
    fn seal_is_taken_off_again() {
        for object in ["{\"a\":1}", "{\n  \"a\": \"}\"\n}\n", "{\"a\":1,\"sum\":\"x\"}"] {
            let opened = unseal(seal(object).as_bytes()).unwrap().unwrap();
            let trimmed = object.trim_end().strip_suffix('}').unwrap().trim_end();
            assert_eq!(String::from_utf8(opened).unwrap(), format!("{trimmed}}}"));
        }
    }

    #[test]
    fn flipped_bit_breaks_the_seal_or_leaves_none() {
        let text = seal("{\"format\":2,\"name\":\"prod\"}").into_bytes();
        for at in 0..text.len() * 8 {
            let mut damaged = text.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert!(matches!(unseal(&damaged), Err(BrokenSeal) | Ok(None)), "bit {at}");
        }
    }

    #[test]
    fn cut_text_has_no_seal() {
        let text = seal("{\"format\":2}").into_bytes();
        for end in 0..text.len() {
            assert_eq!(unseal(&text[..end]), Ok(None), "{end}");
        }
    }
}
