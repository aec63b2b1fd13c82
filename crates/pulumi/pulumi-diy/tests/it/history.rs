//! The history of a stack, its backups, and all copies from which it can be restored.

use std::sync::Arc;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{
    Compression, CopySource, ErrorKind, ImportOptions, Options, Stack, Unguarded, Update,
};

use crate::support::{Bucket, document, stack};

fn update(message: &str) -> Update {
    let text = format!(
        r#"{{"kind":"update","startTime":1,"message":"{message}","environment":{{"exec.kind":"cli"}},"config":{{"p:a":{{"secure":"x"}},"p:n":1.50}},"version":0,"result":"succeeded","endTime":2,"resourceChanges":{{"same":2}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

async fn run(stack: &Stack, note: &str) {
    stack.writer(Arc::new(Unguarded)).save(document(note).into()).await.unwrap();
    stack.record(&update(note), &Unguarded).await.unwrap();
}

async fn messages(stack: &Stack, page: usize, size: usize) -> Vec<(usize, String)> {
    let history = stack.history(page, size).await.unwrap();
    history.entries.into_iter().map(|entry| (entry.number, entry.update.unwrap().message)).collect()
}

#[tokio::test]
async fn pages_have_the_newest_first() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        let stack = backend.stack(&stack("s"));
        for number in 1..=12 {
            run(&stack, &number.to_string()).await;
        }
        let expect = |range: std::ops::RangeInclusive<usize>| -> Vec<(usize, String)> {
            range.rev().map(|number| (number, number.to_string())).collect()
        };
        assert_eq!(messages(&stack, 1, 10).await, expect(3..=12));
        assert_eq!(messages(&stack, 2, 10).await, expect(1..=2));
        assert_eq!(messages(&stack, 3, 10).await, []);
        assert_eq!(messages(&stack, 1, 0).await, expect(1..=12));
        let history = stack.history(2, 1).await.unwrap();
        assert_eq!(history.total, 12);
        let state = stack.history_checkpoint(&history.entries[0]).await.unwrap().unwrap();
        assert_eq!(state.bytes, document("11"));
        let text = serde_json::to_string(&update("11")).unwrap();
        assert_eq!(history.entries[0].text, text, "the configuration is kept as it is");
        assert!(text.contains(r#""config":{"p:a":{"secure":"x"},"p:n":1.50},"version":0"#), "{text}");
    }
}

#[tokio::test]
async fn no_debug_text_has_the_text_of_an_update_or_a_state() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    run(&stack, "hush").await;
    let history = stack.history(1, 1).await.unwrap();
    let shown = format!("{history:?}");
    assert!(history.entries[0].text.len() > 100 && !shown.contains("config"), "{shown}");
    let importable = stack.importable(document("hush").as_bytes(), &ImportOptions::default());
    let shown = format!("{:?}", importable.unwrap());
    assert!(shown.starts_with("Importable { document: ") && !shown.contains("hush"), "{shown}");
}

#[tokio::test]
async fn updates_of_other_histories_have_times_of_their_own_and_are_written_twice_as_once() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        let stack = backend.stack(&stack("s"));
        run(&stack, "today").await;
        for _ in 0..2 {
            for (number, state) in [(2, Some(document("two"))), (1, None)] {
                let stamp = 1_000_000_000 + number;
                let state = state.as_ref().map(String::as_bytes);
                stack.record_past(&update(&number.to_string()), state, stamp, &Unguarded).await.unwrap();
            }
        }
        let expected = [(3, "today"), (2, "2"), (1, "1")].map(|(number, text)| (number, text.to_owned()));
        assert_eq!(messages(&stack, 1, 0).await, expected);
        let entries = stack.history(1, 0).await.unwrap().entries;
        let state = stack.history_checkpoint(&entries[1]).await.unwrap().unwrap();
        assert_eq!(state.bytes, document("two"));
        assert!(stack.history_checkpoint(&entries[2]).await.unwrap().is_none(), "its state is not known");
        assert_eq!(stack.read().await.unwrap().unwrap().bytes, document("today"));
    }
}

