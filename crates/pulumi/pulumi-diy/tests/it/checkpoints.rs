//! Checkpoints: which one counts, what is written, and what a crash leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::{
    BlobCapabilities, BlobStore, Context, MemoryBlobs, Precondition, Retry, RetryPolicy,
};
use groundstate_pulumi_diy::{
    Compression, Error, ErrorKind, Guard, Op, Options, Result, Stack, Unguarded, Warning,
};

use crate::support::{Bucket, document, stack};

const PLAIN: &str = ".pulumi/stacks/p/s.json";

async fn save(stack: &Stack, text: &str) -> Result<groundstate_pulumi_diy::Saved> {
    stack.writer(Arc::new(Unguarded)).save(text.to_owned().into()).await
}

async fn read(stack: &Stack) -> String {
    String::from_utf8(stack.read().await.unwrap().unwrap().bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn what_is_saved_is_read_byte_for_byte() {
    let text = document("<a&b>").replace("\"urn\"", "\"futureKey\":{\"z\":1.50},\"urn\"");
    for compression in Compression::ALL {
        for bucket in Bucket::both() {
            let backend = bucket.open_with(Options::default().compression(compression)).await.unwrap();
            let stack = backend.stack(&stack("s"));
            assert!(stack.read().await.unwrap().is_none() && !stack.exists().await.unwrap());
            let saved = save(&stack, &text).await.unwrap();
            assert_eq!(saved.key.as_str(), format!("{PLAIN}{}", compression.ending()));
            let read = stack.read().await.unwrap().unwrap();
            assert_eq!(read.bytes, text);
            assert_eq!((read.key, read.compression), (saved.key, compression));
            assert!(read.version.same_as(&saved.version), "{compression:?}");
        }
    }
}

#[tokio::test]
async fn every_change_of_compression_leaves_one_variant() {
    use Compression::{Gzip, Plain, Zstd};
    for bucket in Bucket::both() {
        let mut before: Option<String> = None;
        for (number, compression) in [Plain, Gzip, Zstd, Plain, Zstd, Gzip, Plain].into_iter().enumerate() {
            let backend = bucket.open_with(Options::default().compression(compression)).await.unwrap();
            let stack = backend.stack(&stack("s"));
            let text = document(&number.to_string());
            let saved = save(&stack, &text).await.unwrap();
            assert_eq!(saved.warnings, []);
            assert_eq!(read(&stack).await, text);
            let selection = stack.select().await.unwrap();
            assert!(selection.others.is_empty() && selection.active.unwrap().compression == compression);
            if let (Some(before), Some(backup)) = (before, saved.backup) {
                let copy = bucket.bytes(backup.as_str()).await.unwrap();
                assert_eq!(&*Compression::unpack(&copy).unwrap(), before.as_bytes());
            }
            before = Some(text);
        }
    }
}

#[tokio::test]
async fn stores_without_conditions_are_left_with_one_variant_and_without_empty_tags() {
    let bucket =
        Bucket::memory().through(Arc::new(MemoryBlobs::new("bucket").limited_to(BlobCapabilities::none())));
    for (note, compression) in
        [("1", Compression::Plain), ("2", Compression::Gzip), ("3", Compression::Plain)]
    {
        let backend = bucket.open_with(Options::default().compression(compression)).await.unwrap();
        let stack = backend.stack(&stack("s"));
        let saved = save(&stack, &document(note)).await.unwrap();
        assert_eq!(saved.warnings, []);
        assert!(stack.select().await.unwrap().others.is_empty(), "{note}");
        assert_eq!(read(&stack).await, document(note));
        for value in [Some("x"), None] {
            let mut tags = stack.tags().await.unwrap();
            match value {
                Some(value) => tags.set("a", value).unwrap(),
                None => assert!(tags.remove("a")),
            }
            stack.save_tags(&tags, &Unguarded).await.unwrap();
        }
        assert!(!bucket.names().await.iter().any(|name| name.ends_with("tags")), "{note}");
    }
}

#[tokio::test]
async fn compression_goes_by_the_first_bytes() {
    for bucket in Bucket::both() {
        let text = document("x");
        for compression in Compression::ALL {
            bucket.put(PLAIN, compression.pack(text.as_bytes()).unwrap().into_owned()).await;
            let read = bucket.open().await.stack(&stack("s")).read().await.unwrap().unwrap();
            assert_eq!((read.bytes, read.compression), (text.clone().into(), compression));
        }
    }
}

#[tokio::test]
async fn of_two_variants_the_newest_counts_and_the_save_removes_the_other() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let (old, new) = (document("old"), document("new"));
        bucket.put(PLAIN, old.clone()).await;
        bucket.tick();
        bucket.put(&format!("{PLAIN}.gz"), new.clone()).await;
        let checkpoint = stack.read().await.unwrap().unwrap();
        assert_eq!(checkpoint.bytes, new);
        let others = vec![PLAIN.to_owned()];
        assert_eq!(checkpoint.warnings, [Warning::Variants { active: format!("{PLAIN}.gz"), others }]);
        bucket.tick();
        bucket.put(PLAIN, old.clone()).await;
        assert_eq!(read(&stack).await, old);

        let third = document("third");
        save(&stack, &third).await.unwrap();
        let selection = stack.select().await.unwrap();
        assert!(selection.others.is_empty());
        assert_eq!(read(&stack).await, third);
        assert_eq!(bucket.text(&format!("{PLAIN}.bak")).await, Some(old));
        assert_eq!(bucket.text(&format!("{PLAIN}.gz.bak")).await, Some(new));
    }
}

