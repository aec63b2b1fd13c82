//! The reference store against a map: any sequence of operations, and lists over any pages.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_blobs::{
    BlobStore, BlobVersion, DeleteOptions, ErrorKind, GetOptions, Key, ListOptions, MemoryBlobs,
    Precondition, PutOptions, Result,
};
use groundstate_conformance::block_on;
use proptest::prelude::*;

const NAMES: [&str; 8] = ["a", "a/b", "a/b/c", "a0", "b", "b/1", "é/x", "é"];

/// What a caller expects to be stored.
#[derive(Clone, Copy, Debug)]
enum Expect {
    Any,
    Absent,
    /// What was stored when this write, counted from one, had happened.
    Write(u64),
    /// What is stored, if anything is.
    Present,
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, Vec<u8>, Expect),
    Delete(usize, Expect),
    Get(usize, std::ops::Range<u64>, Expect),
    List(&'static str, bool, usize),
}

fn expect() -> impl Strategy<Value = Expect> {
    prop_oneof![
        Just(Expect::Any),
        Just(Expect::Absent),
        (1..12_u64).prop_map(Expect::Write),
        Just(Expect::Present),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    let prefix = prop::sample::select(vec!["", "a", "a/", "a/b", "b/1", "é", "x"]);
    prop_oneof![
        3 => (name.clone(), prop::collection::vec(any::<u8>(), 0..6), expect())
            .prop_map(|(name, bytes, expect)| Step::Put(name, bytes, expect)),
        1 => (name.clone(), expect()).prop_map(|(name, expect)| Step::Delete(name, expect)),
        1 => (name, 0..8_u64, 0..8_u64, expect())
            .prop_map(|(name, from, length, expect)| Step::Get(name, from..from + length, expect)),
        1 => (prefix, any::<bool>(), 1..5_usize).prop_map(|(prefix, folders, limit)| Step::List(prefix, folders, limit)),
    ]
}

/// The blobs by name: the number of the write, and the bytes.
#[derive(Default)]
struct Model {
    blobs: BTreeMap<&'static str, (u64, Vec<u8>)>,
    writes: u64,
}

impl Model {
    /// The condition, and whether it is met.
    fn condition(&self, name: &str, expect: Expect) -> (Precondition, bool) {
        let stored = self.blobs.get(name).map(|(write, _)| *write);
        let version = |write| Precondition::Version(BlobVersion::default().with_generation(write));
        match expect {
            Expect::Any => (Precondition::Any, true),
            Expect::Absent => (Precondition::Absent, stored.is_none()),
            Expect::Write(write) => (version(write), stored == Some(write)),
            Expect::Present => (version(stored.unwrap_or(0)), stored.is_some()),
        }
    }
}

fn put(store: &MemoryBlobs, model: &mut Model, name: &'static str, bytes: Vec<u8>, expect: Expect) {
    let (condition, met) = model.condition(name, expect);
    let outcome = block_on(store.put(
        &Key::parse(name).unwrap(),
        bytes.clone().into(),
        &PutOptions::expecting(condition),
    ));
    if met {
        model.writes += 1;
        model.blobs.insert(name, (model.writes, bytes));
        assert_eq!(outcome.unwrap().generation(), Some(model.writes));
    } else {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
        assert_eq!(
            error.found().map(|blob| blob.bytes.to_vec()),
            model.blobs.get(name).map(|(_, bytes)| bytes.clone())
        );
    }
}

fn delete(store: &MemoryBlobs, model: &mut Model, name: &'static str, expect: Expect) {
    let (condition, met) = model.condition(name, expect);
    let outcome = block_on(store.delete(&Key::parse(name).unwrap(), &DeleteOptions::expecting(condition)));
    match (expect, model.blobs.contains_key(name)) {
        (Expect::Absent, _) => assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Invalid),
        (_, false) => assert!(!outcome.unwrap(), "absence is no conflict"),
        (_, true) if met => {
            assert!(outcome.unwrap());
            model.blobs.remove(name);
        }
        (_, true) => assert_eq!(outcome.unwrap_err().kind(), ErrorKind::PreconditionFailed),
    }
}

