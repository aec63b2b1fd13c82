//! Every kind of tampering is found, and the first place is named.

use std::sync::Arc;

use groundstate_audit::{AuditLog, Entry, Reader, Rule, verify};
use groundstate_blobs::BlobStore;
use proptest::prelude::*;

use crate::support::{
    Outcomes, context, copy, delete, event, location, memory, names, open, read, record, verified, write,
};

/// A log of several segments, and some batches that wait.
async fn log() -> Arc<dyn BlobStore> {
    let store = memory();
    record(&store, "node-1", 9).await;
    record(&store, "node-2", 3).await;
    let (log, recorder) = AuditLog::open(location(&store), "node-3", context()).unwrap();
    let running = tokio::spawn(recorder.batches_only().run());
    for number in 1..=3 {
        log.record(event(number)).await.unwrap();
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.is_err());
    assert!(verified(&store).await.is_intact());
    store
}

async fn edit(store: &Arc<dyn BlobStore>, name: &str, change: impl Fn(&mut Vec<String>)) {
    let mut lines: Vec<String> = read(store, name).await.lines().map(str::to_owned).collect();
    change(&mut lines);
    write(store, name, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).await;
}

/// The first finding, as it is shown.
async fn first(store: &Arc<dyn BlobStore>) -> String {
    let report = verified(store).await;
    report.findings.first().map(ToString::to_string).unwrap_or_default()
}

const SECOND: &str = "audit/segments/00000000000000000002.jsonl";

#[tokio::test]
async fn an_edited_entry_is_named() -> Outcomes {
    let store = log().await;
    edit(&store, SECOND, |lines| lines[1] = lines[1].replace("token:ci", "token:me")).await;
    let line = Entry::parse(read(&copy(&store).await, SECOND).await.lines().nth(2).ok_or("two lines")?)?;
    let number = line.sequence - 1;
    let expected = format!(
        "edited: segments/00000000000000000002.jsonl:2: entry {number}: its hash is not that of its content"
    );
    assert_eq!(first(&store).await, expected);
    Ok(())
}

#[tokio::test]
async fn an_edited_entry_with_a_new_hash_breaks_the_chain_behind_it() -> Outcomes {
    let store = log().await;
    edit(&store, SECOND, |lines| lines[1] = forged(&lines[1])).await;
    let found = first(&store).await;
    assert!(found.starts_with("order: segments/00000000000000000002.jsonl:3"), "{found}");
    Ok(())
}

/// The line with another actor, and with the hash of that.
fn forged(line: &str) -> String {
    let (body, _) = line.rsplit_once(",\"hash\":").unwrap();
    let body = body.replace("token:ci", "token:me");
    format!("{body},\"hash\":\"{}\"}}", sha256(&body))
}

fn sha256(text: &str) -> String {
    // The crate gives no client a way to hash a line.
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sha256sum is there");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    said.split(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn removed_moved_and_repeated_entries_are_named() -> Outcomes {
    let store = log().await;
    type Change = fn(&mut Vec<String>);
    let cases: [(&str, Change, &str); 6] = [
        ("removed", |lines| drop(lines.remove(1)), "missing: "),
        ("swapped", |lines| lines.swap(1, 2), "missing: "),
        ("repeated", |lines| lines.insert(2, lines[1].clone()), "repeated: "),
        ("a line that is none", |lines| lines.insert(2, "{}".to_owned()), "damaged: "),
        ("an empty line", |lines| lines.insert(2, String::new()), "damaged: "),
        ("no first line", |lines| drop(lines.remove(0)), "damaged: "),
    ];
    for (name, change, expected) in cases {
        let tampered = copy(&store).await;
        edit(&tampered, SECOND, change).await;
        let found = first(&tampered).await;
        assert!(
            found.starts_with(&format!("{expected}segments/00000000000000000002.jsonl:")),
            "{name}: {found}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn removed_and_swapped_segments_are_named() -> Outcomes {
    let store = log().await;
    let segments = names(&store, "audit/segments/").await;
    assert!(segments.len() > 2, "{segments:?}");

    let tampered = copy(&store).await;
    delete(&tampered, SECOND).await;
    assert_eq!(first(&tampered).await, "missing: segments/00000000000000000002.jsonl: segment 2 is missing");

    let tampered = copy(&store).await;
    delete(&tampered, &segments[0]).await;
    assert_eq!(first(&tampered).await, "missing: segments/00000000000000000001.jsonl: segment 1 is missing");

    let tampered = copy(&store).await;
    write(&tampered, SECOND, read(&store, &segments[2]).await).await;
    assert!(
        first(&tampered).await.starts_with("order: segments/00000000000000000002.jsonl:1: it is segment 3")
    );
    Ok(())
}

#[tokio::test]
async fn a_cut_end_is_found_by_the_head_and_a_removed_head_too() -> Outcomes {
    let store = log().await;
    let segments = names(&store, "audit/segments/").await;
    let last = segments.last().ok_or("there are segments")?;

    let tampered = copy(&store).await;
    edit(&tampered, last, |lines| drop(lines.pop())).await;
    assert!(first(&tampered).await.starts_with("truncated: "), "{}", first(&tampered).await);

    let tampered = copy(&store).await;
    delete(&tampered, last).await;
    assert!(first(&tampered).await.starts_with("truncated: "), "{}", first(&tampered).await);

    let tampered = copy(&store).await;
    let text = read(&tampered, last).await;
    write(&tampered, last, text.trim_end()).await;
    assert!(first(&tampered).await.starts_with("damaged: "), "{}", first(&tampered).await);

    let tampered = copy(&store).await;
    delete(&tampered, "audit/head.json").await;
    assert!(first(&tampered).await.starts_with("missing: head.json: the head is missing"));

    // With a checkpoint, also where the head was written to fit.
    let checkpoint = verified(&store).await.checkpoint;
    let tampered = memory();
    let (log, recorder) = open(&tampered, "node-1");
    let work = async move { log.record(event(1)).await };
    let (recorded, ()) = tokio::join!(work, recorder.run());
    recorded?;
    assert!(verified(&tampered).await.is_intact());
    let report = verify(&location(&tampered), Some(checkpoint)).await?;
    assert_eq!(report.findings[0].rule, Rule::Truncated);
    assert_eq!(
        report.findings[0].message,
        format!("the log ends with entry 1, the checkpoint says that there are {}", checkpoint.count)
    );
    Ok(())
}

#[tokio::test]
async fn a_log_that_was_written_anew_is_found_by_a_checkpoint_and_by_nothing_else() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 5).await;
    let checkpoint = verified(&store).await.checkpoint;
    let anew = memory();
    record(&anew, "node-1", 8).await;
    assert!(verified(&anew).await.is_intact());
    let report = verify(&location(&anew), Some(checkpoint)).await?;
    assert_eq!((report.findings[0].rule, report.findings[0].sequence), (Rule::Rewritten, Some(5)));
    Ok(())
}