#[tokio::test]
async fn of_equally_new_variants_the_last_counts_also_when_time_is_wrong() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    bucket.put(&format!("{PLAIN}.gz"), document("gz")).await;
    bucket.put(PLAIN, document("plain")).await;
    assert_eq!(read(&stack).await, document("gz"));
    bucket.put(&format!("{PLAIN}.zst"), document("zst")).await;
    assert_eq!(read(&stack).await, document("zst"));
    // The clock goes back an hour.
    bucket.clock.set(groundstate_common::Timestamp::from_unix(1_800_000_000 - 3600, 0).unwrap());
    let checkpoint = stack.read().await.unwrap().unwrap();
    assert_eq!(checkpoint.bytes, document("zst"));
    let future = Warning::FutureTime { key: format!("{PLAIN}.zst") };
    assert!(checkpoint.warnings.contains(&future), "{:?}", checkpoint.warnings);
    // What is saved counts even so.
    save(&stack, &document("saved")).await.unwrap();
    assert_eq!(read(&stack).await, document("saved"));
}

#[tokio::test]
async fn each_save_can_leave_a_copy_with_its_time() {
    for bucket in Bucket::both() {
        let options = Options::default().retain_checkpoints();
        let stack = bucket.open_with(options).await.unwrap().stack(&stack("s"));
        for number in 0..3 {
            save(&stack, &document(&number.to_string())).await.unwrap();
        }
        let names = bucket.names().await;
        let copies = names.iter().filter(|name| name.starts_with(".pulumi/stacks/p/s.json.1")).count();
        assert_eq!(copies, 3, "{names:?}");
        assert_eq!(read(&stack).await, document("2"));
    }
}

#[tokio::test]
async fn the_copy_stays_the_state_before_the_update_and_later_saves_are_one_write() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let stack = bucket.open().await.stack(&stack("s"));
    save(&stack, &document("before")).await.unwrap();
    let mut writer = stack.writer(Arc::new(Unguarded));
    blobs.calls();
    writer.save(document("1").into()).await.unwrap();
    assert_eq!(blobs.calls(), ["head", "list", "get", "put", "put"]);
    for number in ["2", "3"] {
        let saved = writer.save(document(number).into()).await.unwrap();
        assert_eq!((blobs.calls(), saved.backup), (vec!["put"], None));
    }
    assert_eq!(bucket.text(&format!("{PLAIN}.bak")).await, Some(document("before")));
    assert_eq!(read(&stack).await, document("3"));
}

