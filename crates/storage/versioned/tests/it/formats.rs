//! What is stored, what of it is carried without being understood, and what damage looks like.

use groundstate_versioned::blobs::sealed::{seal, unseal};
use groundstate_versioned::blobs::{BlobStore, GetOptions, Key, ListOptions, PutOptions};
use groundstate_versioned::{ErrorKind, NewLock, Note, Settings, WriteOptions};

use crate::support::{Bench, bench, bench_with, text, write, written};

async fn stored(bench: &Bench, key: &str) -> String {
    let blob = bench.blobs.get(&Key::parse(key).unwrap(), &GetOptions::default()).await.unwrap().unwrap();
    String::from_utf8(blob.bytes.to_vec()).unwrap()
}

async fn replace(bench: &Bench, key: &str, change: impl Fn(String) -> String) {
    let changed = change(stored(bench, key).await);
    bench.blobs.put(&Key::parse(key).unwrap(), changed.into(), &PutOptions::default()).await.unwrap();
}

/// Changes a head as another release would: with a checksum that is right.
async fn rewrite(bench: &Bench, key: &str, change: impl Fn(String) -> String) {
    replace(bench, key, |text| {
        let object = unseal(text.as_bytes()).unwrap().expect("it is sealed");
        seal(&change(String::from_utf8(object).unwrap()))
    })
    .await;
}

/// Changes a head into one of the format without a checksum.
async fn make_bare(bench: &Bench, key: &str, change: impl Fn(String) -> String) {
    replace(bench, key, |text| {
        let (line, body) = text.split_once('\n').unwrap();
        let object = unseal(format!("{line}\n").as_bytes()).unwrap().expect("it is sealed");
        let bare = String::from_utf8(object).unwrap().replacen("\"format\":2", "\"format\":1", 1);
        format!("{}\n{body}", change(bare))
    })
    .await;
}

async fn keys(bench: &Bench, prefix: &str) -> Vec<String> {
    let page = bench.blobs.list(prefix, &ListOptions::default()).await.unwrap();
    page.blobs.into_iter().map(|blob| blob.name).collect()
}

#[tokio::test]
async fn heads_and_records_are_json_that_people_can_read() {
    let bench = bench();
    let document = bench.document("Team/prod");
    document.lock(&NewLock::new("L1").document("{\"ID\":\"L1\"}").by("ana")).await.unwrap();
    let note = Note::parse("{\"serial\": 12345678901234567890.0}").unwrap();
    written(&document, "{}\n", &WriteOptions::default().lock("L1").by("ana").note(note)).await;
    let head = stored(&bench, "heads/=team/prod!.json").await;
    let version = r#"{"number":1,"id":"19ca9450a00000000000003","time":"2026-03-01T12:00:00Z","by":"ana","size":3,"sha256":"ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356","md5":"8a80554c91d9fca8acb82f023de02f11","lock":"L1","token":1,"note":{"serial":12345678901234567890.0}}"#;
    assert_eq!(
        head,
        seal(&r#"{"format":2,"name":"Team/prod","revision":2,"token":1,"last":VERSION,"lock":{"id":"L1","document":"{\"ID\":\"L1\"}","token":1,"taken":"2026-03-01T12:00:00Z","by":"ana"},"oldest":1,"uploads":{"epoch":0,"given_up_before":0},"attempts":["000000000001","000000000002"]}"#
            .replace("VERSION", version))
    );
    let key = "data/=team/prod!/versions/000000000001.19ca9450a00000000000003.-.-";
    assert_eq!(keys(&bench, "data/").await, [key]);
    assert_eq!(
        stored(&bench, key).await,
        seal(&r#"{"format":2,"name":"Team/prod","version":VERSION}"#.replace("VERSION", version)) + "{}\n"
    );
}

#[tokio::test]
async fn members_that_a_later_release_writes_survive() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    document.lock(&NewLock::new("L1")).await.unwrap();
    rewrite(&bench, "heads/prod!.json", |head| {
        head.replacen("\"format\"", "\"colour\": 1.50e400,\"format\"", 1)
            .replace("\"number\"", "\"shape\":{\"a\": [1]},\"number\"")
            .replace("\"taken\"", "\"mood\":\"good\",\"taken\"")
    })
    .await;
    document.renew("L1", None).await.unwrap();
    document.pin(1, true).await.unwrap();
    let head = stored(&bench, "heads/prod!.json").await;
    for kept in ["\"colour\":1.50e400", "\"shape\":{\"a\": [1]}", "\"mood\":\"good\""] {
        assert!(head.contains(kept), "{kept}: {head}");
    }
}