fn get(store: &MemoryBlobs, model: &Model, name: &str, range: std::ops::Range<u64>, expect: Expect) {
    let (condition, met) = model.condition(name, expect);
    let mut options = GetOptions::default().range(range.clone());
    if let Precondition::Version(version) = condition {
        options = options.if_match(&version);
    }
    let outcome: Result<_> = block_on(store.get(&Key::parse(name).unwrap(), &options));
    let Some((_, bytes)) = model.blobs.get(name) else { return assert_eq!(outcome.unwrap(), None) };
    if options.if_match.is_some() && !met {
        return assert_eq!(outcome.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    }
    let blob = outcome.unwrap().unwrap();
    let expected: Vec<u8> = bytes
        .iter()
        .enumerate()
        .filter(|(at, _)| range.contains(&(*at as u64)))
        .map(|(_, byte)| *byte)
        .collect();
    assert_eq!((&blob.bytes[..], blob.meta.size), (&expected[..], bytes.len() as u64));
    assert_eq!(blob.range.end - blob.range.start, expected.len() as u64);
    if !expected.is_empty() {
        assert_eq!(blob.range.start, range.start);
    }
}

fn list(store: &MemoryBlobs, model: &Model, prefix: &str, folders: bool, limit: usize) {
    let mut options = ListOptions::default().limit(limit);
    options.delimiter = folders;
    let (mut names, mut prefixes) = (Vec::new(), Vec::new());
    loop {
        let page = block_on(store.list(prefix, &options)).unwrap();
        let entries = page.blobs.len() + page.prefixes.len();
        assert!(entries <= limit && (page.next.is_none() || entries == limit), "{entries} of {limit}");
        names.extend(page.blobs.into_iter().map(|blob| (blob.name, blob.meta.size)));
        prefixes.extend(page.prefixes);
        let Some(next) = page.next else { break };
        options = options.page(Some(next));
    }
    let (mut expected, mut folded) = (Vec::new(), BTreeSet::new());
    for (name, (_, bytes)) in model.blobs.iter().filter(|(name, _)| name.starts_with(prefix)) {
        match name[prefix.len()..].split_once('/') {
            Some((folder, _)) if folders => drop(folded.insert(format!("{prefix}{folder}/"))),
            _ => expected.push(((*name).to_owned(), bytes.len() as u64)),
        }
    }
    assert_eq!((names, prefixes), (expected, folded.into_iter().collect()), "{prefix:?} {folders} {limit}");
}

proptest! {
    #[test]
    fn the_store_in_memory_is_a_map_with_counted_writes(steps in prop::collection::vec(step(), 0..40)) {
        let store = MemoryBlobs::new("m");
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Put(name, bytes, expect) => put(&store, &mut model, NAMES[name], bytes, expect),
                Step::Delete(name, expect) => delete(&store, &mut model, NAMES[name], expect),
                Step::Get(name, range, expect) => get(&store, &model, NAMES[name], range, expect),
                Step::List(prefix, folders, limit) => list(&store, &model, prefix, folders, limit),
            }
        }
        list(&store, &model, "", false, 1);
    }
}

#[test]
fn a_page_has_a_thousand_entries_and_a_limit_of_zero_counts_as_one() {
    let store = MemoryBlobs::new("m");
    for number in 0..1001 {
        let key = Key::parse(&format!("{number:04}")).unwrap();
        block_on(store.put(&key, "".into(), &PutOptions::default())).unwrap();
    }
    for (limit, entries) in [(None, 1000), (Some(5000), 1000), (Some(0), 1), (Some(2), 2)] {
        let mut options = ListOptions::default();
        options.limit = limit;
        let page = block_on(store.list("", &options)).unwrap();
        assert_eq!((page.blobs.len(), page.next.is_some()), (entries, true), "{limit:?}");
    }
}
