//! The check of state files, on one file for each rule.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use groundstate_state_edit::{Report, Rule, VerifyOptions, verify};

/// Only the fixture of the rule on size is larger.
const LARGE: usize = 5_000;

fn check(text: &[u8]) -> Report {
    verify(text, &VerifyOptions::default().large(LARGE))
}

fn codes(report: &Report) -> BTreeSet<String> {
    report.findings.iter().map(|finding| finding.rule.id()).collect()
}

/// The codes a fixture's name begins with: `gs0042-gs0041-deposed-key` has two.
fn expected(name: &str) -> BTreeSet<String> {
    let is_code = |part: &&str| part.starts_with("gs0");
    name.split('-').take_while(is_code).map(str::to_uppercase).collect()
}

fn shown(report: &Report) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        writeln!(out, "{finding}\n  help: {}", finding.help).expect("a string takes everything");
    }
    let Report { version, dialect, readable, resources, objects, outputs, .. } = report;
    let dialect = dialect.map_or("unknown", |dialect| dialect.id());
    let version = version.map_or_else(|| "unknown".into(), |version| version.to_string());
    writeln!(out, "format {version}, dialect {dialect}, readable: {readable}")
        .expect("a string takes everything");
    writeln!(out, "{resources} resources, {objects} objects, {outputs} outputs")
        .expect("a string takes everything");
    out
}

#[test]
fn each_fixture_has_exactly_the_findings_of_its_name() {
    let mut wrong = String::new();
    insta::glob!("../../../../../tests/fixtures/check", "*.json", |path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let report = check(&std::fs::read(path).unwrap());
        if codes(&report) != expected(name) {
            writeln!(wrong, "{name}:\n{}", shown(&report)).unwrap();
        }
        insta::assert_snapshot!("check", shown(&report));
    });
    assert!(wrong.is_empty(), "other findings than the name says\n{wrong}");
}

#[test]
fn each_rule_has_a_fixture_and_a_chapter() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/fixtures/check");
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let shown: BTreeSet<String> = names.flat_map(|name| expected(&name)).collect();
    let docs =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/checks.md")).unwrap();
    for rule in Rule::ALL {
        assert!(shown.contains(&rule.id()), "no fixture for {rule}");
        let heading = format!("### {rule} {} ({})", rule.title(), rule.severity());
        assert!(docs.contains(&heading), "docs/checks.md has no chapter {heading:?}");
    }
    let known: BTreeSet<String> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    for heading in docs.lines().filter_map(|line| line.strip_prefix("### ")) {
        let code = heading.split(' ').next().unwrap();
        assert!(known.contains(code), "docs/checks.md explains {code}, which is no rule");
    }
}
