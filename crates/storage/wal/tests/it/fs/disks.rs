//! What the file system refuses: permissions, places that are no folders, and a full disk.

use std::fs;

use groundstate_conformance::block_on;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{ErrorKind, JournalStore, OpenOptions, Record};

use super::support::Folder;

#[test]
fn a_place_that_is_no_folder_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a file");
    fs::write(&path, b"precious").unwrap();
    let journal = FsJournal::new(&path);
    let reason = "it is not a folder, or part of its path is none";
    let error = block_on(journal.open(&OpenOptions::new("ann"))).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Invalid, format!("cannot open {journal}: {reason}"))
    );
    let error = block_on(journal.head()).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Invalid, format!("cannot read {journal}: {reason}"))
    );
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn messages_name_the_owner_and_no_record() {
    let folder = Folder::new();
    block_on(async {
        let journal = folder.journal();
        let writer = journal.open(&OpenOptions::new("ann@host")).await.unwrap();
        writer.begin(&Record::from(&b"secret base"[..])).await.unwrap();
        writer.append(&[Record::from(&b"secret entry"[..])]).await.unwrap();
        let error = journal.open(&OpenOptions::new("bob")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("ann@host in process"), "{error}");
        let contents = folder.contents().unwrap();
        assert!(!format!("{error:?} {writer:?} {journal:?} {contents:?}").contains("secret"));
    });
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_look_into_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let writer = block_on(folder.journal().open(&OpenOptions::new("ann"))).unwrap();
    block_on(writer.begin(&Record::default())).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&folder.path()), 0);
    for name in folder.names() {
        assert_eq!(mode(&folder.path().join(&name)), 0, "{name}");
    }
}
