//! `groundstate repair` of Terraform states, single deposed objects, copied addresses, and texts in unusual wrappings.

use std::fs;

use groundstate_testkit::{S3Locks, TestBackend};

use super::encryption::{Dir, PLAIN, SECRET, block, passphrase};
use super::remote::Work;
use super::support::{groundstate, groundstate_with, resource, state, with_resources};

fn twice() -> String {
    let object = |id: &str| format!(r#"{{"schema_version": 0, "attributes": {{"id": "{id}"}}}}"#);
    with_resources(&resource("t", "a", &[object("1"), object("2")].join(", ")))
}

#[test]
fn repair_asks_which_object_stays_and_keeps_a_backup() {
    let file = state(twice());
    let said = groundstate(&["list", &file.path]).failed(5);
    assert!(said.contains("groundstate repair"), "{said}");
    let shown = groundstate(&["repair", &file.path]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.stderr.contains("question 1: t.a has 2 objects"), "{shown:?}");
    assert!(shown.stdout.contains("Would remove the object"), "{shown:?}");
    let refused = groundstate(&["repair", &file.path, "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("needs an answer first"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), twice());
    let done = groundstate(&["repair", &file.path, "--yes", "--answer", "1=2"]);
    assert_eq!(done.code, 0, "{done:?}");
    let shown = groundstate(&["show", &file.path, "t.a"]).clean();
    assert!(shown.contains("\"2\"") && !shown.contains("\"1\""), "{shown}");
    let folder = fs::read_dir(file.dir.path()).unwrap();
    let kept = folder.filter(|entry| fs::read_to_string(entry.as_ref().unwrap().path()).unwrap() == twice());
    assert_eq!(kept.count(), 1, "{}", done.stdout);
}

#[test]
fn one_deposed_object_is_listed_shown_and_removed() {
    let objects = r#"{"schema_version": 0, "attributes": {"id": "now"}, "skip_destroy": true},
        {"deposed": "0a1b2c3d", "schema_version": 0, "attributes": {"id": "old"}}"#;
    let file = state(with_resources(&resource("t", "a", objects)));
    let address = "t.a (deposed 0a1b2c3d)";
    assert_eq!(groundstate(&["list", &file.path, "--deposed"]).clean(), format!("t.a\n{address}\n"));
    assert_eq!(groundstate(&["list", &file.path, address]).clean(), format!("{address}\n"));
    let shown = groundstate(&["show", &file.path, address]).clean();
    assert!(shown.contains("\"old\"") && !shown.contains("\"now\""), "{shown}");
    assert!(groundstate(&["show", &file.path]).clean().contains("skip_destroy"));
    let refused = groundstate(&["mv", &file.path, address, "t.b"]).failed(2);
    assert!(refused.contains("is a deposed object"), "{refused}");
    assert!(groundstate(&["rm", &file.path, address]).clean().contains("1 deposed object"));
    assert_eq!(groundstate(&["list", &file.path, "--deposed"]).clean(), "t.a\n");
    groundstate(&["show", &file.path, address]).failed(7);
}

#[test]
fn copied_address_never_takes_its_siblings_along() {
    let objects = r#"{"index_key": "*.x", "schema_version": 0, "attributes": {"id": "1"}},
        {"index_key": "a.x", "schema_version": 0, "attributes": {"id": "2"}}"#;
    let file = state(with_resources(&resource("t", "r", objects)));
    let before = fs::read(&file.path).unwrap();
    let script = br#"rm t.r["*.x"]"#;
    let said = groundstate_with(&["edit", &file.path, "--script", "-"], script).failed(2);
    assert!(said.contains(r#"t.r["\*.x"]"#) && said.contains(r#"glob:t.r["*.x"]"#), "{said}");
    let other = format!("{}.other", file.path);
    groundstate(&["split", &file.path, &other, r#"t.r["*.x"]"#]).failed(2);
    assert_eq!(fs::read(&file.path).unwrap(), before);
    groundstate(&["split", &file.path, &other, r#"t.r["\*.x"]"#]).clean();
    assert_eq!(groundstate(&["list", &file.path]).clean(), "t.r[\"a.x\"]\n");
}

#[test]
fn readers_name_salvage_for_sound_states_in_a_wrapping() {
    let text = with_resources(&resource("t", "a", r#"{"schema_version": 0, "attributes": {"id": "1"}}"#));
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
    let noisy = format!("[command]/usr/bin/terraform state pull\n{text}\n").into_bytes();
    for bytes in [utf16, marked, noisy] {
        let file = state(bytes);
        for verb in ["list", "show", "outputs", "pull"] {
            let said = groundstate(&[verb, &file.path]);
            assert!(said.code != 0 && said.stderr.contains("groundstate salvage"), "{verb}: {said:?}");
        }
        let out = format!("{}.out", file.path);
        groundstate(&["salvage", &file.path, "-o", &out]);
        assert_eq!(groundstate(&["list", &out]).clean(), "t.a\n");
    }
}

#[test]
fn move_into_another_provider_configuration_says_so() {
    let west = resource("t", "west", r#"{"schema_version": 0, "attributes": {"id": "1"}}"#);
    let east = resource("t", "east", r#"{"index_key": "a", "schema_version": 0, "attributes": {"id": "2"}}"#)
        .replace("hashicorp/test", "acme/test");
    let file = state(with_resources(&[west, east].join(", ")));
    let before = fs::read(&file.path).unwrap();
    let args = ["mv", &file.path, "t.west", r#"t.east["b"]"#];
    let expected = "hashicorp/test\"] -> provider[\"registry.terraform.io/acme/test\"]";
    for option in ["--dry-run", "--backup=-"] {
        let said = groundstate(&[&args[..], &[option]].concat()).clean();
        assert!(said.contains(expected), "{option}: {said}");
    }
    let old = format!("{}.old", file.path);
    fs::write(&old, before).unwrap();
    let diff = groundstate(&["diff", &old, &file.path]);
    assert!(diff.stdout.contains("    provider: "), "{diff:?}");
    fs::copy(&old, &file.path).unwrap();
    let json = groundstate(&[&args[..], &["--json"]].concat()).clean();
    assert!(json.contains("\"take_provider\""), "{json}");
}

#[test]
fn empty_new_address_is_refused() {
    let file = state(with_resources(&resource("t", "a", r#"{"schema_version": 0, "attributes": {}}"#)));
    for args in [["t.a", ""], ["", "t.a"], ["t.a", " "]] {
        let said = groundstate(&["mv", &file.path, args[0], args[1]]).failed(2);
        assert!(said.contains("is empty"), "{said}");
    }
}

#[test]
fn repair_into_another_file_leaves_the_state() {
    let file = state(twice());
    let out = format!("{}.repaired", file.path);
    let refused = groundstate(&["repair", &file.path, "-o", &out]);
    assert!(refused.code == 9 && refused.stderr.contains("needs an answer first"), "{refused:?}");
    assert!(!std::path::Path::new(&out).exists());
    let done = groundstate(&["repair", &file.path, "-o", &out, "--answer", "1=2"]);
    assert!(done.code == 0 && done.stderr.contains("remove the object at line 1"), "{done:?}");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), twice());
    let shown = groundstate(&["show", &out, "t.a"]).clean();
    assert!(shown.contains("\"2\"") && !shown.contains("\"1\""), "{shown}");
    let printed = groundstate(&["repair", &file.path, "-o", "-", "--answer", "1=1"]);
    let document: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(document["resources"][0]["instances"][0]["attributes"]["id"], "1");
    assert_eq!(document["serial"], 2);
    let refused = groundstate(&["repair", &file.path, "-o", &file.path, "--answer", "1=1"]).failed(2);
    assert!(refused.contains("is the state itself"), "{refused}");
}

#[test]
fn repair_prints_its_steps_as_json() {
    let file = state(twice());
    let json = |args: &[&str]| {
        let ran = groundstate(&[&["repair", &file.path, "--json", "--answer", "1=2"], args].concat());
        let document: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        (ran.code, document)
    };
    let (code, planned) = json(&[]);
    assert_eq!(
        (code, &planned["dry_run"], &planned["written"]),
        (1, &true.into(), &false.into()),
        "{planned}"
    );
    assert_eq!(planned["changes"][0]["change"], "remove_duplicate");
    assert_eq!(planned["changes"][0]["address"], "t.a");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), twice());
    let out = format!("{}.repaired", file.path);
    let (code, other) = json(&["-o", &out]);
    assert_eq!((code, &other["changes"][0]["change"]), (0, &"remove_duplicate".into()), "{other}");
    assert!(std::path::Path::new(&out).exists());
    assert_eq!(fs::read_to_string(&file.path).unwrap(), twice());
    let (code, done) = json(&["--yes"]);
    assert_eq!((code, &done["written"]), (0, &true.into()), "{done}");
    let backup = done["backup"].as_str().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), twice());
    let again = groundstate(&["repair", &file.path, "--json", "--yes"]).clean();
    assert!(again.contains("\"changes\":[]"), "{again}");
}

#[test]
fn repair_mends_states_in_the_network() {
    for place in [TestBackend::s3(S3Locks::File), TestBackend::http_here()] {
        let kind = place.kind();
        let work = Work::new(place);
        work.place.put_state(twice().as_bytes());
        let shown = work.run(&["repair", "."]);
        assert!(shown.code == 1 && shown.stderr.contains("t.a has 2 objects"), "{kind}: {shown:?}");
        let refused = work.run(&["repair", ".", "--yes"]);
        assert!(refused.code == 9 && refused.stderr.contains("needs an answer first"), "{kind}: {refused:?}");
        let done = work.run(&["repair", ".", "--yes", "--answer", "1=2"]);
        assert_eq!(done.code, 0, "{kind}: {done:?}");
        let shown = work.run(&["show", ".", "t.a"]).clean();
        assert!(shown.contains("\"2\"") && !shown.contains("\"1\""), "{kind}: {shown}");
        assert_eq!(work.place.locks(), [""; 0], "{kind}: its lock stayed");
        let pulled: serde_json::Value = serde_json::from_str(&work.run(&["pull", "."]).clean()).unwrap();
        assert!(pulled["serial"].as_u64() > Some(1), "{kind}: {pulled}");
    }
}

#[test]
fn repair_keeps_an_encrypted_state_encrypted() {
    let keys = block(&[&passphrase("a"), PLAIN], &["aes_gcm.a", "unencrypted.plain"]);
    let dir = Dir::new(&keys);
    let stored = dir.path().join("terraform.tfstate");
    let objects =
        [SECRET, "2"].map(|id| format!(r#"{{"schema_version": 0, "attributes": {{"id": "{id}"}}}}"#));
    fs::write(&stored, with_resources(&resource("t", "a", &objects.join(", ")))).unwrap();
    let done = dir.run(&["repair", dir.shown(), "--yes", "--answer", "1=1"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(dir.stored().contains("encrypted_data") && !dir.stored().contains(SECRET), "{}", dir.stored());
    // A dependency on itself is in the state that is encrypted now.
    let object =
        format!(r#"{{"schema_version": 0, "attributes": {{"id": "{SECRET}"}}, "dependencies": ["t.a"]}}"#);
    let wrong = dir.path().join("wrong.json");
    fs::write(&wrong, with_resources(&resource("t", "a", &object)).replace("\"serial\": 1", "\"serial\": 9"))
        .unwrap();
    let pushed = dir.run(&["push", dir.shown(), wrong.to_str().unwrap(), "--force", "--yes"]);
    assert_eq!(pushed.code, 0, "{pushed:?}");
    let before = dir.stored();
    assert!(before.contains("encrypted_data"), "{before}");
    let shown = dir.run(&["repair", dir.shown()]);
    assert!(shown.code == 1 && shown.stdout.contains("the dependency of t.a on t.a"), "{shown:?}");
    assert_eq!(dir.stored(), before);
    let done = dir.run(&["repair", dir.shown(), "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(dir.stored().contains("encrypted_data") && !dir.stored().contains(SECRET), "{}", dir.stored());
    let pulled: serde_json::Value = serde_json::from_str(&dir.run(&["pull", dir.shown()]).clean()).unwrap();
    let instance = &pulled["resources"][0]["instances"][0];
    assert!(instance["attributes"]["id"] == SECRET && instance.get("dependencies").is_none(), "{pulled}");
}

#[test]
fn repair_of_an_old_format_asks_which_object_stays() {
    let module = |id: &str| {
        format!(
            r#"{{"path": ["root"], "outputs": {{}}, "resources": {{"t.a": {{"type": "t", "primary": {{"id": "{id}", "attributes": {{"id": "{id}"}}}}}}}}}}"#
        )
    };
    let text = format!(
        r#"{{"version": 3, "terraform_version": "0.11.14", "serial": 3, "lineage": "l", "modules": [{}, {}]}}"#,
        module("1"),
        module("2")
    );
    let file = state(&text);
    let said = groundstate(&["list", &file.path]).failed(5);
    assert!(said.contains("groundstate repair"), "{said}");
    let shown = groundstate(&["repair", &file.path]);
    assert!(shown.code == 1 && shown.stderr.contains("t.a has 2 objects"), "{shown:?}");
    let done = groundstate(&["repair", &file.path, "--yes", "--answer", "1=2"]);
    assert_eq!(done.code, 0, "{done:?}");
    let shown = groundstate(&["show", &file.path, "t.a"]).clean();
    assert!(shown.contains("\"2\"") && !shown.contains("\"1\""), "{shown}");
}
