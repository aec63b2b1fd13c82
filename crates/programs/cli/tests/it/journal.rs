//! Journals of Pulumi snapshots: the worked example of a replacement that creates first, in every form it can come in.

use std::fs;
use std::sync::Arc;

use groundstate_blobs::Context;
use groundstate_blobs_cloud::BlobUrl;
use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::TokioSleeper;
use groundstate_testkit::S3Server;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{JournalStore, OpenOptions, Record};

use super::support::{TempState, groundstate, groundstate_with, state};

const ROOT: &str = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
const A: &str = "urn:pulumi:dev::shop::t:t:Net::a";
const B: &str = "urn:pulumi:dev::shop::t:t:Web::b";

fn resource(urn: &str, members: &str) -> String {
    let kind = urn.split("::").nth(2).unwrap();
    let custom = kind != "pulumi:pulumi:Stack";
    format!(r#"{{"urn":"{urn}","custom":{custom},"type":"{kind}"{members}}}"#)
}

/// The base: the stack, `a`, and `b` that depends on it.
pub(crate) fn base() -> String {
    let b = format!(r#","id":"b1","dependencies":["{A}"]"#);
    let resources = [resource(ROOT, ""), resource(A, r#","id":"a1""#), resource(B, &b)].join(",\n  ");
    format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},"resources":[
  {resources}],"metadata":{{}}}}}}
"#
    )
}

fn entry(sequence: u64, operation: u64, kind: u64, members: &str) -> String {
    format!(
        r#"{{"version":1,"kind":{kind},"sequenceID":{sequence},"operationID":{operation},"removeOld":null,"removeNew":null{members}}}"#
    )
}

