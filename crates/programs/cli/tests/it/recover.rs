//! Journals of changes beside states: commands recover them, or refuse and offer what is in them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{Locker, ManagerOptions, Persister, Refresher, Writer};
use groundstate_statemgr_fs::FsStore;
use groundstate_statemgr_wal::{JournaledManager, journal_folder};
use groundstate_states::addr::AbsResourceInstance;
use groundstate_wal::fs::FsJournal;

use super::support::{TempState, groundstate, resource, state, with_resources};

/// A state beside which a run was interrupted that had forgotten one of two resources.
pub(crate) fn interrupted() -> TempState {
    let both = [resource("test_a", "one", "{}"), resource("test_a", "two", "{}")].join(", ");
    let file = state(with_resources(&both));
    let path = Path::new(&file.path);
    let store = Arc::new(FsStore::open(path, Arc::new(SystemClock)).unwrap());
    let journal = Arc::new(FsJournal::new(journal_folder(path)));
    let options = ManagerOptions::default().who("ann@host");
    let manager = JournaledManager::new(store, journal, Arc::new(SystemClock), Arc::new(OsIds), options);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        manager.lock(&manager.lock_info("apply").unwrap()).await.unwrap();
        manager.refresh_state().await.unwrap();
        let one = AbsResourceInstance::parse("test_a.one").unwrap();
        let mut forget = |state: &mut Option<groundstate_states::State>| {
            state.as_mut().unwrap().remove_resource(&one.resource);
        };
        manager.mutate_state(&mut forget).unwrap();
        manager.persist_state().await.unwrap();
    });
    // Its lock goes with it, and the journal stays.
    drop(manager);
    file
}

fn has_journal(file: &TempState) -> bool {
    journal_folder(Path::new(&file.path)).exists()
}

#[test]
fn recovers_what_an_interrupted_run_has_journaled() {
    let file = interrupted();
    let run = groundstate(&["recover", &file.path]);
    assert_eq!((run.code, file.mask(&run.stdout).as_str()), (0, "FILE is up to date.\n"));
    assert_eq!(file.mask(&run.stderr), "note: stored 1 change of an interrupted run of ann@host in FILE\n");
    assert_eq!(groundstate(&["list", &file.path]).clean(), "test_a.two\n");
    assert!(!has_journal(&file));
    let again = groundstate(&["recover", &file.path]).clean();
    assert_eq!(file.mask(&again), "There is nothing to recover beside FILE.\n");
}

#[test]
fn every_command_that_takes_the_lock_recovers_first() {
    let file = interrupted();
    let refused = groundstate(&["mv", &file.path, "test_a.two", "test_a.three", "--no-lock"]).failed(9);
    assert!(refused.contains("without `--no-lock`"), "{refused}");
    let run = groundstate(&["mv", &file.path, "test_a.two", "test_a.three"]);
    assert!(run.code == 0 && run.stderr.contains("stored 1 change"), "{run:?}");
    assert_eq!(groundstate(&["list", &file.path]).clean(), "test_a.three\n");
    assert!(!has_journal(&file));
}

#[test]
fn a_state_written_since_is_left_alone() {
    let file = interrupted();
    let theirs = fs::read_to_string(&file.path).unwrap().replace("\"serial\": 1", "\"serial\": 2");
    fs::write(&file.path, &theirs).unwrap();
    for args in [&["recover", &file.path][..], &["rm", &file.path, "test_a.two"]] {
        let refused = groundstate(args).failed(9);
        assert!(refused.contains("holds 1 change of"), "{refused}");
        assert!(refused.contains("--export") && refused.contains("--discard"), "{refused}");
    }
    assert_eq!(fs::read_to_string(&file.path).unwrap(), theirs);

    let exported = file.dir.path().join("recovered.tfstate");
    groundstate(&["recover", &file.path, "--export", exported.to_str().unwrap()]).clean();
    assert_eq!(groundstate(&["list", exported.to_str().unwrap()]).clean(), "test_a.two\n");
    let shown = groundstate(&["recover", &file.path, "--export", "-"]).clean();
    assert_eq!(shown, fs::read_to_string(&exported).unwrap());

    let said = groundstate(&["recover", &file.path, "--discard"]).clean();
    assert_eq!(file.mask(&said), "Discarded 1 change beside FILE.\n");
    assert!(!has_journal(&file));
    groundstate(&["recover", &file.path, "--export", "-"]).failed(7);
    assert_eq!(fs::read_to_string(&file.path).unwrap(), theirs);
}

