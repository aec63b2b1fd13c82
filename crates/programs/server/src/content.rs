//! What a body that arrives in pieces says of itself: which state it is, or that it is none.

use groundstate_common::shortened;
use groundstate_json::{Kind, Stop, Top, TopScan, TopValue};
use groundstate_versioned::{Note, Version};
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::names::StatePath;
use crate::problem::{Problem, ProblemType};

/// The longest lineage, in bytes. Terraform's have 36.
const LONGEST_LINEAGE: usize = 512;
/// How much is kept of the name of a release, and of a remark, in characters.
const LONGEST_WRITER: usize = 100;
const LONGEST_REMARK: usize = 300;

const VERSION: &str = "version";
const SERIAL: &str = "serial";
const LINEAGE: &str = "lineage";
const WRITER: &str = "terraform_version";
const RESOURCES: &str = "resources";
const OUTPUTS: &str = "outputs";
const ENCRYPTION: &str = "encryption_version";

/// Reads a body piece by piece; it costs a few kilobytes, however large the body is.
#[derive(Debug)]
pub(crate) struct Inspection {
    scan: TopScan,
    stopped: Option<Stop>,
}

/// What a body is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A state of format 4.
    State(StateNote),
    /// A state that OpenTofu has encrypted. Serial and lineage are what the envelope tells, and nothing vouches for them.
    Encrypted(StateNote),
    /// JSON that is neither, and why.
    Other(String),
    /// No JSON, and what is wrong where.
    NotJson(String),
}

/// What is kept of a state beside its bytes, so that lists need not read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StateNote {
    /// The serial; none if the content tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) serial: Option<u64>,
    /// The lineage; empty if the content tells none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) lineage: String,
    /// The release that wrote it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) terraform_version: String,
    /// How many resources there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<u64>,
    /// How many outputs there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outputs: Option<u64>,
    /// The highest serial that the state has had up to this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) highest_serial: Option<u64>,
    /// The number of the version whose content it has again, under another serial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rolled_back_to: Option<u64>,
    /// Whether it is an envelope of OpenTofu's encryption.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) encrypted: bool,
    /// The id of the lock that its writer sent, so that a write that is sent again is recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written_under: Option<String>,
    /// What the policies let pass although it is odd.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl StateNote {
    /// The note of what follows a version with this note: it remembers the highest serial.
    pub(crate) fn after(self, last: &Self) -> Self {
        let highest_serial = [last.highest_serial, last.serial, self.serial].into_iter().flatten().max();
        Self { highest_serial, ..self }
    }

    /// The note as the store keeps it.
    ///
    /// # Errors
    ///
    /// If it is too long, which its parts do not allow.
    pub(crate) fn to_note(&self) -> Result<Note, Problem> {
        let failed = |_| Problem::new(ProblemType::Internal, "the note of the version cannot be kept");
        let remarks =
            self.remarks.iter().map(|remark| shortened(remark, LONGEST_REMARK).into_owned()).collect();
        let note = Self { remarks, ..self.clone() };
        let text = serde_json::to_string(&note).map_err(|_| failed(()))?;
        Note::parse(&text).map_err(|_| failed(()))
    }
}

impl Content {
    /// What is kept of it; nothing of what is no state.
    pub(crate) fn into_note(self) -> StateNote {
        match self {
            Self::State(note) | Self::Encrypted(note) => note,
            Self::Other(_) | Self::NotJson(_) => StateNote::default(),
        }
    }
}

/// What was kept of a version, to be shown: nothing where another program wrote it, or a note that cannot be read.
pub(crate) fn shown_note(version: &Version) -> StateNote {
    parsed_note(version).unwrap_or_else(|error| {
        warn!(version = version.number, %error, "the note of a version of a state cannot be read");
        StateNote::default()
    })
}

/// What was kept of a version, for a decision; nothing where another program wrote it.
///
/// # Errors
///
/// If there is a note that cannot be read: no rule would hold then.
pub(crate) fn note_of(path: &StatePath, version: &Version) -> Result<StateNote, Problem> {
    parsed_note(version).map_err(|error| {
        let number = version.number;
        warn!(state = %path, version = number, %error, "the note of a version of a state cannot be read");
        let detail = format!(
            "what is kept of version {number} of {path} cannot be read, so nothing is written; a later release may have written it, \
             upgrade the server"
        );
        Problem::new(ProblemType::Unreadable, detail)
    })
}

/// The same for a version that may not be there.
pub(crate) fn note_of_last(path: &StatePath, version: Option<&Version>) -> Result<StateNote, Problem> {
    version.map_or_else(|| Ok(StateNote::default()), |version| note_of(path, version))
}

fn parsed_note(version: &Version) -> Result<StateNote, serde_json::Error> {
    version.note.as_ref().map_or_else(|| Ok(StateNote::default()), |note| serde_json::from_str(note.as_str()))
}

impl Inspection {
    pub(crate) fn new() -> Self {
        let scan = TopScan::of(&[VERSION, SERIAL, LINEAGE, WRITER, RESOURCES, OUTPUTS, ENCRYPTION]);
        Self { scan, stopped: None }
    }

    /// Reads the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if self.stopped.is_none() {
            self.stopped = self.scan.push(piece).err();
        }
    }

    /// Says what the body is, once it is complete.
    pub(crate) fn finish(self) -> Content {
        match self.stopped.map_or_else(|| self.scan.finish(), Err) {
            Ok(top) => content(&top),
            Err(stop) => Content::NotJson(format!("{} at byte {}", stop.why, stop.offset)),
        }
    }
}

