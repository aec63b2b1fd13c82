//! A directory that go-cloud's `file` bucket shares: names, files beside, and writes of the other programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use groundstate_blobs::{
    BlobStore, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, Precondition, PutOptions,
};
use groundstate_blobs_fs::BucketFiles;
use groundstate_conformance::block_on;
use tempfile::TempDir;

use crate::harness::Harness;

mod suite {
    groundstate_conformance::blob_suite!(super::harness());
}

fn harness() -> Harness {
    let folder = tempfile::tempdir().expect("there is room for a directory");
    Harness::new(Arc::new(move |name| Ok(Arc::new(BucketFiles::create(folder.path().join(name))?))))
}

fn bucket() -> (TempDir, BucketFiles) {
    let folder = tempfile::tempdir().unwrap();
    let store = BucketFiles::open(folder.path()).unwrap();
    (folder, store)
}

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

fn put(store: &BucketFiles, name: &str, text: &'static str) {
    block_on(store.put(&key(name), text.into(), &PutOptions::default())).unwrap();
}

fn read(store: &BucketFiles, name: &str) -> String {
    let blob = block_on(store.get(&key(name), &GetOptions::default())).unwrap().unwrap();
    String::from_utf8(blob.bytes.to_vec()).unwrap()
}

fn names(store: &BucketFiles, prefix: &str, options: &ListOptions) -> (Vec<String>, Vec<String>) {
    let page = block_on(store.list(prefix, options)).unwrap();
    (page.blobs.into_iter().map(|blob| blob.name).collect(), page.prefixes)
}

fn all(store: &BucketFiles) -> Vec<String> {
    names(store, "", &ListOptions::default()).0
}

/// Replaces a file as the other program does: a file beside it, the description, the rename.
fn replaced_by_another_program(folder: &Path, name: &str, text: &str) {
    let temporary = folder.join(format!("{name}.17ab.tmp"));
    fs::write(&temporary, text).unwrap();
    fs::write(folder.join(format!("{name}.attrs")), "{\"md5\":null}\n").unwrap();
    fs::rename(temporary, folder.join(name)).unwrap();
}

#[test]
fn odd_keys_have_the_files_of_the_original_and_come_back() {
    let (folder, store) = bucket();
    let files =
        [("x../y", "x..__0x2f__y"), ("a/b..c", "a/b..c"), ("ü %~#?&\\\u{a0}", "ü %~#?&\\\u{a0}"), ("_", "_")];
    for (name, file) in files {
        put(&store, name, "1");
        if cfg!(unix) {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
        assert_eq!(read(&store, name), "1");
    }
    assert_eq!(all(&store), ["_", "a/b..c", "x../y", "ü %~#?&\\\u{a0}"]);
    let level = names(&store, "", &ListOptions::default().delimited());
    assert_eq!(level.1, ["a/", "x../"]);
    assert_eq!(names(&store, "x../", &ListOptions::default()).0, ["x../y"]);
    assert_eq!(names(&store, "x../", &ListOptions::default().delimited()).0, ["x../y"]);
    assert!(block_on(store.delete(&key("x../y"), &DeleteOptions::default())).unwrap());
    assert!(!all(&store).contains(&"x../y".to_owned()));
}

#[test]
fn every_character_of_a_byte_comes_back_or_is_refused() {
    let (_folder, store) = bucket();
    let mut stored = Vec::new();
    for c in (1..=255_u8).map(char::from) {
        let Ok(key) = Key::parse(&format!("k/{c}x")) else { continue };
        block_on(store.put(&key, "1".into(), &PutOptions::default())).unwrap();
        stored.push(key.as_str().to_owned());
    }
    assert!(stored.len() > 180);
    assert_eq!(all(&store), stored);
}

#[test]
fn keys_that_come_back_as_others_are_refused_and_such_files_are_seen() {
    let (folder, store) = bucket();
    for (name, why) in [
        ("a__0x2f__b", "an escape such as __0x2f__ in the key would be read back as another key"),
        ("s.json.attrs", "files that end in .attrs describe other files"),
        (".groundstate-lock", "the key is not a valid file name"),
    ] {
        for error in [
            block_on(store.put(&key(name), "1".into(), &PutOptions::default())).unwrap_err(),
            block_on(store.get(&key(name), &GetOptions::default())).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidKey);
            assert!(error.to_string().ends_with(&format!("{why}; choose another key")), "{error}");
        }
    }
    fs::write(folder.path().join("__0x41__"), "foreign").unwrap();
    fs::write(folder.path().join("A"), "ours").unwrap();
    fs::write(folder.path().join("n__0xa__l"), "a control character").unwrap();
    assert_eq!(all(&store), ["A", "__0x41__", "n\nl"]);
    assert_eq!(read(&store, "A"), "ours");
}

