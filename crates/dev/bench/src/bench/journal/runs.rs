//! A run that creates resources one after the other, with the state stored in a file in three ways.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{
    DEFAULT_PERSIST_INTERVAL, Full, IntermediateSnapshots, LockInfo, Manager, ManagerOptions, Result,
    StateStore, Storage, Stored, Version, WriteOptions, forward_locking,
};
use groundstate_statemgr_fs::{Backup, FsOptions, FsStore};
use groundstate_statemgr_wal::{JournaledManager, journal_folder};
use groundstate_states::addr::{AbsResourceInstance, ProviderInstance};
use groundstate_states::{ObjectSrc, RawJson, State};
use groundstate_wal::fs::FsJournal;

use super::{Options, step};
use crate::bench::Outcome;

/// What a run has cost.
struct Cost {
    seconds: f64,
    writes: u64,
    written: u64,
    journaled: u64,
}

pub(super) async fn measure(options: &Options, folder: &Path) -> Outcome {
    println!("A run that creates {} resources, one after the other, the state in a file:\n", options.changes);
    println!("| each change is durable | seconds | writes of the state | MB of states | MB of journal |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, way) in [
        ("at once, in the journal", Way::Journal),
        ("after 20 s at most, or at the end", Way::Interval),
        ("at once, the state is rewritten", Way::Rewrite),
    ] {
        let path = folder.join(format!("{way:?}.tfstate"));
        let cost = run(way, &path, options.changes).await?;
        let mega = |bytes: u64| bytes as f64 / 1e6;
        let (states, journal) = (mega(cost.written), mega(cost.journaled));
        println!("| {name} | {:.2} | {} | {states:.1} | {journal:.1} |", cost.seconds, cost.writes);
    }
    println!();
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Journal,
    Interval,
    Rewrite,
}

async fn run(way: Way, path: &Path, changes: usize) -> Outcome<Cost> {
    let clock = || Arc::new(SystemClock);
    let store = FsStore::with_options(path, FsOptions::new().backup(Backup::None), clock()).map_err(step)?;
    let counted = Arc::new(Counted { store, writes: AtomicU64::new(0), bytes: AtomicU64::new(0) });
    let store = || Arc::<Counted>::clone(&counted);
    let (options, ids) = (ManagerOptions::default(), Arc::new(OsIds));
    let info = LockInfo::new(&OsIds, groundstate_common::Clock::now(&SystemClock), "apply").map_err(step)?;
    let manager: Arc<dyn Full> = match way {
        Way::Journal => {
            let journal = Arc::new(FsJournal::new(journal_folder(path)));
            Arc::new(JournaledManager::new(store(), journal, clock(), ids, options))
        }
        _ => Arc::new(Manager::new(store(), clock(), ids, options)),
    };
    let grant = manager.lock(&info).await.map_err(step)?;
    manager.refresh_state().await.map_err(step)?;
    let storage: Arc<dyn Storage> = Arc::<dyn Full>::clone(&manager);
    // With so short an interval every change is stored at once.
    let interval = if way == Way::Interval { DEFAULT_PERSIST_INTERVAL } else { Duration::from_nanos(1) };
    let snapshots = IntermediateSnapshots::new(storage, clock(), interval);
    let start = Instant::now();
    for number in 0..changes {
        let mut made = Ok(());
        snapshots.mutate(|state| made = create(state, number)).await.map_err(step)?;
        made?;
    }
    let journaled = folder_bytes(&journal_folder(path));
    manager.persist_state().await.map_err(step)?;
    if let Some(grant) = grant {
        manager.unlock(&grant.id).await.map_err(step)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (writes, written) = (counted.writes.load(Ordering::Relaxed), counted.bytes.load(Ordering::Relaxed));
    Ok(Cost { seconds, writes, written, journaled })
}

/// Records one more resource, of about the size that a `terraform_data` has.
fn create(state: &mut State, number: usize) -> Outcome {
    let text = format!(
        r#"{{"id":"{number:08x}-0000-0000-0000-000000000000","input":{{"type":"string","value":"{0}"}},"output":"{0}"}}"#,
        "x".repeat(200)
    );
    let object = ObjectSrc::new(0, RawJson::parse(text.as_str()).map_err(step)?);
    let addr = AbsResourceInstance::parse(&format!("terraform_data.item{number}")).map_err(step)?;
    let provider = "provider[\"terraform.io/builtin/terraform\"]";
    let provider = ProviderInstance::parse(provider, "registry.terraform.io").map_err(step)?;
    state.set_resource_instance_current(&addr, Some(Arc::new(object)), &provider);
    Ok(())
}

/// The bytes of all files in a folder, which may not be there.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// Counts what is written.
#[derive(Debug)]
struct Counted {
    store: FsStore,
    writes: AtomicU64,
    bytes: AtomicU64,
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl StateStore for Counted {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        self.store.read().await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.store.write(bytes, options).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }
}
