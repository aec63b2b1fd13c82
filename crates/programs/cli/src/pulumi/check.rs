//! `groundstate check`: the rules of Pulumi snapshots.

use groundstate_common::Severity;
use groundstate_json::places;
use groundstate_pulumi_deployment::{DecodeOptions, DeploymentFile, NoteKind, ReadError, decode};
use groundstate_pulumi_integrity::{Finding, VerifyOptions, verify};

use super::configured::ConfiguredKey;
use super::locate::locate;
use crate::input::foreign;
use crate::input::pulumi::{envelope, faults, snapshot};
use crate::input::source::Source;
use crate::input::threads::threads;
use crate::report::clipped::Clipped;
use crate::report::error::Result;
use crate::report::findings::{Checked, ShownFinding};
use crate::report::progress::working;

/// Checks one state. What cannot be read is a finding too. The text is given back, as far as findings are about it.
pub(crate) fn check<'s>(
    source: &'s Source,
    configured: Option<&ConfiguredKey>,
) -> Result<(Checked, Clipped<'s>)> {
    if let Some(checked) = check_condensed(source, source.threads(), configured)? {
        return Ok(checked);
    }
    let text = source.text()?;
    match foreign::recognise(&source.name, &text) {
        Some(failure) => Err(failure),
        None => Ok((check_whole(&source.name, &text, configured), Clipped::whole(text))),
    }
}

/// Checks one state by so many threads and without holding its text, where that makes no difference: nothing if there is something
/// about it that needs the whole, such as notes and problems of the reader.
fn check_condensed<'s>(
    source: &'s Source,
    threads: usize,
    configured: Option<&ConfiguredKey>,
) -> Result<Option<(Checked, Clipped<'s>)>> {
    let Some((file, original)) = source.condensed(threads)? else { return Ok(None) };
    let (checked, found) = verified(&source.name, &file, threads, configured);
    // The model makes room for what is shown of the text.
    drop(file);
    if found.is_empty() {
        return Ok(Some((checked, Clipped::whole(&b""[..]))));
    }
    let mut resources: Vec<usize> = found.iter().filter_map(|finding| finding.resource).collect();
    resources.sort_unstable();
    let Some(text) = original.around(resources.into_iter())? else { return Ok(None) };
    let findings = shown(found, &text);
    Ok(Some((Checked { findings, ..checked }, text)))
}

fn check_whole(name: &str, text: &[u8], configured: Option<&ConfiguredKey>) -> Checked {
    let file = match decode(text, &DecodeOptions::default()) {
        Ok(file) => file,
        Err(error) => return Checked { findings: unreadable(&error), ..Checked::new(name, "pulumi") },
    };
    let (checked, found) = verified(name, &file, threads(), configured);
    let findings = losses(&file, text).into_iter().chain(shown(found, &Clipped::whole(text))).collect();
    Checked { findings, ..checked }
}

/// What is known of a file that could be read, and what the rules find in it by so many threads.
fn verified(
    name: &str,
    file: &DeploymentFile,
    threads: usize,
    configured: Option<&ConfiguredKey>,
) -> (Checked, Vec<Finding>) {
    let _working = working("checking");
    let snapshot = snapshot(file);
    let report = verify(&snapshot, &VerifyOptions::default().loading(true).threads(threads));
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
    let of_configuration = configured.and_then(|configured| configured.compare(&snapshot));
    (checked, report.findings.into_iter().chain(of_configuration).collect())
}

