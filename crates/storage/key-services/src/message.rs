//! Bodies of requests and answers, which have keys in them and are overwritten after use.

use base64::Engine;
use bytes::Bytes;
use groundstate_common::{one_line, shortened};
use serde::{Deserialize, Deserializer};
use zeroize::{Zeroize, Zeroizing};

/// More of a message than this is not worth showing.
const LONGEST_MESSAGE: usize = 300;
/// Room for names and punctuation, so that a body with a key is never moved while it grows.
const ROOM: usize = 1024;

/// A JSON object under construction. Members come in the order in which they are added.
pub(crate) struct Body(Zeroizing<Vec<u8>>);

impl Body {
    pub(crate) fn new() -> Self {
        let mut text = Vec::with_capacity(ROOM);
        text.push(b'{');
        Self(Zeroizing::new(text))
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.extend_from_slice(format!("\"{name}\":").as_bytes());
    }

    /// A member that is JSON already.
    pub(crate) fn json(mut self, name: &str, value: &serde_json::Value) -> Self {
        self.name(name);
        let text = value.to_string();
        self.reserve(text.len());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.json(name, &serde_json::Value::from(value))
    }

    /// Bytes in base64.
    pub(crate) fn base64(mut self, name: &str, engine: &impl Engine, bytes: &[u8]) -> Self {
        self.name(name);
        self.reserve(bytes.len().div_ceil(3) * 4 + 2);
        self.0.push(b'"');
        let start = self.0.len();
        let most = base64::encoded_len(bytes.len(), true).unwrap_or(usize::MAX);
        self.0.resize(start.saturating_add(most), 0);
        let written = engine.encode_slice(bytes, self.0.get_mut(start..).unwrap_or_default());
        self.0.truncate(start + written.expect("the room is that of the padded text"));
        self.0.push(b'"');
        self
    }

    /// Makes room in a buffer of its own, and overwrites the old one.
    fn reserve(&mut self, more: usize) {
        let needed = self.0.len() + more + ROOM;
        if needed > self.0.capacity() {
            let mut larger = Vec::with_capacity(needed);
            larger.extend_from_slice(&self.0);
            self.0 = Zeroizing::new(larger);
        }
    }

    pub(crate) fn finish(mut self) -> Bytes {
        self.0.push(b'}');
        Bytes::from_owner(self.0)
    }
}

/// A text of an answer that may be a key in base64.
pub(crate) struct SecretText(Zeroizing<String>);

impl SecretText {
    /// The bytes that it stands for.
    pub(crate) fn decode(&self, engine: &impl Engine) -> Option<Zeroizing<Vec<u8>>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.0.len()));
        engine.decode_vec(self.0.as_bytes(), &mut bytes).ok()?;
        Some(bytes)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

/// Reads an answer and overwrites it; no cause is kept, since it would quote the text.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(body: Bytes) -> Option<T> {
    let parsed = serde_json::from_slice(&body).ok();
    if let Ok(mut own) = body.try_into_mut() {
        own.as_mut().zeroize();
    }
    parsed
}

/// A service's own words, fit for one line of an error.
pub(crate) fn words(text: &str) -> String {
    one_line(&shortened(text.lines().next().unwrap_or_default(), LONGEST_MESSAGE)).into_owned()
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

    use super::{Body, SecretText, words};

    #[test]
    fn bodies_are_json_in_the_order_of_their_members() {
        let long = vec![7; 5000];
        let body = Body::new()
            .text("KeyId", "a\"b")
            .base64("Plaintext", &BASE64_STANDARD, &[251, 255])
            .base64("value", &BASE64_URL_SAFE_NO_PAD, &[251, 255])
            .base64("long", &BASE64_STANDARD, &long)
            .base64("empty", &BASE64_STANDARD, b"")
            .finish();
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.starts_with(r#"{"KeyId":"a\"b","Plaintext":"+/8=","value":"-_8","long":"#), "{text}");
        assert!(text.ends_with(r#","empty":""}"#), "{text}");
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let read: SecretText = serde_json::from_value(value["long"].clone()).unwrap();
        assert_eq!(*read.decode(&BASE64_STANDARD).unwrap(), long);
    }

    #[test]
    fn words_of_services_are_short_and_on_one_line() {
        assert_eq!(words("a\u{1b}[31m\nb"), "a\\u001b[31m");
        assert_eq!(words(&"x".repeat(400)).chars().count(), 301);
    }
}
