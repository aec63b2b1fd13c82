//! What keeps Pulumi from loading a snapshot, found and mended.

use groundstate_pulumi_integrity::{
    Choice, Finding, QuestionId, RepairOptions, Report, Rule, VerifyOptions, repair, verify,
};
use groundstate_pulumi_snapshot::{
    Operation, OperationType, Properties, RawJson, SecretsProvider, Snapshot, StoredValue,
};

use super::support::{resource, snapshot, urn};

const SIG: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

fn check(snapshot: &Snapshot) -> Report {
    verify(snapshot, &VerifyOptions::default().loading(true))
}

fn raw(text: &str) -> RawJson {
    RawJson::parse_as_written(text).expect("tests write JSON")
}

fn provider(kind: &str, state: &str) -> Option<SecretsProvider> {
    let state = (!state.is_empty()).then(|| raw(state));
    Some(SecretsProvider { kind: kind.into(), state, ..SecretsProvider::default() })
}

/// A resource with these inputs behind one without any.
fn with_inputs(inputs: &str) -> Snapshot {
    let mut made = snapshot(&["a", "b"]);
    made.resource_mut(1).expect("there are two").inputs = Properties::Raw(raw(inputs));
    made
}

fn facts(findings: &[Finding]) -> Vec<(String, &str, Option<&str>)> {
    findings.iter().map(|one| (one.rule.id(), one.path.as_str(), one.original.as_deref())).collect()
}

