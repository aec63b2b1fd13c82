//! Whose state a text is: found from the members of its outermost object, never from a name.

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
    /// The family of a whole text.
    pub(crate) fn of(text: &[u8]) -> Self {
        Self::sniff(text).unwrap_or(Self::Terraform)
    }

    /// The family of a text that begins so, if that much tells it. What follows the first telling member is not read.
    pub(crate) fn sniff(begin: &[u8]) -> Option<Self> {
        first_telling(&mut Cursor::new(begin)).ok().flatten()
    }

    /// The name for programs.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::Pulumi => "pulumi",
        }
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
