//! `groundstate undo`, `pull`, `push`, `merge-errored` and `salvage`.

use std::fs;

use super::support::{backups, groundstate, groundstate_with, state, workspace};
use super::surgery::{everything, serial, webshop};

#[test]
fn undo_brings_the_backup_back_under_a_higher_serial() {
    let file = webshop();
    let before = groundstate(&["list", &file.path]).clean();
    groundstate(&["rm", &file.path, "module.network"]).clean();
    let dry = everything(file.dir.path());
    let text = groundstate(&["undo", &file.path, "--dry-run"]).clean();
    assert!(text.contains("+ module.network.") && everything(file.dir.path()) == dry, "{text}");

    let text = groundstate(&["undo", &file.path]).clean();
    insta::assert_snapshot!(file.mask(&text));
    assert_eq!(groundstate(&["list", &file.path]).clean(), before);
    assert_eq!(serial(&file.path), 89);
    let said = groundstate(&["undo", &file.path]).failed(3);
    assert!(said.contains("every change that has a backup is undone"), "{said}");

    groundstate(&["undo", &file.path, "--to", "2", "--yes"]).clean();
    assert!(!groundstate(&["list", &file.path]).clean().contains("module.network."));
    assert_eq!(serial(&file.path), 90);
}

#[test]
fn undo_needs_a_backup_of_this_state() {
    let file = webshop();
    let message = groundstate(&["undo", &file.path]).failed(3);
    assert!(message.contains("there is no backup"), "{message}");
    fs::copy(&file.path, format!("{}.1700000000.backup", file.path)).unwrap();
    let message = groundstate(&["undo", &file.path]).failed(3);
    assert!(message.contains(".1700000000.backup"), "{message}");

    let other = fs::read_to_string(&file.path).unwrap().replace("3f6a1c0e", "00000000");
    fs::write(format!("{}.backup", file.path), other).unwrap();
    let before = everything(file.dir.path());
    let message = groundstate(&["undo", &file.path]).failed(9);
    assert!(message.contains("lineages differ") && message.contains("--force"), "{message}");
    assert!(everything(file.dir.path()) == before);
}

#[test]
fn undo_mends_a_state_that_cannot_be_read_if_forced() {
    let file = webshop();
    let good = groundstate(&["list", &file.path]).clean();
    fs::copy(&file.path, format!("{}.backup", file.path)).unwrap();
    fs::write(&file.path, "{\"version\": 4, \"serial\":").unwrap();
    groundstate(&["undo", &file.path]).failed(4);
    groundstate(&["undo", &file.path, "--force"]).clean();
    assert_eq!(groundstate(&["list", &file.path]).clean(), good);
}

#[test]
fn pull_prints_what_is_stored() {
    let file = webshop();
    let text = fs::read_to_string(&file.path).unwrap();
    assert_eq!(groundstate(&["pull", &file.path]).clean(), text);
    let old = workspace().join("tests/fixtures/states/webshop-v3.tfstate");
    let pulled = groundstate(&["pull", old.to_str().unwrap()]).clean();
    assert_eq!(pulled, groundstate(&["upgrade", old.to_str().unwrap()]).stdout);
    groundstate(&["pull", &state("").path]).failed(3);
    groundstate(&["pull", &state("{").path]).failed(4);
    groundstate(&["pull", "-"]).failed(2);
}

#[test]
fn push_checks_lineage_and_serial() {
    let file = webshop();
    let text = fs::read_to_string(&file.path).unwrap();
    let with = |serial: u64, lineage: &str, name: &str| {
        let text = text.replace("\"serial\": 87", &format!("\"serial\": {serial}"));
        let text = text.replace("3f6a1c0e-9b7d-4f52-8a41-0d2c5e7b9a63", lineage);
        state(text.replace("random_id", name))
    };
    let own = "3f6a1c0e-9b7d-4f52-8a41-0d2c5e7b9a63";
    let before = everything(file.dir.path());
    for (serial, lineage, name) in
        [(86, own, "random_id"), (87, own, "random_pet"), (99, "other", "random_id")]
    {
        let other = with(serial, lineage, name);
        let message = groundstate(&["push", &file.path, &other.path]).failed(9);
        assert!(message.contains("--force"), "{message}");
        groundstate(&["push", &file.path, &other.path, "--dry-run"]).failed(9);
        assert!(everything(file.dir.path()) == before, "{serial} {lineage}");
    }
    // The same state once more is nothing to write.
    let text = groundstate(&["push", &file.path, &with(87, own, "random_id").path]).clean();
    assert!(text.starts_with("Nothing to change"), "{text}");
    assert!(everything(file.dir.path()) == before);

    let newer = with(90, own, "random_pet");
    groundstate(&["push", &file.path, &newer.path, "--yes"]).clean();
    assert_eq!(serial(&file.path), 91);
    assert!(groundstate(&["list", &file.path]).clean().contains("random_pet.suffix"));
    assert_eq!(fs::read(&backups(&file.path)[0]).unwrap(), before[0].1);
    groundstate(&["push", &file.path, &with(5, "other", "random_id").path, "--force", "--yes"]).clean();
    assert!(fs::read_to_string(&file.path).unwrap().contains("\"lineage\": \"other\""));
}

