//! Files that no output may replace: states, plans and journals.

use groundstate_json::{Cursor, Kind as Json, Stop};
use groundstate_pulumi_deployment::{DecodeOptions, decode};

use crate::input::family::{Family, is_packed};
use crate::input::head::Head;
use crate::input::packed;
use crate::report::error::{Failure, Kind, Result};

/// Content of a file that a user cannot make again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Precious {
    State(Owner),
    Plan,
    Journal,
}

/// The state or stack that a text is of, as far as the text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A Terraform state, by its lineage.
    Terraform(String),
    /// A Pulumi stack, by the stack and project of its resources. `None` if there are no resources.
    Pulumi(Option<(String, String)>),
    Unknown,
}

impl Owner {
    /// Returns `true` if both texts say whose they are, and differ.
    fn is_other_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Terraform(one), Self::Terraform(other)) => {
                !one.is_empty() && !other.is_empty() && one != other
            }
            (Self::Pulumi(Some(one)), Self::Pulumi(Some(other))) => one != other,
            (Self::Terraform(_), Self::Pulumi(_)) | (Self::Pulumi(_), Self::Terraform(_)) => true,
            _ => false,
        }
    }
}

impl Precious {
    /// Recognizes the content of a file, also of a damaged one. Returns `None` for anything else.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        // A plan of Terraform is a zip archive, which names the file `tfplan` in the clear.
        if bytes.starts_with(b"tfplan") || bytes.starts_with(b"PK\x03\x04") && contains(bytes, b"tfplan") {
            return Some(Self::Plan);
        }
        if bytes.starts_with(b"tfstate") {
            return Some(Self::State(Owner::Unknown));
        }
        if bytes.starts_with(b"GSJ\x01") || bytes.starts_with(b"\0groundstate journal ") {
            return Some(Self::Journal);
        }
        if is_packed(bytes) {
            let (text, _) = packed::unpack_damaged(bytes);
            return if is_packed(&text) { None } else { Self::of_text(&text) };
        }
        Self::of_text(bytes)
    }

    fn of_text(bytes: &[u8]) -> Option<Self> {
        match utf16(bytes) {
            Some(text) => Self::of_json(text.as_bytes()),
            None => Self::of_json(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
        }
    }

    fn of_json(text: &[u8]) -> Option<Self> {
        let conflict = contains(text.get(..1 << 16).unwrap_or(text), b"<<<<<<< ");
        let mut names = Names::default();
        let mut cursor = Cursor::new(text);
        if cursor.kind() == Ok(Json::Array) {
            let mut first = true;
            // A list of journal entries, or of nothing.
            let begun = cursor.open(b'[').and_then(|()| cursor.element(&mut first));
            if begun != Ok(true) {
                return None;
            }
        }
        // What follows the damage is not read.
        names.read(&mut cursor).unwrap_or_default();
        match names.kind() {
            Some(Self::State(_)) => Some(Self::State(owner(text))),
            Some(other) => Some(other),
            None if conflict && contains(text, b"\"lineage\"") => Some(Self::State(Owner::Unknown)),
            None => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::State(Owner::Pulumi(_)) => "a Pulumi stack",
            Self::State(_) => "a state",
            Self::Plan => "a plan",
            Self::Journal => "a journal",
        }
    }
}

/// Members of the outermost object that tell what a text is.
#[derive(Debug, Default)]
struct Names {
    is_document: bool,
    is_state: bool,
    is_plan: bool,
    is_stack: bool,
    is_entry: bool,
}

impl Names {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Stop> {
        if cursor.kind()? != Json::Object {
            return Ok(());
        }
        cursor.open(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            match &*name.decode() {
                "format_version" => self.is_document = true,
                "planned_values" | "resource_changes" | "resourcePlans" | "plan" => self.is_plan = true,
                "serial" | "lineage" | "terraform_version" | "encrypted_data" | "modules" => {
                    self.is_state = true;
                }
                "deployment" | "checkpoint" | "latest" => self.is_stack = true,
                "sequenceID" | "operationID" => self.is_entry = true,
                _ => {}
            }
            cursor.skip()?;
        }
        Ok(())
    }

    fn kind(&self) -> Option<Precious> {
        match self {
            Self { is_plan: true, .. } => Some(Precious::Plan),
            // What `show -json` and the commands here print can be printed again.
            Self { is_document: true, .. } => None,
            Self { is_entry: true, .. } => Some(Precious::Journal),
            Self { is_state, is_stack, .. } if *is_state || *is_stack => {
                Some(Precious::State(Owner::Unknown))
            }
            _ => None,
        }
    }
}

fn owner(text: &[u8]) -> Owner {
    match Family::sniff(text) {
        Some(Family::Terraform) => Owner::Terraform(Head::of_damaged(text).lineage),
        Some(Family::Pulumi) => {
            let file = decode(text, &DecodeOptions::default()).ok();
            let first = file.and_then(|file| file.snapshot?.resources.into_iter().next());
            Owner::Pulumi(first.map(|first| (first.urn.stack().to_owned(), first.urn.project().to_owned())))
        }
        None => Owner::Unknown,
    }
}