#[test]
fn a_journal_that_cannot_be_read_is_refused_and_can_be_discarded() {
    let file = interrupted();
    let folder = journal_folder(Path::new(&file.path));
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "base") {
            fs::write(path, b"damaged").unwrap();
        }
    }
    let refused = groundstate(&["recover", &file.path]).failed(5);
    assert!(refused.contains("damaged"), "{refused}");
    groundstate(&["recover", &file.path, "--discard"]).clean();
    assert!(!has_journal(&file));
}

#[test]
fn what_only_reads_says_that_newer_changes_stand_in_a_journal() {
    let file = interrupted();
    let warning = "warning: the journal of a run beside FILE holds 1 change newer than this state; \
         `groundstate recover FILE` stores what an interrupted run has left\n";
    for args in [
        &["list", &file.path][..],
        &["show", &file.path],
        &["outputs", &file.path],
        &["check", &file.path],
        &["pull", &file.path],
        &["graph", &file.path],
        &["rm", &file.path, "test_a.one", "--dry-run"],
        &["push", &file.path, &file.path, "--dry-run"],
    ] {
        let run = groundstate(args);
        assert!(file.mask(&run.stderr).contains(warning), "{args:?}: {}", run.stderr);
    }
    assert!(has_journal(&file));
    assert_eq!(groundstate(&["recover", &file.path]).code, 0);
    assert_eq!(groundstate(&["list", &file.path]).stderr, "");
}

#[test]
fn a_migration_recovers_the_journals_of_both_places_first() {
    for interrupted_source in [true, false] {
        let file = interrupted();
        let dir = file.dir.path();
        let other = dir.join("other.tfstate").display().to_string();
        let (from, to) = if interrupted_source { (&file.path, &other) } else { (&other, &file.path) };
        if !interrupted_source {
            let newer = fs::read_to_string(&file.path).unwrap().replace("\"serial\": 1", "\"serial\": 9");
            fs::write(&other, newer).unwrap();
        }
        let receipt = dir.join("receipt.json").display().to_string();
        let args = ["migrate", from, to, "--receipt", &receipt];
        let preview = groundstate(&[&args[..], &["--dry-run"]].concat());
        assert!(preview.stderr.contains("holds 1 change newer than this state"), "{}", preview.stderr);
        let refused = groundstate(&[&args[..], &["--no-lock"]].concat()).failed(9);
        assert!(refused.contains("without `--no-lock`"), "{refused}");
        let run = groundstate(&args);
        assert!(run.code == 0 && run.stderr.contains("stored 1 change"), "{run:?}");
        let expected = if interrupted_source { "test_a.two\n" } else { "test_a.one\ntest_a.two\n" };
        assert_eq!(groundstate(&["list", to]).clean(), expected);
        assert!(!has_journal(&file));
    }
}

#[test]
fn whole_states_are_stored_over_what_was_recovered() {
    for args in [&["push"][..], &["undo"], &["merge-errored"]] {
        let file = interrupted();
        let other = file.dir.path().join("other.tfstate").display().to_string();
        let text = fs::read_to_string(&file.path).unwrap().replace("\"serial\": 1", "\"serial\": 5");
        fs::write(&other, &text).unwrap();
        let run = match args[0] {
            "undo" => groundstate(&["undo", &file.path, "--from", &other]),
            verb => groundstate(&[verb, &file.path, &other]),
        };
        assert!(run.stderr.contains("stored 1 change"), "{args:?}: {run:?}");
        assert!(!has_journal(&file));
    }
}

#[test]
fn a_workspace_beside_which_a_journal_lies_is_not_deleted() {
    let file = interrupted();
    let folder = file.dir.path().join("terraform.tfstate.d/dev");
    fs::create_dir_all(&folder).unwrap();
    let state = folder.join("terraform.tfstate");
    fs::rename(&file.path, &state).unwrap();
    fs::rename(journal_folder(Path::new(&file.path)), journal_folder(&state)).unwrap();
    let dir = file.dir.path().to_str().unwrap();
    let refused = groundstate(&["workspaces", "delete", dir, "dev", "--force"]).failed(9);
    assert!(refused.contains("a run has left a journal") && refused.contains("--discard"), "{refused}");
    assert!(state.exists());
    let listed = groundstate(&["list", dir, "--workspace", "dev"]);
    assert!(listed.stderr.contains("1 change newer"), "{listed:?}");
}
