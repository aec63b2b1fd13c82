//! Versions and lists.

use std::sync::Arc;

use groundstate_conformance::FaultyBlobs;
use groundstate_versioned::{ErrorKind, ListFilter, NewLock, Note, Settings, WriteOptions};

use crate::support::{bench, open, text, write, written};

#[tokio::test]
async fn the_history_has_every_accepted_write_the_newest_first_in_pages() {
    let bench = bench();
    let document = bench.document("prod");
    assert!(document.versions(None, 10).await.unwrap().versions.is_empty());
    for number in 1..=205_u64 {
        let note = Note::parse(&format!("{{\"serial\":{number}}}")).unwrap();
        let options = WriteOptions::default().by("ana").note(note);
        assert_eq!(written(&document, "x", &options).await.number, number);
    }
    let (mut numbers, mut before) = (Vec::new(), None);
    loop {
        let page = document.versions(before, 50).await.unwrap();
        assert!(page.missing.is_empty() && page.versions.len() <= 50);
        for version in &page.versions {
            assert_eq!(version.note.as_ref().unwrap().as_str(), format!("{{\"serial\":{}}}", version.number));
            numbers.push(version.number);
        }
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(numbers, (1..=205).rev().collect::<Vec<_>>());
    assert_eq!(document.version(7).await.unwrap().number, 7);
    for number in [0, 206] {
        assert_eq!(document.version(number).await.unwrap_err().kind(), ErrorKind::NotKept);
    }
}

#[tokio::test]
async fn old_versions_are_read() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    write(&document, "2").await;
    let first = document.version(1).await.unwrap();
    assert_eq!(document.open(&first).await.unwrap().collect(10).await.unwrap(), "1");
    assert_eq!(text(&document).await.unwrap(), "2");
    let error = document.open(&first).await.unwrap().collect(0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
}

#[tokio::test]
async fn lists_are_in_the_order_of_names_and_leave_out_what_is_absent() {
    let bench = bench();
    for name in ["b", "a/b", "a-b", "a", "a/B", "é", "a b"] {
        write(&bench.document(name), "x").await;
    }
    bench.document("locked").lock(&NewLock::new("l")).await.unwrap();
    write(&bench.document("deleted"), "x").await;
    bench.document("deleted").delete(&WriteOptions::default()).await.unwrap();

    let names = async |filter: ListFilter| {
        let (mut names, mut filter) = (Vec::new(), filter);
        loop {
            let page = bench.documents.list(&filter).await.unwrap();
            names.extend(page.documents.iter().map(|listed| listed.name.to_string()));
            match page.next {
                Some(next) => filter = filter.page(Some(next)),
                None => return names,
            }
        }
    };
    assert_eq!(names(ListFilter::default().limit(2)).await, ["a", "a b", "a-b", "a/B", "a/b", "b", "é"]);
    assert_eq!(names(ListFilter::prefix("a/")).await, ["a/B", "a/b"]);
    assert_eq!(names(ListFilter::prefix("a ")).await, ["a b"]);
    let all = names(ListFilter::default().with_absent()).await;
    assert_eq!(all, ["a", "a b", "a-b", "a/B", "a/b", "b", "deleted", "locked", "é"]);
}

#[tokio::test]
async fn names_are_listed_without_a_read_of_any_document() {
    let bench = bench();
    for name in ["a/1", "a/2", "a/3", "b/1"] {
        write(&bench.document(name), "x").await;
    }
    bench.document("a/locked").lock(&NewLock::new("l")).await.unwrap();
    bench.document("a/2").delete(&WriteOptions::default()).await.unwrap();
    let blobs = FaultyBlobs::new(bench.blobs.clone());
    let documents = open(Arc::new(blobs.clone()), &bench.clock, Settings::default());

    let mut filter = ListFilter::prefix("a/").limit(3);
    let mut names = Vec::new();
    loop {
        let page = documents.names(&filter).await.unwrap();
        names.extend(page.names.iter().map(ToString::to_string));
        let Some(next) = page.next else { break };
        filter = filter.page(Some(next));
    }
    assert_eq!(names, ["a/1", "a/2", "a/3", "a/locked"]);
    assert_eq!(blobs.calls(), ["list"; 2]);
}