/// Findings with their places.
fn shown(found: Vec<Finding>, text: &Clipped<'_>) -> Vec<ShownFinding> {
    let places = locate(&text.text, found.iter().map(|finding| finding.path.as_str()));
    let shown = found.into_iter().zip(places).map(|(finding, place)| ShownFinding {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().into(),
        message: finding.message,
        help: Some(finding.help),
        address: finding.urn.map(|urn| urn.to_string()),
        original: finding.original,
        place: Some(text.original(place)),
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

    use super::{Clipped, Source, check_condensed, check_whole};
    use crate::report::findings::spans;

    /// Whether a text is checked in condensed form, in which case both ways have to tell the same, and to show the same lines.
    #[track_caller]
    fn agrees(text: &[u8]) -> bool {
        let source = Source::of_bytes("stack.json".to_owned(), None, text.to_vec()).unwrap();
        let whole = check_whole(&source.name, text, None);
        let lines = spans(&whole, &Clipped::whole(text));
        let condensed = [1, 2 + text.len() % 5].map(|threads| {
            let Some((condensed, clipped)) = check_condensed(&source, threads, None).unwrap() else {
                return false;
            };
            let shown = || format!("{threads} threads: {}", String::from_utf8_lossy(text));
            assert_eq!(format!("{condensed:?}"), format!("{whole:?}"), "{}", shown());
            assert_eq!(spans(&condensed, &clipped), lines, "{}", shown());
            true
        });
        assert_eq!(condensed[0], condensed[1], "{}", String::from_utf8_lossy(text));
        condensed[0]
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

    /// A text in which findings stand anywhere, beside each other and far apart, in lines of all lengths.
    fn scattered(numbers: &mut Numbers, count: usize) -> String {
        let line_breaks = ["", "", " ", "\n", "\n    ", "\r\n\t", "\n\n"];
        let even = numbers.below(2) == 0;
        let common = numbers.one(&line_breaks);
        let space = |numbers: &mut Numbers| if even { common } else { numbers.one(&line_breaks) };
        let mut resources = String::new();
        for index in 0..count {
            let urn = format!("urn:pulumi:s::größe::t:t:T::{index}");
            let before = format!("{}{{{}", space(numbers), space(numbers));
            let inside = match numbers.below(12) {
                0 => format!(r#""inputs":{{"long":"{}"}},"#, "日本".repeat(numbers.below(1500))),
                1 => format!(r#""inputs":{{{}"a":[1e999]}},"#, space(numbers)),
                2 => format!(r#""aliases":{}["urn:pulumi:s::p::t:t:T::old"],"#, space(numbers)),
                3 => format!(
                    r#""dependencies":["urn:pulumi:s::größe::t:t:T::0",{}"urn:gone"],"#,
                    space(numbers)
                ),
                4 => String::from(r#""parent":"urn:pulumi:s::größe::t:t:T::9999","#),
                _ => String::new(),
            };
            let urn = if numbers.below(30) == 0 { String::new() } else { urn };
            let comma = if index == 0 { "" } else { "," };
            let end = space(numbers);
            resources.push_str(&format!(r#"{comma}{before}"urn":"{urn}",{inside}"type":"t:t:T"{end}}}"#));
        }
        let manifest = numbers.one(&[
            "",
            r#""manifest":{"time":"2024-05-06T07:08:09Z","magic":"wrong","version":"v3"},"#,
            r#""secrets_providers":{"type":"unknown","state":{}},"#,
        ]);
        let rest = numbers.one(&[
            "",
            r#","snippets":[{"name":"ü"}]"#,
            r#","pending_operations":[{"resource":{"urn":"urn:pulumi:s::p::t:t:T::x","type":"t:t:T"},"type":"creating"}]"#,
        ]);
        let (first, last) = (space(numbers), space(numbers));
        match numbers.below(2) {
            0 => format!(
                r#"{{"version":3,"checkpoint":{{"latest":{{{manifest}{first}"resources":[{resources}{last}]{rest}}}}}}}"#
            ),
            _ => format!(
                r#"{{{first}"version":3,{last}"deployment":{{{manifest}"resources":[{resources}]{last}{rest}}}}}"#
            ),
        }
    }

    #[test]
    fn findings_are_shown_as_in_the_whole_text_of_which_the_rest_is_left_out() {
        let (mut numbers, mut held, mut all) = (Numbers(5), 0, 0);
        for round in 0..300 {
            let text = scattered(&mut numbers, round % 50);
            if agrees(text.as_bytes()) {
                let source = Source::of_bytes("stack.json".to_owned(), None, text.into_bytes()).unwrap();
                let (checked, clipped) = check_condensed(&source, 2, None).unwrap().unwrap();
                if !checked.findings.is_empty() {
                    held += clipped.text.len();
                    all += source.text().unwrap().len();
                }
            }
        }
        assert!(held < all / 4 * 3 && held > all / 100, "{held} of {all}");
    }

    #[test]
    fn files_are_judged_by_several_threads_as_their_whole_text_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stack.json");
        let mut numbers = Numbers(3);
        for round in 0..4 {
            let text = scattered(&mut numbers, 2000 + round);
            assert!(text.len() > 1 << 16);
            fs::write(&path, &text).unwrap();
            let source = Source::of_file(path.display().to_string(), path.clone()).unwrap();
            let whole = check_whole(&source.name, text.as_bytes(), None);
            for threads in [1, 2, 7] {
                let (condensed, clipped) = check_condensed(&source, threads, None).unwrap().unwrap();
                assert_eq!(format!("{condensed:?}"), format!("{whole:?}"));
                assert_eq!(spans(&condensed, &clipped), spans(&whole, &Clipped::whole(text.as_bytes())));
                assert!(clipped.text.len() < text.len());
            }
        }
    }
}
