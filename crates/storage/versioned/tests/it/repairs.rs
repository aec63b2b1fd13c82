//! Checking documents, and heads that are made anew.

use groundstate_versioned::blobs::{BlobStore, DeleteOptions, GetOptions, Key, ListOptions, PutOptions};
use groundstate_versioned::{
    ErrorKind, Finding, LockOutcome, NewLock, Retention, Settings, SweepOptions, WriteOptions,
};

use crate::support::{Bench, bench, bench_with, text, write, written};

const HEAD: &str = "heads/prod!.json";

async fn findings(bench: &Bench, contents: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    bench.document("prod").check(contents, &mut |finding| found.push(finding)).await.unwrap();
    found
}

async fn remove(bench: &Bench, key: &str) {
    assert!(bench.blobs.delete(&Key::parse(key).unwrap(), &DeleteOptions::default()).await.unwrap(), "{key}");
}

async fn keys(bench: &Bench, prefix: &str) -> Vec<String> {
    let page = bench.blobs.list(prefix, &ListOptions::default()).await.unwrap();
    page.blobs.into_iter().map(|blob| blob.name).collect()
}

#[tokio::test]
async fn check_of_a_whole_document_finds_no_damage_and_counts() {
    let bench = bench_with(Settings::default().with_inline_limit(2).with_part_size(2));
    let document = bench.document("prod");
    write(&document, "abcde").await;
    document.delete(&Default::default()).await.unwrap();
    write(&document, "x").await;
    let checked = document.check(true, &mut |finding| panic!("{finding:?}")).await.unwrap();
    assert_eq!((checked.versions, checked.bytes), (2, 6));
}

#[tokio::test]
async fn check_names_every_damage() {
    let bench = bench_with(Settings::default().with_inline_limit(2).with_part_size(2));
    let document = bench.document("prod");
    for content in ["abcde", "fghij", "k", "l", "m"] {
        write(&document, content).await;
    }
    let parts = keys(&bench, "data/prod!/parts/").await;
    let records = keys(&bench, "data/prod!/versions/").await;
    remove(&bench, &parts[0]).await;
    bench.damage(&parts[4]).await;
    bench.damage(&records[2]).await;
    remove(&bench, &records[3]).await;
    let mut problems: Vec<String> =
        findings(&bench, true).await.into_iter().map(|found| found.problem).collect();
    problems.sort();
    let [part, damaged, record, missing] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(part, "version 1: part 1 is missing");
    assert_eq!(damaged, "version 2: part 2 is damaged");
    assert!(record.starts_with("version 3: its record is damaged"), "{record}");
    assert_eq!(missing, "version 4: its record is missing");
    let quick: Vec<_> = findings(&bench, false).await;
    assert!(
        quick.iter().any(|found| found.problem.starts_with("version 1: its parts have 3 bytes")),
        "{quick:?}"
    );

    bench.damage(HEAD).await;
    let [finding] = &findings(&bench, true).await[..] else { panic!("one finding") };
    assert!(finding.is_of_head && finding.place == HEAD, "{finding:?}");
}

#[tokio::test]
async fn head_is_made_anew_with_all_versions_and_a_larger_token() {
    for is_missing in [true, false] {
        let bench = bench_with(Settings::default().with_inline_limit(0).with_part_size(1));
        let document = bench.document("prod");
        for content in ["ab", "cd", "ef"] {
            let LockOutcome::Locked(lock) = document.lock(&NewLock::new("L")).await.unwrap() else {
                panic!("free")
            };
            assert!(lock.token < 9);
            written(&document, content, &WriteOptions::default().lock("L")).await;
            document.unlock("L").await.unwrap();
        }
        match is_missing {
            true => remove(&bench, HEAD).await,
            false => bench.damage(HEAD).await,
        }
        let planned = document.plan_rebuild(None).await.unwrap();
        assert_eq!((planned.head.number(), planned.records, planned.copy.is_some()), (3, 3, !is_missing));
        assert_eq!(document.head().await.unwrap_err().kind(), ErrorKind::Corrupt);

        let rebuilt = document.rebuild(None).await.unwrap();
        assert_eq!(text(&document).await.unwrap(), "ef");
        assert_eq!(findings(&bench, true).await, []);
        let LockOutcome::Locked(lock) = document.lock(&NewLock::new("L")).await.unwrap() else {
            panic!("free")
        };
        assert!(lock.token > 9);
        if let Some(copy) = rebuilt.copy {
            let blob = bench.blobs.get(&Key::parse(&copy).unwrap(), &GetOptions::default()).await.unwrap();
            assert_eq!(blob.unwrap().bytes, "{");
        }
        written(&document, "gh", &WriteOptions::default().lock("L")).await;
        document.sweep(&SweepOptions::default()).await.unwrap();
        let page = document.versions(None, 9).await.unwrap();
        let numbers: Vec<u64> = page.versions.iter().map(|version| version.number).collect();
        assert_eq!((numbers, page.missing), (vec![4, 3, 2, 1], vec![]));
        assert_eq!(document.rebuild(None).await.unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn head_that_was_put_back_is_brought_forward() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    let old = bench.blobs.get(&Key::parse(HEAD).unwrap(), &GetOptions::default()).await.unwrap().unwrap();
    for content in ["2", "3"] {
        write(&document, content).await;
    }
    bench.blobs.put(&Key::parse(HEAD).unwrap(), old.bytes, &PutOptions::default()).await.unwrap();
    assert_eq!(text(&document).await.unwrap(), "1");
    let [finding] = &findings(&bench, true).await[..] else { panic!("one finding") };
    assert!(finding.is_of_head && finding.problem.contains("version 3"), "{finding:?}");
    document.rebuild(None).await.unwrap();
    assert_eq!(text(&document).await.unwrap(), "3");
}

#[tokio::test]
async fn two_last_records_are_told_apart_by_their_id_only() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    write(&document, "2").await;
    let records = keys(&bench, "data/prod!/versions/000000000002").await;
    let blob =
        bench.blobs.get(&Key::parse(&records[0]).unwrap(), &GetOptions::default()).await.unwrap().unwrap();
    let id = document.head().await.unwrap().last().unwrap().id.clone();
    let other = records[0].replace(id.as_str(), "19ca9450a0000000000ffff");
    bench.blobs.put(&Key::parse(&other).unwrap(), blob.bytes, &PutOptions::default()).await.unwrap();
    remove(&bench, HEAD).await;
    let error = document.rebuild(None).await.unwrap_err();
    assert!(error.to_string().contains("it is not known which was accepted"), "{error}");
    document.rebuild(Some(&id)).await.unwrap();
    assert_eq!(text(&document).await.unwrap(), "2");
}

#[tokio::test]
async fn versions_behind_a_gap_stay_when_the_head_is_made_anew() {
    let bench = bench();
    let document = bench.document("prod");
    for content in ["1", "2", "3", "4", "5"] {
        write(&document, content).await;
    }
    document.pin(1, true).await.unwrap();
    let retention = Retention::Newest { count: 2, younger: None };
    document.sweep(&SweepOptions::default().retention(retention)).await.unwrap();
    remove(&bench, HEAD).await;
    document.rebuild(None).await.unwrap();
    document.sweep(&SweepOptions::default()).await.unwrap();
    let page = document.versions(None, 9).await.unwrap();
    let numbers: Vec<u64> = page.versions.iter().map(|version| version.number).collect();
    assert_eq!((numbers, page.missing), (vec![5, 4, 1], vec![3, 2]));
}
