//! The check of state files, on damaged, large and real ones.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use groundstate_state_edit::{Finding, Report, Rule, Severity, VerifyOptions, verify};
use groundstate_statefile::{Code, Dialect, decode, losses_in};

use crate::shared;

pub(crate) fn check(text: &[u8]) -> Report {
    verify(text, &VerifyOptions::default())
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../../tests/fixtures/check/{name}.json", env!("CARGO_MANIFEST_DIR")))
        .expect("the fixture is there")
}

pub(crate) fn of_rule(report: &Report, rule: Rule) -> Vec<&str> {
    let found = report.findings.iter().filter(|finding| finding.rule == rule);
    found.map(|finding| finding.message.as_str()).collect()
}

/// A document of format 4 with these resources.
pub(crate) fn document(resources: &str) -> String {
    format!(
        r#"{{"version": 4, "terraform_version": "1.11.4", "serial": 1,
        "lineage": "3f2a1c00-0000-4000-8000-000000000001", "resources": [{resources}]}}"#
    )
}

pub(crate) fn resource(module: &str, name: &str, dependencies: &str) -> String {
    format!(
        r#"{{"module": "{module}", "mode": "managed", "type": "t", "name": "{name}",
        "provider": "provider[\"registry.terraform.io/hashicorp/t\"]",
        "instances": [{{"attributes": {{}}, "dependencies": [{dependencies}]}}]}}"#
    )
}

#[test]
fn a_file_cut_at_any_byte_is_checked_up_to_the_cut() {
    let text = fixture("gs0081-instance-provider");
    let end = text.iter().rposition(|b| *b == b'}').unwrap();
    let whole = check(&text);
    for cut in 1..=end {
        let report = check(&text[..cut]);
        assert!(!report.readable && report.worst() == Some(Severity::Error), "cut at {cut}");
        assert!(report.resources <= whole.resources);
        let last = report.findings.last().unwrap();
        assert_eq!(last.rule, Rule::Problem(Code::Syntax), "cut at {cut}: {last}");
        assert_eq!(last.place.as_ref().unwrap().offset, cut);
    }
}

