//! Files that are no states, told by their content: what they are, and which command takes them.

use std::fs;
use std::path::Path;

use groundstate_common::shell_command;
use groundstate_json::{Cursor, Kind as JsonKind, Stop};
use groundstate_statefile::{DecodeOptions, decode};

use crate::report::error::{Failure, Kind, Result};

/// A record of a backend is small: one of its settings is longer than a line in rare cases.
const MAX_RECORD: usize = 1 << 20;

/// Where a plan comes from.
pub(crate) const PLAN_HINT: &str =
    "`terraform show -json PLANFILE > plan.json` prints the plan that this command takes";

/// What a file is that is no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foreign {
    PlanArchive,
    Archive,
    ShownPlan,
    ShownState,
    Outputs,
    Configuration,
    Variables,
    LockFile,
    PulumiSettings,
    BackendRecord,
}

/// Blocks of the outermost level of a configuration.
const BLOCKS: [&str; 13] = [
    "terraform",
    "resource",
    "data",
    "module",
    "variable",
    "output",
    "locals",
    "provider",
    "moved",
    "import",
    "removed",
    "check",
    "ephemeral",
];

/// The error for a text that is something known, and no state.
pub(crate) fn recognise(name: &str, text: &[u8]) -> Option<Failure> {
    Some(failure(kind_of(text)?, name))
}

/// The error for what `init` records of a backend: it is written as a state of format 3, and holds none.
pub(crate) fn backend_record(name: &str, text: &[u8]) -> Option<Failure> {
    if text.len() > MAX_RECORD {
        return None;
    }
    let mut has_backend = false;
    let read = members(text, |member, kind| has_backend |= member == "backend" && kind == JsonKind::Object);
    let holds_none = || {
        let file = decode(text, &DecodeOptions::default());
        file.is_ok_and(|file| file.style.source_version == 3 && file.state.is_empty())
    };
    (read.is_ok() && has_backend && holds_none()).then(|| failure(Foreign::BackendRecord, name))
}

/// Refuses the file in which `init` records a backend, before it is locked, changed or replaced as if it were a state.
pub(crate) fn refuse_backend_record(name: &str, path: &Path) -> Result<()> {
    let is_small = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MAX_RECORD as u64);
    // What cannot be read is the matter of what comes next.
    let text = if is_small { fs::read(path).unwrap_or_default() } else { Vec::new() };
    backend_record(name, &text).map_or(Ok(()), Err)
}

/// The error for a text that is something known, and no plan.
pub(crate) fn instead_of_plan(name: &str, text: &[u8]) -> Option<Failure> {
    let is_plan = |kind: &Foreign| matches!(kind, Foreign::ShownPlan | Foreign::PlanArchive);
    let kind = kind_of(text).filter(|kind| !is_plan(kind))?;
    let message = format!("{name} is {}, and not a plan", kind.what());
    Some(Failure::new(Kind::NotState, message).hint(PLAN_HINT))
}

impl Foreign {
    fn what(self) -> &'static str {
        match self {
            Self::PlanArchive => "a plan archive",
            Self::Archive => "a zip archive",
            Self::ShownPlan => "a plan as `terraform show -json` prints it",
            Self::ShownState => {
                "a state as `terraform show -json` prints it, for people and programs that only read"
            }
            Self::Outputs => "a list of outputs as `terraform output -json` prints it",
            Self::Configuration => "a configuration",
            Self::Variables => "a file with values of variables",
            Self::LockFile => "a lock file, which records versions of providers",
            Self::PulumiSettings => "a file with settings of a Pulumi project or stack",
            Self::BackendRecord => "what `terraform init` has recorded of a backend",
        }
    }
}

fn failure(foreign: Foreign, name: &str) -> Failure {
    let with = |command: &str| shell_command(command, &[name]);
    let directory =
        "name the directory instead: `groundstate list DIR` reads the state that it uses".to_owned();
    let hint = match foreign {
        Foreign::PlanArchive => {
            let show = with("terraform show -json");
            format!("`{show} | groundstate order plan -` shows in which order it is carried out")
        }
        Foreign::Archive => "unpack it, and name the state in it".to_owned(),
        Foreign::ShownPlan => {
            format!("`{}` shows in which order it is carried out", with("groundstate order plan"))
        }
        Foreign::ShownState => "name the state itself: `terraform state pull` prints it, and `groundstate show DIR --json` the same as here".to_owned(),
        Foreign::Outputs => {
            "name the state itself: `groundstate outputs DIR --json` prints the same".to_owned()
        }
        Foreign::Configuration | Foreign::Variables | Foreign::LockFile => directory,
        Foreign::PulumiSettings => {
            "`pulumi stack export --file stack.json` writes the state of the stack".to_owned()
        }
        Foreign::BackendRecord => "name the directory above `.terraform` instead: `groundstate list DIR` reads the state in that backend".to_owned(),
    };
    Failure::new(Kind::NotState, format!("{name} is {}, and not a state", foreign.what())).hint(hint)
}

fn kind_of(text: &[u8]) -> Option<Foreign> {
    if text.starts_with(b"PK\x03\x04") {
        let is_plan = memchr::memmem::find(text, b"tfplan").is_some();
        return Some(if is_plan { Foreign::PlanArchive } else { Foreign::Archive });
    }
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => of_document(text),
        Some(_) => of_lines(text),
        None => None,
    }
}

