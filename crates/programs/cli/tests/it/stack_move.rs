//! `groundstate mv --to` and `groundstate split` between Pulumi stacks.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use groundstate_pulumi_secrets::passphrase::create;
use groundstate_pulumi_secrets::{OsEntropy, Passphrase, Plaintext};

use super::support::{Run, TempState, backups, command, groundstate, state};

const SECRET: &str = "hunter2-moves";

pub(crate) fn urn(stack: &str, kind: &str, name: &str) -> String {
    format!("urn:pulumi:{stack}::shop::{kind}::{name}")
}

fn root(stack: &str) -> String {
    urn(stack, "pulumi:pulumi:Stack", &format!("shop-{stack}"))
}

/// A stack of these resources, with its provider of secrets.
pub(crate) fn stack(name: &str, salt: Option<&str>, resources: &[String]) -> TempState {
    let root = root(name);
    let providers = salt
        .map(|salt| format!(r#""secrets_providers":{{"type":"passphrase","state":{{"salt":"{salt}"}}}},"#))
        .unwrap_or_default();
    let resources: String = resources.iter().map(|resource| format!(",{resource}")).collect();
    state(format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/shop/{name}","latest":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},{providers}"resources":[{{"urn":"{root}","custom":false,"type":"pulumi:pulumi:Stack"}}{resources}],"metadata":{{}}}}}}}}"#
    ))
}

pub(crate) fn resource(stack: &str, kind: &str, name: &str, members: &str) -> String {
    let (urn, root) = (urn(stack, kind, name), root(stack));
    format!(r#"{{"urn":"{urn}","custom":true,"id":"{name}-1","type":"{kind}","parent":"{root}"{members}}}"#)
}

/// A stack with a provider, a network and a web server that needs both; the network has a secret.
pub(crate) fn shop(salt: Option<&str>, ciphertext: &str) -> TempState {
    let provider = resource("dev", "pulumi:providers:t", "main", "");
    let by = format!(r#","provider":"{}::main-1""#, urn("dev", "pulumi:providers:t", "main"));
    let secret = match ciphertext {
        "" => r#""key":"1.50""#.to_owned(),
        text => format!(
            r#""key":{{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"{text}"}}"#
        ),
    };
    let net = resource("dev", "t:t:Net", "net", &format!(r#","inputs":{{"size":1.50,{secret}}}{by}"#));
    let needs = format!(r#","dependencies":["{}"]{by}"#, urn("dev", "t:t:Net", "net"));
    let web = resource("dev", "t:t:Web", "web", &needs);
    stack("dev", salt, &[provider, net, web])
}

pub(crate) fn listed(path: &str) -> BTreeSet<String> {
    groundstate(&["list", path]).clean().lines().map(str::to_owned).collect()
}

fn run(args: &[&str], passphrase: &str) -> Run {
    let mut command = command(args);
    Run::of(command.env("PULUMI_CONFIG_PASSPHRASE", passphrase).stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_resource_moves_with_its_provider_to_another_stack() {
    let (file, other) = (shop(None, ""), stack("prod", None, &[]));
    let before = (fs::read(&file.path).unwrap(), fs::read(&other.path).unwrap());
    let args = ["mv", &file.path, "net", "--to", &other.path];
    let preview = groundstate(&[&args[..], &["--dry-run"]].concat());
    assert_eq!(preview.code, 0, "{}", preview.stderr);
    assert_eq!((fs::read(&file.path).unwrap(), fs::read(&other.path).unwrap()), before);
    insta::assert_snapshot!("preview", file.mask(&preview.stdout).replace(&other.path, "OTHER"));

    let said = groundstate(&args);
    assert_eq!(said.code, 0);
    insta::assert_snapshot!("moved", file.mask(&said.stdout).replace(&other.path, "OTHER"));
    insta::assert_snapshot!(said.stderr, @"
    warning: urn:pulumi:dev::shop::t:t:Web::web loses its reference (dependency) to urn:pulumi:dev::shop::t:t:Net::net, which moves
    ");
    let joined = BTreeSet::from([
        root("prod"),
        urn("prod", "pulumi:providers:t", "main"),
        urn("prod", "t:t:Net", "net"),
    ]);
    assert_eq!(listed(&other.path), joined);
    assert!(!listed(&file.path).contains(&urn("dev", "t:t:Net", "net")));
    for path in [&file.path, &other.path] {
        assert_eq!(groundstate(&["check", path, "--fail-on", "error"]).code, 0);
    }
    let text = fs::read_to_string(&other.path).unwrap();
    assert!(
        text.contains(r#""size":1.50"#) && text.contains(r#""stack":"organization/shop/prod""#),
        "{text}"
    );
    assert_eq!(fs::read(&backups(&file.path)[0]).unwrap(), before.0);
    assert_eq!(fs::read(&backups(&other.path)[0]).unwrap(), before.1);
}

#[test]
fn split_takes_patterns_and_json_says_what_became_of_both() {
    let (file, other) = (shop(None, ""), stack("prod", None, &[]));
    let said = groundstate(&["split", &file.path, &other.path, "**::net", "web", "--json"]).clean();
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    let verbs: Vec<&str> =
        json["changes"].as_array().unwrap().iter().map(|change| change["change"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["move", "move", "copy"]);
    assert_eq!(json["changes"][0]["to"], urn("prod", "t:t:Net", "net"));
    assert_eq!((&json["written"], &json["to"]["written"]), (&true.into(), &true.into()));
    assert_eq!(json["to"]["diff"]["summary"]["added"], 3);
    // What depended on each other still does.
    let web = groundstate(&["show", &other.path, "web", "--json"]).clean();
    assert!(web.contains(&urn("prod", "t:t:Net", "net")), "{web}");
    assert_eq!(listed(&file.path), BTreeSet::from([root("dev"), urn("dev", "pulumi:providers:t", "main")]));
}

/// A salt for this passphrase, and the secret as it encrypts it.
fn sealed(passphrase: &str) -> (String, String) {
    let (salt, manager) =
        create(&Passphrase::new(passphrase.as_bytes().to_vec()), Arc::new(OsEntropy)).unwrap();
    let value = Plaintext::new(format!("\"{SECRET}\""));
    let ciphertext = manager.encrypter().encrypt(&value).unwrap();
    (salt.as_str().to_owned(), ciphertext.as_str().to_owned())
}

fn holds_secret(path: &str, passphrase: &str) {
    let shown = run(&["show", path, "net", "--show-secrets", "--json"], passphrase);
    assert!(shown.code == 0 && shown.stdout.contains(SECRET), "{}", shown.stderr);
}

#[test]
fn secrets_are_encrypted_with_the_keys_of_their_new_stack() {
    let (salt, ciphertext) = sealed("one");
    let (other_salt, _) = sealed("two");
    let folder = tempfile::tempdir().unwrap();
    let second = folder.path().join("second");
    fs::write(&second, "two\n").unwrap();
    let second = second.to_str().unwrap();
    let (file, other) = (shop(Some(&salt), &ciphertext), stack("prod", Some(&other_salt), &[]));
    let before = (fs::read(&file.path).unwrap(), fs::read(&other.path).unwrap());
    let args = ["mv", &file.path, "net", "--to", &other.path];

    let message = run(&args, "one").failed(5);
    assert!(
        message.contains("incorrect passphrase") && message.contains("--to-passphrase-file"),
        "{message}"
    );
    assert_eq!((fs::read(&file.path).unwrap(), fs::read(&other.path).unwrap()), before);

    let with_second = [&args[..], &["--to-passphrase-file", second]].concat();
    let said = run(&with_second, "one");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let text = fs::read_to_string(&other.path).unwrap();
    assert!(!text.contains(&ciphertext) && !text.contains(SECRET), "{text}");
    assert!(!fs::read_to_string(&file.path).unwrap().contains(&ciphertext));
    holds_secret(&other.path, "two");

    // Had the command been killed between the two writes, the same command would have ended the move.
    let added = fs::read(&other.path).unwrap();
    fs::write(&file.path, &before.0).unwrap();
    let said = run(&with_second, "one");
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(fs::read(&other.path).unwrap(), added);
    assert!(!listed(&file.path).contains(&urn("dev", "t:t:Net", "net")));

    // What differs in the same place is no rest of a move.
    fs::write(&file.path, &before.0).unwrap();
    let text = String::from_utf8(added).unwrap().replace(r#""size":1.50"#, r#""size":2"#);
    fs::write(&other.path, &text).unwrap();
    let message = run(&with_second, "one").failed(9);
    assert!(message.contains("already exists in destination stack"), "{message}");
    assert_eq!(fs::read_to_string(&other.path).unwrap(), text);
}

#[test]
fn ciphertexts_stay_where_both_stacks_have_one_key() {
    let (salt, ciphertext) = sealed("one");
    let (file, other) = (shop(Some(&salt), &ciphertext), stack("prod", Some(&salt), &[]));
    // No passphrase is needed.
    let said = groundstate(&["mv", &file.path, "net", "--to", &other.path]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(fs::read_to_string(&other.path).unwrap().contains(&ciphertext));
    holds_secret(&other.path, "one");
}

#[test]
fn refusals_change_neither_stack() {
    let (salt, ciphertext) = sealed("one");
    let (file, other) = (shop(Some(&salt), &ciphertext), stack("prod", None, &[]));
    let terraform = state(
        r#"{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"a","outputs":{},"resources":[]}"#,
    );
    let taken = stack("prod", None, &[resource("prod", "t:t:Web", "web", "")]);
    let of = |state: &TempState| fs::read(&state.path).unwrap();
    let before = [&file, &other, &terraform, &taken].map(of);
    for (args, code, expected) in [
        (vec!["net", "--to", &other.path], 5, "names no secrets provider, and 1 secret would move"),
        (vec!["web", "new", "--to", &other.path], 2, "keep their names when they move"),
        (vec!["web", "--to", &file.path], 2, "is both the state to move from and the state to move to"),
        (vec!["main", "--to", &other.path], 2, "cannot move providers"),
        (vec!["nothing", "--to", &other.path], 7, "has no resource nothing"),
        (vec!["web", "--to", &taken.path], 9, "already exists in destination stack"),
        (vec!["web", "--to", &terraform.path], 2, "is not Pulumi's, and what moves is"),
        (vec!["web", "--to", "missing.json"], 3, "missing.json"),
        (
            vec!["web", "other", "--include-parents"],
            2,
            "`--include-parents` is for moves to another Pulumi stack",
        ),
    ] {
        let said = groundstate(&[&["mv", file.path.as_str()], &args[..]].concat());
        assert!(
            said.code == code && said.stderr.contains(expected),
            "{args:?}: {} {}",
            said.code,
            said.stderr
        );
    }
    let said =
        groundstate(&["mv", &terraform.path, "a.b", "--to", &file.path, "--include-parents"]).failed(2);
    assert!(said.contains("these are Terraform states"), "{said}");
    assert_eq!([&file, &other, &terraform, &taken].map(of), before);
}

/// Whenever the command is killed, everything is in one of the two stacks at least, and the same command ends the move.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    for round in 0..40 {
        let (file, other) = (shop(None, ""), stack("prod", None, &[]));
        let args = ["split", &file.path, &other.path, "net", "web"];
        let mut child = command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let net = |path: &str| listed(path).iter().any(|urn| urn.ends_with("::net"));
        let left = net(&file.path);
        assert!(left || net(&other.path), "round {round}");
        let again = groundstate(&args);
        assert!(again.code == 0 || (again.code == 7 && !left), "{}", again.stderr);
        assert!(!net(&file.path) && net(&other.path));
        assert!(!backups(&file.path).is_empty() || !left);
    }
}