#[test]
fn what_a_cut_hides_is_not_called_missing() {
    let text = document(&[resource("", "a", r#""t.b""#), resource("", "b", "")].join(","));
    let whole = check(text.as_bytes());
    assert!(of_rule(&whole, Rule::DanglingDependency).is_empty());
    let cut = check(&text.as_bytes()[..text.find(r#""name": "b""#).unwrap()]);
    let rules: Vec<Rule> = cut.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::Problem(Code::Syntax)]);
    assert_eq!(check(br#"{"version": 4, "outputs": {"#).findings.len(), 1);
}

#[test]
fn of_a_section_that_stands_twice_only_the_later_is_judged() {
    let odd = resource("", "a", r#""t.a", "t.gone""#)
        .replace("registry.terraform.io/hashicorp/t", "hashicorp/t")
        .replace("{\"attributes\"", "{\"index_key\": 5, \"status\": \"tainted\", \"attributes\"")
        .replace("\"instances\"", "\"note\": 1, \"instances\"");
    let sound = resource("", "b", "");
    let text = document(&odd);
    let rules = |report: &Report| report.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>();
    let twice = text.replace("\"resources\"", &format!("\"resources\": [{sound}], \"resources\""));
    let mut expected = rules(&check(text.as_bytes()));
    expected.retain(|rule| *rule != Rule::NotCanonical);
    assert!(expected.len() > 5, "{expected:?}");
    expected.insert(0, Rule::Lost);
    assert_eq!(rules(&check(twice.as_bytes())), expected);
    let resources = format!("\"outputs\": {{}}, \"resources\": [{sound}]}}");
    let report = check(format!("{}], {resources}", text.strip_suffix("]}").unwrap()).as_bytes());
    assert_eq!(rules(&report), [Rule::Lost], "{report:?}");
    assert_eq!((report.resources, report.objects), (1, 1));

    let objects = |list: &str| format!("\"instances\": [{list}], \"instances\"");
    let object = r#"{"index_key": 7, "status": "tainted", "attributes": {}, "dependencies": ["t.gone"], "provider": "provider[\"registry.opentofu.org/hashicorp/t\"]"}"#;
    let text = document(&sound.replace("\"instances\"", &objects(object)));
    let report = check(text.as_bytes());
    assert_eq!(rules(&report), [Rule::Lost], "{report:?}");
    assert_eq!((report.resources, report.objects), (1, 1));

    let output = r#"{"o": {"value": "x", "type": "string", "sensitive": true}}"#;
    let text = document("")
        .replace("\"resources\"", &format!("\"outputs\": {output}, \"outputs\": null, \"resources\""));
    let report = check(text.as_bytes());
    assert_eq!(rules(&report), [Rule::Lost], "{report:?}");
    assert_eq!(report.outputs, 0);
}

#[test]
fn places_are_those_of_the_input_even_where_it_has_to_be_repaired_first() {
    let places = |input: &[u8]| {
        let place = |finding: &Finding| {
            let place = finding.place.as_ref().unwrap();
            (finding.rule, place.offset, place.path.clone(), finding.message.clone())
        };
        check(input).findings.iter().map(place).collect::<Vec<_>>()
    };
    let syntax = |at: usize, path: &str, what: &str| {
        let message = format!("syntax error at byte offset {}: {what}", at + 1);
        (Rule::Problem(Code::Syntax), at, path.to_owned(), message)
    };
    let unexpected = "this character is not allowed here";
    let marked =
        format!("{unexpected}; the file begins with a byte-order mark: save it as UTF-8 without one");
    let own = resource("", "a", "");
    let text = document(&own.replace("{\"attributes\"", "{\"status\": \"tainted\", \"attributes\""));
    let input = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let status = text.find("\"tainted\"").unwrap() + 3;
    let path = "resources[0].instances[0].status".to_owned();
    let tainted = (Rule::Tainted, status, path, "the object is tainted".to_owned());
    assert_eq!(places(&input), [syntax(0, "", &marked), tainted.clone()]);
    let end = input.len() - 1;
    let damaged = [&input[..end], b"?"].concat();
    let ends = syntax(end, "", unexpected);
    assert_eq!(places(&damaged), [syntax(0, "", &marked), tainted.clone(), ends]);
    let cut = places(&input[..end]);
    assert_eq!(cut[..2], [syntax(0, "", &marked), tainted]);
    assert_eq!(cut[2].1, end);
    assert!(cut[2].3.starts_with(&format!("syntax error at byte offset {end}: the file ends")), "{cut:?}");
    // One that both readings have is said once.
    assert_eq!(places(b"{\"version\": 4}\xff"), [syntax(14, "", unexpected)]);
}

#[test]
fn unknown_members_of_outputs_are_found_whatever_the_output_is_called() {
    for name in ["o", "a{", r#"{\"x\":{\"y\":1}}"#, &"long".repeat(100)] {
        let outputs = format!(
            r#""outputs": {{"{name}": {{"value": 1, "type": "number", "unit": "m"}}, "z": {{"value": 1, "type": "number"}}}}, "resources""#
        );
        let text = document("").replace("\"resources\"", &outputs);
        let report = check(text.as_bytes());
        let found = report.findings.iter().find(|finding| finding.rule == Rule::UnknownMember).unwrap();
        assert_eq!(found.message, "no known release writes the member \"unit\" of an output", "{name}");
        assert_eq!(found.place.as_ref().unwrap().offset, text.find("\"unit\"").unwrap(), "{name}");
        let called: String = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!(found.address, Some(format!("output.{called}")));
    }
}

#[test]
fn any_damaged_byte_gives_a_report() {
    let text = fixture("gs0030-mixed-module-keys");
    for at in 0..text.len() {
        for byte in [b'"', b']', 0xff] {
            let mut damaged = text.clone();
            damaged[at] = byte;
            let report = check(&damaged);
            assert!(report.findings.iter().all(|finding| finding.place.is_some()));
            let offsets = report.findings.iter().map(|finding| finding.place.as_ref().unwrap().offset);
            assert!(offsets.is_sorted(), "byte {at} replaced by {byte}");
        }
    }
}

#[test]
fn reports_never_hold_secrets() {
    for name in ["gs0070-secrets", "gs0071-sensitive-output"] {
        let report = format!("{:?}", check(&fixture(name)));
        assert!(!report.contains("invented") && !report.contains("AKIA"), "{report}");
    }
    let elements = document(&resource("", "a", "").replace(
        r#""attributes": {}"#,
        r#""attributes": {"set": {}}, "sensitive_attributes":
            [[{"type": "get_attr", "value": "set"}, {"type": "index", "value": {"value": "hunter2", "type": "string"}}]]"#,
    ));
    let report = check(elements.as_bytes());
    assert_eq!(
        of_rule(&report, Rule::SensitivePathAbsent),
        ["the sensitive path set[…] leads to no attribute"]
    );
    assert!(!format!("{report:?}").contains("hunter2"));
}

/// The sensitive paths of an object with these attributes that lead to nothing, as they are shown. The steps of a path
/// stand between dots; a number is the position in a list.
fn leading_nowhere(attributes: &str, paths: &[&str]) -> Vec<String> {
    let step = |step: &str| match step.parse::<u64>() {
        Ok(at) => format!(r#"{{"type": "index", "value": {{"value": {at}, "type": "number"}}}}"#),
        Err(_) => format!(r#"{{"type": "get_attr", "value": "{step}"}}"#),
    };
    let paths: Vec<String> = paths
        .iter()
        .map(|path| format!("[{}]", path.split('.').map(step).collect::<Vec<_>>().join(",")))
        .collect();
    let members = format!(r#""attributes": {attributes}, "sensitive_attributes": [{}]"#, paths.join(", "));
    let text = document(&resource("", "a", "").replace(r#""attributes": {}"#, &members));
    let said = |message: &&str| {
        let rest = message.strip_prefix("the sensitive path ").unwrap();
        rest.strip_suffix(" leads to no attribute").unwrap().to_owned()
    };
    of_rule(&check(text.as_bytes()), Rule::SensitivePathAbsent).iter().map(said).collect()
}

#[test]
fn sensitive_paths_lead_through_the_wrappers_of_dynamic_attributes() {
    let wrapped = r#"{"input": {"value": {"in": {"pw": "x"}}, "type": ["object", {}]}, "b": {"value": {}, "type": "x"}}"#;
    for (path, missing) in [
        ("input", 0),
        ("input.in", 0),
        ("input.in.pw", 0),
        ("input.value", 0),
        ("input.gone", 1),
        ("input.in.gone", 1),
        ("b.type", 0),
        ("b.type.x", 0),
    ] {
        assert_eq!(leading_nowhere(wrapped, &[path]).len(), missing, "{path}");
    }
    let both = ["input.value", "input.in.pw", "b.gone"];
    assert_eq!(leading_nowhere(wrapped, &both), ["b.gone"], "one path hides no other");
    assert_eq!(
        leading_nowhere(r#"{"input": {"value": {"pw": 1}, "kind": "x"}}"#, &["input.pw"]),
        ["input.pw"]
    );
    // No provider nests as deep as wrappers are looked for.
    for (outer, missing) in [(64, 0), (65, 1)] {
        let attributes = format!(
            r#"{}{{"value": {{"pw": 1}}, "type": "x"}}{}"#,
            r#"{"a": "#.repeat(outer),
            "}".repeat(outer)
        );
        let path = format!("{}pw", "a.".repeat(outer));
        assert_eq!(leading_nowhere(&attributes, &[&path]).len(), missing, "{outer}");
    }
}

#[test]
fn sensitive_paths_lead_to_elements_by_their_position() {
    let list = r#"{"list": [{"a": 1}, {"a": 1, "b": 2}], "none": null, "empty": {}}"#;
    for (path, shown) in [
        ("list.1.b", None),
        ("list.0.b", Some("list[…].b")),
        ("list.2", Some("list[…]")),
        ("none.x", None),
        ("empty.x", Some("empty.x")),
    ] {
        assert_eq!(leading_nowhere(list, &[path]), Vec::from_iter(shown), "{path}");
    }
    let names = |count: usize| vec!["n"; count].join(".");
    assert_eq!(leading_nowhere("{}", &[&names(16)]), [names(16)]);
    assert_eq!(leading_nowhere("{}", &[&names(17)]), [names(16) + "…"], "long paths are shortened");
}

#[test]
fn what_terraform_drops_is_what_the_model_says_it_loses() {
    for name in
        ["gs0080-opentofu-members", "gs0081-instance-provider", "clean-opentofu", "gs0010-unknown-members"]
    {
        let text = fixture(name);
        let report = check(&text);
        let rules = [Rule::OpenTofuMember, Rule::InstanceProvider, Rule::UnknownMember];
        let resource_of = |address: &str| address.split('[').next().unwrap_or_default().to_owned();
        let found: BTreeSet<String> = report
            .findings
            .iter()
            .filter(|finding| rules.contains(&finding.rule))
            .map(|finding| resource_of(finding.address.as_deref().unwrap_or_default()))
            .collect();
        let file = decode(&text, &Default::default()).unwrap();
        let lost: BTreeSet<String> =
            losses_in(&file, Dialect::Terraform).iter().map(|loss| resource_of(&loss.address)).collect();
        assert_eq!(found, lost, "{name}");
    }
}

#[test]
fn depends_on_of_terraform_0_12_is_not_taken_for_that_of_opentofu() {
    let own = resource("", "a", "").replace(r#""dependencies": []"#, r#""depends_on": ["t.a"]"#);
    let new = document(&own);
    assert_eq!(of_rule(&check(new.as_bytes()), Rule::OpenTofuMember).len(), 1);
    let old = new.replace("1.11.4", "0.12.31");
    assert!(of_rule(&check(old.as_bytes()), Rule::OpenTofuMember).is_empty());
    let relative = new.replace(r#"["t.a"]"#, r#"["t.a", "module.b"]"#);
    assert!(of_rule(&check(relative.as_bytes()), Rule::OpenTofuMember).is_empty());
}

#[test]
fn keys_of_modules_do_not_count_for_dependencies() {
    let text = document(
        &[
            resource("module.m[0]", "a", r#""module.m.t.b""#),
            resource("module.m[1]", "b", r#""module.m[0].t.a""#),
            resource("module.m[0]", "c", r#""module.m.t.c""#),
        ]
        .join(",")
        .replace(r"\[", "["),
    );
    let report = check(text.as_bytes());
    assert_eq!(
        of_rule(&report, Rule::DependencyCycle),
        ["module.m.t.a -> module.m.t.b -> module.m.t.a"],
        "{report:?}"
    );
    assert_eq!(of_rule(&report, Rule::SelfDependency), ["module.m[0].t.c depends on itself"]);
    assert!(of_rule(&report, Rule::DanglingDependency).is_empty());
}

#[test]
fn an_old_format_is_checked_as_what_it_upgrades_to() {
    let text = String::from_utf8(fixture("gs0002-old-format")).unwrap();
    let tainted = text.replace(r#""tainted": false"#, r#""tainted": true"#);
    let report = check(tainted.as_bytes());
    let rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::OldFormat, Rule::Tainted]);
    assert_eq!(report.findings[1].place, None);
    assert_eq!(report.findings[1].address.as_deref(), Some("null_resource.a"));
    assert_eq!((report.version, report.resources, report.objects), (Some(3), 1, 1));
}

#[test]
fn many_findings_take_no_more_than_linear_time() {
    let few = many(2_000);
    let many = many(16_000);
    let (short, long) = (duration(&few), duration(&many));
    assert!(long < short * 8 * 4 + Duration::from_secs(1), "{short:?} for 2000 and {long:?} for 16000");
}

/// Resources that each have several findings: husks, cycles, dependencies on nothing, deep modules.
fn many(count: usize) -> String {
    let entry = |i: usize| {
        let next = (i + 1) % count;
        let own = resource("", &format!("a{i}"), &format!(r#""t.a{next}", "t.gone{i}", "t.gone""#));
        own.replace(r#"{"attributes""#, r#"{"status": "tainted", "weight": 1, "attributes""#)
    };
    let mut entries: Vec<String> = (0..count).map(entry).collect();
    let path: Vec<String> = (0..count).map(|i| format!("module.m{i}")).collect();
    entries.push(resource(&path.join("."), "deep", ""));
    document(&entries.join(","))
}

fn duration(text: &str) -> Duration {
    let start = Instant::now();
    let report = check(text.as_bytes());
    assert!(report.findings.len() > report.resources * 3, "{}", report.findings.len());
    assert_eq!(of_rule(&report, Rule::DependencyCycle).len(), 1);
    start.elapsed()
}

#[test]
fn judges_odd_files_as_terraform_does() {
    let Some(folder) = shared::fixtures() else { return };
    let folder = folder.join("terraform-1.11/odd-files");
    let cases: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("cases.json")).unwrap()).unwrap();
    for case in cases.as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        // One input is too large to be kept beside the others.
        let Ok(text) = std::fs::read(folder.join(format!("{name}.in"))) else { continue };
        let report = check(&text);
        let refused = case["pull_exit"] != 0;
        let errors = report.of_severity(Severity::Error) > 0;
        // Terraform loses or falsifies these without a word, or fails at the next plan.
        let stricter = [
            "bad-provider",
            "provider-module-key",
            "opentofu-provider-key",
            "dependencies-unsorted-duplicates",
            "index-float",
            "index-negative",
            "invalid-utf8",
            "empty-name",
        ];
        if stricter.contains(&name) {
            assert!(errors && !refused, "{name}: {report:?}");
        } else {
            assert_eq!(errors, refused, "{name}: {report:?}");
        }
        let same_bytes = case["pull_same_bytes"] == true;
        assert!(!same_bytes || of_rule(&report, Rule::NotCanonical).is_empty(), "{name}: {report:?}");
    }
}

#[test]
fn finds_no_error_in_what_terraform_wrote() {
    let Some(folder) = shared::fixtures() else { return };
    let mut checked = 0;
    for case in std::fs::read_dir(folder.join("terraform-1.11")).unwrap() {
        let Ok(text) = std::fs::read(case.unwrap().path().join("terraform.tfstate")) else { continue };
        let report = check(&text);
        assert_eq!(report.of_severity(Severity::Error), 0, "{report:?}");
        assert!(of_rule(&report, Rule::NotCanonical).is_empty(), "{report:?}");
        checked += 1;
    }
    assert!(checked > 5);
}