/// What a JSON document is. What has a version of a state is one.
fn of_document(text: &[u8]) -> Option<Foreign> {
    let (mut is_shown, mut is_plan, mut is_state, mut objects, mut count) = (false, false, false, 0, 0);
    let read = members(text, |member, kind| {
        count += 1;
        objects += usize::from(kind == JsonKind::Object);
        match member {
            "format_version" => is_shown = true,
            "planned_values" | "resource_changes" | "configuration" => is_plan = true,
            "version" | "deployment" | "checkpoint" | "encrypted_data" => is_state = true,
            _ => {}
        }
    });
    if read.is_err() || is_state {
        return None;
    }
    if is_shown {
        return Some(if is_plan { Foreign::ShownPlan } else { Foreign::ShownState });
    }
    (count > 0 && objects == count && are_outputs(text).unwrap_or(false)).then_some(Foreign::Outputs)
}

/// Calls `each` for the members of the outermost object.
fn members(text: &[u8], mut each: impl FnMut(&str, JsonKind)) -> std::result::Result<(), Stop> {
    let mut cursor = Cursor::new(text);
    cursor.open(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        each(&name.decode(), cursor.kind()?);
        cursor.skip()?;
    }
    Ok(())
}

/// Whether every member has a value and says whether that is sensitive.
fn are_outputs(text: &[u8]) -> std::result::Result<bool, Stop> {
    let mut cursor = Cursor::new(text);
    cursor.open(b'{')?;
    let mut first = true;
    while cursor.member(&mut first)?.is_some() {
        let (mut has_value, mut has_mark) = (false, false);
        members(cursor.raw()?, |member, _| {
            has_value |= member == "value";
            has_mark |= member == "sensitive";
        })?;
        if !has_value || !has_mark {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a text of lines is, by the first that says something.
fn of_lines(text: &[u8]) -> Option<Foreign> {
    let text = String::from_utf8_lossy(text.get(..text.len().min(1 << 16))?);
    let is_maintained =
        |line: &str| line.contains("maintained automatically by \"t") && line.contains(" init\"");
    if text.lines().take(3).any(is_maintained) {
        return Some(Foreign::LockFile);
    }
    let mut in_comment = false;
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if in_comment || line.starts_with("/*") {
            in_comment = !line.ends_with("*/");
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let rest = rest.trim_start();
        return match rest.chars().next() {
            Some('{' | '"') if BLOCKS.contains(&word) => Some(Foreign::Configuration),
            Some('=') if !word.is_empty() && !rest.starts_with("==") => Some(Foreign::Variables),
            Some(':') if is_settings(word, &text) => Some(Foreign::PulumiSettings),
            _ => None,
        };
    }
    None
}

fn is_settings(word: &str, text: &str) -> bool {
    matches!(word, "config" | "encryptionsalt" | "secretsprovider" | "encryptedkey")
        || matches!(word, "name" | "runtime" | "description") && text.contains("runtime:")
}

#[cfg(test)]
mod tests {
    use super::Foreign::{self, *};
    use super::{backend_record, kind_of};

    #[test]
    fn known_files_are_told_by_their_content() {
        let lock = "# This file is maintained automatically by \"terraform init\".\nprovider \"x\" {\n}";
        for (text, expected) in [
            ("PK\u{3}\u{4}......tfplan", Some(PlanArchive)),
            ("PK\u{3}\u{4}......notes", Some(Archive)),
            (r#"{"format_version":"1.2","planned_values":{}}"#, Some(ShownPlan)),
            (r#"{"format_version":"1.0","terraform_version":"1.11.4","values":{}}"#, Some(ShownState)),
            (r#"{"a":{"sensitive":false,"type":"string","value":"b"}}"#, Some(Outputs)),
            (lock, Some(LockFile)),
            ("# all\n\nresource \"a\" \"b\" {\n}", Some(Configuration)),
            ("/* x\n y */\nlocals {\n}", Some(Configuration)),
            ("region = \"eu\"\n", Some(Variables)),
            ("name: shop\nruntime: nodejs\n", Some(PulumiSettings)),
            ("encryptionsalt: v1:x\n", Some(PulumiSettings)),
            (r#"{"version": 4, "format_version": "1"}"#, None),
            ("{}", None),
            (r#"{"a": 1}"#, None),
            ("", None),
            ("tfstate of long ago", None),
            ("<html>", None),
            ("<<<<<<< ours", None),
        ] {
            assert_eq!(kind_of(text.as_bytes()), expected as Option<Foreign>, "{text}");
        }
        assert!(backend_record("x", br#"{"version":3,"backend":{"type":"s3"}}"#).is_some());
        assert!(backend_record("x", br#"{"version":3,"backend":null}"#).is_none());
        let full = br#"{"version":3,"backend":{"type":"s3"},"modules":[{"path":["root"],"outputs":
            {"a":{"sensitive":false,"type":"string","value":"b"}},"resources":{}}]}"#;
        assert!(backend_record("x", full).is_none(), "a state of old that remembers its backend");
    }
}