/// Decodes UTF-16 that begins with its mark, as PowerShell's `>` writes it.
fn utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Refuses an output that is no state in the place of a state, a plan or a journal.
pub(crate) fn refuse(name: &str, there: &[u8]) -> Result<()> {
    Precious::of(there).map_or(Ok(()), |there| Err(refused(name, &there)))
}

/// Refuses a state in the place of a plan, of a journal, or of another state. Returns `true` if it takes the place of a state,
/// which then needs a backup.
pub(crate) fn refuse_other(name: &str, there: &[u8], new: &[u8]) -> Result<bool> {
    let Some(there) = Precious::of(there) else { return Ok(false) };
    match (&there, Precious::of(new)) {
        (Precious::State(there), Some(Precious::State(new))) if !there.is_other_than(&new) => Ok(true),
        (Precious::State(_), Some(Precious::State(_))) => {
            let message = format!("{name} holds another state, which the output would replace");
            Err(Failure::new(Kind::Loss, message)
                .hint("nothing was written; name another file, or remove this one first"))
        }
        _ => Err(refused(name, &there)),
    }
}

/// Refuses a state in the place of a plan or of a journal.
pub(crate) fn refuse_but_state(name: &str, there: &[u8]) -> Result<()> {
    match Precious::of(there) {
        None | Some(Precious::State(_)) => Ok(()),
        Some(there) => Err(refused(name, &there)),
    }
}

fn refused(name: &str, there: &Precious) -> Failure {
    let message = format!("{name} is {}, which the output would replace", there.name());
    Failure::new(Kind::Loss, message).hint("nothing was written; name another file, or remove this one first")
}

#[cfg(test)]
mod tests {
    use super::{Owner, Precious, refuse, refuse_other};

    fn state(lineage: &str) -> String {
        format!(r#"{{"version":4,"serial":1,"lineage":"{lineage}","resources":[]}}"#)
    }

    #[test]
    fn states_plans_and_journals_are_recognized_whole_and_damaged() {
        let state = state("l");
        let wide: Vec<u8> =
            [0xff, 0xfe].into_iter().chain(state.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        for (bytes, expected) in [
            (state.as_bytes(), Some(Precious::State(Owner::Terraform("l".to_owned())))),
            (&state.as_bytes()[..40], Some(Precious::State(Owner::Terraform("l".to_owned())))),
            (&wide, Some(Precious::State(Owner::Terraform("l".to_owned())))),
            (b"\xef\xbb\xbf{\"version\":3,\"deployment\":{}}", Some(Precious::State(Owner::Unknown))),
            (b"{\"version\":3,\"deployment\":{", Some(Precious::State(Owner::Pulumi(None)))),
            (b"{\"encrypted_data\":\"", Some(Precious::State(Owner::Terraform(String::new())))),
            (b"tfstate\x01", Some(Precious::State(Owner::Unknown))),
            (b"PK\x03\x04....tfplan....", Some(Precious::Plan)),
            (b"{\"format_version\":\"1.2\",\"planned_values\":{}}", Some(Precious::Plan)),
            (b"{\"version\":1,\"plan\":{}}", Some(Precious::Plan)),
            (b"{\"version\":1,\"kind\":0,\"sequenceID\":2,", Some(Precious::Journal)),
            (b"[{\"version\":1,\"kind\":0,\"operationID\":2}]", Some(Precious::Journal)),
            (b"GSJ\x01....", Some(Precious::Journal)),
            (b"{\"format_version\":\"1.0\",\"nodes\":[]}", None),
            (b"{\"version\":4}", None),
            (b"PK\x03\x04....photos", None),
            (b"digraph {\n}\n", None),
            (b"[]", None),
            (b"", None),
        ] {
            let found = Precious::of(bytes);
            let text = String::from_utf8_lossy(bytes);
            // The owner of a small deployment depends on its parser alone.
            let alike = matches!((&found, &expected), (Some(Precious::State(_)), Some(Precious::State(_))));
            assert!(found == expected || alike && text.contains("deployment"), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_state_replaces_an_earlier_one_of_its_lineage_only() {
        let [one, other] = ["l", "m"].map(state);
        assert!(refuse_other("f", one.as_bytes(), one.as_bytes()).unwrap());
        assert!(!refuse_other("f", b"notes", one.as_bytes()).unwrap());
        for there in [other.as_bytes(), b"{\"version\":3,\"deployment\":{}}", b"GSJ\x01"] {
            assert_eq!(refuse_other("f", there, one.as_bytes()).unwrap_err().kind.code(), 6);
        }
        assert_eq!(refuse("f", one.as_bytes()).unwrap_err().kind.code(), 6);
        refuse("f", b"digraph {}").unwrap();
    }
}
