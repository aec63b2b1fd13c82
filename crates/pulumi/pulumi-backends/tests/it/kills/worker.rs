//! The process that is killed: it changes two stacks for ever, and says what it begins and what is done.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use groundstate_pulumi_backends::pulumi_diy::pulumi_snapshot::{Resource, Urn};
use groundstate_pulumi_backends::pulumi_diy::stackmgr::pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_backends::pulumi_diy::stackmgr::{self, JournalManager, SnapshotManager};
use groundstate_pulumi_backends::pulumi_diy::{
    Backend, BoxError, Compression, Error, Guard, HeldLock, ImportOptions, JournalOptions, LockOptions,
    Options, PruneRules, RelocateOptions, RemoveOptions, Stack,
};

use super::state::{document, said_by, said_now};
use super::{KEPT, OTHERS};
use crate::support::{backend, context, holder, reference, store};

/// The URL of the backend; the process plays the worker if it is there.
pub(super) const URL: &str = "GROUNDSTATE_STACKS_TEST_URL";
/// Recovers only, instead of writing.
pub(super) const RECOVERS: &str = "GROUNDSTATE_STACKS_TEST_RECOVERS";
/// The number of the first state, which is also the seed.
pub(super) const FROM: &str = "GROUNDSTATE_STACKS_TEST_FROM";
/// What a line begins with that is not the test program's own.
pub(super) const MARK: &str = "@ ";

type Done = Result<(), BoxError>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plays_the_worker_if_it_is_told_to() {
    let Ok(url) = std::env::var(URL) else { return };
    let done = match std::env::var_os(RECOVERS) {
        Some(_) => recover(&open(&url, Options::default()).await).await,
        None => write_for_ever(&url).await,
    };
    if let Err(error) = done {
        say(&format!("failed {}", error.to_string().replace('\n', " ")));
    }
}

pub(super) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{line}").unwrap();
    out.flush().unwrap();
}

async fn open(url: &str, options: Options) -> Backend {
    let variables: Vec<(String, String)> = std::env::vars().collect();
    backend(store(url, &variables).await.store, options).await
}

/// What the driver does after a kill, which is killed too.
pub(super) async fn recover(backend: &Backend) -> Done {
    let stack = backend.stack(&reference("dev"));
    let cancelled = stack.cancel().await?;
    if let Some((_, error)) = cancelled.failed.into_iter().next() {
        return Err(error.into());
    }
    let lock = locked(&stack).await?;
    let _recovered = stack.recover(Arc::clone(&lock) as _, &journal_options()).await?;
    lock.release().await?;
    Ok(())
}

pub(super) fn journal_options() -> JournalOptions {
    JournalOptions::new("ann@build-7", "v3.259.0", "tool up").interval(Duration::from_millis(15))
}

pub(super) async fn locked(stack: &Stack) -> Result<Arc<HeldLock>, Error> {
    stack.lock(&holder(), &LockOptions::default()).await.map(Arc::new)
}

async fn write_for_ever(url: &str) -> Done {
    let from: u64 = std::env::var(FROM)?.parse()?;
    let mut worker = Worker { random: fastrand::Rng::with_seed(from), number: from };
    say("ready");
    loop {
        // A change may take a second, in which nothing is written; so there are few.
        let stack = open(url, Options::default()).await.stack(&reference("dev"));
        let present = stack.select().await?.active.map(|active| active.compression);
        let other = Compression::ALL[worker.random.usize(..3)];
        let compression = present.filter(|_| worker.random.u8(..8) > 0).unwrap_or(other);
        let mut options = Options::default().compression(compression);
        if worker.random.u8(..4) == 0 {
            options = options.retain_checkpoints();
        }
        let backend = open(url, options).await;
        for _ in 0..8 {
            worker.work(&backend).await?;
        }
    }
}

struct Worker {
    random: fastrand::Rng,
    number: u64,
}

impl Worker {
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    async fn work(&mut self, backend: &Backend) -> Done {
        let stack = backend.stack(&reference("dev"));
        let choice = self.random.u8(..16);
        if choice < 2 {
            return self.work_on_another(backend).await;
        }
        let lock = locked(&stack).await?;
        match choice {
            2..6 => self.save(&stack, &lock).await?,
            6..9 => self.update(&stack, &lock).await?,
            9 => self.record(&stack, &lock).await?,
            10 => self.tag(&stack, &lock).await?,
            11 => stack.prune(&stack.old_copies(&PruneRules::default().keep(KEPT)).await?, &*lock).await?,
            12 => self.restore(&stack, &lock).await?,
            13 => self.import(&stack, &lock).await?,
            _ => unlock(&stack, &lock).await?,
        }
        lock.release().await?;
        Ok(())
    }