#[test]
fn descriptions_are_not_listed_and_never_hide_a_content() {
    let (folder, store) = bucket();
    replaced_by_another_program(folder.path(), "s.json", "whole");
    assert_eq!((all(&store), read(&store, "s.json")), (vec!["s.json".to_owned()], "whole".to_owned()));
    fs::write(folder.path().join("s.json.attrs"), "{ damaged").unwrap();
    assert_eq!(read(&store, "s.json"), "whole");
    put(&store, "s.json", "new");
    assert!(!folder.path().join("s.json.attrs").exists(), "it described the old content");
    replaced_by_another_program(folder.path(), "s.json", "again");
    assert!(block_on(store.delete(&key("s.json"), &DeleteOptions::default())).unwrap());
    assert!(!folder.path().join("s.json.attrs").exists());
}

#[test]
fn temporary_files_of_others_are_listed_and_ours_are_not() {
    let (folder, store) = bucket();
    let locks = folder.path().join(".pulumi/locks/organization/p/s");
    fs::create_dir_all(&locks).unwrap();
    fs::write(locks.join("x.json.17ab.tmp"), "").unwrap();
    fs::write(folder.path().join(".groundstate-new"), "left by a crash").unwrap();
    put(&store, ".pulumi/stacks/p/s.json", "{}");
    assert!(!folder.path().join(".groundstate-new").exists());
    assert_eq!(all(&store), [".pulumi/locks/organization/p/s/x.json.17ab.tmp", ".pulumi/stacks/p/s.json"]);
    let seen: Vec<_> = fs::read_dir(folder.path().join(".pulumi/stacks/p"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(seen, ["s.json"], "the other program finds nothing else");
}

#[test]
fn a_file_that_another_program_replaced_is_another_version() {
    let (folder, store) = bucket();
    put(&store, "k", "0");
    for round in 0..50 {
        let before = block_on(store.head(&key("k"))).unwrap().unwrap().version;
        let time = fs::metadata(folder.path().join("k")).unwrap().modified().unwrap();
        replaced_by_another_program(folder.path(), "k", "1");
        // As quickly as the clock of the file system does not tell.
        fs::File::options().write(true).open(folder.path().join("k")).unwrap().set_modified(time).unwrap();
        let expecting = PutOptions::expecting(Precondition::Version(before));
        let error = block_on(store.put(&key("k"), "2".into(), &expecting)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{round}");
        assert_eq!(&error.found().unwrap().bytes[..], b"1");
    }
}

#[test]
fn empty_folders_stay() {
    let (folder, store) = bucket();
    put(&store, "a/b/c", "1");
    block_on(store.delete(&key("a/b/c"), &DeleteOptions::default())).unwrap();
    assert!(folder.path().join("a/b").is_dir());
    assert_eq!(names(&store, "", &ListOptions::default().delimited()), (vec![], vec![]));
}

#[cfg(unix)]
#[test]
fn new_files_have_the_permissions_that_others_get() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = bucket();
    put(&store, "k", "1");
    fs::write(folder.path().join("theirs"), "1").unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("k"), mode("theirs"));
}

#[cfg(unix)]
#[test]
fn links_to_files_are_blobs_and_a_linked_folder_is_read_by_its_name() {
    use std::os::unix::fs::symlink;
    let (folder, store) = bucket();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("k"), "1").unwrap();
    symlink(other.path(), folder.path().join("linked")).unwrap();
    symlink(other.path().join("k"), folder.path().join("file")).unwrap();
    symlink(folder.path(), folder.path().join("circle")).unwrap();
    assert_eq!(all(&store), ["file"]);
    assert_eq!(names(&store, "linked/", &ListOptions::default()).0, ["linked/k"]);
    assert_eq!((read(&store, "file"), read(&store, "linked/k")), ("1".to_owned(), "1".to_owned()));
    put(&store, "file", "2");
    assert_eq!(
        fs::read(other.path().join("k")).unwrap(),
        b"1",
        "the link was replaced, not what it leads to"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_an_error_and_not_an_empty_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, store) = bucket();
    put(&store, "locks/a/x.json", "1");
    // What even the superuser cannot read: a link that leads to itself.
    symlink("around", folder.path().join("around")).unwrap();
    let error = block_on(store.list("around/", &ListOptions::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("/around/: "), "the folder is named: {error}");
    let shut = folder.path().join("locks/a");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read_dir(&shut).is_ok() {
        println!("not run: the superuser reads every folder");
    } else {
        for prefix in ["", "locks/", "locks/a/"] {
            let error = block_on(store.list(prefix, &ListOptions::default())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{prefix}: {error}");
            assert!(error.to_string().contains("/locks/a/: "), "{prefix}: {error}");
        }
    }
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_full_disk_leaves_the_old_content_and_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=256k", "none"]).arg(folder.path()).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        println!("not run: a small file system cannot be mounted here");
        return;
    }
    let store = BucketFiles::open(folder.path()).unwrap();
    put(&store, "s.json", "old");
    let large = vec![b'x'; 1 << 20];
    let error = block_on(store.put(&key("s.json"), large.into(), &PutOptions::default())).unwrap_err();
    let outcome = (error.kind(), error.to_string(), read(&store, "s.json"), all(&store));
    let writes = fs::read_dir(folder.path().join(".groundstate-writes")).unwrap();
    let is_clean =
        writes.into_iter().all(|entry| entry.unwrap().path().extension().is_none_or(|end| end != "new"));
    drop(Command::new("umount").arg("-l").arg(folder.path()).status());
    assert_eq!(outcome.0, ErrorKind::Unavailable);
    assert!(outcome.1.ends_with("there is no room left; make room"), "{}", outcome.1);
    assert_eq!((outcome.2.as_str(), outcome.3, is_clean), ("old", vec!["s.json".to_owned()], true));
}

/// The files of the store itself in a directory.
fn own(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".groundstate-")).collect()
}

