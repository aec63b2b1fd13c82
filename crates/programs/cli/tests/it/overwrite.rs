//! What commands must not overwrite, and the serials they give.

use std::fs;
use std::io::Write;

use super::support::{TempState, backups, groundstate, resource, state, with_resources, workspace};
use super::surgery::{everything, serial, webshop};

/// A state after a change, beside the backup of what it was before.
fn changed() -> TempState {
    let file = webshop();
    groundstate(&["rm", &file.path, "random_id.suffix"]).clean();
    file
}

impl TempState {
    fn beside(&self, suffix: &str) -> String {
        format!("{}{suffix}", self.path)
    }

    /// Cuts the state off, as a full disk does.
    fn damage(&self) {
        let text = fs::read(&self.path).unwrap();
        fs::write(&self.path, &text[..text.len() / 2]).unwrap();
    }
}

/// Between backup and write a command may be killed: what is to be stored must exist at every moment.
#[test]
fn the_file_that_is_stored_is_not_overwritten_by_the_backup() {
    for args in [
        &["push", "STATE", "SOURCE", "--force", "--yes"][..],
        &["undo", "STATE", "--from", "SOURCE", "--yes"],
    ] {
        let file = changed();
        let source = backups(&file.path)[0].display().to_string();
        let (before, stored) = (fs::read(&source).unwrap(), fs::read(&file.path).unwrap());
        let args: Vec<String> =
            args.iter().map(|arg| arg.replace("STATE", &file.path).replace("SOURCE", &source)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let text = groundstate(&args).clean();
        assert!(text.contains("The state before is backup 2"), "{text}");
        assert_eq!(
            groundstate(&["upgrade", &backups(&file.path)[1].display().to_string()]).stdout.as_bytes(),
            before
        );
        assert_eq!(fs::read(&backups(&file.path)[0]).unwrap(), stored);
    }
}

#[test]
fn a_backup_in_the_place_of_what_is_stored_is_refused() {
    let file = changed();
    let backup = backups(&file.path)[0].display().to_string();
    let before = everything(file.dir.path());
    for args in [
        &["push", &file.path, &backup, "--force", "--backup", &backup][..],
        &["undo", &file.path, "--backup", &backup],
    ] {
        let message = groundstate(args).failed(2);
        assert!(message.contains("which is to be stored"), "{message}");
        assert!(everything(file.dir.path()) == before, "{args:?}");
    }
}

#[test]
fn a_state_that_cannot_be_read_takes_the_place_of_no_good_backup() {
    let file = changed();
    let good = webshop();
    groundstate(&["undo", &file.path]).clean();
    let known = backups(&file.path);
    for (args, kept) in [
        (&["push", &file.path, &good.path, "--force"][..], ".unreadable"),
        (&["undo", &file.path, "--to", "1", "--force"], ".unreadable.1"),
    ] {
        file.damage();
        let damaged = fs::read(&file.path).unwrap();
        let text = groundstate(args).clean();
        assert!(text.contains(&format!("{}.\n", file.beside(kept))), "{text}");
        assert_eq!(fs::read(file.beside(kept)).unwrap(), damaged);
        assert_eq!(backups(&file.path), known);
    }
}

#[test]
fn no_serial_comes_a_second_time() {
    let file = changed();
    let good = webshop();
    assert_eq!((serial(&file.path), serial(&good.path)), (88, 87));
    groundstate(&["push", &file.path, &good.path]).failed(9);
    groundstate(&["push", &file.path, &good.path, "--force"]).clean();
    assert_eq!(serial(&file.path), 89);
    groundstate(&["rm", &file.path, "module.network", "--backup", "-"]).clean();
    file.damage();
    groundstate(&["undo", &file.path, "--to", "1", "--force"]).clean();
    assert!(serial(&file.path) > 90, "{}", serial(&file.path));
}

#[test]
fn no_backup_is_claimed_where_nothing_was_stored() {
    let good = webshop();
    let file = state(Vec::new());
    let text = groundstate(&["push", &file.path, &good.path]).clean();
    assert!(!text.contains("The state before"), "{text}");
    assert!(backups(&file.path).is_empty());
}

#[test]
fn legacy_providers_need_no_double_dash() {
    let file = webshop();
    groundstate(&["replace-provider", &file.path, "hashicorp/aws", "-/aws"]).clean();
    let text = groundstate(&["replace-provider", &file.path, "-/aws", "hashicorp/aws", "--dry-run"]).clean();
    assert!(text.contains("Would replace"), "{text}");
    groundstate(&["replace-provider", &file.path, "-/aws", "--nope"]).failed(2);
}

#[test]
fn a_locked_output_is_left_alone() {
    let file = changed();
    let before = fs::read(&file.path).unwrap();
    let old = workspace().join("tests/fixtures/states/webshop-v3.tfstate");
    for verb in ["upgrade", "salvage"] {
        let own = env!("CARGO_BIN_EXE_groundstate");
        let inner = ["lock", &file.path, "--", own, verb, old.to_str().unwrap(), "-o", &file.path];
        let run = groundstate(&inner);
        assert!(run.code == 8 && run.stderr.contains("it is locked by"), "{verb}: {}", run.stderr);
        assert!(!run.stderr.contains("--lock-timeout"), "{}", run.stderr);
        assert!(fs::read(&file.path).unwrap() == before, "{verb}");
    }
    assert_eq!(groundstate(&["upgrade", old.to_str().unwrap(), "-o", &file.path]).code, 0);
    assert!(fs::read(&file.path).unwrap() != before);
}

#[cfg(unix)]
#[test]
fn an_upgrade_in_place_keeps_the_file_that_others_have_open() {
    use std::os::unix::fs::MetadataExt;
    let file = state(fs::read(workspace().join("tests/fixtures/states/webshop-v3.tfstate")).unwrap());
    let inode = || fs::metadata(&file.path).unwrap().ino();
    let before = inode();
    assert_eq!(groundstate(&["upgrade", &file.path, "-o", &file.path]).code, 0);
    assert!(fs::read_to_string(&file.path).unwrap().contains("\"version\": 4"));
    assert_eq!(inode(), before);
}

#[test]
fn what_is_salvaged_is_not_overwritten() {
    let text = fs::read_to_string(changed().path).unwrap();
    let file = state(&text[..text.len() / 2]);
    let message = groundstate(&["salvage", &file.path, "-o", &file.path]).failed(2);
    assert!(message.contains("it is what is to be salvaged"), "{message}");
    assert_eq!(fs::read_to_string(&file.path).unwrap(), text[..text.len() / 2]);
}

#[test]
fn force_also_gets_past_the_last_serial_there_is() {
    let file = changed();
    let text = fs::read_to_string(&file.path).unwrap();
    let last = text.replace("\"serial\": 88", &format!("\"serial\": {}", u64::MAX));
    assert_ne!(last, text);
    fs::write(&file.path, last).unwrap();
    let other = state(&text);
    groundstate(&["push", &file.path, &other.path]).failed(9);
    groundstate(&["push", &file.path, &other.path, "--force"]).clean();
    assert_eq!(serial(&file.path), 89);
}

#[test]
fn equal_content_of_a_newer_serial_is_stored_under_that_serial() {
    let text = with_resources("");
    let at = |serial: u64| text.replace("\"serial\": 1", &format!("\"serial\": {serial}"));
    let (file, newer) = (state(at(0)), state(at(5)));
    groundstate(&["push", &file.path, &newer.path]).clean();
    assert_eq!(serial(&file.path), 5);
    groundstate(&["push", &file.path, &newer.path]).clean();
    assert_eq!(serial(&file.path), 5, "nothing is left to store");
}

/// What OpenTofu writes with encryption; nothing but these members is readable.
fn envelope(serial: u64) -> String {
    format!(
        r#"{{"serial":{serial},"lineage":"l","meta":{{"key_provider.pbkdf2.k":"e30="}},"encrypted_data":"AAAA","encryption_version":"v0"}}"#
    )
}

#[test]
fn no_unreadable_state_takes_the_place_of_an_earlier_one() {
    let place = state("{ first");
    let new = state(with_resources(&resource("a", "b", "{}")));
    for (damaged, suffix) in
        [("{ first", ".unreadable"), ("{ second", ".unreadable.1"), ("{ third", ".unreadable.2")]
    {
        fs::write(&place.path, damaged).unwrap();
        let text = groundstate(&["push", &place.path, &new.path, "--force"]).clean();
        assert!(text.contains(&format!("terraform.tfstate{suffix}.")), "{text}");
    }
    for (damaged, suffix) in
        [("{ first", ".unreadable"), ("{ second", ".unreadable.1"), ("{ third", ".unreadable.2")]
    {
        assert_eq!(fs::read_to_string(format!("{}{suffix}", place.path)).unwrap(), damaged);
    }
}

#[test]
fn an_encrypted_state_is_replaced_by_plain_text_only_on_express_demand() {
    let place = state(envelope(41));
    let new = state(with_resources(&resource("a", "b", "{}")));
    fs::copy(&new.path, format!("{}.backup", place.path)).unwrap();
    assert_ne!(groundstate(&["push", &place.path, &new.path]).code, 0);
    for args in [&["push", &*place.path, &*new.path, "--force"][..], &["undo", &place.path, "--force"]] {
        let said = groundstate(args).failed(6);
        assert!(said.contains("is encrypted, and would be replaced by plain text"), "{said}");
        assert!(said.contains("`--over-encrypted`"), "{said}");
        assert_eq!(fs::read_to_string(&place.path).unwrap(), envelope(41));
    }
    groundstate(&["push", &place.path, &new.path, "--over-encrypted"]).failed(2);
    let text = groundstate(&["push", &place.path, &new.path, "--force", "--over-encrypted"]).clean();
    assert!(text.contains("has serial 42 now"), "{text}");
    assert_eq!(fs::read_to_string(format!("{}.unreadable", place.path)).unwrap(), envelope(41));
}

#[test]
fn a_truncated_encrypted_state_is_replaced_by_plain_text_only_on_express_demand() {
    let truncated = envelope(41).replace("AAAA\",\"encryption_version\":\"v0\"}", "AA");
    assert!(truncated.ends_with("\"AA"));
    let place = state(&truncated);
    let new = state(with_resources(&resource("a", "b", "{}")));
    let said = groundstate(&["push", &place.path, &new.path, "--force"]).failed(6);
    assert!(said.contains("is encrypted, and would be replaced by plain text"), "{said}");
    assert_eq!(fs::read_to_string(&place.path).unwrap(), truncated);
    let text = groundstate(&["push", &place.path, &new.path, "--force", "--over-encrypted"]).clean();
    assert!(text.contains("has serial 42 now"), "{text}");
}

#[test]
fn the_serial_of_a_version_to_come_counts_when_it_is_replaced() {
    let place = state(r#"{"version":5,"serial":70,"lineage":"l","resources":{}}"#);
    let new = state(with_resources(&resource("a", "b", "{}")));
    let text = groundstate(&["push", &place.path, &new.path, "--force"]).clean();
    assert!(text.contains("has serial 71 now"), "{text}");
}

#[test]
fn the_error_has_the_words_that_users_search_for() {
    let place = state(with_resources(&resource("a", "b", "{}")));
    let other = state(with_resources(&resource("a", "c", "{}")));
    let said = groundstate(&["push", &place.path, &other.path]).failed(9);
    assert!(said.contains("both states have the same serial, 1, and they differ"), "{said}");
}

#[test]
fn no_output_replaces_an_encrypted_state() {
    let from = state(with_resources(&resource("a", "b", "{\"schema_version\": 0, \"attributes\": {}}")));
    let deployment = state(
        r#"{"version":3,"deployment":{"manifest":{"time":"2024-05-06T07:08:09Z","magic":"","version":""},"resources":[]}}"#,
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(envelope(41).as_bytes()).unwrap();
    for stored in [envelope(41).into_bytes(), packed.finish().unwrap()] {
        let to = state(&stored);
        for args in [
            &["upgrade", &*from.path, "-o", &*to.path][..],
            &["salvage", &from.path, "-o", &to.path],
            &["graph", &from.path, "-o", &to.path],
            &["order", "destroy", &from.path, "-o", &to.path],
            &["upgrade", &deployment.path, "-o", &to.path],
            &["repair", &deployment.path, "-o", &to.path],
            &["taint", &from.path, "a.b", "--backup", &to.path],
        ] {
            let said = groundstate(args).failed(6);
            assert!(said.contains("is encrypted, and would be replaced by plain text"), "{args:?}: {said}");
            assert_eq!(fs::read(&to.path).unwrap(), stored, "{args:?}");
        }
    }
    assert!(!fs::read_to_string(&from.path).unwrap().contains("tainted"));
}
