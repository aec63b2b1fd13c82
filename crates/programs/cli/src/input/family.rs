//! Whether a text can be a state, and whose it is: found from the members of its outermost object, never from a name.

use groundstate_json::{Cursor, Kind, Stop};

/// A family of products that share their formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Terraform and OpenTofu. An unknown file is judged as theirs.
    Terraform,
    /// Pulumi.
    Pulumi,
}

/// Members that only one of the families has in its outermost object.
const TELLING: [(&[u8], Family); 18] = [
    (b"deployment", Family::Pulumi),
    (b"checkpoint", Family::Pulumi),
    (b"features", Family::Pulumi),
    // Before there were versions, the body of a checkpoint was the document.
    (b"latest", Family::Pulumi),
    (b"stack", Family::Pulumi),
    (b"target", Family::Pulumi),
    (b"terraform_version", Family::Terraform),
    (b"serial", Family::Terraform),
    (b"lineage", Family::Terraform),
    (b"outputs", Family::Terraform),
    (b"resources", Family::Terraform),
    (b"modules", Family::Terraform),
    (b"check_results", Family::Terraform),
    (b"backend", Family::Terraform),
    (b"remote", Family::Terraform),
    (b"encrypted_data", Family::Terraform),
    (b"encryption_version", Family::Terraform),
    (b"meta", Family::Terraform),
];

impl Family {
    /// The family of a text that begins so, if that much tells it. What follows the first telling member is not read.
    pub(crate) fn sniff(begin: &[u8]) -> Option<Self> {
        first_telling(&mut Cursor::new(begin)).ok().flatten()
    }
}

fn first_telling(cursor: &mut Cursor<'_>) -> Result<Option<Family>, Stop> {
    if cursor.kind()? != Kind::Object {
        return Ok(None);
    }
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        let name = name.decode();
        if let Some((_, family)) = TELLING.iter().find(|(telling, _)| *telling == name.as_bytes()) {
            return Ok(Some(*family));
        }
        cursor.skip()?;
    }
    Ok(None)
}

/// What compressed bytes begin with.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Whether bytes that begin so are compressed by gzip.
pub(crate) fn is_packed(begin: &[u8]) -> bool {
    begin.starts_with(GZIP)
}

/// Whether a text that begins so can be JSON, compressed or not, or the binary format of long ago.
pub(crate) fn may_be_state(begin: &[u8]) -> bool {
    if is_packed(begin) {
        return true;
    }
    let first = begin.iter().find(|byte| !b" \t\r\n".contains(byte));
    first.is_none_or(|byte| matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'))
}

#[cfg(test)]
mod tests {
    use super::Family::{self, Pulumi, Terraform};

    #[test]
    fn the_first_member_that_only_one_family_has_decides() {
        for (text, expected) in [
            (r#"{"version": 4, "terraform_version": "1.0.0", "deployment": {}}"#, Some(Terraform)),
            (r#"{"version": 3, "deployment": {"serial": 1}}"#, Some(Pulumi)),
            (r#"{"version": 4, "features": ["taint"], "deployment": {}}"#, Some(Pulumi)),
            (r#"{"deployment": null, "version": 3}"#, Some(Pulumi)),
            (r#"{"version": 0, "checkpoint": {"stack": "s"}}"#, Some(Pulumi)),
            (r#"{"target": "dev", "time": "x", "config": {}, "latest": {}}"#, Some(Pulumi)),
            (r#"{"stack": "dev", "latest": {}}"#, Some(Pulumi)),
            (r#" {"\u0073erial": 7"#, Some(Terraform)),
            (r#"{"meta": {}, "encrypted_data": ""#, Some(Terraform)),
            (r#"{"version": 4}"#, None),
            (r#"{"version": 3, "deploym"#, None),
            ("{}", None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(Family::sniff(text.as_bytes()), expected, "{text}");
        }
    }
}
