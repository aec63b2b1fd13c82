//! The text of a token: recognisable, random, with a checksum.
//!
//! `gs_`, 43 digits to the base of 62 that are 256 random bits, and 6 more that are their CRC-32. So a scanner for secrets can find it
//! by its form alone, and a slip of the hand is told from a token that is not valid without asking the store.

use std::fmt;

use groundstate_common::{IdSource, IdSourceError, hex};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What every token begins with.
pub(crate) const PREFIX: &str = "gs_";
/// How many digits 256 bits have.
const SECRET_DIGITS: usize = 43;
/// How many digits 32 bits have.
const CHECK_DIGITS: usize = 6;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A token. `Debug` does not show it; [`reveal`](Self::reveal) does, once, to its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The text has not the form of a token; it is not quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a token: {0}")]
pub struct InvalidToken(&'static str);

/// The SHA-256 of a token, which is what is stored.
///
/// A password needs a hash that is slow, because people choose it from few. A token is 256 random bits: guessing one takes as long with a
/// fast hash, and a server that computes a slow one for each request is easily kept busy.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash([u8; 32]);

impl Token {
    /// A new one.
    pub(crate) fn generate(ids: &dyn IdSource) -> Result<Self, IdSourceError> {
        let mut secret = [0; 32];
        ids.fill(&mut secret)?;
        let mut text = String::from(PREFIX);
        push_digits(&mut text, secret, SECRET_DIGITS);
        let check = checksum(&text);
        push_digits(&mut text, check.to_be_bytes(), CHECK_DIGITS);
        Ok(Self(text))
    }

    /// Reads a token and checks its form.
    ///
    /// # Errors
    ///
    /// For any text that is no token, such as one with a slip.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        let digits = text.strip_prefix(PREFIX).ok_or(InvalidToken("it does not begin with gs_"))?;
        if digits.len() != SECRET_DIGITS + CHECK_DIGITS {
            return Err(InvalidToken("it is too short or too long"));
        }
        if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(InvalidToken("it has a character that tokens do not have"));
        }
        let (body, check) = text.split_at(text.len() - CHECK_DIGITS);
        let mut expected = String::new();
        push_digits(&mut expected, checksum(body).to_be_bytes(), CHECK_DIGITS);
        if expected == check { Ok(Self(text.to_owned())) } else { Err(InvalidToken("its checksum is wrong")) }
    }

    /// Its text, which is shown to its owner and never again.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(gs_…)")
    }
}

impl TokenHash {
    /// The id of the token: the first digits of the hash. It names the token in lists and logs, and does not help to guess it.
    pub(crate) fn id(&self) -> TokenId {
        TokenId(self.to_string()[..TokenId::DIGITS].to_owned())
    }

    /// Compares in a time that does not tell how much is the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

/// The id by which a token is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(String);

impl TokenId {
    const DIGITS: usize = 16;

    /// Reads an id; none if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == Self::DIGITS && is_hex).then(|| Self(text.to_owned()))
    }

    /// Its text: 16 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn checksum(text: &str) -> u32 {
    crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(text.as_bytes())
}

/// Appends a number, big-endian, as this many digits to the base of 62.
fn push_digits<const N: usize>(out: &mut String, mut number: [u8; N], digits: usize) {
    let mut reversed = Vec::with_capacity(digits);
    for _ in 0..digits {
        let mut rest = 0_u16;
        for byte in &mut number {
            let value = rest << 8 | u16::from(*byte);
            // The rest is below 62, so the quotient is below 256.
            *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
            rest = value % 62;
        }
        reversed.push(char::from(DIGITS[usize::from(rest)]));
    }
    out.extend(reversed.into_iter().rev());
}

#[cfg(test)]
mod tests {
    use groundstate_common::{OsIds, SequenceIds};

    use super::{Token, TokenHash, TokenId, push_digits};

    #[test]
    fn tokens_are_read_as_they_were_made_and_differ() {
        let tokens: Vec<Token> = (0..20).map(|_| Token::generate(&OsIds).unwrap()).collect();
        for (at, token) in tokens.iter().enumerate() {
            assert_eq!(token.reveal().len(), 52);
            assert_eq!(Token::parse(token.reveal()).as_ref(), Ok(token));
            assert!(tokens[..at].iter().all(|other| other != token && !other.hash().is(&token.hash())));
        }
        let first = Token::generate(&SequenceIds::new()).unwrap();
        assert_eq!(first.reveal(), "gs_00000000000000000000000000000000000000000010BqCtQ");
    }

    #[test]
    fn any_slip_is_found_without_a_store_and_not_quoted() {
        let token = Token::generate(&OsIds).unwrap();
        let text = token.reveal();
        for at in 0..text.len() {
            let other = if &text[at..=at] == "x" { "y" } else { "x" };
            let slip = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            let error = Token::parse(&slip).unwrap_err();
            assert!(!error.to_string().contains(&text[10..20]), "{error}");
            assert!(Token::parse(&text[..at]).is_err());
        }
        for text in [
            "",
            "gs_",
            &format!("{text} "),
            &text.to_lowercase(),
            &text.replace("gs_", "gs-"),
            &"gs_é".repeat(20),
        ] {
            assert!(Token::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_shows_a_token_or_its_hash() {
        let token = Token::generate(&OsIds).unwrap();
        let shown = format!("{token:?} {:?}", token.hash());
        assert_eq!(shown, "Token(gs_…) TokenHash");
    }

    #[test]
    fn ids_are_the_beginning_of_the_hash() {
        let hash = TokenHash::parse(&"0123456789abcdef".repeat(4)).unwrap();
        assert_eq!(TokenId::parse("0123456789abcdef"), Some(hash.id()));
        assert_eq!(TokenHash::parse(&hash.to_string()).unwrap().to_string(), hash.to_string());
        for wrong in ["", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdeg"] {
            assert_eq!(TokenId::parse(wrong), None);
        }
        assert!(TokenHash::parse(&"0".repeat(63)).is_none() && TokenHash::parse(&"g".repeat(64)).is_none());
    }

    #[test]
    fn digits_are_those_of_the_number() {
        let mut out = String::new();
        push_digits(&mut out, 62_u32.pow(3).to_be_bytes(), 6);
        push_digits(&mut out, 61_u32.to_be_bytes(), 2);
        assert_eq!(out, "0010000z");
    }
}