#[tokio::test]
async fn what_a_later_release_wrote_is_refused_and_left_alone() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    rewrite(&bench, "heads/prod!.json", |head| head.replacen("\"format\":2", "\"format\":3", 1)).await;
    let before = stored(&bench, "heads/prod!.json").await;
    let error = document.lock(&NewLock::new("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot lock prod in memory://tests: its head has the format 3, which a later release wrote; upgrade"
    );
    assert_eq!(stored(&bench, "heads/prod!.json").await, before);
}

#[tokio::test]
async fn heads_that_contradict_themselves_are_damaged() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    document.lock(&NewLock::new("L1")).await.unwrap();
    let good = stored(&bench, "heads/prod!.json").await;
    for (from, to, why) in [
        ("\"name\":\"prod\"", "\"name\":\"dev\"", "it is the head of another document"),
        ("\"token\":1,\"last\"", "\"token\":0,\"last\"", "its lock has a later token than the last"),
        ("\"oldest\":1", "\"oldest\":7", "it retains versions that it does not have"),
        ("\"revision\":3", "\"revision\":0", "a number is out of range"),
        ("\"number\":1", "\"number\":0", "a version has the number 0"),
        ("\"epoch\":0", "\"epoch\":-1", "invalid value"),
        ("{\"format\"", "{{\"format\"", "key must be a string"),
    ] {
        assert!(good.contains(from), "{from}: {good}");
        replace(&bench, "heads/prod!.json", |_| good.clone()).await;
        rewrite(&bench, "heads/prod!.json", |head| head.replacen(from, to, 1)).await;
        let error = document.head().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{to}");
        assert!(error.to_string().contains(why), "{error}");
        let page = bench.documents.list(&Default::default()).await.unwrap();
        assert!(page.documents.is_empty() && page.damaged[0].reason.contains(why), "{page:?}");
    }
}

