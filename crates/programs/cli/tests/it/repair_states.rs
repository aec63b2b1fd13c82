//! `groundstate repair` of Terraform states, single deposed objects, copied addresses, and texts in unusual wrappings.

use std::fs;

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
