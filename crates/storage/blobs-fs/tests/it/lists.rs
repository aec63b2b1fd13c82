//! Lists of directories against a set of names, and what is left when all of them are gone.

use std::collections::BTreeSet;

use groundstate_blobs::{BlobStore, DeleteOptions, ErrorKind, Key, ListOptions, PutOptions};
use groundstate_blobs_fs::FileBlobs;
use groundstate_conformance::block_on;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "a.b", "a-", "é", ".x", "A"]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

/// All names and prefixes, page by page.
fn list(store: &FileBlobs, prefix: &str, folders: bool, limit: usize) -> (Vec<String>, Vec<String>) {
    let (mut names, mut prefixes) = (Vec::new(), Vec::new());
    let mut options = ListOptions::default().limit(limit);
    options.delimiter = folders;
    loop {
        let page = block_on(store.list(prefix, &options)).unwrap();
        assert!(page.blobs.len() + page.prefixes.len() <= limit);
        names.extend(page.blobs.into_iter().map(|blob| blob.name));
        prefixes.extend(page.prefixes);
        let Some(next) = page.next else { return (names, prefixes) };
        options = options.page(Some(next));
    }
}

/// The same, worked out from the set.
fn expected(stored: &BTreeSet<String>, prefix: &str, folders: bool) -> (Vec<String>, Vec<String>) {
    let (mut names, mut prefixes) = (Vec::new(), BTreeSet::new());
    for name in stored.iter().filter(|name| name.starts_with(prefix)) {
        match name[prefix.len()..].split_once('/') {
            Some((folder, _)) if folders => drop(prefixes.insert(format!("{prefix}{folder}/"))),
            _ => names.push(name.clone()),
        }
    }
    (names, prefixes.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_directory_lists_what_a_set_of_names_would(names in prop::collection::vec(name(), 0..10), limit in 1..4_usize) {
        let folder = tempfile::tempdir().unwrap();
        let store = FileBlobs::open(folder.path()).unwrap();
        let mut stored = BTreeSet::new();
        for name in names {
            let is_above = |other: &String| other.starts_with(&format!("{name}/")) || name.starts_with(&format!("{other}/"));
            let is_free = !stored.iter().any(is_above);
            let outcome = block_on(store.put(&Key::parse(&name).unwrap(), "1".into(), &PutOptions::default()));
            prop_assert_eq!(outcome.err().map(|error| error.kind()), (!is_free).then_some(ErrorKind::InvalidKey), "{}", &name);
            if is_free {
                stored.insert(name);
            }
        }
        for prefix in ["", "a", "a/", "a/b", "a/b/", "é/", "a.", ".", "./", "../", "a//", "/", "x/", "a/a/a/a/"] {
            for folders in [false, true] {
                let found = list(&store, prefix, folders, limit);
                prop_assert_eq!(found, expected(&stored, prefix, folders), "{:?} {}", prefix, folders);
            }
        }
        for name in &stored {
            prop_assert!(block_on(store.delete(&Key::parse(name).unwrap(), &DeleteOptions::default())).unwrap());
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert!(left.iter().all(|name| name == ".groundstate-lock" || name == ".groundstate-writes"), "{:?}", left);
    }
}

#[test]
fn folders_without_blobs_are_no_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("empty/inner")).unwrap();
    std::fs::create_dir_all(folder.path().join("own")).unwrap();
    std::fs::write(folder.path().join("own/.groundstate-x"), "").unwrap();
    std::fs::create_dir_all(folder.path().join("full/inner")).unwrap();
    std::fs::write(folder.path().join("full/inner/k"), "").unwrap();
    let store = FileBlobs::open(folder.path()).unwrap();
    assert_eq!(list(&store, "", true, 10), (vec![], vec!["full/".to_owned()]));
    assert_eq!(list(&store, "", false, 10), (vec!["full/inner/k".to_owned()], vec![]));
}

#[cfg(unix)]
#[test]
fn links_to_files_are_blobs_and_those_to_folders_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k"), "1").unwrap();
    symlink(folder.path(), folder.path().join("circle")).unwrap();
    symlink(folder.path().join("k"), folder.path().join("link")).unwrap();
    symlink(folder.path().join("gone"), folder.path().join("broken")).unwrap();
    let store = FileBlobs::open(folder.path()).unwrap();
    let names = vec!["k".to_owned(), "link".to_owned()];
    assert_eq!(list(&store, "", false, 10), (names.clone(), vec![]));
    assert_eq!(list(&store, "", true, 1), (names, vec![]));
}