#[tokio::test]
async fn a_lost_update_is_refused() {
    for can in [BlobCapabilities::all(), BlobCapabilities::none()] {
        let bucket = Bucket::memory().through(Arc::new(MemoryBlobs::new("bucket").limited_to(can)));
        let stack = bucket.open().await.stack(&stack("s"));
        save(&stack, &document("read")).await.unwrap();
        let read_before = stack.read().await.unwrap().unwrap();
        let mut open = stack.writer(Arc::new(Unguarded));
        open.save(document("open").into()).await.unwrap();
        save(&stack, &document("other")).await.unwrap();

        let error = open.save(document("lost").into()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        for expected in
            [Precondition::Version(read_before.version), Precondition::Version(Default::default())]
        {
            let mut writer = stack.writer(Arc::new(Unguarded)).expecting(expected);
            let error = writer.save(document("lost").into()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        }
        let mut first = stack.writer(Arc::new(Unguarded)).expecting(Precondition::Absent);
        assert_eq!(first.save(document("lost").into()).await.unwrap_err().kind(), ErrorKind::Changed);
        assert_eq!(read(&stack).await, document("other"));
    }
}

#[tokio::test]
async fn a_state_that_is_not_valid_is_refused_before_it_is_written() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    save(&stack, &document("good")).await.unwrap();
    let broken = document("x").replace("\"parent\"", "\"dependencies\":[\"urn:gone\"],\"parent\"");
    let names = bucket.names().await;
    for text in [broken.as_str(), "{", "[]", "", "{\"version\":5,\"checkpoint\":{}}"] {
        let error = save(&stack, text).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Broken, "{text}: {error}");
    }
    assert_eq!(bucket.names().await, names);
    assert_eq!(read(&stack).await, document("good"));
    let mut writer = stack.writer(Arc::new(Unguarded)).unchecked();
    writer.save(broken.clone().into()).await.unwrap();
    assert_eq!(read(&stack).await, broken);
}

#[tokio::test]
async fn a_list_that_fails_does_not_mean_that_there_is_no_stack() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let options = Options::default().compression(Compression::Gzip);
    let stack = bucket.open_with(options).await.unwrap().stack(&stack("s"));
    save(&stack, &document("x")).await.unwrap();
    let before = bucket.names().await;
    for number in 0..2 {
        blobs.fail_at(number, Fault::Deny);
        let failed = match number {
            0 => stack.read().await.unwrap_err(),
            _ => save(&stack, &document("y")).await.unwrap_err(),
        };
        assert_eq!(failed.kind(), ErrorKind::Denied);
    }
    assert_eq!(bucket.names().await, before);
}

