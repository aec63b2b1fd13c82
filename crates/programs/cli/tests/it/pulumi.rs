//! The commands that read, on Pulumi files.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use super::support::{command, groundstate, groundstate_with, state, workspace};

/// Opens the secrets of [`SECRETS`].
const PASSPHRASE: &str = "password";

/// A stack with a secret output, encrypted under [`PASSPHRASE`], and a bucket.
const SECRETS: &str = r#"{"version":3,"deployment":{
  "manifest":{"time":"2024-05-06T07:08:09Z","magic":"3ff53efef69f38d19e364655131bbb113e416d3bf64bfb819065fa12acb29250","version":"v3.100.0"},
  "secrets_providers":{"type":"passphrase","state":{"salt":"v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="}},
  "resources":[
    {"urn":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev","custom":false,"type":"pulumi:pulumi:Stack",
     "outputs":{"token":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"hunter2\""},
                "sealed":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"CIPHERTEXT"},
                "url":"https://shop.example","zones":["a","b"]}},
    {"urn":"urn:pulumi:dev::shop::aws:s3/bucket:Bucket::assets","custom":true,"id":"assets-1","type":"aws:s3/bucket:Bucket",
     "inputs":{"acl":"private","name":"assets-1"},"outputs":{"arn":"arn:1"},"protect":true,
     "parent":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"}],
  "metadata":{}}}
"#;

fn fixture(name: &str) -> String {
    let path = workspace().join("tests/fixtures/pulumi").join(name);
    path.to_str().unwrap().to_owned()
}

