//! `groundstate check`: the rules of Pulumi snapshots.

use std::borrow::Cow;

use groundstate_common::Severity;
use groundstate_json::places;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, NoteKind, ReadError, decode};
use groundstate_pulumi_integrity::{Finding, VerifyOptions, verify};

use super::locate::locate;
use crate::input::foreign;
use crate::input::pulumi::{envelope, faults, snapshot};
use crate::input::source::Source;
use crate::report::error::Result;
use crate::report::findings::{Checked, ShownFinding};
use crate::report::progress::working;

/// Checks one state. What cannot be read is a finding too. The text is given back, for the lines that findings are about; it
/// may be empty where nothing was found.
pub(crate) fn check(source: &Source) -> Result<(Checked, Cow<'_, [u8]>)> {
    if let Some(checked) = check_condensed(source)? {
        return Ok(checked);
    }
    let text = source.text()?;
    match foreign::recognise(&source.name, &text) {
        Some(failure) => Err(failure),
        None => Ok((check_whole(&source.name, &text), text)),
    }
}

/// Checks one state without holding its text, where that makes no difference: nothing if there is something about it that
/// needs the whole, such as notes and problems of the reader.
fn check_condensed(source: &Source) -> Result<Option<(Checked, Cow<'_, [u8]>)>> {
    let Some((file, original)) = source.condensed()? else { return Ok(None) };
    let (checked, found) = verified(&source.name, &file);
    // The model makes room for the whole text.
    drop(file);
    if found.is_empty() {
        return Ok(Some((checked, Cow::Borrowed(&[]))));
    }
    let Some(text) = original.read()? else { return Ok(None) };
    let findings = shown(found, &text);
    Ok(Some((Checked { findings, ..checked }, text)))
}

fn check_whole(name: &str, text: &[u8]) -> Checked {
    let file = match decode(text, &DecodeOptions::default()) {
        Ok(file) => file,
        Err(error) => return Checked { findings: unreadable(&error), ..Checked::new(name, "pulumi") },
    };
    let (checked, found) = verified(name, &file);
    let findings = losses(&file, text).into_iter().chain(shown(found, text)).collect();
    Checked { findings, ..checked }
}

/// What is known of a file that could be read, and what the rules find in it.
fn verified(name: &str, file: &DeploymentFile) -> (Checked, Vec<Finding>) {
    let _working = working("checking");
    let snapshot = snapshot(file);
    let report = verify(&snapshot, &VerifyOptions::default().loading(true));
    let checked = Checked {
        readable: true,
        version: Some(file.style.source_version.to_string()),
        manner: Some(("envelope", envelope(file))),
        counts: vec![
            ("resources", snapshot.resources.len()),
            ("pending_operations", snapshot.pending_operations.len()),
        ],
        ..Checked::new(name, "pulumi")
    };
    (checked, report.findings)
}

/// Findings with their places.
fn shown(found: Vec<Finding>, text: &[u8]) -> Vec<ShownFinding> {
    let places = locate(text, found.iter().map(|finding| finding.path.as_str()));
    let shown = found.into_iter().zip(places).map(|(finding, place)| ShownFinding {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().into(),
        message: finding.message,
        help: Some(finding.help),
        address: finding.urn.map(|urn| urn.to_string()),
        original: finding.original,
        place: Some(place),
    });
    shown.collect()
}

/// What the file says twice in different ways, or in a way that no writer can keep.
fn losses(file: &DeploymentFile, text: &[u8]) -> Vec<ShownFinding> {
    let lost: Vec<_> = file.notes.iter().filter(|note| note.kind == NoteKind::Lost).collect();
    let offsets: Vec<usize> = lost.iter().map(|note| note.offset).collect();
    let found = lost.iter().zip(places(text, &offsets)).map(|(note, place)| ShownFinding {
        code: Some("GS0515".to_owned()),
        severity: Severity::Warning,
        title: "content that is not kept".into(),
        message: note.message.clone(),
        help: Some("say it once: Pulumi reads the last one, and a changed file keeps no other"),
        address: None,
        original: None,
        place: Some(place),
    });
    found.collect()
}