/// Entries that replace `a` and then delete the old one.
pub(crate) fn entries() -> Vec<String> {
    let new_a = resource(A, r#","id":"a2""#);
    let new_b = resource(B, &format!(r#","id":"b1","dependencies":["{A}"],"inputs":{{"n":1.50}}"#));
    let old_a = resource(A, r#","id":"a1","delete":true"#);
    let pending =
        |kind: &str, resource: &str| format!(r#","operation":{{"resource":{resource},"type":"{kind}"}}"#);
    let replaced =
        |text: String, index: u64| text.replace(r#""removeOld":null"#, &format!(r#""removeOld":{index}"#));
    vec![
        entry(2, 1, 0, ""),
        replaced(entry(3, 1, 1, &format!(r#","state":{}"#, resource(ROOT, ""))), 0),
        entry(4, 2, 0, &pending("creating", &new_a)),
        entry(5, 2, 1, &format!(r#","deleteOld":1,"state":{new_a}"#)),
        entry(6, 4, 0, &pending("updating", &new_b)),
        replaced(entry(7, 4, 1, &format!(r#","state":{new_b}"#)), 2),
        entry(8, 5, 0, &pending("deleting", &old_a)),
        replaced(entry(9, 5, 1, ""), 1),
    ]
}

pub(crate) fn lines(entries: &[String]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

/// A base and entries beside it.
fn beside(entries: &str) -> (TempState, String) {
    let file = state(base());
    let path = file.dir.path().join("journal.jsonl");
    fs::write(&path, entries).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (file, path)
}

/// Fills a journal of its own with this base and these entries.
pub(crate) fn fill(journal: &dyn JournalStore, base: &str, entries: &[String]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let writer = journal.open(&OpenOptions::new("test")).await.unwrap();
        writer.begin(&Record::from(base.as_bytes())).await.unwrap();
        for entry in entries {
            writer.append(&[Record::from(entry.as_bytes())]).await.unwrap();
        }
        writer.close().await.unwrap();
    });
}

#[test]
fn replays_entries_in_any_order_and_any_form() {
    let list = entries();
    let (file, path) = beside(&lines(&list));
    let expected = groundstate(&["journal", "replay", &file.path, &path]).clean();
    insta::assert_snapshot!(expected);

    let mut shuffled = list.clone();
    shuffled.reverse();
    let forms = [
        lines(&shuffled),
        format!("[{}]", list.join(",")),
        format!(r#"{{"entries":[{}]}}"#, shuffled.join(", ")),
    ];
    for form in forms {
        let run = groundstate_with(&["journal", "replay", &file.path, "-"], form.as_bytes());
        assert_eq!(run.clean(), expected);
    }
    let directory = file.dir.path().join("journal");
    fill(&FsJournal::new(&directory), &base(), &shuffled);
    let directory = directory.to_str().unwrap();
    assert_eq!(groundstate(&["journal", "replay", directory]).clean(), expected);
    assert_eq!(groundstate(&["journal", "replay", &file.path, directory]).clean(), expected);
}

#[test]
fn what_has_not_ended_is_pending_in_the_result() {
    let (file, path) = beside(&lines(&entries()[..5]));
    let out = file.dir.path().join("out.json");
    let run = groundstate(&["journal", "replay", &file.path, &path, "-o", out.to_str().unwrap()]);
    assert_eq!((run.code, &*run.stdout), (0, ""));
    insta::assert_snapshot!(
        run.stderr.replace(&path, "ENTRIES"),
        @"note: 1 operation of ENTRIES has begun and not ended, and is pending in the result"
    );
    let pending = groundstate(&["pending", "list", out.to_str().unwrap()]).clean();
    assert_eq!(pending, format!("updating {B}\n"));
}

#[test]
fn shows_what_entries_do() {
    let (file, path) = beside(&lines(&entries()[..7]));
    insta::assert_snapshot!("inspect", groundstate(&["journal", "inspect", &file.path, &path]).clean());
    insta::assert_snapshot!("inspect_alone", groundstate(&["journal", "inspect", &path]).clean());
    let json = groundstate(&["journal", "inspect", "--json", &path]).clean();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"][3]["effect"], "adds the state, marks 1 of the base as to be deleted");
    assert_eq!(json["open"][0]["type"], "deleting");
}

#[test]
fn compacts_a_directory_in_its_place() {
    let file = state(base());
    let directory = file.dir.path().join("journal");
    fill(&FsJournal::new(&directory), &base(), &entries());
    let name = directory.to_str().unwrap();
    let before = groundstate(&["journal", "replay", name]).clean();
    let run = groundstate(&["journal", "compact", name]);
    assert_eq!((run.code, &*run.stdout), (0, ""));
    assert_eq!(run.stderr.replace(name, "DIR"), "note: 8 entries of DIR are in its base now\n");
    assert_eq!(groundstate(&["journal", "replay", name]).clean(), before);
    assert_eq!(groundstate(&["journal", "inspect", name]).clean().lines().count(), 1);
    let refused = groundstate(&["journal", "compact", name, "-o", &file.path]).failed(2);
    assert!(refused.contains("compacted in its place"), "{refused}");
}

#[test]
fn reads_and_compacts_journals_in_object_stores() {
    let server = S3Server::start_blocking();
    server.create_bucket("stacks");
    let endpoint = server.endpoint();
    let options =
        format!("region=us-east-1&endpoint={endpoint}&use_path_style=true&access_key=a&secret_key=hidden");
    let address = format!("s3://stacks/shop/dev?{options}");
    let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let blobs = BlobUrl::parse(&address).unwrap().open(&context, &|_| None).unwrap();
    let said = groundstate(&["journal", "inspect", &address]).failed(3);
    assert!(said.contains("no journal is stored in") && !said.contains("hidden"), "{said}");

    fill(&BlobJournal::new(blobs, "shop/dev", Arc::new(OsIds)).unwrap(), &base(), &entries());
    let (file, path) = beside(&lines(&entries()));
    let expected = groundstate(&["journal", "replay", &file.path, &path]).clean();
    assert_eq!(groundstate(&["journal", "replay", &address]).clean(), expected);
    let run = groundstate(&["journal", "compact", &address]);
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
    assert_eq!(groundstate(&["journal", "inspect", &address]).clean().lines().count(), 1);
    assert_eq!(groundstate(&["journal", "replay", &address]).clean(), expected);
    let bucket = groundstate(&["journal", "inspect", &format!("s3://stacks?{options}")]).failed(2);
    assert!(bucket.contains("names no journal"), "{bucket}");
}

#[test]
fn compacts_other_entries_into_a_new_base() {
    let (file, path) = beside(&lines(&entries()));
    let replayed = groundstate(&["journal", "replay", &file.path, &path]).clean();
    assert_eq!(groundstate(&["journal", "compact", &file.path, &path]).clean(), replayed);
}

#[test]
fn finds_nothing_wrong_with_a_sound_journal() {
    let (file, path) = beside(&lines(&entries()));
    for flags in [&[][..], &["--every-prefix"]] {
        let args = [&["journal", "verify"], flags, &[&file.path, &path]].concat();
        assert_eq!(
            groundstate(&args).clean().replace(&path, "ENTRIES"),
            "ENTRIES: 8 entries, nothing is wrong\n"
        );
    }
}

#[test]
fn finds_what_a_crash_would_leave_broken() {
    // `a` was deleted although `b` needs it, and only then `b`.
    let delete = |sequence: u64, operation: u64, index: u64| {
        entry(sequence, operation, 1, "").replace(r#""removeOld":null"#, &format!(r#""removeOld":{index}"#))
    };
    let (file, path) = beside(&lines(&[delete(2, 1, 1), delete(5, 2, 2)]));
    let whole = groundstate(&["journal", "verify", &file.path, &path]).clean();
    insta::assert_snapshot!(whole.replace(&path, "ENTRIES"), @"
    note: 2 entries between the first and the last are missing
    ENTRIES: 2 entries, nothing is wrong
    ");
    let run = groundstate(&["journal", "verify", "--every-prefix", &file.path, &path]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.stdout.replace(&path, "ENTRIES"));
    let run = groundstate(&["journal", "verify", "--json", "--every-prefix", &file.path, &path]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((json["valid"].as_bool(), json["findings"][0]["after"].as_u64()), (Some(false), Some(2)));
}

#[test]
fn a_broken_result_is_written_and_said() {
    let gone = entry(2, 1, 1, "").replace(r#""removeOld":null"#, r#""removeOld":1"#);
    let (file, path) = beside(&gone);
    let run = groundstate(&["journal", "replay", &file.path, &path]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("the result is broken"), "{}", run.stderr);
    assert!(
        run.stdout.contains("integrity_error") && run.stdout.contains("journal replay"),
        "{}",
        run.stdout
    );
}

#[test]
fn says_where_an_entry_cannot_be_read() {
    let mut list = entries();
    list[3] = list[3].replace(r#""deleteOld":1"#, r#""deleteOld":"one""#);
    let (file, path) = beside(&lines(&list));
    let said = groundstate(&["journal", "replay", &file.path, &path]).failed(5);
    insta::assert_snapshot!(said.replace(&path, "ENTRIES"));
    let cut = lines(&entries());
    let (file, path) = beside(&cut[..cut.len() - 30]);
    let run = groundstate(&["journal", "replay", &file.path, &path]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("on line 8 is cut off"), "{}", run.stderr);
}

#[test]
fn needs_a_base_and_the_right_one() {
    let (file, path) = beside(&lines(&entries()));
    let said = groundstate(&["journal", "replay", &path]).failed(2);
    assert!(said.contains("--empty-base"), "{said}");
    let said = groundstate(&["journal", "replay", "--empty-base", &path]).failed(5);
    assert!(said.contains("the journal belongs to another base"), "{said}");
    let said = groundstate(&["journal", "replay", &path, &file.path]).failed(4);
    assert!(said.contains("the base comes first"), "{said}");
    let new = entry(2, 1, 1, &format!(r#","state":{}"#, resource(ROOT, "")));
    let run = groundstate_with(&["journal", "replay", "--empty-base", "-"], new.as_bytes());
    assert!(run.clean().contains(ROOT));
}

#[test]
fn refuses_what_is_no_journal() {
    let file = state(base());
    let empty = file.dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let said = groundstate(&["journal", "inspect", empty.to_str().unwrap()]).failed(3);
    assert!(said.contains("no journal is stored"), "{said}");
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
    let said = groundstate(&["journal", "compact", empty.to_str().unwrap()]).failed(3);
    assert!(said.contains("no journal is stored"), "{said}");
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
    assert!(groundstate(&["journal", "inspect", "/nowhere/at/all"]).failed(3).contains("does not exist"));
    for text in ["7", "\"x\"", "{\"version\":3}", "[1]"] {
        let run = groundstate_with(&["journal", "inspect", "-"], text.as_bytes());
        assert_eq!(run.code, 5, "{text}: {}", run.stderr);
    }
}
