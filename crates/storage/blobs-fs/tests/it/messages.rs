//! What is refused and how it is said, and which bytes and versions are given.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use groundstate_blobs::{
    Attributes, BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, LeaseId, Precondition, PutOptions,
};
use groundstate_blobs_fs::FileBlobs;
use groundstate_conformance::block_on;
use tempfile::TempDir;

fn store() -> (TempDir, FileBlobs) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileBlobs::open(folder.path()).unwrap();
    (folder, store)
}

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

/// Stores a content whatever is there, and gives its generation.
fn put(store: &FileBlobs, name: &str, text: &'static str) -> u64 {
    let version = block_on(store.put(&key(name), text.into(), &PutOptions::default())).unwrap();
    version.generation().unwrap()
}

#[test]
fn names_that_cannot_be_files_are_refused_with_the_reason() {
    let (_folder, store) = store();
    put(&store, "a", "1");
    put(&store, "b/c", "1");
    let long = "x".repeat(256);
    let nested = "a blob cannot have the name of another one and a slash behind it in a directory";
    for (name, reason) in [
        ("a/b", nested),
        ("b", nested),
        (".groundstate-lock", "the key is not a valid file name"),
        ("x/.groundstate-y", "the key is not a valid file name"),
        (long.as_str(), "the file system does not take such a name"),
    ] {
        let error = block_on(store.put(&key(name), "2".into(), &PutOptions::default())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        assert_eq!(error.to_string(), format!("cannot write {store}/{name}: {reason}; choose another key"));
    }
    for name in [".groundstate-lock", long.as_str()] {
        let read = block_on(store.get(&key(name), &GetOptions::default())).unwrap_err();
        let looked = block_on(store.head(&key(name))).unwrap_err();
        assert_eq!([read.kind(), looked.kind()], [ErrorKind::InvalidKey; 2], "{name}");
    }
}

#[test]
fn what_files_do_not_have_is_unsupported_and_changes_nothing() {
    let (_folder, store) = store();
    put(&store, "k", "1");
    let lease = LeaseId::parse("681fbb37-7302-b5fd-bac8-6224f8cc5180").unwrap();
    let key = key("k");
    let with_type = PutOptions::default().attributes(Attributes::content_type("text/plain"));
    let cases = [
        (block_on(store.get(&key, &GetOptions::default().lease(&lease))).map(drop), "read", "have no leases"),
        (
            block_on(store.put(&key, "2".into(), &PutOptions::default().lease(&lease))).map(drop),
            "write",
            "have no leases",
        ),
        (
            block_on(store.put(&key, "2".into(), &with_type)).map(drop),
            "write",
            "keep no content types and no metadata",
        ),
        (
            block_on(store.delete(&key, &DeleteOptions::default().lease(&lease))).map(drop),
            "delete",
            "have no leases",
        ),
    ];
    for (outcome, op, why) in cases {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.to_string(), format!("cannot {op} {store}/k: files {why}"));
    }
    let absent = DeleteOptions::expecting(Precondition::Absent);
    assert_eq!(block_on(store.delete(&key, &absent)).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(&block_on(store.get(&key, &GetOptions::default())).unwrap().unwrap().bytes[..], b"1");
    assert!(store.leases().is_none());
}

#[test]
fn a_file_in_the_place_of_the_directory_is_said() {
    let (folder, _) = store();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    let store = FileBlobs::open(&path).unwrap();
    let error = block_on(store.head(&key("k"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), format!("cannot look at file://{}: it is not a directory", path.display()));
    let error = FileBlobs::create(&path).unwrap_err();
    let expected = format!("cannot create file://{}: the file system refuses", path.display());
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Unavailable, expected));
}

#[test]
fn a_directory_is_created_with_all_above_it() {
    let (folder, _) = store();
    let path = folder.path().join("a/b/c");
    let store = FileBlobs::create(&path).unwrap();
    assert_eq!((store.directory(), path.is_dir()), (&path, true));
    assert_eq!(store.to_string(), format!("file://{}", path.display()));
    FileBlobs::create(&path).unwrap();
}