fn unreadable(error: &ReadError) -> Vec<ShownFinding> {
    let found = faults(error).into_iter().map(|fault| ShownFinding {
        code: fault.code,
        severity: Severity::Error,
        title: fault.title.into(),
        message: fault.detail,
        help: fault.help,
        address: fault.urn,
        original: None,
        place: Some(fault.place),
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Source, check_condensed, check_whole};

    /// Whether a text is checked in condensed form, in which case both ways have to tell the same.
    #[track_caller]
    fn agrees(text: &[u8]) -> bool {
        let source = Source::of_bytes("stack.json".to_owned(), None, text.to_vec()).unwrap();
        let Some((condensed, _)) = check_condensed(&source).unwrap() else { return false };
        let whole = check_whole(&source.name, text);
        assert_eq!(format!("{condensed:?}"), format!("{whole:?}"), "{}", String::from_utf8_lossy(text));
        true
    }

    fn fixtures(folder: &Path, texts: &mut Vec<Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => fixtures(&path, texts),
                false => texts.push(fs::read(&path).unwrap()),
            }
        }
    }

    /// The same numbers in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 16).unwrap() % limit
        }

        fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
            of[self.below(of.len())]
        }
    }

    #[test]
    fn fixtures_whole_and_damaged_are_judged_as_their_whole_text_is() {
        let mut texts = Vec::new();
        fixtures(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/pulumi"), &mut texts);
        let (mut numbers, mut condensed) = (Numbers(7), 0);
        for text in texts.into_iter().filter(|text| text.len() < 1 << 16) {
            condensed += usize::from(agrees(&text));
            for _ in 0..40 {
                let mut damaged = text.clone();
                let at = numbers.below(damaged.len().max(1)).min(damaged.len().saturating_sub(1));
                match numbers.below(5) {
                    0 => damaged.truncate(at),
                    1 => drop(damaged.drain(at..(at + 1).min(text.len()))),
                    2 => damaged.splice(at..at, *b"\"").for_each(drop),
                    3 => damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1),
                    _ => drop(damaged.drain(at..(at + numbers.below(200)).min(text.len()))),
                }
                condensed += usize::from(agrees(&damaged));
            }
        }
        assert!(condensed > 100, "{condensed}");
    }

    #[test]
    fn values_of_all_kinds_are_judged_as_their_whole_text_is() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let (deep, deeper) = (deep(150), deep(300));
        let signed = |members: &str| format!(r#"{{"4dabf18193072939515e22adb298388d":{members}}}"#);
        let sealed = signed(
            r#""1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA==""#,
        );
        let damaged = signed(r#""1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:x""#);
        let plain = signed(r#""1b47061264138c4ac30d75fd1eb44270","plaintext":"\"a\"""#);
        let (unknown, empty) = (signed(r#""foobar""#), signed(r#""1b47061264138c4ac30d75fd1eb44270""#));
        let hidden = unknown.replace("4dabf", "\\u0034\\u0064abf");
        let values = [
            "1",
            "-2.50",
            "1e400",
            "1e-400",
            "true",
            "null",
            r#""\u003c é \ud800""#,
            "[1,[2],{}]",
            r#"{"a":{"b":[]}}"#,
            &deep,
            &deeper,
            &sealed,
            &damaged,
            &plain,
            &unknown,
            &empty,
            &hidden,
        ];
        let names = ["a", "b", "c d", "\\u0061", "__defaults", "4dabf18193072939515e22adb298388d"];
        let providers = [
            "",
            r#""secrets_providers":{"type":"passphrase","state":{"salt":"v1:x"}},"#,
            r#""secrets_providers":{"type":"service","state":{}},"#,
        ];
        let mut numbers = Numbers(11);
        let mut condensed = 0;
        for _ in 0..2000 {
            let mut resources = Vec::new();
            for index in 0..3 {
                let mut properties = || {
                    let count = numbers.below(4);
                    let member = |_| format!(r#""{}": {}"#, numbers.one(&names), numbers.one(&values));
                    (0..count).map(member).collect::<Vec<_>>().join(",")
                };
                let (inputs, outputs) = (properties(), properties());
                let rest = numbers.one(&[
                    "",
                    "",
                    "",
                    r#","inputs":{}"#,
                    r#","outputs":7"#,
                    r#","parent":"gone""#,
                    r#","x":1,"delete":true"#,
                    r#","replacementTrigger":1e999"#,
                ]);
                resources.push(format!(
                    r#"{{"urn": "urn:pulumi:s::p::t:t:T::{index}", "custom":true,"type":"t:t:T","inputs":{{{inputs}}},"outputs":{{{outputs}}}{rest}}}"#
                ));
            }
            let (resources, version) = (resources.join(",\n"), numbers.one(&["3", "3", "4", "2"]));
            let (before, after) =
                (numbers.one(&providers), numbers.one(&["", "", r#","resources":[]"#, r#","metadata":{}"#]));
            let body = format!(r#"{{{before}"resources":[{resources}]{after}}}"#);
            let text = match numbers.below(3) {
                0 => format!(r#"{{"version":{version},"checkpoint":{{"stack":"s","latest":{body}}}}}"#),
                1 => format!(r#"{{"deployment":{body},"version":{version}}}"#),
                _ => format!("{{\n  \"version\": {version}, \"deployment\": {body}}}\n"),
            };
            condensed += usize::from(agrees(text.as_bytes()));
        }
        assert!(condensed > 200, "{condensed}");
    }
}
