//! The column `data`: `{"data":"<base64>"}`.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use groundstate_postgres::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use serde::Deserialize;

const BEGIN: &[u8] = br#"{"data":""#;
const END: &[u8] = br#""}"#;
/// PostgreSQL takes no message and no field of 1 GiB; what is left is for the rest of the message.
const LONGEST_FIELD: usize = (1 << 30) - (64 << 10);
/// The longest content whose row fits.
pub(crate) const LONGEST: usize = (LONGEST_FIELD - BEGIN.len() - END.len()) / 4 * 3;
/// Bytes that are encoded at a time.
const STEP: usize = 3 << 12;

/// A content that is encoded straight into the message, without a copy of its text.
pub(crate) struct Content<'a>(pub(crate) &'a Bytes);

impl fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({} bytes)", self.0.len())
    }
}

impl ToSql for Content<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let mut text = [0; STEP / 3 * 4];
        out.reserve(BEGIN.len() + self.0.len().div_ceil(3) * 4 + END.len() + 64);
        out.put_slice(BEGIN);
        for step in self.0.chunks(STEP) {
            let len = STANDARD.encode_slice(step, &mut text)?;
            out.put_slice(text.get(..len).unwrap_or_default());
        }
        out.put_slice(END);
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::JSON
    }

    to_sql_checked!();
}

/// The text of a row, where it was received.
pub(crate) struct Text<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Text<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::JSON
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
}

impl Text<'_> {
    /// The content; the reason if there is none in it.
    pub(crate) fn content(&self) -> Result<Bytes, String> {
        // The errors of the parsers may show what they met, so they are not passed on.
        let document: Document<'_> = serde_json::from_slice(self.0)
            .map_err(|_| "the row is not a JSON object with the text `data`".to_owned())?;
        let content = STANDARD.decode(document.data.as_bytes());
        content.map(Bytes::from).map_err(|_| "the text `data` of the row is not base64".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};
    use groundstate_postgres::tokio_postgres::types::{ToSql, Type};

    use super::{Content, LONGEST, STEP, Text};

    #[test]
    fn rows_are_those_of_the_original_at_every_length_around_a_step() {
        for len in [0, 1, 2, 3, 4, STEP - 1, STEP, STEP + 1, 2 * STEP + 2] {
            let bytes: Bytes = (0..len).map(|at| (at % 251) as u8).collect();
            let mut out = BytesMut::new();
            Content(&bytes).to_sql(&Type::JSON, &mut out).unwrap();
            assert_eq!(Text(&out).content().unwrap(), bytes, "{len}");
        }
        let mut out = BytesMut::new();
        Content(&Bytes::from_static(b"{}")).to_sql(&Type::JSON, &mut out).unwrap();
        assert_eq!(&out[..], br#"{"data":"e30="}"#);
        const { assert!(LONGEST > 750 << 20 && LONGEST / 3 * 4 < 1 << 30) };
    }

    #[test]
    fn spaces_and_more_keys_do_no_harm_and_damage_is_said_without_the_content() {
        let text = |text: &'static str| Text(text.as_bytes()).content();
        assert_eq!(&text(r#" { "x": 1, "data" : "e30\u003d" } "#).unwrap()[..], b"{}");
        for (damaged, why) in [
            ("null", "not a JSON object"),
            ("{}", "not a JSON object"),
            (r#"{"data":null}"#, "not a JSON object"),
            (r#"{"data":"s3cret!"}"#, "not base64"),
        ] {
            let reason = text(damaged).unwrap_err();
            assert!(reason.contains(why) && !reason.contains("s3cret"), "{reason}");
        }
    }
}