/// Every request of a save that changes the compression, with each fault: what was there before or what was saved is read.
#[tokio::test]
async fn a_crash_at_any_request_leaves_the_old_state_or_the_new_one() {
    for (from, to) in [
        (Compression::Plain, Compression::Plain),
        (Compression::Zstd, Compression::Plain),
        (Compression::Plain, Compression::Gzip),
    ] {
        for fault in [Fault::Down, Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer, Fault::Deny] {
            for request in 0.. {
                let memory = Bucket::memory();
                let inner = MemoryBlobs::with_clock("bucket", memory.time());
                let blobs = FaultyBlobs::new(inner.clone());
                let bucket = memory.through(Arc::new(blobs.clone()));
                let sound = memory.through(Arc::new(inner));
                let old = sound.open_with(Options::default().compression(from)).await.unwrap();
                save(&old.stack(&stack("s")), &document("old")).await.unwrap();
                let new = bucket.open_with(Options::default().compression(to)).await.unwrap();
                let mut writer = new.stack(&stack("s")).writer(Arc::new(Unguarded));
                blobs.fail_at(request, fault);
                let saved = writer.save(document("new").into()).await;
                let made = blobs.calls().len();

                let after =
                    sound.open_with(Options::default().compression(to)).await.unwrap().stack(&stack("s"));
                let found = read(&after).await;
                let what = format!("{from:?} to {to:?}, {fault:?} at {request}: {saved:?}");
                assert!([document("old"), document("new")].contains(&found), "{what}");
                if saved.is_ok() {
                    assert_eq!(found, document("new"), "{what}");
                }
                // The next save succeeds, by the same writer if it lives, and leaves one variant.
                match fault {
                    Fault::Down => drop(save(&after, &document("next")).await.unwrap()),
                    _ => {
                        blobs.fail_at(usize::MAX, fault);
                        drop(writer.save(document("next").into()).await.unwrap());
                    }
                }
                assert_eq!(read(&after).await, document("next"), "{what}");
                if fault == Fault::Down {
                    assert!(after.select().await.unwrap().others.is_empty(), "{what}");
                }
                if made <= request {
                    assert!(request > 2, "{what}");
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_a_pause_of_the_service_is_none() {
    for (faults, succeeds) in [(vec![Fault::Refuse; 3], true), (vec![Fault::Refuse; 5], false)] {
        let memory = Bucket::memory();
        let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
        let store: Arc<dyn BlobStore> =
            Arc::new(Retry::new(blobs.clone(), RetryPolicy::default(), memory.context()));
        let stack = memory.through(store).open().await.stack(&stack("s"));
        let mut writer = stack.writer(Arc::new(Unguarded));
        writer.save(document("old").into()).await.unwrap();
        blobs.fail_puts(&faults);
        let saved = writer.save(document("new").into()).await;
        assert_eq!(saved.as_ref().err().map(Error::kind), (!succeeds).then_some(ErrorKind::Unavailable));
        assert_eq!(read(&stack).await, document(if succeeds { "new" } else { "old" }));
    }
}

/// Waits for longer than any test.
#[derive(Debug)]
struct ForEver;

#[async_trait]
impl groundstate_common::Sleeper for ForEver {
    async fn sleep(&self, _: Duration) {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_save_that_is_given_up_while_it_is_tried_again_is_not_taken_for_done() {
    let memory = Bucket::memory();
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let context = Context::new(memory.time(), Arc::new(ForEver), memory.context().ids);
    let store = Arc::new(Retry::new(blobs.clone(), RetryPolicy::default(), context));
    let stack = memory.through(store).open().await.stack(&stack("s"));
    let mut writer = stack.writer(Arc::new(Unguarded));
    writer.save(document("old").into()).await.unwrap();
    blobs.fail_puts(&[Fault::Refuse]);
    let given_up =
        tokio::time::timeout(Duration::from_millis(20), writer.save(document("lost").into())).await;
    assert!(given_up.is_err(), "{given_up:?}");
    assert_eq!(read(&stack).await, document("old"));
    writer.save(document("new").into()).await.unwrap();
    assert_eq!(read(&stack).await, document("new"));
}

#[tokio::test]
async fn a_truncated_file_is_named_with_its_place_and_its_copy() {
    for compression in Compression::ALL {
        let bucket = Bucket::memory();
        let stack =
            bucket.open_with(Options::default().compression(compression)).await.unwrap().stack(&stack("s"));
        save(&stack, &document("x")).await.unwrap();
        let saved = save(&stack, &document("y")).await.unwrap();
        let bytes = bucket.bytes(saved.key.as_str()).await.unwrap();
        bucket.put(saved.key.as_str(), bytes[..bytes.len() / 2].to_vec()).await;
        let error = match stack.read().await {
            Ok(read) => read.unwrap().decode().unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let text = error.to_string();
        assert!(text.contains(saved.key.as_str()) && text.contains(&format!("{}.bak", saved.key)), "{text}");
        if compression == Compression::Plain {
            assert!(text.contains(&format!("byte {}", bytes.len() / 2)), "{text}");
        }
    }
}

#[tokio::test]
async fn documents_of_every_release_are_read() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    save(&stack, std::str::from_utf8(&stack.new_document()).unwrap()).await.unwrap();
    assert_eq!(stack.new_document(), r#"{"version":0,"checkpoint":{"stack":"organization/p/s"}}"#);
    let file = stack.read().await.unwrap().unwrap().decode().unwrap();
    assert!(file.snapshot.is_none_or(|snapshot| snapshot.resources.is_empty()));

    let v4 = document("x").replace("{\"version\":3,", "{\"version\":4,\"features\":[\"hooks\",\"taint\"],");
    save(&stack, &v4).await.unwrap();
    assert_eq!(read(&stack).await, v4);
    for (text, kind, word) in [
        (v4.replace("hooks", "future"), ErrorKind::Unsupported, "future"),
        (v4.replace("\"version\":4", "\"version\":5"), ErrorKind::Unsupported, "5"),
    ] {
        bucket.put(PLAIN, text.clone()).await;
        let error = stack.read().await.unwrap().unwrap().decode().unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(word), "{error}");
        assert_eq!(bucket.text(PLAIN).await, Some(text));
    }

    // Four blanks and a line break before 3.238; what is saved next has neither.
    let compact = document("<x>");
    let value: serde_json::Value = serde_json::from_str(&compact).unwrap();
    bucket
        .put(PLAIN, format!("{}\n", serde_json::to_string_pretty(&value).unwrap().replace("  ", "    ")))
        .await;
    let file = stack.read().await.unwrap().unwrap().decode().unwrap();
    let text = stack.document(&file).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap(), value);
    assert!(text.ends_with(b"}") && !text.contains(&b'\n') && !text.windows(2).any(|two| two == b": "));
    assert!(String::from_utf8_lossy(&text).contains("<x>"));
}

/// A lock that is cancelled after some checks.
#[derive(Debug)]
struct Cancelled(AtomicUsize);

#[async_trait]
impl Guard for Cancelled {
    async fn check(&self) -> Result<()> {
        let left = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        left.map(|_| ()).map_err(|_| Error::new(ErrorKind::LockLost, Op::Lock, "stack s"))
    }
}

#[tokio::test]
async fn a_lock_that_was_cancelled_ends_the_writes() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        save(&stack, &document("old")).await.unwrap();
        for left in 0..2 {
            let mut writer = stack.writer(Arc::new(Cancelled(AtomicUsize::new(left))));
            let error = writer.save(document("new").into()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LockLost);
            assert_eq!(read(&stack).await, document("old"));
        }
        let mut writer = stack.writer(Arc::new(Cancelled(AtomicUsize::new(2))));
        writer.save(document("new").into()).await.unwrap();
        assert_eq!(writer.save(document("newer").into()).await.unwrap_err().kind(), ErrorKind::LockLost);
        assert_eq!(read(&stack).await, document("new"));
    }
}

#[tokio::test]
async fn a_variant_that_would_count_as_the_newest_gets_time_to_grow_old() {
    let bucket = Bucket::memory();
    let zstd = bucket.open_with(Options::default().compression(Compression::Zstd)).await.unwrap();
    save(&zstd.stack(&stack("s")), &document("old")).await.unwrap();
    let before = groundstate_common::Clock::now(&*bucket.clock);
    save(&bucket.open().await.stack(&stack("s")), &document("new")).await.unwrap();
    let waited = groundstate_common::Clock::now(&*bucket.clock).duration_since(before);
    assert_eq!(waited, Some(Duration::from_secs(1)));
}

#[tokio::test]
async fn names_of_the_other_layout_are_refused() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    let flat = groundstate_pulumi_diy::StackRef::legacy("s").unwrap();
    assert_eq!(backend.stack(&flat).read().await.unwrap_err().kind(), ErrorKind::Invalid);
}
