//! What differs between two files.

use groundstate_pulumi_deployment::{ChangeKind, DecodeOptions, DeploymentFile, Diff, decode, diff};

fn file(resources: &str) -> DeploymentFile {
    let text = format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-01-01T00:00:00Z","magic":"","version":""}},"resources":[{resources}],"metadata":{{}}}}}}"#
    );
    decode(text.as_bytes(), &DecodeOptions::default()).unwrap()
}

fn one(members: &str) -> DeploymentFile {
    file(&format!(r#"{{"urn":"urn:pulumi:d::p::t:t:T::a","custom":true,"type":"t:t:T"{members}}}"#))
}

/// The paths that differ, with both sides.
fn fields(a: &str, b: &str) -> Vec<String> {
    let diff = diff(&one(a), &one(b)).unwrap();
    let side = |side: &Option<groundstate_pulumi_deployment::Side>| match side {
        None => "absent".to_owned(),
        Some(side) => side.plain().map_or("hidden".to_owned(), str::to_owned),
    };
    let fields = diff.changes.iter().flat_map(|change| &change.fields);
    fields.map(|field| format!("{}: {} -> {}", field.path, side(&field.before), side(&field.after))).collect()
}

const SIGNATURE: &str = r#""4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270""#;

#[test]
fn what_means_the_same_is_no_difference() {
    for (a, b) in [
        (r#","inputs":{"a":1.0,"b":null}"#, r#","inputs":{"a":1}"#),
        (r#","inputs":{"a":{"x":1,"y":2}}"#, r#","inputs":{"a":{"y":2,"x":1}}"#),
        (r#","dependencies":["x","y"]"#, r#","dependencies":["y","x"]"#),
        (r#","dependencies":[]"#, ""),
        (r#","propertyDependencies":{"a":[],"b":["x","y"]}"#, r#","propertyDependencies":{"b":["y","x"]}"#),
        (r#","propertyDependencies":{"a":null}"#, ""),
        (r#","outputs":{}"#, ""),
    ] {
        assert_eq!(fields(a, b), Vec::<String>::new(), "{a} {b}");
        assert_eq!(fields(b, a), Vec::<String>::new(), "{b} {a}");
    }
}

#[test]
fn differences_are_found_down_to_their_members() {
    for (a, b, expected) in [
        (
            r#","inputs":{"a":{"x":[1,2]}}"#,
            r#","inputs":{"a":{"x":[1,3,4]}}"#,
            &["inputs.a.x[1]: 2 -> 3", "inputs.a.x[2]: absent -> 4"][..],
        ),
        (r#","inputs":{"a.b":1}"#, "", &["inputs.\"a.b\": 1 -> absent"]),
        (r#","protect":true"#, "", &["protect: true -> absent"]),
        (r#","id":"1""#, r#","id":"2""#, &[r#"id: "1" -> "2""#]),
        ("", r#","dependencies":["x"]"#, &[r#"dependencies: absent -> ["x"]"#]),
        (
            r#","propertyDependencies":{"a":["x"]}"#,
            r#","propertyDependencies":{"a":["y"]}"#,
            &[r#"propertyDependencies.a: ["x"] -> ["y"]"#],
        ),
        (
            r#","replacementTrigger":false"#,
            r#","replacementTrigger":[]"#,
            &["replacementTrigger: false -> []"],
        ),
        (r#","later":1"#, r#","later":2"#, &["later: hidden -> hidden"]),
        (
            r#","inputs":{"n":9007199254740993}"#,
            r#","inputs":{"n":9007199254740992}"#,
            &["inputs.n: 9007199254740993 -> 9007199254740992"],
        ),
    ] {
        assert_eq!(fields(a, b), expected, "{a} {b}");
    }
}

#[test]
fn secrets_are_compared_and_never_shown() {
    let secret = |form: &str| format!(r#","outputs":{{"s":{{{SIGNATURE},{form}}}}}"#);
    let (a, b) = (secret(r#""ciphertext":"v1:a:b""#), secret(r#""ciphertext":"v1:c:d""#));
    assert!(fields(&a, &a).is_empty());
    assert_eq!(fields(&a, &b), ["outputs.s: hidden -> hidden"]);
    let plain = r#","outputs":{"s":"hunter2"}"#;
    assert_eq!(fields(&a, plain), ["outputs.s: hidden -> hidden"], "it may be the same value");
    let (open, other) = (secret(r#""plaintext":"{\"a\": 1}""#), secret(r#""plaintext":"{\"a\":1.0}""#));
    assert!(fields(&open, &other).is_empty());
    let other = secret(r#""plaintext":"2""#);
    let found = diff(&one(&open), &one(&other)).unwrap();
    let field = &found.changes[0].fields[0];
    assert_eq!(field.after.as_ref().unwrap().reveal(), Some("2"));
    assert!(!format!("{found:?}").contains("hunter"));
}

#[test]
fn copies_of_one_name_are_told_apart() {
    let copy = |id: &str, rest: &str| {
        format!(r#"{{"urn":"urn:pulumi:d::p::t:t:T::a","custom":true,"id":"{id}","type":"t:t:T"{rest}}}"#)
    };
    let deleted = r#","delete":true"#;
    let a = file(&[copy("1", ""), copy("2", deleted)].join(","));
    let b = file(&[copy("2", deleted), copy("1", "")].join(","));
    assert!(diff(&a, &b).unwrap().is_empty());
    let c = file(&copy("1", ""));
    let kinds = |diff: Diff| {
        diff.changes.iter().map(|change| (change.kind, change.subject.to_string())).collect::<Vec<_>>()
    };
    let gone = "urn:pulumi:d::p::t:t:T::a (waits for its deletion)".to_owned();
    assert_eq!(kinds(diff(&a, &c).unwrap()), [(ChangeKind::Removed, gone.clone())]);
    assert_eq!(kinds(diff(&c, &a).unwrap()), [(ChangeKind::Added, gone)]);
    let both = file(&[copy("1", ""), copy("1", "")].join(","));
    assert_eq!(kinds(diff(&c, &both).unwrap()).len(), 1);
}

#[test]
fn what_files_say_of_themselves_is_compared_but_not_shown() {
    let with = |text: &str| decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
    let a = with(
        r#"{"version":3,"checkpoint":{"stack":"organization/p/a","config":{"p:k":"hunter2"},"latest":{"manifest":{"time":"2024-01-01T00:00:00Z","magic":"","version":"v1"},"secrets_providers":{"type":"passphrase","state":{"salt":"x"}}}}}"#,
    );
    let b = with(
        r#"{"version":3,"checkpoint":{"stack":"organization/p/b","config":{"p:k":"hunter3"},"latest":{"manifest":{"time":"2025-01-01T00:00:00Z","magic":"","version":"v2"},"secrets_providers":{"type":"passphrase","state":{"salt":"y"}}}}}"#,
    );
    let found = diff(&a, &b).unwrap();
    let paths: Vec<&str> = found.changes[0].fields.iter().map(|field| &*field.path).collect();
    assert_eq!(paths, ["stack", "manifest.version", "secrets_providers.state", "config"]);
    let shown: Vec<_> =
        found.changes[0].fields.iter().filter_map(|field| field.before.as_ref()?.plain()).collect();
    assert_eq!(shown, [r#""organization/p/a""#, r#""v1""#]);
    assert!(diff(&a, &a).unwrap().is_empty());
}

#[test]
fn one_resource_is_written_as_in_a_file() {
    use groundstate_pulumi_deployment::{Secrets, encode_resource};
    let found = one(r#","id":"<1>","inputs":{"a": 1.50}"#);
    let resource = &found.snapshot.as_ref().unwrap().resources[0];
    let text = encode_resource(resource, Secrets::Sealed).unwrap();
    assert_eq!(
        text.as_str(),
        r#"{"urn":"urn:pulumi:d::p::t:t:T::a","custom":true,"id":"<1>","type":"t:t:T","inputs":{"a":1.50}}"#
    );
}
