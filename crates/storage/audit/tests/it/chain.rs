//! How entries are chained, and that segments are bounded.

use std::process::{Command, Stdio};
use std::sync::Arc;

use groundstate_audit::{Checkpoint, Entry, verify};
use groundstate_blobs::BlobStore;
use groundstate_blobs_fs::FileBlobs;

use crate::support::{Outcomes, location, memory, names, read, record, verified};

#[tokio::test]
async fn segments_are_bounded_and_follow_each_other() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 30).await;
    let segments = names(&store, "audit/segments/").await;
    assert!(segments.len() > 3, "{segments:?}");
    let mut numbers = Vec::new();
    for name in &segments {
        let text = read(&store, name).await;
        // The limit, and the batch that went over it.
        assert!(text.len() < 1500 + 1000, "{name} has {} bytes", text.len());
        for line in text.lines().skip(1) {
            numbers.push(Entry::parse(line)?.sequence);
        }
    }
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
    assert_eq!(names(&store, "audit/batches/").await, [""; 0]);
    let report = verified(&store).await;
    assert!(report.is_intact(), "{:?}", report.findings);
    assert_eq!((report.segments, report.entries, report.checkpoint.count), (segments.len() as u64, 30, 30));
    Ok(())
}

#[tokio::test]
async fn a_log_in_a_directory_goes_on_where_it_ended() -> Outcomes {
    let folder = tempfile::tempdir()?;
    let open = || FileBlobs::create(folder.path()).map(|store| Arc::new(store) as Arc<dyn BlobStore>);
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    for _ in 0..4 {
        let store = open()?;
        record(&store, "node-1", 3).await;
        let report = verify(&location(&store), checkpoints.last().copied()).await?;
        assert!(report.is_intact(), "{:?}", report.findings);
        checkpoints.push(report.checkpoint);
    }
    let counts: Vec<u64> = checkpoints.iter().map(|checkpoint| checkpoint.count).collect();
    assert_eq!(counts, [3, 6, 9, 12]);
    for checkpoint in checkpoints {
        assert!(verify(&location(&open()?), Some(checkpoint)).await?.is_intact());
    }
    Ok(())
}

#[tokio::test]
async fn a_shell_can_check_the_hash_of_a_line() -> Outcomes {
    let store = memory();
    record(&store, "node-1", 1).await;
    let segments = names(&store, "audit/segments/").await;
    let text = read(&store, &segments[0]).await;
    let line = text.lines().nth(1).ok_or("there is an entry")?;
    let entry = Entry::parse(line)?;
    let script = "sed 's/,\"hash\":\"[0-9a-f]*\"}$//' | tr -d '\\n' | sha256sum";
    let child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("not run: there is no shell");
        return Ok(());
    };
    std::io::Write::write_all(&mut child.stdin.take().ok_or("there is a pipe")?, line.as_bytes())?;
    let said = String::from_utf8(child.wait_with_output()?.stdout)?;
    assert!(said.starts_with(&entry.hash.to_string()), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_log_in_which_nothing_is_is_intact() -> Outcomes {
    let report = verified(&memory()).await;
    assert!(report.is_intact());
    assert_eq!(report.checkpoint, Checkpoint::default());
    Ok(())
}
