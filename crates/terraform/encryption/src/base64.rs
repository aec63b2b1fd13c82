//! Standard base64, as Go reads it: with padding, line ends between the characters, and bits at the end that do not count.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

pub(crate) const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of a text, or nothing if it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\r', '\n']) {
        let joined: String = text.chars().filter(|char| !matches!(char, '\r' | '\n')).collect();
        return ENGINE.decode(joined).ok();
    }
    ENGINE.decode(text).ok()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

/// Appends the text of `bytes`, without a second copy of it.
pub(crate) fn encode_into(bytes: &[u8], out: &mut String) {
    ENGINE.encode_string(bytes, out);
}