#[tokio::test]
async fn a_page_reads_its_own_entries_only() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let stack = Bucket::memory().through(Arc::new(blobs.clone())).open().await.stack(&stack("s"));
    for number in 0..5 {
        run(&stack, &number.to_string()).await;
    }
    blobs.calls();
    stack.history(2, 2).await.unwrap();
    assert_eq!(blobs.calls(), ["list", "get", "get"]);
}

#[tokio::test]
async fn a_damaged_entry_is_flagged_and_the_others_are_read() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        for number in 0..3 {
            run(&stack, &number.to_string()).await;
        }
        let key = stack.history(2, 1).await.unwrap().entries[0].key.clone();
        let bytes = bucket.bytes(key.as_str()).await.unwrap();
        bucket.put(key.as_str(), bytes[..bytes.len() / 2].to_vec()).await;
        let history = stack.history(1, 10).await.unwrap();
        let found: Vec<_> =
            history.entries.iter().map(|entry| entry.update.as_ref().map_err(|e| e.kind())).collect();
        assert_eq!(found[0].unwrap().message, "2");
        assert_eq!(found[1].unwrap_err(), ErrorKind::Corrupt);
        assert_eq!(found[2].unwrap().message, "0");
        let error = history.entries[1].update.as_ref().unwrap_err().to_string();
        assert!(error.contains(key.as_str()), "{error}");
    }
}

#[tokio::test]
async fn compressions_mix_in_a_history() {
    for bucket in Bucket::both() {
        for (number, compression) in [2, 0, 1, 0, 2].into_iter().enumerate() {
            bucket.tick();
            let options = Options::default().compression(Compression::ALL[compression]);
            run(&bucket.open_with(options).await.unwrap().stack(&stack("s")), &number.to_string()).await;
        }
        let stack = bucket.open().await.stack(&stack("s"));
        let notes: Vec<String> = messages(&stack, 1, 0).await.into_iter().map(|(_, note)| note).collect();
        assert_eq!(notes, ["4", "3", "2", "1", "0"]);
        for entry in stack.history(1, 0).await.unwrap().entries {
            let state = stack.history_checkpoint(&entry).await.unwrap().unwrap();
            assert_eq!(state.bytes, document(&entry.update.unwrap().message));
        }
    }
}

#[tokio::test]
async fn backups_can_be_off() {
    for bucket in Bucket::both() {
        let off =
            |name: &str| (name == "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS").then(|| "1".to_owned());
        let stack = bucket.open_with(Options::from_variables(off).unwrap()).await.unwrap().stack(&stack("s"));
        run(&stack, "1").await;
        run(&stack, "2").await;
        let names = bucket.names().await;
        let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
        assert_eq!((count(".pulumi/backups/"), count(".pulumi/history/p/s/s-")), (0, 4), "{names:?}");
        assert_eq!(bucket.text(".pulumi/stacks/p/s.json.bak").await, Some(document("1")));
    }
}

#[tokio::test]
async fn copies_are_found_wherever_they_are_kept() {
    for bucket in Bucket::both() {
        let stack =
            bucket.open_with(Options::default().retain_checkpoints()).await.unwrap().stack(&stack("s"));
        run(&stack, "1").await;
        run(&stack, "2").await;
        // Those of another stack, and of nothing.
        for other in [
            "stacks/p/s.json.x.bak",
            "backups/p/s/s.later.json",
            "history/p/s2/s2-1700000000000000000.checkpoint.json",
        ] {
            bucket.put(&format!(".pulumi/{other}"), document("x")).await;
        }
        let copies = stack.copies().await.unwrap();
        let count = |source| copies.iter().filter(|copy| copy.source == source).count();
        let counts =
            [CopySource::Previous, CopySource::Backup, CopySource::History, CopySource::Retained].map(count);
        assert_eq!(counts, [1, 2, 2, 2], "{copies:?}");
        assert!(copies.is_sorted_by(|a, b| a.time >= b.time));
        assert!(copies.iter().all(|copy| copy.time.is_some() && copy.size > 0));
        let previous = copies.iter().find(|copy| copy.source == CopySource::Previous).unwrap();
        assert_eq!(stack.read_copy(previous).await.unwrap().bytes, document("1"));
        let details = stack.describe(&copies).await;
        assert_eq!(details.len(), 7);
        assert!(details.iter().all(|details| details.as_ref().unwrap().resources == Some(2)));
    }
}

