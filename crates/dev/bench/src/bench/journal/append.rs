//! How many batches a second, how long each takes, and how long reading them takes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_blobs::MemoryBlobs;
use groundstate_common::SequenceIds;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{JournalStore, MemoryJournal, OpenOptions, Record, read_all};

use super::distant::Distant;
use super::{Options, step};
use crate::bench::{Failure, Outcome, median};

pub(super) async fn measure(options: &Options, folder: &Path) -> Outcome {
    println!(
        "{} batches of one record of {} bytes, all durable when they are acknowledged:\n",
        options.appends, options.bytes
    );
    println!("| journal | tasks | appends/s | median, ms | 99 %, ms | reading all, ms |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (at, &tasks) in options.tasks.iter().enumerate() {
        let latency = Duration::from_millis(options.latency);
        let bucket = Arc::new(Distant { blobs: MemoryBlobs::new("bucket"), latency });
        let blobs = BlobJournal::new(bucket, "journal/", Arc::new(SequenceIds::new())).map_err(step)?;
        let files = FsJournal::new(folder.join(format!("journal {at}")));
        let distant = format!("object store, {} ms a request", options.latency);
        row("memory", Arc::new(MemoryJournal::new("bench")), options, tasks, options.appends).await?;
        row("folder, synced", Arc::new(files), options, tasks, options.appends).await?;
        // One task alone needs as long as all its requests do.
        let appends = options.appends.min(tasks.saturating_mul(100));
        row(&distant, Arc::new(blobs), options, tasks, appends).await?;
    }
    println!();
    Ok(())
}

async fn row(
    name: &str,
    store: Arc<dyn JournalStore>,
    options: &Options,
    tasks: usize,
    appends: usize,
) -> Outcome {
    let writer = store.open(&OpenOptions::new("bench")).await.map_err(step)?;
    writer.begin(&Record::default()).await.map_err(step)?;
    let record = Record::from(vec![b'x'; options.bytes]);
    let start = Instant::now();
    let mut running = Vec::new();
    for _ in 0..tasks {
        let (writer, record, share) = (Arc::clone(&writer), record.clone(), appends.div_ceil(tasks.max(1)));
        running.push(tokio::spawn(async move {
            let mut times = Vec::with_capacity(share);
            for _ in 0..share {
                let start = Instant::now();
                writer.append(std::slice::from_ref(&record)).await?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            Ok::<_, groundstate_wal::Error>(times)
        }));
    }
    let mut times = Vec::new();
    for task in running {
        times.extend(task.await.map_err(step)?.map_err(step)?);
    }
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = read_all(&*store).await.map_err(step)?.map_or(0, |contents| contents.records.len());
    let reading = start.elapsed().as_secs_f64() * 1e3;
    if found != times.len() {
        return Err(Failure::Step(format!(
            "{name}: {} batches were acknowledged, {found} are there",
            times.len()
        )));
    }
    let rate = times.len() as f64 / seconds;
    times.sort_by(f64::total_cmp);
    let late = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    println!("| {name} | {tasks} | {rate:.0} | {:.2} | {late:.2} | {reading:.1} |", median(times));
    Ok(())
}
