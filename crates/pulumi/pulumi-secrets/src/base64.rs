//! Standard base64 as Go's decoder takes it.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Padding is required, and spare bits at the end may have any value.
pub(crate) const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes a text, in which line ends mean nothing.
///
/// # Errors
///
/// The place of the byte that cannot stand there, as Go names it.
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let decoded = if text.contains(['\r', '\n']) {
        ENGINE.decode(text.replace(['\r', '\n'], ""))
    } else {
        ENGINE.decode(text)
    };
    decoded.map_err(|_| illegal_at(text.as_bytes()))
}

/// Where Go's decoder stops. A group that is not full counts from its first symbol, one whose padding is not from the end.
fn illegal_at(text: &[u8]) -> usize {
    let (mut symbols, mut padding) = (0, 0);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\r' | b'\n' => {}
            _ if padding > 0 && symbols + padding == 4 => return at,
            b'=' if padding > 0 || symbols >= 2 => padding += 1,
            // What should be the second padding is not; the byte before it is blamed.
            _ if padding > 0 => return at.saturating_sub(1),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => symbols = (symbols + 1) % 4,
            _ => return at,
        }
    }
    if padding > 0 { text.len() } else { text.len().saturating_sub(symbols) }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn what_go_takes_is_taken_and_what_it_refuses_is_refused() {
        for (text, expected) in [
            ("", Ok(&b""[..])),
            ("YWI=", Ok(b"ab")),
            // Spare bits of the last symbol.
            ("YWJ=", Ok(b"ab")),
            ("Y\r\nWI\n=\n", Ok(b"ab")),
            ("\n", Ok(b"")),
            ("YWI", Err(0)),
            ("AAAAY", Err(4)),
            ("Y!I=", Err(1)),
            ("Y\n!I=", Err(2)),
            ("YWI=YWI=", Err(4)),
            ("YWI =", Err(3)),
            ("Y-_=", Err(1)),
            ("====", Err(0)),
        ] {
            assert_eq!(decode(text).as_deref().map_err(|at| *at), expected, "{text:?}");
        }
    }
}
