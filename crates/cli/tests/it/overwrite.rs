//! `groundstate push` and `undo`: what they must not overwrite, and the serials they give.

use std::fs;

use super::support::{TempState, groundstate};
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
    for (first, args, source, backup) in [
        (None, &["push", "STATE", "STATE.backup", "--force"][..], ".backup", ".undone"),
        (Some("undo"), &["undo", "STATE", "--from", "STATE.undone"], ".undone", ".backup"),
    ] {
        let file = changed();
        if let Some(first) = first {
            groundstate(&[first, &file.path]).clean();
        }
        let (source, stored) = (fs::read(file.beside(source)).unwrap(), fs::read(&file.path).unwrap());
        let args: Vec<String> = args.iter().map(|arg| arg.replace("STATE", &file.path)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let text = groundstate(&args).clean();
        assert!(text.contains(&file.beside(backup)), "{text}");
        assert_eq!(
            fs::read(args.iter().rfind(|arg| arg.starts_with(&file.beside("."))).unwrap()).unwrap(),
            source
        );
        assert_eq!(fs::read(file.beside(backup)).unwrap(), stored);
    }
}

#[test]
fn a_backup_in_the_place_of_what_is_stored_is_refused() {
    let file = changed();
    let (backup, before) = (file.beside(".backup"), everything(file.dir.path()));
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
    file.damage();
    let (backup, undone) =
        (fs::read(file.beside(".backup")).unwrap(), fs::read(file.beside(".undone")).unwrap());
    for args in [&["push", &file.path, &good.path, "--force"][..], &["undo", &file.path, "--force"]] {
        file.damage();
        let damaged = fs::read(&file.path).unwrap();
        let text = groundstate(args).clean();
        assert!(text.contains(&file.beside(".unreadable")), "{text}");
        assert_eq!(fs::read(file.beside(".unreadable")).unwrap(), damaged);
        assert_eq!(fs::read(file.beside(".backup")).unwrap(), backup);
        assert_eq!(fs::read(file.beside(".undone")).unwrap(), undone);
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
    groundstate(&["undo", &file.path, "--force"]).clean();
    assert!(serial(&file.path) > 90, "{}", serial(&file.path));
}

#[test]
fn no_backup_is_claimed_where_nothing_was_stored() {
    let good = webshop();
    let file = super::support::state(Vec::new());
    let text = groundstate(&["push", &file.path, &good.path]).clean();
    assert!(!text.contains("backup"), "{text}");
    assert!(!fs::exists(file.beside(".backup")).unwrap());
}

#[test]
fn legacy_providers_need_no_double_dash() {
    let file = webshop();
    groundstate(&["replace-provider", &file.path, "hashicorp/aws", "-/aws"]).clean();
    let text = groundstate(&["replace-provider", &file.path, "-/aws", "hashicorp/aws", "--dry-run"]).clean();
    assert!(text.contains("Would replace"), "{text}");
    groundstate(&["replace-provider", &file.path, "-/aws", "--nope"]).failed(2);
}