#[tokio::test]
async fn damage_of_a_content_names_document_version_and_part() {
    let bench = bench_with(Settings::default().with_inline_limit(4).with_part_size(4));
    let document = bench.document("prod");
    write(&document, "abcdefgh").await;
    write(&document, "xyz").await;
    let parts = keys(&bench, "data/prod!/parts/").await;
    let records = keys(&bench, "data/prod!/versions/").await;
    let first = document.version(1).await.unwrap();

    let saved = stored(&bench, &parts[1]).await;
    replace(&bench, &parts[1], |_| "efgH".to_owned()).await;
    let mut reader = document.open(&first).await.unwrap();
    assert_eq!(reader.next_part().await.unwrap().unwrap(), "abcd");
    let error = reader.next_part().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let expected =
        "cannot read prod in memory://tests: version 1: part 2 is damaged; restore another version";
    assert_eq!(error.to_string(), expected);

    bench.blobs.delete(&Key::parse(&parts[1]).unwrap(), &Default::default()).await.unwrap();
    let error = document.open(&first).await.unwrap().collect(99).await.unwrap_err();
    assert!(error.to_string().contains("version 1: part 2 is missing"), "{error}");
    replace_absent(&bench, &parts[1], saved).await;

    // A record that names its parts in another order.
    let saved = stored(&bench, &records[0]).await;
    replace(&bench, &records[0], |record| {
        let (line, body) = record.split_once('\n').unwrap();
        let mut parts: Vec<serde_json::Value> = serde_json::from_str(body).unwrap();
        parts.pop();
        format!("{line}\n{}", serde_json::to_string(&parts).unwrap())
    })
    .await;
    let error = document.open(&first).await.unwrap_err();
    assert!(
        error.to_string().contains("version 1: its record is damaged: its parts have not the size"),
        "{error}"
    );
    replace(&bench, &records[0], |_| saved.clone()).await;
    assert_eq!(document.open(&first).await.unwrap().collect(99).await.unwrap(), "abcdefgh");

    replace(&bench, &records[1], |record| record.replace("\nxyz", "\nxyZ")).await;
    let error = document.read().await.unwrap().unwrap().collect(99).await.unwrap_err();
    assert!(error.to_string().contains("version 2: its content is not the one that was written"), "{error}");
    for damage in ["", "{", "{}", "{}\n", "null\n", "{\"format\":1,\"name\":\"prod\",\"version\":{}}\n"] {
        replace(&bench, &records[1], |_| damage.to_owned()).await;
        let error = document.read().await.unwrap_err();
        assert!(error.to_string().contains("version 2: its record is damaged"), "{damage:?}: {error}");
        let page = document.versions(None, 9).await.unwrap();
        assert_eq!((page.versions[0].number, page.damaged[0].0), (1, 2), "{page:?}");
    }
    bench.blobs.delete(&Key::parse(&records[1]).unwrap(), &Default::default()).await.unwrap();
    let error = document.read().await.unwrap_err();
    assert!(error.to_string().contains("version 2: its record is missing"), "{error}");

    // The history goes on behind what is missing, and the document can be written again.
    let page = document.versions(None, 9).await.unwrap();
    assert_eq!((page.missing, page.versions.len(), page.versions[0].number), (vec![2], 1, 1));
    write(&document, "new").await;
    assert_eq!(text(&document).await.unwrap(), "new");
}