#[tokio::test]
async fn batches_that_were_removed_or_changed_before_they_were_chained_are_found() -> Outcomes {
    let store = log().await;
    let batches = names(&store, "audit/batches/").await;
    assert!(batches.len() > 1, "{batches:?}");

    let tampered = copy(&store).await;
    delete(&tampered, &batches[0]).await;
    assert!(first(&tampered).await.starts_with("missing: batches/"), "{}", first(&tampered).await);
    // It stays found when the rest is chained.
    record(&tampered, "node-4", 1).await;
    let report = verified(&tampered).await;
    assert_eq!((report.findings[0].rule, report.waiting), (Rule::Missing, 0));

    let tampered = copy(&store).await;
    let text = read(&tampered, &batches[0]).await;
    write(&tampered, &batches[0], text.replace("token:ci", "token:me")).await;
    assert!(first(&tampered).await.starts_with("edited: batches/"));
    // No node launders it.
    record(&tampered, "node-4", 1).await;
    let report = verified(&tampered).await;
    assert_eq!(report.findings[0].rule, Rule::Edited);

    let tampered = copy(&store).await;
    write(&tampered, "audit/batches/x", "x").await;
    assert!(first(&tampered).await.starts_with("foreign: batches/x"));
    Ok(())
}

#[tokio::test]
async fn a_log_goes_on_behind_a_segment_that_is_damaged_and_the_damage_stays_found() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 4).await;
    let segments = names(&store, "audit/segments/").await;
    let last = segments.last().ok_or("there are segments")?;
    edit(&store, last, |lines| lines[1] = lines[1].replace("token:ci", "token:me")).await;
    record(&store, "node-2", 3).await;
    let report = verified(&store).await;
    assert_eq!((report.findings[0].rule, report.waiting, report.checkpoint.count), (Rule::Edited, 0, 7));
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_byte_that_is_changed_removed_or_added_in_any_object_is_found(
        object in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        kind in 0..4,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            static LOG: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();
            if LOG.get().is_none() {
                let store = log().await;
                let mut objects = Vec::new();
                for name in names(&store, "").await {
                    objects.push((name.clone(), read(&store, &name).await));
                }
                drop(LOG.set(objects));
            }
            let objects = LOG.get().unwrap();
            let store = memory();
            for (name, text) in objects {
                write(&store, name, text.as_str()).await;
            }
            let (name, text) = &objects[object.index(objects.len())];
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
            prop_assume!(bytes != text.as_bytes());
            write(&store, name, bytes).await;
            let report = verified(&store).await;
            prop_assert!(!report.is_intact(), "{name}: a change of byte {at} was not found");
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_reader_counts_what_it_cannot_read() -> Outcomes {
    let store = log().await;
    let newest =
        async |store: &Arc<dyn BlobStore>| Reader::new(location(store)).newest(usize::MAX, &|_| true).await;
    let whole = newest(&store).await?;
    assert_eq!((whole.records.len(), whole.unreadable), (15, 0));
    edit(&store, SECOND, |lines| lines[1] = "nonsense".to_owned()).await;
    let batch = names(&store, "audit/batches/").await.into_iter().next().ok_or("a batch")?;
    write(&store, &batch, "nonsense\n").await;
    let rest = newest(&store).await?;
    assert_eq!(rest.unreadable, 2);
    assert!(rest.records.len() < 15);
    Ok(())
}