#[test]
fn refused_conditions_say_what_is_stored() {
    let (_folder, store) = store();
    let first = put(&store, "k", "1");
    let second = put(&store, "k", "2");
    let version = |generation| {
        Precondition::Version(groundstate_blobs::BlobVersion::default().with_generation(generation))
    };
    let cases = [
        (
            "k",
            Precondition::Absent,
            format!("generation {second} is stored where nothing was expected"),
            Some("2"),
        ),
        (
            "k",
            version(first),
            format!("generation {second} is stored where generation {first} was expected"),
            Some("2"),
        ),
        ("gone", version(first), format!("nothing is stored where generation {first} was expected"), None),
    ];
    for (name, condition, reason, found) in cases {
        let error =
            block_on(store.put(&key(name), "3".into(), &PutOptions::expecting(condition))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
        assert_eq!(error.to_string(), format!("cannot write {store}/{name}: {reason}"));
        assert_eq!(error.found().map(|blob| &blob.bytes[..]), found.map(str::as_bytes));
    }
    let error = block_on(store.delete(&key("k"), &DeleteOptions::expecting(version(first)))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert!(block_on(store.delete(&key("k"), &DeleteOptions::expecting(version(second)))).unwrap());
}

#[test]
fn ranges_are_cut_off_at_the_end() {
    let (_folder, store) = store();
    put(&store, "k", "0123456789");
    for (range, start, text) in [
        (0..10, 0, "0123456789"),
        (2..5, 2, "234"),
        (8..100, 8, "89"),
        (10..12, 10, ""),
        (50..60, 10, ""),
        (5..5, 5, ""),
        (3..u64::MAX, 3, "3456789"),
    ] {
        let blob =
            block_on(store.get(&key("k"), &GetOptions::default().range(range.clone()))).unwrap().unwrap();
        assert_eq!((&blob.bytes[..], blob.meta.size), (text.as_bytes(), 10), "{range:?}");
        assert_eq!(blob.range, start..start + text.len() as u64, "{range:?}");
    }
}

#[test]
fn reads_may_ask_for_one_version_or_for_another() {
    let (_folder, store) = store();
    put(&store, "k", "1");
    let old = block_on(store.head(&key("k"))).unwrap().unwrap().version;
    let kind = |options: GetOptions| block_on(store.get(&key("k"), &options)).err().map(|error| error.kind());
    assert_eq!(kind(GetOptions::default().if_match(&old)), None);
    assert_eq!(kind(GetOptions::default().if_none_match(&old)), Some(ErrorKind::NotModified));
    put(&store, "k", "2");
    assert_eq!(kind(GetOptions::default().if_match(&old)), Some(ErrorKind::PreconditionFailed));
    assert_eq!(kind(GetOptions::default().if_none_match(&old)), None);
}

#[test]
fn versions_grow_although_clocks_go_back() {
    let (folder, store) = store();
    let first = put(&store, "k", "1");
    // Another program dates the file into the future.
    let future = SystemTime::now() + Duration::from_secs(100_000);
    File::options().write(true).open(folder.path().join("k")).unwrap().set_modified(future).unwrap();
    let dated = block_on(store.head(&key("k"))).unwrap().unwrap().version.generation().unwrap();
    assert!(dated > first);
    let second = put(&store, "k", "2");
    assert!(second > dated, "later than what it replaces");
    let other = put(&store, "other", "1");
    assert!(other > second, "later than all writes of the store");
    block_on(store.delete(&key("k"), &DeleteOptions::default())).unwrap();
    assert!(put(&store, "k", "3") > other, "also where the blob was gone");
}

#[test]
fn a_lock_file_that_was_cut_off_is_as_good_as_a_new_one() {
    let (folder, store) = store();
    fs::write(folder.path().join(".groundstate-lock"), [1, 2, 3]).unwrap();
    let clock = folder.path().join(".groundstate-writes/clock");
    fs::create_dir(clock.parent().unwrap()).unwrap();
    fs::write(&clock, [1, 2, 3]).unwrap();
    let first = put(&store, "k", "1");
    assert_eq!(fs::read(clock).unwrap(), first.to_be_bytes());
    assert!(put(&store, "k", "1") > first);
}

#[test]
fn times_are_those_of_the_files_to_the_nanosecond() {
    let (folder, store) = store();
    put(&store, "k", "text");
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
    File::options().write(true).open(folder.path().join("k")).unwrap().set_modified(time).unwrap();
    let meta = block_on(store.head(&key("k"))).unwrap().unwrap();
    assert_eq!((meta.version.generation(), meta.size), (Some(1_700_000_000_123_456_789), 4));
    assert_eq!(meta.version.e_tag(), Some("\"17979cfe3d85cd15-4\""));
    assert_eq!(meta.last_modified.unwrap().to_string(), "2023-11-14T22:13:20.123456789Z");
}