    /// Each save is a checkpoint, as a manager of whole snapshots writes one.
    async fn save(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let mut writer = stack.writer(Arc::clone(lock) as _);
        for _ in 0..self.random.usize(1..4) {
            let number = self.next();
            let state = format!("{number}:");
            say(&format!("state begins {state}"));
            writer.save(document(number).into()).await?;
            say(&format!("state done {state}"));
        }
        Ok(())
    }

    /// Each step is an entry of a journal.
    async fn update(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let journal = stack.journal(Arc::clone(lock) as _, journal_options()).await?;
        let base = Base::new(journal.base().snapshot.clone().unwrap_or_default());
        let settings = stackmgr::Options::new(context().clock, "v3.259.0", "tool up");
        let manager = JournalManager::new(&base, journal, settings);
        let mut state = said_now(stack).await;
        for _ in 0..self.random.usize(1..5) {
            let name = format!("r{:09}", self.next());
            let joint = if state.ends_with(':') { "" } else { "," };
            state = format!("{state}{joint}{name}");
            say(&format!("state begins {state}"));
            let urn = Urn::build("dev", "shop", "", "a:b:C", &name);
            let resource = State::new(Resource::new(urn, "a:b:C"));
            let running = manager.begin(Step::new(StepKind::Create, None, Some(&resource))).await?;
            manager.end(running, true).await?;
            say(&format!("state done {state}"));
        }
        manager.close().await?;
        Ok(())
    }

    async fn record(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let number = self.next();
        let update =
            serde_json::json!({"kind": "update", "message": number.to_string(), "result": "succeeded"});
        say(&format!("record begins {number}"));
        stack.record(&serde_json::from_value(update)?, &**lock).await?;
        say(&format!("record done {number}"));
        Ok(())
    }

    async fn tag(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let mut tags = stack.tags().await?;
        let value = if self.random.bool() { self.next().to_string() } else { "none".to_owned() };
        match value.as_str() {
            "none" => drop(tags.remove("number")),
            value => tags.set("number", value)?,
        }
        say(&format!("tags begins {value}"));
        stack.save_tags(&tags, &**lock).await?;
        say(&format!("tags done {value}"));
        Ok(())
    }

    async fn restore(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let copies = stack.copies().await?;
        if copies.is_empty() {
            return Ok(());
        }
        let copy = &copies[self.random.usize(..copies.len())];
        let state = said_by(&stack.read_copy(copy).await?);
        say(&format!("state begins {state}"));
        stack.restore(copy, &ImportOptions::default(), Arc::clone(lock) as _).await?;
        say(&format!("state done {state}"));
        Ok(())
    }

    async fn import(&mut self, stack: &Stack, lock: &Arc<HeldLock>) -> Done {
        let mut export: serde_json::Value = serde_json::from_slice(&stack.export().await?)?;
        let number = self.next();
        for resource in export["deployment"]["resources"].as_array_mut().into_iter().flatten() {
            if resource["outputs"]["note"].is_string() {
                resource["outputs"]["note"] = number.to_string().into();
            }
        }
        let before = said_now(stack).await;
        let state = format!("{number}:{}", before.split_once(':').map_or("", |(_, names)| names));
        say(&format!("state begins {state}"));
        let text = export.to_string();
        stack.import(text.as_bytes(), &ImportOptions::default(), Arc::clone(lock) as _).await?;
        say(&format!("state done {state}"));
        Ok(())
    }

    /// Makes a second stack, renames it forth and back, and removes it.
    async fn work_on_another(&mut self, backend: &Backend) -> Done {
        let [here, there] = OTHERS.map(|name| backend.stack(&reference(name)));
        let locks = [locked(&here).await?, locked(&there).await?];
        let (exists, is_moved) = (here.exists().await?, there.exists().await?);
        if !exists && !is_moved {
            say("other begins present");
            here.create(Arc::clone(&locks[0]) as _, None).await?;
            say("other done present");
        } else if self.random.bool() {
            let (to, [source, target]) =
                if exists { ("moved", [&here, &there]) } else { ("present", [&there, &here]) };
            say(&format!("other begins {to}"));
            let relocation = source.relocation(target, RelocateOptions::default()).await?;
            relocation.carry_out(&locks[0]).await?;
            say(&format!("other done {to}"));
        } else if exists {
            let options = RemoveOptions::default().force();
            let options = if self.random.bool() { options.backups() } else { options };
            say("other begins absent");
            here.remove(&*locks[0], &options).await?;
            say("other done absent");
        }
        for lock in locks {
            lock.release().await?;
        }
        Ok(())
    }
}

/// Another process cancels the lock, after which its holder must not write.
async fn unlock(stack: &Stack, lock: &Arc<HeldLock>) -> Done {
    let cancelled = stack.cancel().await?;
    if cancelled.removed.is_empty() || lock.check().await.is_ok() {
        return Err("a cancelled lock is held".into());
    }
    Ok(())
}
