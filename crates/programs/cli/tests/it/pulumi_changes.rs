//! The commands that change Pulumi files.

use std::fs;
use std::io::{Read, Write};

use super::support::{TempState, backups, groundstate, groundstate_with, state, workspace};

const ROOT: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const NET: &str = "urn:pulumi:dev::shop::t:t:Net::net";
const WEB: &str = "urn:pulumi:dev::shop::t:t:Web::web";

/// An export of these resources and pending operations, behind the root of the stack.
fn export(resources: &str, pending: &str) -> String {
    let pending =
        if pending.is_empty() { String::new() } else { format!(r#""pending_operations":[{pending}],"#) };
    format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},"resources":[
  {{"urn":"{ROOT}","custom":false,"type":"pulumi:pulumi:Stack"}},{resources}],{pending}"metadata":{{}}}}}}
"#
    )
}

fn resource(urn: &str, members: &str) -> String {
    let kind = urn.split("::").nth(2).unwrap();
    format!(r#"{{"urn":"{urn}","custom":true,"id":"1","type":"{kind}"{members}}}"#)
}

/// A web server that depends on a protected network.
fn shop() -> String {
    let net = resource(NET, r#","protect":true"#);
    let web = resource(WEB, &format!(r#","inputs":{{"size":1.50}},"dependencies":["{NET}"]"#));
    export(&[net, web].join(","), "")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn stored(file: &TempState) -> String {
    fs::read_to_string(&file.path).unwrap()
}

fn stored_bytes(file: &TempState) -> Vec<u8> {
    fs::read(&file.path).unwrap()
}

fn listed(file: &TempState) -> Vec<String> {
    groundstate(&["list", &file.path]).clean().lines().map(str::to_owned).collect()
}

#[test]
fn removes_resources_with_a_backup() {
    let file = state(shop());
    let said = groundstate(&["rm", &file.path, WEB]).clean();
    insta::assert_snapshot!(file.mask(&said), @"
    Removed urn:pulumi:dev::shop::t:t:Web::web
    Resource deleted
    The state before is backup 1, which `groundstate undo` restores.
    ");
    assert_eq!(listed(&file), [ROOT, NET]);
    assert_eq!(fs::read_to_string(&backups(&file.path)[0]).unwrap(), shop());
    groundstate(&["check", &file.path]).clean();
}

/// A replacement that stopped in the middle leaves a copy under the same name, which is another object.
#[test]
fn marks_of_copies_of_one_name_are_set_on_the_copy_that_is_chosen() {
    let old = resource(WEB, r#","delete":true,"protect":true"#).replace(r#""id":"1""#, r#""id":"old""#);
    let text = export(&[resource(WEB, r#","protect":true"#), old].join(","), "");
    let file = state(&text);
    for command in ["unprotect", "protect", "taint", "untaint"] {
        for word in ["web", WEB] {
            let message = groundstate(&[command, &file.path, word]).failed(2);
            assert!(message.contains("has several copies") && message.contains("--id"), "{message}");
            assert!(message.contains(&format!("2: {WEB} (old, waits for its deletion)")), "{message}");
        }
    }
    assert_eq!(stored(&file), text, "nothing was guessed");
    groundstate(&["unprotect", &file.path, "web", "--id", "old"]).clean();
    let after = stored(&file);
    assert_eq!(after.matches("\"protect\"").count(), 1, "{after}");
    let live = after.find("\"id\":\"1\"").or(after.find("\"id\": \"1\"")).unwrap();
    assert!(after[live..].find("protect").unwrap() < after[live..].find("old").unwrap(), "{after}");
    groundstate(&["taint", &file.path, "web", "--copy", "1"]).clean();
    groundstate(&["taint", &file.path, "web", "--id", "other"]).failed(7);
    let refused =
        groundstate(&["taint", "tests/fixtures/state/webshop-v4-terraform.tfstate", "a.b", "--id", "x"]);
    assert!(matches!(refused.code, 2 | 3), "{refused:?}");
}

#[test]
fn refuses_to_remove_what_is_needed_or_protected() {
    let file = state(shop());
    let message = groundstate(&["rm", &file.path, "net"]).failed(9);
    assert!(message.contains("can't be safely deleted because it is protected"), "{message}");
    let message = groundstate(&["rm", &file.path, "net", "--force"]).failed(9);
    assert!(
        message.contains("the following resources depend on it:\n  * \"web\"           (urn:"),
        "{message}"
    );
    assert_eq!(stored(&file), shop());
    let run = groundstate(&["rm", &file.path, "net", "--force", "--target-dependents", "--backup", "-"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("deleting protected resource") && run.stdout.ends_with("Resource deleted\n"));
    assert_eq!(listed(&file), [ROOT]);
    assert!(backups(&file.path).is_empty());
    groundstate(&["rm", &file.path, "nope"]).failed(7);
    groundstate(&["rm", "webshop-v4-terraform.tfstate", "a.b", "--force"]).failed(2);
}

#[test]
fn tells_copies_of_one_name_apart_by_their_identifiers() {
    let copies =
        [resource(WEB, ""), resource(WEB, r#","delete":true"#).replace(r#""id":"1""#, r#""id":"0""#)];
    let file = state(export(&copies.join(","), ""));
    let message = groundstate(&["rm", &file.path, WEB]).failed(2);
    assert!(message.contains("(0, waits for its deletion)") && message.contains("--id"), "{message}");
    groundstate(&["rm", &file.path, WEB, "--id", "7"]).failed(7);
    groundstate(&["rm", &file.path, WEB, "--id", "0"]).clean();
    assert_eq!(listed(&file), [ROOT, WEB]);
    assert!(!stored(&file).contains("\"delete\""));
}

#[test]
fn previews_leave_every_byte() {
    let file = state(shop());
    for args in [&["rm", &file.path, "web", "--dry-run"][..], &["taint", &file.path, "web", "--dry-run"]] {
        let said = groundstate(args).clean();
        assert!(said.starts_with("Would ") && said.ends_with(" changed\n"), "{said}");
    }
    let json = groundstate(&["rm", &file.path, "web", "--dry-run", "--json"]).clean();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["written"], &json["changes"][0]["urn"]), (&false.into(), &WEB.into()));
    assert_eq!(json["diff"]["summary"]["removed"], 1);
    assert_eq!(stored(&file), shop());
    assert_eq!(fs::read_dir(file.dir.path()).unwrap().count(), 1);
}

#[test]
fn renames_a_resource_and_all_that_refers_to_it() {
    let file = state(shop());
    let said = groundstate(&["rename", &file.path, "net", "network"]).clean();
    assert!(said.contains("\nResource renamed\n"), "{said}");
    let network = NET.replace("::net", "::network");
    assert_eq!(listed(&file), [ROOT, &network, WEB]);
    assert!(stored(&file).contains(&format!(r#""dependencies":["{network}"]"#)), "{}", stored(&file));
    assert!(stored(&file).contains("\"size\":1.50"), "nothing else changes");
    groundstate(&["mv", &file.path, &network, NET]).clean();
    assert_eq!(listed(&file), [ROOT, NET, WEB]);
    assert_eq!(groundstate(&["mv", &file.path, "net", "net"]).clean(), "Nothing to change.\n");
    groundstate(&["mv", &file.path, "net", WEB]).failed(2);
    groundstate(&["mv", &file.path, "nope", "x"]).failed(7);
    let twin = state(export(&[resource(NET, ""), resource(&network, "")].join(","), ""));
    let message = groundstate(&["mv", &twin.path, "net", "network"]).failed(9);
    assert!(message.contains("already existing resource"), "{message}");
}

#[test]
fn sets_and_takes_back_marks() {
    let file = state(shop());
    for (command, member, expected) in [
        ("taint", "\"taint\": true", true),
        ("untaint", "\"taint\": true", false),
        ("protect", "\"protect\": true", true),
        ("unprotect", "\"protect\": true", false),
    ] {
        let run = groundstate(&[command, &file.path, "web", "net"]);
        assert_eq!(run.code, 0, "{command}: {}", run.stderr);
        let text = stored(&file);
        let count = text.replace(' ', "").matches(&member.replace(' ', "")).count();
        assert_eq!(count > 0, expected, "{command}: {text}");
        assert_eq!(text.contains("\"version\":4"), command == "taint", "taints are a feature: {text}");
    }
    let again = groundstate(&["unprotect", &file.path, "web"]).clean();
    assert!(again.ends_with("Nothing to change.\n"), "{again}");
    groundstate(&["taint", &file.path, "web", "nope"]).failed(7);
    assert!(!stored(&file).contains("taint"), "all or none");
    let message = groundstate(&["protect", "webshop-v4-terraform.tfstate", "a.b"]).failed(2);
    assert!(message.contains("is not Pulumi's"), "{message}");
}

#[test]
fn refuses_to_change_what_breaks_the_rules() {
    let broken = export(&resource(WEB, &format!(r#","dependencies":["{NET}"]"#)), "");
    let file = state(&broken);
    let message = groundstate(&["taint", &file.path, "web"]).failed(5);
    assert!(message.contains("snapshot integrity failure; refusing to use it: resource"), "{message}");
    assert!(message.contains("groundstate repair"), "{message}");
    assert_eq!(stored(&file), broken);
}

#[test]
fn repairs_only_when_it_is_told_to() {
    let broken = export(&resource(WEB, &format!(r#","dependencies":["{NET}"]"#)), "");
    let file = state(&broken);
    let run = groundstate(&["repair", &file.path]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nothing was written; `--yes` carries this out"), "{}", run.stderr);
    insta::assert_snapshot!(file.mask(&run.stdout));
    assert_eq!(stored(&file), broken);
    let copy = file.dir.path().join("repaired.json");
    let run = groundstate(&["repair", &file.path, "-o", copy.to_str().unwrap()]);
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
    groundstate(&["check", copy.to_str().unwrap()]).clean();
    assert_eq!(stored(&file), broken);
    let run = groundstate(&["repair", &file.path, "--yes"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("State repaired successfully"), "{}", run.stdout);
    groundstate(&["check", &file.path]).clean();
    let again = groundstate(&["repair", &file.path, "--yes"]).clean();
    assert_eq!(again, "Nothing to change.\n");
}

#[test]
fn repairs_what_a_pipe_gives_into_a_file() {
    let broken = export(&resource(WEB, &format!(r#","dependencies":["{NET}"]"#)), "");
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("repaired.json").display().to_string();
    let run = groundstate_with(&["repair", "-", "-o", &copy], broken.as_bytes());
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
    groundstate(&["check", &copy]).clean();
    let refused = groundstate_with(&["repair", "-", "--yes"], broken.as_bytes()).failed(2);
    assert!(refused.contains("standard input is not a place that can be locked"), "{refused}");
}

#[test]
fn a_directory_stands_for_the_family_of_its_file() {
    let file = state(shop());
    let directory = file.dir.path().to_str().unwrap();
    let said = groundstate(&["rm", directory, WEB]).clean();
    assert!(said.contains("Resource deleted"), "{said}");
    assert_eq!(listed(&file), [ROOT, NET]);
    groundstate(&["undo", directory]).clean();
    assert_eq!(listed(&file), [ROOT, NET, WEB]);
    let refused = groundstate(&["pull", directory]).failed(2);
    assert!(refused.contains("is Pulumi's, and `pull` is for Terraform states"), "{refused}");
}

#[test]
fn repairs_by_the_answers_that_are_given() {
    let twins = [
        resource(WEB, r#","outputs":{"a":1}"#),
        resource(WEB, r#","outputs":{"a":2}"#).replace(r#""id":"1""#, r#""id":"2""#),
    ];
    let broken = export(&twins.join(","), "");
    let ask = state(&broken);
    let run = groundstate(&["repair", &ask.path]);
    assert!(run.stderr.contains("question 1: ") && run.stderr.contains("\n  * "), "{}", run.stderr);
    let mut outcomes = Vec::new();
    for answer in ["1=1", "1=2"] {
        let file = state(&broken);
        let run = groundstate(&["repair", &file.path, "--yes", "--answer", answer]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(groundstate(&["check", &file.path]).code, 0);
        outcomes.push(stored(&file));
    }
    assert_ne!(outcomes[0], outcomes[1]);
    groundstate(&["repair", &ask.path, "--answer", "9=1"]).failed(2);
    groundstate(&["repair", &ask.path, "--answer", "x"]).failed(2);
    assert_eq!(stored(&ask), broken);
}

#[test]
fn deals_with_pending_operations() {
    let operation = |kind: &str, urn: &str| {
        format!(r#"{{"resource":{},"type":"{kind}"}}"#, resource(urn, "").replace(r#""id":"1","#, ""))
    };
    let text =
        export(&resource(NET, ""), &[operation("creating", WEB), operation("updating", NET)].join(","));
    let file = state(&text);
    let list = || groundstate(&["pending", "list", &file.path]).clean();
    assert_eq!(list(), format!("creating {WEB}\nupdating {NET}\n"));
    let json = groundstate(&["pending", "list", &file.path, "--json"]).clean();
    assert!(json.contains(r#"{"type":"creating","urn":"urn:pulumi:dev::shop::t:t:Web::web"}"#), "{json}");
    let run = groundstate(&["pending", "resolve", &file.path, "web", "w-1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = run.stdout;
    assert!(said.contains("exists as w-1") && said.contains("Pending operation resolved"), "{said}");
    assert!(list().starts_with(&format!("importing {WEB}\n")));
    groundstate(&["pending", "resolve", &file.path, "net", "n-1"]).failed(9);
    groundstate(&["pending", "resolve", &file.path, "nope", "n-1"]).failed(7);
    let said = groundstate(&["pending", "clear", &file.path, "net"]).clean();
    assert!(said.contains("1 pending operation cleared"), "{said}");
    groundstate(&["pending", "clear", &file.path]).clean();
    assert_eq!(list(), "");
    assert_eq!(groundstate(&["pending", "clear", &file.path]).clean(), "Nothing to change.\n");
    groundstate(&["pending", "list", "webshop-v4-terraform.tfstate"]).failed(2);
}

#[test]
fn changes_compressed_files_in_their_place() {
    let file = state(gzip(shop().as_bytes()));
    groundstate(&["rm", &file.path, "web"]).clean();
    let bytes = fs::read(&file.path).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
    assert!(text.contains(NET) && !text.contains(WEB), "{text}");
    assert_eq!(fs::read(&backups(&file.path)[0]).unwrap(), gzip(shop().as_bytes()));
}

#[test]
fn keeps_the_envelope_and_unknown_members() {
    let fixture = workspace().join("tests/fixtures/pulumi/states/checkpoint-compact.json");
    let before = fs::read_to_string(fixture).unwrap();
    let file = state(&before);
    groundstate(&["unprotect", &file.path, "assets"]).clean();
    assert_eq!(stored(&file), before.replace(r#""protect":true,"#, ""));
}

#[test]
fn says_which_commands_are_for_terraform() {
    let (file, packed) = (state(shop()), state(gzip(shop().as_bytes())));
    let cut = state(&shop()[..shop().len() / 2]);
    for args in [
        &["replace-provider", &file.path, "a", "b"][..],
        &["edit", &file.path, "--script", "-"],
        &["push", "new.tfstate", &file.path],
    ] {
        let message = groundstate(args).failed(2);
        assert!(message.contains("Terraform states"), "{message}");
    }
    for args in [
        &["push", &file.path, "webshop-v4-terraform.tfstate", "--force"][..],
        &["pull", &file.path],
        &["pull", &packed.path],
        &["salvage", &file.path],
        &["salvage", &cut.path],
        &["merge-errored", &file.path, "webshop-v4-terraform.tfstate"],
        &["merge-errored", "webshop-v4-terraform.tfstate", &file.path],
    ] {
        let message = groundstate(args).failed(2);
        assert!(message.contains("` is for Terraform states\nhelp: "), "{args:?}: {message}");
    }
    let message = groundstate_with(&["salvage", "-"], shop().as_bytes()).failed(2);
    assert!(message.contains("<stdin> is Pulumi's"), "{message}");
    assert_eq!(stored(&file), shop());
    let empty = state(r#"{"version":3,"deployment":null}"#);
    let message = groundstate(&["rm", &empty.path, "x"]).failed(3);
    assert!(message.contains("has never been updated"), "{message}");
}

#[test]
fn writes_nothing_while_another_process_holds_the_lock() {
    let file = state(shop());
    let program = env!("CARGO_BIN_EXE_groundstate");
    let run = groundstate(&["lock", &file.path, "--", program, "taint", &file.path, "web"]);
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert!(run.stderr.contains("--lock-timeout"), "{}", run.stderr);
    assert_eq!(stored(&file), shop());
}

#[test]
fn goes_back_to_the_last_backup() {
    let whole = shop().replace("[\n  ", "[");
    let file = state(&whole);
    groundstate(&["rm", &file.path, "web"]).clean();
    let after = stored(&file);
    let preview = groundstate(&["undo", &file.path, "--dry-run"]).clean();
    assert!(preview.contains(&format!("+ {WEB}\n")) && stored(&file) == after, "{preview}");
    let said = groundstate(&["undo", &file.path]).clean();
    assert!(said.contains("\nState brought back\n") && said.contains("is backup 2"), "{said}");
    assert_eq!(stored(&file), whole);
    assert_eq!(fs::read_to_string(&backups(&file.path)[0]).unwrap(), after);
    assert!(
        groundstate(&["undo", &file.path]).failed(3).contains("every change that has a backup is undone")
    );

    let other = state(shop().replace("dev::shop", "prod::shop"));
    groundstate(&["undo", &file.path, "--from", &other.path]).failed(9);
    groundstate(&["undo", &other.path]).failed(3);
    let tf = workspace().join("tests/fixtures/states/webshop-v4-terraform.tfstate");
    groundstate(&["undo", &file.path, "--from", tf.to_str().unwrap()]).failed(9);
    assert_eq!(stored(&file), whole);
}

#[test]
fn goes_back_from_what_cannot_be_read_if_forced() {
    let whole = shop().replace("[\n  ", "[");
    let packed = gzip(whole.as_bytes());
    for damaged in [&whole.as_bytes()[..300], b"\0\0\0", b"{\"vers", &packed[..packed.len() - 9]] {
        let file = state(&whole);
        groundstate(&["taint", &file.path, "web"]).clean();
        fs::write(&file.path, damaged).unwrap();
        let run = groundstate(&["undo", &file.path]);
        assert!(matches!(run.code, 3..=5) || run.code == 2, "{}", run.stderr);
        assert_eq!(fs::read(&file.path).unwrap(), damaged);
        let said = groundstate(&["undo", &file.path, "--force"]).clean();
        assert_eq!(listed(&file), [ROOT, NET, WEB], "{said}");
        // What was compressed stays so.
        assert!(stored_bytes(&file) == whole.as_bytes() || damaged.starts_with(&packed[..2]));
        assert_eq!(fs::read(format!("{}.unreadable", file.path)).unwrap(), damaged);
    }
}

#[test]
fn goes_back_from_an_empty_file_if_forced() {
    let whole = shop().replace("[\n  ", "[");
    let file = state(&whole);
    groundstate(&["taint", &file.path, "web"]).clean();
    fs::write(&file.path, "").unwrap();
    groundstate(&["undo", &file.path]).failed(2);
    groundstate(&["undo", &file.path, "--force"]).clean();
    assert_eq!(stored(&file), whole);
}

/// A snapshot that stays broken is written with the error recorded; the next sound write takes the record back.
#[test]
fn records_that_what_is_written_is_broken() {
    let web = resource(WEB, &format!(r#","dependencies":["{NET}"]"#));
    let pending = format!(r#"{{"resource":{},"type":"creating"}}"#, resource(NET, ""));
    let file = state(export(&web, &pending));
    groundstate(&["pending", "clear", &file.path]).clean();
    let value: serde_json::Value = serde_json::from_str(&stored(&file)).unwrap();
    let record = &value["deployment"]["metadata"]["integrity_error"];
    assert_eq!(record["version"], "3");
    assert!(record["command"].as_str().unwrap().starts_with("groundstate "), "{record}");
    assert!(record["error"].as_str().unwrap().contains(NET), "{record}");
    groundstate(&["repair", &file.path, "--yes"]).clean();
    assert!(!stored(&file).contains("integrity_error"));
    groundstate(&["check", &file.path]).clean();
}