async fn replace_absent(bench: &Bench, key: &str, text: String) {
    bench.blobs.put(&Key::parse(key).unwrap(), text.into(), &PutOptions::default()).await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_anything_is_stored() {
    let bench = bench();
    let document = bench.document("prod");
    let long = "x".repeat(513);
    for (lock, kind) in [
        (NewLock::new(""), ErrorKind::Invalid),
        (NewLock::new(long.as_str()), ErrorKind::TooLarge),
        (NewLock::new("a").by(long.as_str()), ErrorKind::TooLarge),
        (NewLock::new("a").document("x".repeat((32 << 10) + 1)), ErrorKind::TooLarge),
    ] {
        assert_eq!(document.lock(&lock).await.unwrap_err().kind(), kind, "{lock:?}");
    }
    let content = document.content("x").await.unwrap();
    let error = document.write(&content, &WriteOptions::default().by(long)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(keys(&bench, "data/").await, Vec::<String>::new());

    for (note, kind) in [
        (format!("\"{}\"", "x".repeat(Note::LONGEST)), ErrorKind::TooLarge),
        ("{".to_owned(), ErrorKind::Invalid),
        ("1 2".to_owned(), ErrorKind::Invalid),
    ] {
        assert_eq!(Note::parse(&note).unwrap_err().kind(), kind);
    }
    // As large as all of it may be.
    let lock = NewLock::new("x".repeat(512)).document(vec![0xff; 32 << 10]).by("ü".repeat(256));
    document.lock(&lock).await.unwrap();
    let note = Note::parse(&format!("\"{}\"", "x".repeat(Note::LONGEST - 2))).unwrap();
    let options = WriteOptions::default().lock(lock.id.as_str()).by("\u{1}".repeat(512)).note(note);
    written(&document, "x", &options).await;
    assert_eq!(document.versions(None, 1).await.unwrap().versions.len(), 1);
}

#[tokio::test]
async fn nothing_of_contents_notes_and_lock_documents_is_in_debug_texts() {
    let bench = bench_with(Settings::default().with_part_size(8).with_inline_limit(20));
    let document = bench.document("prod");
    let lock = NewLock::new("L1").document("hush");
    let small = document.content("hush").await.unwrap();
    let large = document.content("hush hush hush hush hush").await.unwrap();
    let mut upload = document.upload();
    upload.push("hush").await.unwrap();
    let locked = document.lock(&lock).await.unwrap();
    let options = WriteOptions::default().lock("L1").note(Note::parse("\"hush\"").unwrap());
    let outcome = document.write(&small, &options).await.unwrap();
    let head = document.head().await.unwrap();
    let reader = document.read().await.unwrap().unwrap();
    let page = document.versions(None, 9).await.unwrap();
    let all = format!(
        "{lock:?}{small:?}{large:?}{upload:?}{locked:?}{options:?}{outcome:?}{head:?}{reader:?}{page:?}"
    );
    assert!(!all.contains("hush"), "{all}");
}

/// Every bit of a stored text is flipped once. `read` gives the answer, none for an error.
async fn flip_every_bit<F: Future<Output = Option<String>>>(bench: &Bench, key: &str, read: impl Fn() -> F) {
    let good = stored(bench, key).await.into_bytes();
    let expected = read().await.expect("it is whole");
    let key = Key::parse(key).unwrap();
    for bit in 0..good.len() * 8 {
        let mut damaged = good.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        bench.blobs.put(&key, damaged.into(), &PutOptions::default()).await.unwrap();
        let answer = read().await;
        assert!(answer.is_none() || answer == Some(expected.clone()), "bit {bit}: {answer:?}");
    }
    bench.blobs.put(&key, good.into(), &PutOptions::default()).await.unwrap();
}

#[tokio::test]
async fn flipped_bit_of_a_head_is_an_error_or_changes_no_answer() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    write(&document, "2").await;
    document.pin(1, true).await.unwrap();
    document.lock(&NewLock::new("L0")).await.unwrap();
    document.unlock("L0").await.unwrap();
    document.lock(&NewLock::new("L1").document("{}").by("ana")).await.unwrap();
    let read = || async { document.head().await.ok().map(|head| format!("{head:?}")) };
    flip_every_bit(&bench, "heads/prod!.json", read).await;
}

#[tokio::test]
async fn flipped_bit_of_a_record_is_an_error_or_changes_no_answer() {
    let bench = bench_with(Settings::default().with_inline_limit(4).with_part_size(4));
    let document = bench.document("prod");
    let note = Note::parse("{\"serial\":7}").unwrap();
    written(&document, "abc", &WriteOptions::default().by("ana").note(note)).await;
    written(&document, "abcdefgh", &WriteOptions::default().by("ana")).await;
    write(&document, "last").await;
    for key in keys(&bench, "data/prod!/versions/").await {
        let number: u64 = key["data/prod!/versions/".len()..][..12].parse().unwrap();
        let read = || async {
            let version = document.version(number).await.ok()?;
            let content = document.open(&version).await.ok()?.collect(99).await.ok()?;
            Some(format!("{version:?}{content:?}"))
        };
        flip_every_bit(&bench, &key, read).await;
    }
}

#[tokio::test]
async fn head_and_record_without_a_checksum_are_read_and_sealed_by_the_next_change() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    document.lock(&NewLock::new("L1")).await.unwrap();
    let records = keys(&bench, "data/").await;
    make_bare(&bench, "heads/prod!.json", |head| head).await;
    make_bare(&bench, &records[0], |record| record).await;
    assert_eq!(document.head().await.unwrap().lock().unwrap().id, "L1");
    assert_eq!(text(&document).await.unwrap(), "1");
    document.unlock("L1").await.unwrap();
    assert!(stored(&bench, "heads/prod!.json").await.contains("{\"format\":2,"));
    assert!(unseal(stored(&bench, "heads/prod!.json").await.as_bytes()).unwrap().is_some());
}

#[tokio::test]
async fn unknown_member_of_the_format_without_a_checksum_is_damage() {
    let bench = bench();
    let document = bench.document("prod");
    write(&document, "1").await;
    document.lock(&NewLock::new("L1")).await.unwrap();
    make_bare(&bench, "heads/prod!.json", |head| head.replacen("\"lock\":{", "\"mock\":{", 1)).await;
    let error = document.lock(&NewLock::new("L2")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("no release wrote its member \"mock\""), "{error}");
}