#[test]
fn each_kind_of_value_has_a_code_and_a_place() {
    let signed = |signature: &str, members: &str| format!(r#"{{"{SIG}":"{signature}"{members}}}"#);
    for (value, code, original) in [
        (signed("foobar", ""), "GS0650", Some("unrecognized signature 'foobar' in property map")),
        (
            signed(SECRET, ""),
            "GS0651",
            Some("malformed secret value: exactly one of `ciphertext` or `plaintext` must be supplied"),
        ),
        (signed(SECRET, r#","plaintext":"no""#), "GS0652", None),
        (
            signed("c44067f5952c0a294b673a41bacd8c17", r#","hash":7"#),
            "GS0653",
            Some("unexpected asset hash of type float64"),
        ),
        (
            signed("0def7320c3a5731c473e5ecbe6d01bc7", r#","assets":{"m":true}"#),
            "GS0654",
            Some("archive member 'm' is not an asset or archive"),
        ),
        (
            signed("0def7320c3a5731c473e5ecbe6d01bc7", r#","assets":[]"#),
            "GS0654",
            Some("unexpected archive contents of type []interface {}"),
        ),
        (
            signed("5cf8f73096256a8f31e491e813e4eb8e", ""),
            "GS0655",
            Some("malformed resource reference: missing urn"),
        ),
        (signed("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", r#","value":"z""#), "GS0656", None),
        (
            signed("803fd3297a5875dc03ca845dda5d2a98", ""),
            "GS0657",
            Some("malformed byte string: missing or non-string 'value' field"),
        ),
        ("1e999".to_owned(), "GS0658", None),
        (
            signed(SECRET, r#","ciphertext":"x""#),
            "GS0659",
            Some(
                "decrypting secret value: failed to decrypt: snapshot contains encrypted secrets but no secrets manager \
                 could be found",
            ),
        ),
    ] {
        let made = with_inputs(&format!(r#"{{"k":[{{"v":{value}}}],"kept":1}}"#));
        let report = check(&made);
        assert_eq!(facts(&report.findings), [(code.to_owned(), "resources[1].inputs.k[0].v", original)]);
        assert_eq!((report.findings[0].urn.clone(), report.original_error()), (Some(urn("b")), original));
        assert!(verify(&made, &VerifyOptions::default()).is_clean(), "Pulumi's verifier does not look");

        let plan = repair(&made, &RepairOptions::default());
        let texts: Vec<String> = plan.steps.iter().map(|step| step.action.to_string()).collect();
        assert_eq!(texts, ["remove the value inputs.k[0].v, which cannot be loaded"]);
        assert_eq!(plan.open_questions().count(), usize::from(code == "GS0659"), "{code}");
        assert!(plan.after.is_clean(), "{:?}", plan.after);
        let left = plan.result().resources[1].inputs.as_raw().unwrap().as_str().to_owned();
        assert_eq!(left, r#"{"k":[{}],"kept":1}"#);
    }
}

#[test]
fn values_beyond_those_that_are_named_are_counted_and_removed_too() {
    let bad: Vec<String> = (0..500).map(|at| format!(r#""k{at}":{{"{SIG}":"foobar"}}"#)).collect();
    let broken = with_inputs(&format!("{{{},\"kept\":1}}", bad.join(",")));
    let found = check(&broken).findings;
    assert!(found.iter().all(|one| (one.resource, &one.urn) == (Some(1), &Some(urn("b")))), "{found:?}");
    let counted = found.last().map(|one| (one.message.as_str(), one.path.as_str()));
    assert_eq!(counted, Some(("400 more values of inputs cannot be loaded", "resources[1].inputs")));
    let plan = repair(&broken, &RepairOptions::default());
    let texts: Vec<String> = plan.steps.iter().map(|step| step.action.to_string()).collect();
    let (last, named) = texts.split_last().unwrap();
    assert!(!named.is_empty() && named.iter().all(|text| text.starts_with("remove the value inputs.k")));
    let more = 500 - named.len();
    assert_eq!(*last, format!("remove {more} more values of inputs that cannot be loaded"));
    assert_eq!(plan.result().resources[1].inputs.as_raw().unwrap().as_str(), r#"{"kept":1}"#);
}

#[test]
fn all_members_that_hold_values_are_read_and_mended() {
    let bad = format!(r#"{{"{SIG}":"foobar"}}"#);
    let mut made = snapshot(&["a"]);
    let first = made.resource_mut(0).unwrap();
    first.outputs = Properties::Raw(raw(&format!(r#"{{"o":{bad}}}"#)));
    first.replacement_trigger = Some(StoredValue::Raw(raw(&bad)));
    let mut pending = resource("p");
    pending.inputs = Properties::Raw(raw(&format!(r#"{{"i":{bad},"j":1}}"#)));
    made.pending_operations = vec![Operation::new(pending, OperationType::Creating)];
    let report = check(&made);
    let paths: Vec<&str> = report.of_rule(Rule::UnknownSignature).map(|one| one.path.as_str()).collect();
    let expected = [
        "resources[0].outputs.o",
        "resources[0].replacementTrigger",
        "pending_operations[0].resource.inputs.i",
    ];
    assert_eq!(paths, expected);
    let told: Vec<&str> = report.of_rule(Rule::UnknownSignature).map(|one| one.message.as_str()).collect();
    let why = "unrecognized signature 'foobar' in property map";
    let expected = ["a value of its outputs", "its replacement trigger", "a value of its inputs"];
    assert_eq!(told, expected.map(|what| format!("{what} cannot be loaded: {why}")));
    let plan = repair(&made, &RepairOptions::default());
    assert!(plan.after.is_valid(), "{:?}", plan.after);
    let result = plan.result();
    assert_eq!(result.resources[0].replacement_trigger, None);
    assert_eq!(result.pending_operations[0].resource.inputs.as_raw().unwrap().as_str(), r#"{"j":1}"#);
    assert_eq!(result.resources.len(), 1, "no resource is taken out for its values");
}

#[test]
fn ciphertexts_and_providers_are_read_without_a_key() {
    let salt = r#"{"salt":"v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="}"#;
    let good = "v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzA==";
    let damaged = "v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khc*XQqBzA==";
    for (kind, state, ciphertext, codes) in [
        ("passphrase", salt, good, &[][..]),
        ("cloud", r#"{"url":"awskms://x"}"#, good, &[]),
        ("service", "{}", "QUJD", &[]),
        ("passphrase", salt, damaged, &["GS0660"]),
        ("service", "{}", "QUJ", &["GS0660"]),
        ("vault", "{}", good, &["GS0661"]),
        ("passphrase", r#"{"salt":"v1:x"}"#, good, &["GS0662"]),
        ("passphrase", "", good, &["GS0662"]),
        ("", "", good, &["GS0659"]),
    ] {
        let secret = format!(r#"{{"{SIG}":"{SECRET}","ciphertext":"{ciphertext}"}}"#);
        let mut made = with_inputs(&format!(r#"{{"s":{secret},"t":1}}"#));
        made.secrets_provider = provider(kind, state);
        let report = check(&made);
        let found: Vec<String> = report.findings.iter().map(|one| one.rule.id()).collect();
        assert_eq!(found, codes, "{kind} {state} {ciphertext}");
        let plan = repair(&made, &RepairOptions::default());
        assert!(plan.after.is_valid(), "{:?}", plan.after);
        assert_eq!(plan.open_questions().count() > 0, !codes.is_empty(), "secrets go only by an answer");
        let mut options = RepairOptions::default().answer(QuestionId::Secrets, Choice::DropSecrets);
        options = options.answer(QuestionId::SecretsProvider, Choice::DropSecretsProvider);
        assert_eq!(repair(&made, &options).open_questions().count(), 0);
    }
}

#[test]
fn load_errors_come_before_those_of_the_verifier() {
    let mut made = with_inputs(&format!(r#"{{"v":{{"{SIG}":"foobar"}}}}"#));
    made.manifest.magic = "wrong".into();
    made.resource_mut(0).unwrap().resource_type = "".into();
    let report = check(&made);
    let rules: Vec<Rule> = report.findings.iter().map(|one| one.rule).collect();
    assert_eq!(rules, [Rule::TypeMissing, Rule::UnknownSignature, Rule::Magic]);
    let original = format!("resource '{}' missing required 'type' field", urn("a"));
    assert_eq!(report.original_error(), Some(original.as_str()));
    made.resource_mut(0).unwrap().resource_type = "t:t:T".into();
    assert_eq!(check(&made).original_error(), Some("unrecognized signature 'foobar' in property map"));
    // The words for this are those of a library, so nothing is claimed.
    made.resource_mut(1).expect("there are two").inputs = Properties::Raw(raw(r#"{"v":1e999}"#));
    assert_eq!(check(&made).original_error(), None);
}

#[test]
fn damaged_ciphertexts_come_after_all_else_that_is_read() {
    let damaged = format!(r#"{{"s":{{"{SIG}":"{SECRET}","ciphertext":"QUJ"}}}}"#);
    let mut made = with_inputs(&format!(r#"{{"v":{{"{SIG}":"foobar"}}}}"#));
    made.resource_mut(0).unwrap().inputs = Properties::Raw(raw(&damaged));
    made.secrets_provider = provider("service", "{}");
    let report = check(&made);
    let paths: Vec<&str> = report.findings.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["resources[1].inputs.v", "resources[0].inputs.s"]);
    assert_eq!(report.original_error(), Some("unrecognized signature 'foobar' in property map"));
}

#[test]
fn all_that_a_resource_lacks_is_found_at_once_in_the_order_of_reading() {
    let checked = |nameless: bool, typeless: bool| {
        let mut made = snapshot(&["a(~ #1)"]);
        let component = made.resource_mut(0).unwrap();
        if nameless {
            component.urn = "".into();
        }
        if typeless {
            component.resource_type = "".into();
        }
        let report = check(&made);
        assert_eq!(report.original_error(), report.findings[0].original.as_deref(), "{report:?}");
        assert!(
            report.findings[0].original.is_some()
                && report.findings[1..].iter().all(|one| one.original.is_none())
        );
        report.findings.iter().map(|one| one.rule).collect::<Vec<_>>()
    };
    assert_eq!(checked(false, false), [Rule::IdOnComponent]);
    assert_eq!(checked(false, true), [Rule::TypeMissing, Rule::IdOnComponent]);
    assert_eq!(checked(true, false), [Rule::UrnMissing, Rule::IdOnComponent]);
    assert_eq!(checked(true, true), [Rule::UrnMissing, Rule::TypeMissing, Rule::IdOnComponent]);
}

#[test]
fn values_that_nest_deep_are_a_warning_since_pulumi_loads_them() {
    let made = with_inputs(&format!(r#"{{"v":{}{}}}"#, "[".repeat(300), "]".repeat(300)));
    let report = check(&made);
    assert_eq!(report.findings[0].rule, Rule::ValuesTooDeep);
    assert!(report.is_valid() && repair(&made, &RepairOptions::default()).is_empty());
}

#[test]
fn values_that_nest_deep_hide_no_error_and_outlast_the_repair_of_others() {
    let deep = format!("{}{}{}", "[".repeat(256), vec!["1"; 150].join(","), "]".repeat(256));
    let secret = format!(r#"{{"{SIG}":"{SECRET}","plaintext":{deep:?}}}"#);
    let kept = format!(r#"{{"d":{deep},"s":{secret}}}"#);
    let mut made = with_inputs(&kept);
    made.resource_mut(0).unwrap().dependencies.push(urn("x"));
    let told = |made: &Snapshot| {
        let plan = repair(made, &RepairOptions::default());
        assert_eq!(plan.result().resources[1].inputs.as_raw().unwrap().as_str(), kept);
        plan.steps.iter().map(|step| step.action.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told(&made), [format!("remove {} [dependency], which is not there", urn("x"))]);

    let made = with_inputs(&format!(r#"{{"d":{deep},"s":{secret},"z":1e999}}"#));
    let report = check(&made);
    let errors: Vec<&str> = report.of_rule(Rule::NumberRange).map(|one| one.path.as_str()).collect();
    assert_eq!(errors, ["resources[1].inputs.z"]);
    let warned = report.of_rule(Rule::ValuesTooDeep).last().map(|one| one.message.as_str());
    assert_eq!(warned, Some("51 more values of inputs nest too deep to be checked"));
    assert_eq!(told(&made), ["remove the value inputs.z, which cannot be loaded"]);
}

#[test]
fn encrypted_values_are_asked_about_however_much_else_is_wrong() {
    let bad = format!(r#"{{"{SIG}":"foobar"}}"#);
    let sealed = format!(r#"{{"{SIG}":"{SECRET}","ciphertext":"x"}}"#);
    let made =
        with_inputs(&format!("{{\"k\":[{},{}]}}", vec![bad; 120].join(","), vec![sealed; 130].join(",")));
    let plan = repair(&made, &RepairOptions::default());
    let asked: Vec<&str> = plan.open_questions().map(|question| question.text.as_str()).collect();
    assert_eq!(asked, ["130 encrypted values cannot be decrypted by any key; a backup may have them."]);
}

#[test]
fn an_error_behind_values_that_are_written_twice_is_found() {
    let bad = format!(r#"{{"{SIG}":"foobar"}}"#);
    let made = with_inputs(&format!(r#"{{"k":[{}],"k":1,"z":{bad}}}"#, vec![bad.as_str(); 150].join(",")));
    let report = check(&made);
    let told: Vec<&str> = report.findings.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(told, ["1 more values of inputs cannot be loaded"]);
    let plan = repair(&made, &RepairOptions::default());
    assert_eq!(plan.steps.len(), 1);
    let left = plan.result().resources[1].inputs.as_raw().unwrap().as_str().to_owned();
    assert!(left.ends_with(r#"],"k":1}"#), "{left}");
}