/// The lines of a run without the folder of the fixtures.
fn masked(text: &str) -> String {
    let folder = fixture("");
    text.replace(&folder, "")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn lists_the_urns_of_every_envelope_and_version() {
    for (name, urn) in [
        ("states/export-pretty.json", "urn:pulumi:dev::shop::shop:index:Web::web"),
        ("states/export-v4.json", "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"),
        ("states/checkpoint-compact.json", "urn:pulumi:dev::shop::aws:s3/bucketV2:BucketV2::assets"),
        ("upgrade/v0-target-and-time.json", "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::assets"),
    ] {
        let path = fixture(name);
        let listed = groundstate(&["list", &path]).clean();
        assert!(listed.lines().any(|line| line == urn), "{name}: {listed}");
        let packed = state(gzip(&fs::read(&path).unwrap()));
        assert_eq!(groundstate(&["list", &packed.path]).clean(), listed, "{name}");
        assert_eq!(groundstate_with(&["list", "-"], &gzip(&fs::read(&path).unwrap())).clean(), listed);
    }
    for name in ["states/checkpoint-new-stack.json", "states/export-never-updated.json"] {
        assert_eq!(groundstate(&["list", &fixture(name)]).clean(), "", "{name}");
    }
}

#[test]
fn lists_what_urns_names_and_ids_stand_for() {
    let file = fixture("states/export-pretty.json");
    let list = |args: &[&str]| groundstate(&[&["list", &file], args].concat()).clean();
    let web = "urn:pulumi:dev::shop::shop:index:Web::web";
    assert_eq!(list(&[web, "web"]), format!("{web}\n{web}\n"));
    assert_eq!(list(&["handler"]).lines().count(), 2, "a live one, and one that waits for its deletion");
    assert_eq!(list(&["handler", "--id", "handler-0"]).lines().count(), 1);
    assert_eq!(list(&["--id", "nope"]), "");
    let text = list(&["handler", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["resources"][0]["pendingReplacement"], true);
    assert_eq!(json["resources"][1]["delete"], true);
    assert_eq!(json["resources"][1]["id"], "handler-0");
}

#[test]
fn suggests_what_may_have_been_meant() {
    let file = fixture("states/export-pretty.json");
    let message = groundstate(&["list", &file, "handlr"]).failed(7);
    insta::assert_snapshot!(masked(&message), @"
    error: states/export-pretty.json has no resource handlr
    help: `groundstate list states/export-pretty.json` shows what there is
    ");
    let message = groundstate(&["show", &file, "urn:pulumi:dev::shop::shop:index:Web::wep"]).failed(7);
    assert!(message.contains("did you mean urn:pulumi:dev::shop::shop:index:Web::web"), "{message}");
    let message = groundstate(&["list", &file, "urn:pulumi:dev"]).failed(2);
    assert!(message.contains("\"urn:pulumi:dev\" is not a valid resource URN"), "{message}");
}

#[test]
fn shows_resources_and_hides_secrets() {
    let shown = groundstate(&["show", &fixture("states/export-pretty.json")]).clean();
    insta::assert_snapshot!(masked(&shown));
    let file = state(SECRETS);
    let run = groundstate(&["show", &file.path]).clean();
    assert!(!run.contains("hunter2") && run.contains("token  = (sensitive value)"), "{run}");
    let one = groundstate(&["show", &file.path, "assets"]).clean();
    insta::assert_snapshot!(one);
}

#[test]
fn shows_resources_as_json() {
    let file = state(SECRETS);
    let text = groundstate(&["show", &file.path, "--json"]).clean();
    assert!(!text.contains("hunter2"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_json_snapshot!(json);
}

#[test]
fn prints_the_outputs_of_the_stack() {
    let file = state(SECRETS);
    insta::assert_snapshot!(groundstate(&["outputs", &file.path]).clean(), @r#"
    sealed = (sensitive value)
    token = (sensitive value)
    url = "https://shop.example"
    zones = [
        "a",
        "b",
    ]
    "#);
    insta::assert_snapshot!(groundstate(&["outputs", &file.path, "--json"]).clean(), @r#"
    {
      "sealed": "[secret]",
      "token": "[secret]",
      "url": "https://shop.example",
      "zones": [
        "a",
        "b"
      ]
    }
    "#);
    assert_eq!(groundstate(&["outputs", &file.path, "url", "--raw"]).clean(), "https://shop.example");
    assert_eq!(groundstate(&["outputs", &file.path, "zones", "--json"]).clean(), "[\"a\",\"b\"]\n");
    let message = groundstate(&["outputs", &file.path, "token", "--raw"]).failed(2);
    assert!(message.contains("is a secret") && message.contains("--show-secrets"), "{message}");
    groundstate(&["outputs", &file.path, "zones", "--raw"]).failed(2);
    groundstate(&["outputs", &file.path, "nope"]).failed(7);
    let run = groundstate(&["outputs", &fixture("states/export-never-updated.json")]);
    assert!(run.code == 0 && run.stderr.contains("has no outputs"), "{}", run.stderr);
}

/// [`SECRETS`] with a ciphertext that the passphrase opens: that of the salt, which says `pulumi`, is no JSON, so it is put in
/// where only its decryption matters.
fn sealed() -> String {
    SECRETS.replace("CIPHERTEXT", "v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==")
}

#[test]
fn opens_secrets_with_the_passphrase() {
    // Secrets that are written readable need no passphrase.
    let readable = state(SECRETS.replace("\"ciphertext\":\"CIPHERTEXT\"", "\"plaintext\":\"7\""));
    for option in ["--show-secrets", "--reveal"] {
        let shown = groundstate(&["outputs", &readable.path, option]).clean();
        assert!(shown.starts_with("sealed = 7\ntoken = \"hunter2\"\n"), "{shown}");
    }
    let raw = groundstate(&["outputs", &readable.path, "token", "--raw", "--show-secrets"]).clean();
    assert_eq!(raw, "hunter2");
    let shown = groundstate(&["show", &readable.path, "--show-secrets", "--json"]).clean();
    assert!(shown.contains(r#""token":"hunter2""#), "{shown}");

    let file = state(sealed());
    let run = |name: &str, value: &str| {
        let mut command = command(&["outputs", &file.path, "--show-secrets"]);
        let output = command.env(name, value).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let folder = tempfile::tempdir().unwrap();
    let right = folder.path().join("right");
    fs::write(&right, format!(" {PASSPHRASE}\n")).unwrap();
    for (name, value) in
        [("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE), ("PULUMI_CONFIG_PASSPHRASE_FILE", right.to_str().unwrap())]
    {
        let (code, message) = run(name, value);
        // It is decrypted, and what it says is no value.
        assert!(code == Some(5) && message.contains("what is inside is not a value"), "{message}");
    }
    let (code, message) = run("PULUMI_CONFIG_PASSPHRASE", "wrong");
    assert_eq!(code, Some(5));
    assert!(message.contains("failed to decrypt: incorrect passphrase"), "{message}");
    let (code, message) = run("PULUMI_CONFIG_PASSPHRASE_FILE", "/no/such/file");
    assert!(code == Some(5) && message.contains("unable to read PULUMI_CONFIG_PASSPHRASE_FILE"), "{message}");
    let message = groundstate(&["outputs", &file.path, "--show-secrets"]).failed(5);
    assert!(message.contains("passphrase must be set with PULUMI_CONFIG_PASSPHRASE"), "{message}");
}

#[test]
fn needs_a_manager_for_what_is_encrypted() {
    let text = sealed();
    let begin = text.find("\"secrets_providers\"").unwrap();
    let end = text.find("\"resources\"").unwrap();
    let none = state([&text[..begin], &text[end..]].concat());
    let message = groundstate(&["show", &none.path, "--show-secrets"]).failed(5);
    assert!(message.contains("no secrets manager could be found"), "{message}");
    let service = state(text.replace("\"type\":\"passphrase\"", "\"type\":\"service\""));
    let message = groundstate(&["show", &service.path, "--show-secrets"]).failed(5);
    assert!(message.contains("\"service\""), "{message}");
    groundstate(&["show", &service.path]).clean();
}

#[test]
fn checks_every_rule_and_points_into_the_file() {
    let file = fixture("upgrade/v3-integrity-errors.json");
    let run = groundstate(&["check", &file]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    insta::assert_snapshot!(masked(&run.stdout));
    let run = groundstate(&["check", &file, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&masked(&run.stdout)).unwrap();
    let findings = json["files"][0]["findings"].as_array().unwrap();
    assert_eq!((run.code, &json["files"][0]["family"]), (1, &"pulumi".into()));
    for finding in findings {
        assert!(finding["code"].as_str().unwrap().starts_with("GS06"), "{finding}");
        assert!(finding["line"].as_u64().unwrap() >= 1 && finding["path"].is_string(), "{finding}");
    }
    assert!(findings.iter().any(|finding| finding["original"].is_string()));
    let readable = groundstate(&["check", &state(sealed()).path]);
    assert!(readable.code == 1 && readable.stdout.contains("GS0637"), "{}", readable.stdout);
    let encrypted = sealed().replace(
        r#""plaintext":"\"hunter2\"""#,
        r#""ciphertext":"v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==""#,
    );
    let said = groundstate(&["check", &state(encrypted).path]).clean();
    assert!(said.ends_with(": nothing found in 2 resources and 0 pending operations\n"), "{said}");
}

#[test]
fn finds_in_every_envelope_what_it_finds_in_an_export() {
    let findings = |text: &[u8]| {
        let run = groundstate_with(&["check", "-", "--json"], text);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = json["files"][0]["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .map(|finding| (finding["code"].clone(), finding["message"].clone()))
            .collect::<Vec<_>>()
    };
    let export = fs::read_to_string(fixture("upgrade/v3-integrity-errors.json")).unwrap();
    let expected = findings(export.as_bytes());
    assert!(!expected.is_empty());
    let body = &export[export.find("\"deployment\"").unwrap()..];
    let body = body.split_once(':').unwrap().1.trim_end().strip_suffix('}').unwrap();
    let checkpoint =
        format!(r#"{{"version": 3, "checkpoint": {{"stack": "organization/shop/dev", "latest": {body}}}}}"#);
    assert_eq!(findings(checkpoint.as_bytes()), expected);
    assert_eq!(findings(&gzip(export.as_bytes())), expected);
}

#[test]
fn says_what_is_wrong_with_a_file_and_where() {
    let of = |name: &str, code: i32| {
        let message = groundstate(&["list", &fixture(name)]).failed(code);
        masked(&message)
    };
    insta::assert_snapshot!("wrong_types", of("reject/v3-wrong-types.json", 5));
    insta::assert_snapshot!("unknown_features", of("reject/v4-unknown-features.json", 5));
    insta::assert_snapshot!("newer_version", of("reject/v9-checkpoint.json", 5));
    insta::assert_snapshot!("both_envelopes", of("reject/both-envelopes.json", 4));
    let truncated = &SECRETS[..SECRETS.len() - 40];
    let message = groundstate_with(&["list", "-"], truncated.as_bytes()).failed(4);
    assert!(message.contains("error[GS0501]") && message.contains("<stdin>:"), "{message}");
    for name in ["v3-wrong-types", "v4-unknown-features", "v9-checkpoint", "truncated", "v0-contradicted"] {
        let run = groundstate(&["check", &fixture(&format!("reject/{name}.json")), "--json"]);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &json["files"][0]["readable"]), (1, &false.into()), "{name}");
        assert!(!json["files"][0]["findings"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn shows_no_value_of_a_file_wherever_it_is_cut_off() {
    let text = r#"{"version": 3, "deployment": {"manifest": {"time": "2024-05-06T07:08:09Z", "magic": "", "version": ""},
        "resources": [{"urn": "u", "custom": true, "type": "t", "id": "hunter2", "inputs": {"name": "hunter2", "type": ["hunter2"]},
        "outputs": {"name": "hunter2", "deep": {"type": "hunter2", "path": "hunter2"}}}]}}"#;
    for end in 1..text.len() {
        let run = groundstate_with(&["list", "-"], &text.as_bytes()[..end]);
        assert!(run.code != 0 && !run.stderr.contains("hunter2"), "{end}: {}", run.stderr);
    }
}

#[test]
fn compares_two_deployments() {
    let a = state(SECRETS);
    let same = groundstate(&["diff", &a.path, &a.path]).clean();
    assert_eq!(same, "the states mean the same\n");
    let changed = SECRETS
        .replace("\"hunter2\\\"", "\"hunter3\\\"")
        .replace("\"acl\":\"private\"", "\"acl\":\"public\"")
        .replace("\"protect\":true,", "")
        .replace("[\"a\",\"b\"]", "[\"a\"]");
    let b = state(&changed);
    let run = groundstate(&["diff", &a.path, &b.path]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    insta::assert_snapshot!(run.stdout);
    assert!(!run.stdout.contains("hunter"), "{}", run.stdout);
    let run = groundstate(&["diff", &a.path, &b.path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["summary"]["changed"], 2);
    assert_eq!(json["changes"][0]["fields"][0]["before_sensitive"], true);
    let gone = state(SECRETS.replace("::assets", "::media"));
    let run = groundstate(&["diff", &a.path, &gone.path]);
    assert!(run.stdout.contains("+ urn:pulumi:dev::shop::aws:s3/bucket:Bucket::media\n"), "{}", run.stdout);
    assert!(run.stdout.contains("- urn:pulumi:dev::shop::aws:s3/bucket:Bucket::assets\n"), "{}", run.stdout);
    let checkpoint = groundstate(&[
        "diff",
        &fixture("states/export-pretty.json"),
        &fixture("states/checkpoint-compact.json"),
    ]);
    assert_eq!(checkpoint.stdout, "the states mean the same\n");
    let message = groundstate(&["diff", &a.path, "webshop-v4-terraform.tfstate"]).failed(2);
    assert!(message.contains("nothing to compare"), "{message}");
    groundstate(&["diff", &a.path, &state("").path]).failed(3);
}

#[test]
fn upgrades_in_the_envelope_that_was_found() {
    for name in ["states/export-pretty.json", "states/checkpoint-compact.json", "states/export-v4.json"] {
        let text = fs::read_to_string(fixture(name)).unwrap();
        assert_eq!(groundstate(&["upgrade", &fixture(name)]).clean(), text, "{name}");
    }
    let run = groundstate(&["upgrade", &fixture("upgrade/v0-target-and-time.json")]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
    let again = groundstate(&["upgrade", &state(&run.stdout).path]).clean();
    assert_eq!(again, run.stdout);
    let message =
        groundstate(&["upgrade", &fixture("states/export-v4.json"), "--dialect=terraform"]).failed(2);
    assert!(message.contains("has no dialects"), "{message}");
}

#[test]
fn upgrades_a_compressed_file_in_its_place() {
    let old = fs::read(fixture("upgrade/v0-target-and-time.json")).unwrap();
    let expected = groundstate(&["upgrade", &fixture("upgrade/v0-target-and-time.json")]).stdout;
    let file = state(gzip(&old));
    assert_eq!(groundstate(&["upgrade", &file.path]).stdout, expected);
    let run = groundstate(&["upgrade", &file.path, "-o", &file.path]);
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
    let stored = fs::read(&file.path).unwrap();
    assert!(stored.starts_with(&[0x1f, 0x8b]));
    assert_eq!(groundstate(&["upgrade", &file.path]).clean(), expected);
    // Any other place gets text.
    let other = file.dir.path().join("other.json");
    groundstate(&["upgrade", &file.path, "-o", other.to_str().unwrap()]).clean();
    assert_eq!(fs::read_to_string(&other).unwrap(), expected);
}

#[test]
fn reads_compressed_states_of_terraform_too() {
    let text = fs::read(workspace().join("tests/fixtures/states/webshop-v4-terraform.tfstate")).unwrap();
    let file = state(gzip(&text));
    for args in [&["list"][..], &["show"], &["outputs"], &["upgrade"]] {
        let plain = groundstate(&[args, &["webshop-v4-terraform.tfstate"]].concat());
        let packed = groundstate(&[args, &[&*file.path]].concat());
        let name = |text: &str| text.replace(&file.path, "webshop-v4-terraform.tfstate");
        assert_eq!(name(&packed.stdout), plain.stdout, "{args:?}");
    }
    let damaged = state(&gzip(&text)[..100]);
    let message = groundstate(&["list", &damaged.path]).failed(4);
    assert!(message.contains("compressed by gzip and cannot be unpacked"), "{message}");
}

/// Runs a command with a passphrase and standard input.
fn with_passphrase(args: &[&str], input: &str) -> (i32, String, String) {
    let mut child = command(args)
        .env("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses the state may leave its input unread.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn encrypts_and_decrypts_values() {
    let file = state(SECRETS);
    let known = "v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==\n";
    assert_eq!(with_passphrase(&["decrypt", &file.path], known), (0, "pulumi".to_owned(), String::new()));
    let (code, ciphertext, _) = with_passphrase(&["encrypt", &file.path], "\"hunter2\"\n");
    assert!(code == 0 && ciphertext.starts_with("v1:") && !ciphertext.contains("hunter2"), "{ciphertext}");
    let (_, again, _) = with_passphrase(&["encrypt", &file.path], "\"hunter2\"\n");
    assert_ne!(again, ciphertext, "each encryption has a nonce of its own");
    assert_eq!(with_passphrase(&["decrypt", &file.path], &ciphertext).1, "\"hunter2\"");

    // What has been encrypted here is a secret of the state.
    let sealed = state(SECRETS.replace("CIPHERTEXT", ciphertext.trim()));
    let (code, shown, _) =
        with_passphrase(&["outputs", &sealed.path, "sealed", "--raw", "--show-secrets"], "");
    assert_eq!((code, &*shown), (0, "hunter2"));

    let (code, _, message) = with_passphrase(&["decrypt", &file.path], "v1:nonsense");
    assert!(code == 5 && message.contains("bad value") && !message.contains("nonsense"), "{message}");
    let message = groundstate_with(&["decrypt", &file.path], known.as_bytes()).failed(5);
    assert!(message.contains("passphrase must be set"), "{message}");
    assert_eq!(with_passphrase(&["encrypt", "-"], "x").0, 2);
    assert_eq!(with_passphrase(&["encrypt", "webshop-v4-terraform.tfstate"], "x").0, 2);
}

#[test]
fn compares_secrets_by_their_values_if_it_may_open_them() {
    let file = state(SECRETS);
    let encrypted = |value: &str| with_passphrase(&["encrypt", &file.path], value).1.trim().to_owned();
    let with = |value: &str| state(SECRETS.replace("CIPHERTEXT", &encrypted(value)));
    let (one, same, other) = (with("\"s3cret\""), with("\"s3cret\""), with("\"changed\""));
    let (code, text, _) = with_passphrase(&["diff", &one.path, &same.path], "");
    assert!(code == 1 && text.contains("outputs.sealed: (sensitive value) -> (sensitive value)"), "{text}");
    let (code, text, _) = with_passphrase(&["diff", &one.path, &same.path, "--show-secrets"], "");
    assert_eq!((code, &*text), (0, "the states mean the same\n"));
    let (code, text, _) = with_passphrase(&["diff", &one.path, &other.path, "--show-secrets"], "");
    assert!(code == 1 && text.contains(r#"outputs.sealed: "s3cret" -> "changed""#), "{text}");
    // Upgrading and changing leave ciphertexts as they are.
    let before = fs::read_to_string(&one.path).unwrap();
    let ciphertext = before.split("\"ciphertext\":\"").nth(1).unwrap().split('"').next().unwrap();
    groundstate(&["unprotect", &one.path, "assets"]).clean();
    assert!(fs::read_to_string(&one.path).unwrap().contains(ciphertext));
}