fn content(top: &Top) -> Content {
    if top.kind() != Kind::Object {
        return Content::Other("it is not an object".to_owned());
    }
    let note = StateNote {
        serial: number(top.get(SERIAL)),
        lineage: text(top.get(LINEAGE)),
        terraform_version: shortened(&text(top.get(WRITER)), LONGEST_WRITER).into_owned(),
        resources: count(top.get(RESOURCES)),
        outputs: count(top.get(OUTPUTS)),
        ..StateNote::default()
    };
    match (top.get(VERSION), top.get(ENCRYPTION)) {
        (Some(TopValue::Number(version)), _) if version == "4" => match problem(top) {
            None => Content::State(note),
            Some(problem) => Content::Other(problem.to_owned()),
        },
        (None, Some(TopValue::String(version))) if !version.is_empty() => match problem(top) {
            None => Content::Encrypted(StateNote { resources: None, outputs: None, encrypted: true, ..note }),
            Some(problem) => Content::Other(problem.to_owned()),
        },
        (Some(TopValue::Number(version)), _) if version.len() < 20 => {
            Content::Other(format!("its format version is {version}, and states of version 4 are stored"))
        }
        (Some(_), _) => Content::Other("its format version is not a whole number".to_owned()),
        (None, _) => Content::Other("it has no format version".to_owned()),
    }
}

/// What makes an object none that Terraform or OpenTofu would read.
fn problem(top: &Top) -> Option<&'static str> {
    if top.get(SERIAL).is_some_and(|serial| *serial != TopValue::Null && number(Some(serial)).is_none()) {
        return Some("its serial is not a whole number from 0 to 18446744073709551615");
    }
    if !matches!(top.get(LINEAGE), None | Some(TopValue::Null | TopValue::String(_))) {
        return Some("its lineage is not a text");
    }
    if text(top.get(LINEAGE)).len() > LONGEST_LINEAGE {
        return Some("its lineage is longer than 512 bytes");
    }
    if !matches!(top.get(RESOURCES), None | Some(TopValue::Null | TopValue::Array(_))) {
        return Some("its resources are not a list");
    }
    (!matches!(top.get(OUTPUTS), None | Some(TopValue::Null | TopValue::Object(_))))
        .then_some("its outputs are not an object")
}

fn number(value: Option<&TopValue>) -> Option<u64> {
    match value? {
        TopValue::Number(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

fn text(value: Option<&TopValue>) -> String {
    match value {
        Some(TopValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn count(value: Option<&TopValue>) -> Option<u64> {
    match value? {
        TopValue::Array(items) | TopValue::Object(items) => Some(*items),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Inspection, StateNote};

    fn inspect(text: &str) -> Content {
        let mut inspection = Inspection::new();
        text.as_bytes().chunks(3).for_each(|piece| inspection.push(piece));
        inspection.finish()
    }

    #[test]
    fn a_state_tells_its_serial_lineage_and_size() {
        let text = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "l-1",
            "outputs": {"a": {"value": 1, "type": "number"}}, "resources": [{}, {}], "check_results": null}"#;
        let note = StateNote {
            serial: Some(7),
            lineage: "l-1".to_owned(),
            terraform_version: "1.11.4".to_owned(),
            resources: Some(2),
            outputs: Some(1),
            ..StateNote::default()
        };
        assert_eq!(inspect(text), Content::State(note));
    }

    #[test]
    fn an_envelope_of_opentofu_tells_serial_and_lineage_only() {
        let text = r#"{"serial":7,"lineage":"l-1","meta":{"k":"e30="},"encrypted_data":"AAAA","encryption_version":"v0"}"#;
        let Content::Encrypted(note) = inspect(text) else { panic!("it is an envelope") };
        assert_eq!(
            (note.serial, note.lineage.as_str(), note.resources, note.encrypted),
            (Some(7), "l-1", None, true)
        );
        let Content::Encrypted(note) = inspect(r#"{"serial":null,"lineage":"","encryption_version":"v0"}"#)
        else {
            panic!("it is an envelope")
        };
        assert_eq!((note.serial, note.lineage.as_str()), (None, ""));
    }

    #[test]
    fn what_is_no_state_is_told_apart_from_what_is_no_json() {
        for (text, why) in [
            ("[]", "not an object"),
            ("{}", "no format version"),
            (r#"{"version": 3, "serial": 1}"#, "is 3"),
            (r#"{"version": "4"}"#, "not a whole number"),
            (r#"{"version": 4, "serial": -1}"#, "serial"),
            (r#"{"version": 4, "serial": 1.0}"#, "serial"),
            (r#"{"version": 4, "lineage": 1}"#, "lineage"),
            (r#"{"version": 4, "resources": {}}"#, "resources"),
            (r#"{"version": 4, "outputs": []}"#, "outputs"),
            (r#"{"encryption_version": ""}"#, "no format version"),
        ] {
            let Content::Other(found) = inspect(text) else { panic!("{text}: {:?}", inspect(text)) };
            assert!(found.contains(why), "{text}: {found}");
        }
        for text in ["", "{", "<html>", "{\"version\": 4} x", "{\"version\": 4"] {
            assert!(matches!(inspect(text), Content::NotJson(_)), "{text}: {:?}", inspect(text));
        }
    }
}