/// The state is saved before its history, so a crash between the two loses the entry alone.
#[tokio::test]
async fn an_update_that_failed_is_recorded_with_its_state_and_its_backup() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        stack.writer(Arc::new(Unguarded)).save(document("half").into()).await.unwrap();
        let mut failed = update("broken");
        failed.result = "failed".to_owned();
        let recorded = stack.record(&failed, &Unguarded).await.unwrap();
        let entry = stack.history(1, 1).await.unwrap().entries.remove(0);
        assert_eq!(entry.update.as_ref().unwrap().result, "failed");
        let state = stack.history_checkpoint(&entry).await.unwrap().unwrap();
        assert_eq!(state.bytes, document("half"));
        assert_eq!(bucket.text(recorded.backup.unwrap().as_str()).await, Some(document("half")));
    }
}

#[tokio::test]
async fn a_crash_before_the_history_keeps_the_new_state() {
    for request in 0.. {
        let inner = MemoryBlobs::new("bucket");
        let blobs = FaultyBlobs::new(inner.clone());
        let memory = Bucket::memory();
        let stack_of = |store| {
            let bucket = memory.through(store);
            async move { bucket.open().await.stack(&stack("s")) }
        };
        let stack = stack_of(Arc::new(blobs.clone())).await;
        run(&stack, "old").await;
        stack.writer(Arc::new(Unguarded)).save(document("new").into()).await.unwrap();
        blobs.fail_at(request, Fault::Down);
        let recorded = stack.record(&update("new"), &Unguarded).await;
        let sound = stack_of(Arc::new(inner)).await;
        assert_eq!(sound.read().await.unwrap().unwrap().bytes, document("new"));
        let total = sound.history(1, 0).await.unwrap().total;
        assert!(total == 2 || recorded.is_err() && total == 1, "{request}: {total} {recorded:?}");
        memory.tick();
        run(&sound, "next").await;
        let newest = sound.history(1, 1).await.unwrap().entries.remove(0);
        assert_eq!(newest.update.unwrap().message, "next");
        if recorded.is_ok() {
            assert!(request > 3);
            break;
        }
    }
}

#[tokio::test]
async fn what_a_killed_rename_left_is_in_the_order_of_time() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let entry = |note: &str| serde_json::to_string(&update(note)).unwrap();
        for (name, note) in [("s-17", "first"), ("a-b-18", "second"), ("s-9", "earliest"), ("z-19", "last")] {
            let name = format!(".pulumi/history/p/s/{name}00000000000000000");
            bucket.put(&format!("{name}.history.json"), entry(note)).await;
            bucket.put(&format!("{name}.checkpoint.json"), document(note)).await;
        }
        let unrecorded = ".pulumi/history/p/s/s-2000000000000000000.checkpoint.json";
        bucket.put(unrecorded, document("unrecorded")).await;
        let history = stack.history(1, 0).await.unwrap();
        let notes = history.entries.iter().map(|entry| entry.update.as_ref().unwrap().message.as_str());
        assert_eq!(notes.collect::<Vec<_>>(), ["last", "second", "first", "earliest"]);
        assert_eq!(history.unrecorded.iter().map(ToString::to_string).collect::<Vec<_>>(), [unrecorded]);
        assert!(history.entries.iter().all(|entry| entry.checkpoint.is_some()));
    }
}

#[tokio::test]
async fn an_entry_is_an_object() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    for (at, text) in ["[]", "\"update\"", "", "null"].into_iter().enumerate() {
        bucket.put(&format!(".pulumi/history/p/s/s-{}.history.json", at + 1), text).await;
    }
    for entry in stack.history(1, 0).await.unwrap().entries {
        assert_eq!(entry.update.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
