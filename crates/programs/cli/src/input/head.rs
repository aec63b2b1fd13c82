//! What a state says of itself, read without understanding the rest: an encrypted one says as much.

use groundstate_json::{Cursor, Kind, Stop};
use groundstate_statefile::Document;
use groundstate_states::Serial;

/// The members of a state that decide about copies of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) serial: u64,
    pub(crate) lineage: String,
    /// The release that wrote it; empty where that is not said.
    pub(crate) writer: String,
    /// It is an envelope of OpenTofu's encryption.
    pub(crate) is_encrypted: bool,
    /// There are neither resources nor outputs, so nothing is lost.
    pub(crate) is_empty: bool,
}

impl Head {
    /// Reads the head of a state; nothing, if the text is no JSON object.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(text);
        if cursor.kind().ok()? != Kind::Object {
            return None;
        }
        let mut head = Self { is_empty: true, ..Self::default() };
        members(&mut cursor, &mut head).ok()?;
        cursor.end().ok().map(|()| head)
    }

    /// As much of the head as is there before the damage.
    pub(crate) fn of_damaged(text: &[u8]) -> Self {
        let mut head = Self::default();
        // What follows the damage is not read.
        members(&mut Cursor::new(text), &mut head).unwrap_or_default();
        head
    }
}

fn members(cursor: &mut Cursor<'_>, head: &mut Head) -> Result<(), Stop> {
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        // It comes before the version of the envelope, which a truncated one may lack.
        head.is_encrypted |= name.decode() == "encrypted_data";
        match (&*name.decode(), cursor.kind()?) {
            ("encryption_version", Kind::String) => head.is_encrypted |= !cursor.string()?.raw.is_empty(),
            ("serial", Kind::Number) => head.serial = cursor.number()?.parse().unwrap_or(0),
            ("terraform_version", Kind::String) => head.writer = cursor.string()?.decode().into_owned(),
            ("lineage", Kind::String) => head.lineage = cursor.string()?.decode().into_owned(),
            ("resources" | "outputs" | "modules" | "encrypted_data" | "check_results", _) => {
                let value: Vec<u8> = cursor
                    .raw()?
                    .iter()
                    .copied()
                    .filter(|byte| !byte.is_ascii_whitespace())
                    .take(3)
                    .collect();
                head.is_empty &= matches!(&*value, b"[]" | b"{}" | b"nul");
            }
            _ => cursor.skip()?,
        }
    }
    Ok(())
}

/// The same state under another serial, with every other byte as it stands; nothing where that cannot be, as in one that
/// is encrypted.
pub(crate) fn with_serial(text: &[u8], serial: u64) -> Option<Vec<u8>> {
    let document = Document::open(text.to_vec()).ok()?;
    let mut edit = document.edit();
    edit.serial(Serial::new(serial));
    edit.to_vec().ok()
}

#[cfg(test)]
mod tests {
    use super::{Head, with_serial};

    #[test]
    fn reads_what_every_kind_of_state_says_of_itself() {
        for (text, serial, lineage, is_empty) in [
            (
                r#"{"version": 4, "serial": 7, "lineage": "l", "outputs": {}, "resources": [ ], "check_results": null}"#,
                7,
                "l",
                true,
            ),
            (r#"{"version": 4, "serial": 1, "lineage": "a\u0062", "resources": [{}]}"#, 1, "ab", false),
            (
                r#"{"serial": 3, "lineage": "l", "meta": {"x": "y"}, "encrypted_data": "abc", "encryption_version": "v0"}"#,
                3,
                "l",
                false,
            ),
            (
                r#"{"version": 3, "serial": 2, "lineage": "l", "modules": [{"path": ["root"]}]}"#,
                2,
                "l",
                false,
            ),
            (r#"{"outputs": {"a": {"value": 1}}}"#, 0, "", false),
        ] {
            let head = Head::read(text.as_bytes()).unwrap();
            assert_eq!((head.serial, &*head.lineage, head.is_empty), (serial, lineage, is_empty), "{text}");
        }
        for text in ["", "{", "[]", "{} x", "tfstate", "{\"serial\": 1"] {
            assert_eq!(Head::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_truncated_envelope_is_known_and_tells_its_serial() {
        let whole =
            r#"{"serial":3,"lineage":"l","meta":{},"encrypted_data":"abc","encryption_version":"v0"}"#;
        for length in whole.find("\"abc").unwrap()..whole.len() {
            let head = Head::of_damaged(&whole.as_bytes()[..length]);
            assert!(head.is_encrypted && head.serial == 3, "{length}: {head:?}");
        }
        for text in ["", "{", "[]", r#"{"version":4,"resources":[{"encrypted_data":"abc"#] {
            assert!(!Head::of_damaged(text.as_bytes()).is_encrypted, "{text}");
        }
    }

    #[test]
    fn another_serial_leaves_all_other_bytes() {
        let text = br#"{ "version": 4,  "serial": 7, "lineage": "l" }"#;
        assert_eq!(with_serial(text, 12).unwrap(), br#"{ "version": 4,  "serial": 12, "lineage": "l" }"#);
        let envelope = br#"{"serial": 3, "encrypted_data": "abc", "encryption_version": "v0"}"#;
        assert!(Head::read(envelope).unwrap().is_encrypted && !Head::read(text).unwrap().is_encrypted);
        assert_eq!(
            with_serial(br#"{"serial": 3, "encrypted_data": "abc", "encryption_version": "v0"}"#, 4),
            None
        );
    }
}
