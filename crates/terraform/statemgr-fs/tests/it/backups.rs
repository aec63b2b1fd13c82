//! Backups, and the second path for reading.

use std::fs;

use bytes::Bytes;
use groundstate_conformance::block_on;
use groundstate_statemgr::{ErrorKind, Expect, StateStore, WriteOptions};
use groundstate_statemgr_fs::{Backup, FsOptions, Publish};

use crate::support::{Calls, Folder};

#[test]
fn the_backup_is_what_was_there_before_the_first_change() {
    for publish in [Publish::InPlace, Publish::Rename] {
        let folder = Folder::new();
        let backup = folder.join("terraform.tfstate.backup");
        fs::write(folder.state(), b"original").unwrap();
        let store = Calls(folder.store_with(FsOptions::new().publish(publish)));
        store.write(b"original").unwrap();
        assert!(!backup.exists(), "an identical write changes nothing");
        for state in ["first", "second", "third"] {
            store.write(state.as_bytes()).unwrap();
            assert_eq!(fs::read(&backup).unwrap(), b"original", "after {state}");
        }
    }
}

#[test]
fn after_a_lock_was_released_the_next_change_makes_a_backup_again() {
    let folder = Folder::new();
    let store = folder.store();
    let backup = folder.join("terraform.tfstate.backup");
    for (round, expected) in [("a", None), ("b", Some("a2")), ("c", Some("b2"))] {
        let grant = store.lock().unwrap();
        store.write(format!("{round}1").as_bytes()).unwrap();
        store.write(format!("{round}2").as_bytes()).unwrap();
        store.unlock(&grant).unwrap();
        let expected = expected.or(Some("a1")).filter(|_| backup.exists());
        assert_eq!(fs::read(&backup).ok(), expected.map(|text| text.as_bytes().to_vec()), "round {round}");
    }
}

#[test]
fn the_backup_comes_from_the_path_that_is_written() {
    let folder = Folder::new();
    fs::write(folder.join("in.tfstate"), b"read from").unwrap();
    fs::write(folder.state(), b"overwritten").unwrap();
    let store = Calls(folder.store_with(FsOptions::new().read_from(folder.join("in.tfstate"))));
    assert_eq!(store.read().unwrap().unwrap(), b"read from");
    store.write(b"new").unwrap();
    assert_eq!(store.read().unwrap().unwrap(), b"new", "reads follow the first write");
    assert_eq!(fs::read(folder.join("terraform.tfstate.backup")).unwrap(), b"overwritten");
    assert_eq!(fs::read(folder.join("in.tfstate")).unwrap(), b"read from");
}

#[test]
fn expectations_are_about_what_reads_give_also_with_two_paths() {
    let folder = Folder::new();
    fs::write(folder.join("in.tfstate"), b"read from").unwrap();
    let store = folder.store_with(FsOptions::new().read_from(folder.join("in.tfstate")));
    let stored = block_on(store.read()).unwrap().unwrap();
    let options = WriteOptions::expecting(Expect::Absent);
    assert_eq!(
        block_on(store.write(Bytes::from_static(b"new"), &options)).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    let options = WriteOptions::expecting(Expect::Version(stored.version));
    block_on(store.write(Bytes::from_static(b"new"), &options)).unwrap();
    assert_eq!(
        block_on(store.write(Bytes::from_static(b"newer"), &options)).unwrap_err().kind(),
        ErrorKind::Conflict
    );
}

#[test]
fn two_names_of_one_file_are_one_path() {
    let folder = Folder::new();
    fs::write(folder.state(), b"old").unwrap();
    fs::hard_link(folder.state(), folder.join("other.tfstate")).unwrap();
    for name in ["./terraform.tfstate", "other.tfstate"] {
        let store = Calls(folder.store_with(FsOptions::new().read_from(folder.path().join(name))));
        let grant = store.lock().unwrap();
        store.write(name.as_bytes()).unwrap();
        assert_eq!(store.read().unwrap().unwrap(), name.as_bytes());
        store.unlock(&grant).unwrap();
    }
}

#[test]
fn backups_go_where_they_are_wanted_or_nowhere() {
    for (backup, expected) in [
        (Backup::None, vec!["terraform.tfstate"]),
        (Backup::Beside, vec!["terraform.tfstate", "terraform.tfstate.backup"]),
    ] {
        let folder = Folder::new();
        let store = Calls(folder.store_with(FsOptions::new().backup(backup)));
        store.write(b"one").unwrap();
        store.write(b"two").unwrap();
        assert_eq!(folder.names(), expected);
    }
    let folder = Folder::new();
    let store = Calls(folder.store_with(FsOptions::new().backup(Backup::At(folder.join("deep/er/b")))));
    store.write(b"one").unwrap();
    store.write(b"two").unwrap();
    assert_eq!(fs::read(folder.join("deep/er/b")).unwrap(), b"one");
}

#[test]
fn without_a_backup_nothing_is_overwritten() {
    let folder = Folder::new();
    fs::write(folder.state(), b"old").unwrap();
    fs::create_dir(folder.join("taken")).unwrap();
    for (path, kind) in [
        ("taken", ErrorKind::Invalid),
        ("terraform.tfstate", ErrorKind::Invalid),
        ("./terraform.tfstate", ErrorKind::Invalid),
        (".terraform.tfstate.lock.info", ErrorKind::Invalid),
        (".terraform.tfstate.groundstate-journal", ErrorKind::Invalid),
        (".terraform.tfstate.groundstate-fence", ErrorKind::Invalid),
    ] {
        let store = Calls(folder.store_with(FsOptions::new().backup(Backup::At(folder.join(path)))));
        assert_eq!(store.write(b"new").unwrap_err().kind(), kind, "{path}");
        assert_eq!(store.delete().unwrap_err().kind(), kind, "{path}");
        assert_eq!(fs::read(folder.state()).unwrap(), b"old");
    }
}

#[test]
fn deletions_are_backed_up_too() {
    let folder = Folder::new();
    let store = folder.store();
    store.write(b"precious").unwrap();
    store.delete().unwrap();
    assert_eq!(fs::read(folder.join("terraform.tfstate.backup")).unwrap(), b"precious");
    assert_eq!(store.read().unwrap(), None);
}

/// Renaming would replace a device such as `/dev/null`, for everybody on the machine.
#[cfg(unix)]
#[test]
fn a_backup_replaces_nothing_but_files() {
    let folder = Folder::new();
    let socket = folder.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink("socket", folder.join("link")).unwrap();
    for path in ["socket", "link"] {
        let store = Calls(folder.store_with(FsOptions::new().backup(Backup::At(folder.join(path)))));
        fs::write(folder.state(), "before").unwrap();
        assert_eq!(store.write(b"after").unwrap_err().kind(), ErrorKind::Invalid, "{path}");
        assert_eq!(fs::read(folder.state()).unwrap(), b"before", "{path}");
        let kind = fs::metadata(&socket).unwrap().file_type();
        assert!(std::os::unix::fs::FileTypeExt::is_socket(&kind), "{path}");
    }
}