#[test]
fn push_fills_an_empty_place_from_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.tfstate");
    let text = fs::read(webshop().path).unwrap();
    groundstate_with(&["push", path.to_str().unwrap(), "-"], &text).clean();
    assert_eq!(fs::read(&path).unwrap(), text, "an import keeps its serial");
    let other = tempfile::tempdir().unwrap();
    groundstate_with(&["push", other.path().to_str().unwrap(), "-"], &text).clean();
    assert_eq!(fs::read(other.path().join("terraform.tfstate")).unwrap(), text);
    groundstate_with(&["push", path.to_str().unwrap(), "-"], b"").failed(3);
    groundstate_with(&["push", path.to_str().unwrap(), "-"], b"[]").failed(4);
}

#[test]
fn merges_what_an_apply_could_not_store() {
    let file = webshop();
    let text = fs::read_to_string(&file.path).unwrap();
    let errored = state(text.replace("\"serial\": 87", "\"serial\": 88").replace("111122223333", "999"));
    groundstate(&["merge-errored", &file.path, &errored.path]).clean();
    assert!(fs::read_to_string(&file.path).unwrap().contains("\"999\""));

    // Another program has written meanwhile, and the base is found beside the state.
    let file = webshop();
    groundstate(&["mv", &file.path, "random_id.suffix", "random_id.b"]).clean();
    groundstate(&["merge-errored", &file.path, &errored.path]).clean();
    let merged = fs::read_to_string(&file.path).unwrap();
    assert!(merged.contains("\"999\"") && groundstate(&["list", &file.path]).clean().contains("random_id.b"));
    assert_eq!(serial(&file.path), 89);

    let other = state(text.replace("3f6a1c0e", "00000000"));
    groundstate(&["merge-errored", &file.path, &other.path]).failed(9);
}

#[test]
fn a_merge_without_a_base_says_what_to_give() {
    let file = webshop();
    let text = fs::read_to_string(&file.path).unwrap();
    groundstate(&["mv", &file.path, "random_id.suffix", "random_id.b", "--backup", "-"]).clean();
    let errored = state(text.replace("\"serial\": 87", "\"serial\": 88").replace("111122223333", "999"));
    let message = groundstate(&["merge-errored", &file.path, &errored.path]).failed(9);
    assert!(message.contains("--base FILE"), "{message}");
    let base = state(&text);
    groundstate(&["merge-errored", &file.path, &errored.path, "--base", &base.path]).clean();
}

#[test]
fn salvages_a_truncated_state_and_lists_what_was_lost() {
    let whole = fs::read_to_string(webshop().path).unwrap();
    let file = state(&whole[..whole.len() * 2 / 3]);
    let run = groundstate(&["salvage", &file.path]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("warning: lost: ") && run.stderr.contains("can be read"), "{}", run.stderr);
    let new = state(&run.stdout);
    let listed = groundstate(&["list", &new.path]).clean();
    let all = groundstate(&["list", "webshop-v4-terraform.tfstate"]).clean();
    assert!(!listed.is_empty() && listed.lines().all(|line| all.contains(line)), "{listed}");

    let out = file.dir.path().join("new.tfstate");
    let run = groundstate(&["salvage", &file.path, "-o", out.to_str().unwrap(), "--json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(run.code == 1 && !value["lost"].as_array().unwrap().is_empty(), "{value}");
    assert_eq!(fs::read_to_string(&out).unwrap(), fs::read_to_string(&new.path).unwrap());
    groundstate(&["salvage", &state([0; 600]).path]).failed(4);
    let run = groundstate(&["salvage", "webshop-v4-terraform.tfstate"]);
    assert_eq!((run.code, run.stdout), (0, whole));
}