#[test]
fn the_last_client_of_a_bucket_leaves_no_files_of_its_own() {
    let (folder, store) = bucket();
    put(&store, "s.json", "1");
    assert_eq!(own(folder.path()).len(), 2);
    // A writer that is at work keeps the files.
    let lock = fs::File::open(folder.path().join(".groundstate-lock")).unwrap();
    fs2::FileExt::lock_shared(&lock).unwrap();
    drop(store);
    assert_eq!(own(folder.path()).len(), 2);
    fs2::FileExt::unlock(&lock).unwrap();
    let store = BucketFiles::open(folder.path()).unwrap();
    let before = block_on(store.head(&key("s.json"))).unwrap().unwrap().version;
    put(&store, "s.json", "2");
    let after = block_on(store.head(&key("s.json"))).unwrap().unwrap().version;
    assert_ne!(before, after);
    drop(store);
    assert_eq!(own(folder.path()), Vec::<String>::new());
    // One that only reads leaves nothing either.
    assert_eq!(read(&BucketFiles::open(folder.path()).unwrap(), "s.json"), "2");
    assert_eq!(own(folder.path()), Vec::<String>::new());
}

#[test]
fn writers_exclude_each_other_while_clients_come_and_go() {
    const WRITERS: u64 = 4;
    const ROUNDS: u64 = 40;
    let (folder, store) = bucket();
    put(&store, "n", "0");
    drop(store);
    let count = || {
        for _ in 0..ROUNDS {
            // Each round is a client of its own, which removes the files of the store when it ends.
            let store = BucketFiles::open(folder.path()).unwrap();
            loop {
                let blob = block_on(store.get(&key("n"), &GetOptions::default())).unwrap().unwrap();
                let number: u64 = std::str::from_utf8(&blob.bytes).unwrap().parse().unwrap();
                let options = PutOptions::expecting(Precondition::Version(blob.version().clone()));
                match block_on(store.put(&key("n"), (number + 1).to_string().into(), &options)) {
                    Ok(_) => break,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{error}"),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(count);
        }
    });
    let store = BucketFiles::open(folder.path()).unwrap();
    assert_eq!(read(&store, "n"), (WRITERS * ROUNDS).to_string());
    drop(store);
    assert_eq!(own(folder.path()), Vec::<String>::new());
}
