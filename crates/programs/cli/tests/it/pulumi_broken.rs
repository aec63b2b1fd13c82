//! Pulumi files that Pulumi cannot load, and what repairs may do by themselves.

use std::fs;

use super::support::{Run, TempState, command, groundstate, groundstate_with, state};

const ROOT: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const SIG: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const SALT: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";

fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::shop::t:t:T::{name}")
}

fn resource(name: &str, members: &str) -> String {
    format!(r#"{{"urn":"{}","custom":true,"id":"{name}-1","type":"t:t:T"{members}}}"#, urn(name))
}

/// The deployment of these resources behind the root of the stack, with these members behind them.
fn body(header: &str, resources: &[String], behind: &str) -> String {
    format!(
        r#"{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},{header}"resources":[{{"urn":"{ROOT}","custom":false,"type":"pulumi:pulumi:Stack"}},{}],{behind}"metadata":{{}}}}"#,
        resources.join(",")
    )
}

fn export(header: &str, resources: &[String], behind: &str) -> String {
    format!(r#"{{"version":3,"deployment":{}}}"#, body(header, resources, behind))
}

fn bad() -> String {
    format!(r#"{{"{SIG}":"foobar"}}"#)
}

/// A sound resource, and one with values that Pulumi cannot load.
fn broken() -> String {
    let inputs = format!(r#","inputs":{{"k":[{}],"size":1.50}},"outputs":{{"o":{}}}"#, bad(), bad());
    export("", &[resource("good", r#","inputs":{"x":1}"#), resource("bad", &inputs)], "")
}

fn stored(file: &TempState) -> String {
    fs::read_to_string(&file.path).unwrap()
}

fn with_passphrase(args: &[&str]) -> Run {
    Run::of(command(args).env("PULUMI_CONFIG_PASSPHRASE", "password").output().unwrap())
}

#[test]
fn check_finds_what_pulumi_cannot_load() {
    let file = state(broken());
    let run = groundstate(&["check", &file.path, "--json"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    for part in [
        r#""code":"GS0650""#,
        r#""path":"deployment.resources[2].inputs.k[0]""#,
        r#""path":"deployment.resources[2].outputs.o""#,
        r#""original":"unrecognized signature 'foobar' in property map""#,
        &format!(r#""address":"{}""#, urn("bad")),
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let secret = format!(r#","inputs":{{"s":{{"{SIG}":"{SECRET}","ciphertext":"v1:a:b"}}}}"#);
    for (header, code) in [
        ("", "GS0659"),
        (r#""secrets_providers":{"type":"cloud"},"#, "GS0660"),
        (r#""secrets_providers":{"type":"vault"},"#, "GS0661"),
        (r#""secrets_providers":{"type":"passphrase"},"#, "GS0662"),
    ] {
        let file = state(export(header, &[resource("a", &secret)], ""));
        let run = groundstate(&["check", &file.path]);
        assert!(run.code == 1 && run.stdout.contains(code), "{code}: {}", run.stdout);
    }
}

#[test]
fn rm_takes_out_what_pulumi_cannot_load() {
    let file = state(broken());
    groundstate(&["rm", &file.path, "bad"]).clean();
    assert_eq!(stored(&file), export("", &[resource("good", r#","inputs":{"x":1}"#)], ""));
    groundstate(&["check", &file.path]).clean();
}

#[test]
fn other_resources_can_be_changed_beside_what_pulumi_cannot_load() {
    for args in [&["protect"][..], &["taint"]] {
        let file = state(broken());
        let args = [args, &[&file.path, "good"]].concat();
        groundstate(&args).clean();
        assert!(stored(&file).contains(&bad()));
    }
    let file = state(broken());
    groundstate(&["mv", &file.path, "bad", "worse"]).clean();
    assert!(stored(&file).contains(&bad()) && stored(&file).contains("::worse"));
}

#[test]
fn repair_takes_the_values_out_and_keeps_every_other_byte() {
    let file = state(broken());
    let run = groundstate(&["repair", &file.path, "--yes"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("remove the value inputs.k[0], which cannot be loaded"), "{}", run.stdout);
    let bad = resource("bad", r#","inputs":{"k":[null],"size":1.50}"#);
    assert_eq!(stored(&file), export("", &[resource("good", r#","inputs":{"x":1}"#), bad], ""));
    groundstate(&["check", &file.path]).clean();
}

#[test]
fn show_and_outputs_show_the_rest() {
    let file = state(broken());
    let run = groundstate(&["show", &file.path]);
    assert_eq!(run.code, 1, "what was asked for is not all there");
    assert!(run.stdout.contains("size = 1.50") && run.stdout.contains("[unreadable]"), "{}", run.stdout);
    assert!(run.stderr.contains("cannot read inputs.k[0]: unrecognized signature"), "{}", run.stderr);
    groundstate(&["show", &file.path, "good"]).clean();
    let run = groundstate(&["show", &file.path, "--json", "--show-secrets"]);
    assert!(run.code == 1 && run.stdout.contains(r#""k":["[unreadable]"]"#), "{}", run.stdout);
    groundstate(&["list", &file.path]).clean();

    let outputs = format!(r#""type":"pulumi:pulumi:Stack","outputs":{{"a":"<b>","z":{}}}"#, bad());
    let file = state(broken().replacen(r#""type":"pulumi:pulumi:Stack""#, &outputs, 1));
    let run = groundstate(&["outputs", &file.path, "--json"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout, "{\n  \"a\": \"<b>\",\n  \"z\": \"[unreadable]\"\n}\n", "as Pulumi writes it");
}

#[test]
fn outputs_reports_every_unreadable_output_and_no_other_value() {
    let of_stack = |members: &str| {
        let root = format!(r#""type":"pulumi:pulumi:Stack",{members}"#);
        state(broken().replacen(r#""type":"pulumi:pulumi:Stack""#, &root, 1))
    };
    let many: Vec<String> = (0..150).map(|number| format!(r#""k{number}":{}"#, bad())).collect();
    let run = groundstate(&["outputs", &of_stack(&format!(r#""outputs":{{{}}}"#, many.join(","))).path]);
    assert!(run.code == 1 && run.stderr.contains(" more values of outputs"), "{}", run.stderr);

    let inputs = format!(r#""inputs":{{"cannot read outputs":{}}},"outputs":{{"a":1}}"#, bad());
    let run = groundstate(&["outputs", &of_stack(&inputs).path]);
    assert!(run.code == 0 && run.stderr.is_empty(), "{}", run.stderr);
}

#[test]
fn diff_tells_texts_apart_that_cannot_be_read() {
    let other = state(broken().replace("foobar", "barfoo"));
    let file = state(broken());
    let run = groundstate(&["diff", &file.path, &other.path]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(!run.stdout.contains("foobar") && run.stdout.contains("inputs"), "{}", run.stdout);
    let run = groundstate(&["diff", &file.path, &file.path]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn secrets_go_only_by_an_answer() {
    let secret = format!(r#","inputs":{{"s":{{"{SIG}":"{SECRET}","ciphertext":"v1:a:b"}},"t":1}}"#);
    let text = export("", &[resource("a", &secret)], "");
    let file = state(&text);
    let message = groundstate(&["repair", &file.path, "--yes"]).failed(9);
    assert!(message.contains("question 1: 1 encrypted values cannot be decrypted"), "{message}");
    assert_eq!(stored(&file), text);
    assert_eq!(groundstate(&["repair", &file.path]).code, 1, "the plan is shown");
    let run = groundstate(&["repair", &file.path, "--yes", "--answer", "1=1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(stored(&file), export("", &[resource("a", r#","inputs":{"t":1}"#)], ""));
}

#[test]
fn repair_moves_a_parent_and_leaves_the_urn_of_its_child() {
    let child = |kind: &str| format!("urn:pulumi:dev::shop::t:t:Par$t:t:T::{kind}");
    let par = "urn:pulumi:dev::shop::t:t:Par::par";
    let kid = resource("kid", &format!(r#","parent":"{par}""#)).replace(&urn("kid"), &child("kid"));
    let old = format!(r#"{{"urn":"{par}","custom":false,"delete":true,"type":"t:t:Par"}}"#);
    let file = state(export("", &[kid.clone(), old.clone()], ""));
    let run = groundstate(&["repair", &file.path, "--yes"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(stored(&file), export("", &[old, kid.clone()], ""));

    // Without the parent the URN stays too, and changes by an answer only.
    let file = state(export("", &[kid], ""));
    let plan = groundstate(&["repair", &file.path]);
    assert!(plan.stderr.contains("* 1: keep the URN"), "{}", plan.stderr);
    assert_eq!(groundstate(&["repair", &file.path, "--yes"]).code, 0);
    assert!(stored(&file).contains(&child("kid")) && !stored(&file).contains(r#""parent""#));
    let file = state(export(
        "",
        &[resource("kid", &format!(r#","parent":"{par}""#)).replace(&urn("kid"), &child("kid"))],
        "",
    ));
    assert_eq!(groundstate(&["repair", &file.path, "--yes", "--answer", "1=2"]).code, 0);
    assert!(stored(&file).contains(&urn("kid")), "{}", stored(&file));
}

#[test]
fn rm_chooses_among_copies_without_identifier() {
    let copy = |members: &str| resource("web", members).replace(r#""id":"web-1","#, "");
    let text = export("", &[copy(""), copy(r#","delete":true"#)], "");
    let file = state(&text);
    let message = groundstate(&["rm", &file.path, "web"]).failed(2);
    assert!(
        message.contains("1: ") && message.contains("(no identifier, waits for its deletion)"),
        "{message}"
    );
    assert!(message.contains("`--copy NUMBER`"), "{message}");
    groundstate(&["rm", &file.path, "web", "--copy", "3"]).failed(7);
    let message = groundstate(&["mv", &file.path, "web", "site"]).failed(2);
    assert!(message.contains("groundstate rm --copy") && !message.contains("--id"), "{message}");
    groundstate(&["rm", &file.path, "web", "--copy", "2"]).clean();
    assert_eq!(stored(&file), export("", &[copy("")], ""));

    let file = state(export("", &[resource("web", r#","delete":true"#), copy("")], ""));
    groundstate(&["rm", &file.path, "web", "--id", ""]).clean();
    assert!(
        stored(&file).contains(r#""delete":true,"id":"web-1""#)
            && stored(&file).matches("::web").count() == 1
    );
    let message = groundstate(&["rm", &file.path, "web", "--id", ""]).failed(7);
    assert!(message.contains("has an identifier"), "{message}");
}

#[test]
fn mv_follows_references_inside_of_encrypted_secrets() {
    let header = format!(r#""secrets_providers":{{"type":"passphrase","state":{{"salt":"{SALT}"}}}},"#);
    let keys = state(export(&header, &[], "").replace(",]", "]"));
    let encrypt = |value: &str| {
        let mut call = command(&["encrypt", &keys.path]);
        call.env("PULUMI_CONFIG_PASSPHRASE", "password");
        let input = state(value);
        let run = Run::of(call.stdin(fs::File::open(&input.path).unwrap()).output().unwrap());
        run.clean().trim().to_owned()
    };
    let reference = format!(
        r#"{{"{SIG}":"5cf8f73096256a8f31e491e813e4eb8e","urn":"{}","packageVersion":""}}"#,
        urn("net")
    );
    let (with, without) = (encrypt(&reference), encrypt("\"hunter2\""));
    let secret = |ciphertext: &str| format!(r#"{{"{SIG}":"{SECRET}","ciphertext":"{ciphertext}"}}"#);
    let web = format!(r#","inputs":{{"a":{},"b":{}}}"#, secret(&with), secret(&without));
    let text = export(&header, &[resource("net", ""), resource("web", &web)], "");

    let file = state(&text);
    let run = groundstate(&["mv", &file.path, "net", "lan"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("2 encrypted values cannot be opened"), "{}", run.stderr);
    assert!(stored(&file).contains(&with));

    let file = state(&text);
    let run = with_passphrase(&["mv", &file.path, "net", "lan"]);
    assert_eq!((run.code, &*run.stderr), (0, ""));
    assert!(
        !stored(&file).contains(&with) && stored(&file).contains(&without),
        "only what changes is encrypted"
    );
    let run = with_passphrase(&["show", &file.path, "web", "--show-secrets"]);
    assert!(run.stdout.contains(&urn("lan")) && !run.stdout.contains(&urn("net")), "{}", run.stdout);
}

#[test]
fn a_newer_version_is_too_new_and_no_unknown_kind_of_file() {
    let run = groundstate_with(&["list", "-"], br#"{"version":5,"features":["x"]}"#);
    let message = run.failed(5);
    assert!(message.contains("too new"), "{message}");
}

#[test]
fn resolving_in_an_export_promises_nothing_that_an_import_drops() {
    let made = resource("made", "").replace(r#""id":"made-1","#, "");
    let pending = format!(r#""pending_operations":[{{"resource":{made},"type":"creating"}}],"#);
    let file = state(export("", &[resource("a", "")], &pending));
    let run = groundstate(&["pending", "resolve", &file.path, "made", "m-1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("`pulumi stack import` clears all pending operations"), "{}", run.stderr);
    assert!(!run.stdout.contains("next refresh"), "{}", run.stdout);
    let checkpoint = format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/shop/dev","latest":{}}}}}"#,
        body("", &[resource("a", "")], &pending)
    );
    let run = groundstate(&["pending", "resolve", &state(checkpoint).path, "made", "m-1"]);
    assert!(run.code == 0 && run.stderr.is_empty() && run.stdout.contains("next refresh"), "{}", run.stdout);
}

#[test]
fn a_name_that_stands_twice_is_found() {
    let twice = resource("a", "").replacen("{", &format!(r#"{{"urn":"{}","#, urn("first")), 1);
    let file = state(export("", &[twice], ""));
    let run = groundstate(&["check", &file.path]);
    assert!(run.code == 1 && run.stdout.contains("GS0515"), "{}", run.stdout);
    assert!(run.stdout.contains("\"urn\" appears more than once"), "{}", run.stdout);
}

#[test]
fn one_thing_is_not_called_several() {
    let text = export("", &[], "").replace(",]", "]");
    let said = groundstate(&["check", &state(text).path]).clean();
    assert!(said.contains("nothing found in 1 resource and 0 pending operations"), "{said}");
}

#[test]
fn destroys_what_refers_to_a_view_before_its_owner() {
    let view = resource("a", &format!(r#","viewOf":"{}""#, urn("b")));
    let child = resource("c", &format!(r#","parent":"{}""#, urn("a")));
    for others in [vec![resource("b", "")], Vec::new()] {
        let file = state(export("", &[vec![view.clone(), child.clone()], others].concat(), ""));
        assert!(!groundstate(&["check", &file.path]).stdout.contains("error"));
        let run = groundstate(&["order", "destroy", &file.path]);
        assert!(run.code == 0 && run.stdout.contains("::c"), "{} {}", run.stdout, run.stderr);
    }
}
