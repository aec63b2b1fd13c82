//! What the libraries do with a stack, in a process of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, ValueEnum};
use groundstate_blobs::Context;
use groundstate_common::{Clock, OsIds, SystemClock};
use groundstate_pulumi_backends::{BackendChoice, BackendUrl, OpenContext};
use groundstate_pulumi_diy::{
    Backend, CheckpointSink, Guard, Holder, JournalOptions, LockOptions, Options, Stack, StackRef, Update,
};
use groundstate_pulumi_journal::{Base, State, Step as EngineStep, StepKind};
use groundstate_pulumi_snapshot::{Extra, PropertyMap, Resource, StackFrame, Time, Urn};
use groundstate_pulumi_stackmgr::{self as stackmgr, FullSnapshotManager, JournalManager, SnapshotManager};
use groundstate_statemgr::TokioSleeper;

use crate::bench::{Failure, Outcome};

/// The stack that everything is done with.
const STACK: &str = "organization/shop/s";

/// What this program calls itself in what it writes.
const COMMAND: &str = "groundstate-bench stacks";

/// The version of pulumi in whose form states are written.
const VERSION: &str = "v3.259.0";

/// How many places the host of the YAML language names for each resource.
const FRAMES: usize = 19;

#[derive(Debug, Args)]
pub(crate) struct StepOptions {
    step: Step,
    /// The backend, as `pulumi login` takes it
    url: String,
    /// Resources that an update creates
    #[arg(long, default_value_t = 0)]
    resources: usize,
    /// How many of its steps run at once
    #[arg(long, default_value_t = 1)]
    at_once: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Export the stack
    Export,
    /// Update it, and store its checkpoint after each step
    Whole,
    /// Update it, and store each step in a journal
    Journal,
}

/// Does one thing with a stack.
pub(crate) fn run_step(options: &StepOptions) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Step(format!("there is no runtime: {error}")))?;
    runtime.block_on(async {
        let stack = open(&options.url).await?;
        match options.step {
            Step::Export => stack.export().await.map(drop).map_err(failed),
            Step::Whole | Step::Journal => update(&stack, options).await,
        }
    })
}

async fn open(url: &str) -> Outcome<Stack> {
    let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let directory = std::env::current_dir()
        .map_err(|source| Failure::Read { path: "the working directory".into(), source })?;
    let choice = BackendChoice::of_user(BackendUrl::parse(url).map_err(failed)?);
    let variable = |name: &str| std::env::var(name).ok();
    let with = OpenContext { context: &context, variable: &variable, directory: &directory };
    let store = choice.open(with).map_err(failed)?.store;
    let backend = Backend::open(store, context, Options::default()).await.map_err(failed)?;
    Ok(backend.stack(&StackRef::parse(STACK, None).map_err(failed)?))
}

/// An update as a program of ours would do it: under the lock, and recorded in the history.
async fn update(stack: &Stack, options: &StepOptions) -> Outcome {
    let holder = Holder {
        pid: std::process::id(),
        user: "bench".to_owned(),
        host: "localhost".to_owned(),
        started: None,
    };
    let lock = Arc::new(stack.lock(&holder, &LockOptions::default()).await.map_err(failed)?);
    let guard: Arc<dyn Guard> = Arc::clone(&lock) as _;
    let settings = stackmgr::Options::new(Arc::new(SystemClock), VERSION, COMMAND);
    let (manager, base): (Arc<dyn SnapshotManager>, Base) = match options.step {
        Step::Journal => {
            let journal = JournalOptions::new("bench@localhost", VERSION, COMMAND);
            let journal = stack.journal(Arc::clone(&guard), journal).await.map_err(failed)?;
            let base = Base::new(journal.base().snapshot.clone().unwrap_or_default());
            (Arc::new(JournalManager::new(&base, journal, settings)), base)
        }
        Step::Whole | Step::Export => {
            let missing = || Failure::Step(format!("there is no stack {STACK}"));
            let checkpoint = stack.read().await.map_err(failed)?.ok_or_else(missing)?;
            let base = Base::new(checkpoint.decode().map_err(failed)?.snapshot.unwrap_or_default());
            let sink = CheckpointSink::new(stack.writer(Arc::clone(&guard)));
            (Arc::new(FullSnapshotManager::new(base.clone(), sink, settings)), base)
        }
    };
    // The stack itself stays as it is, and has to be there before what belongs to it.
    for old in &base.states {
        let new = State::new(old.get());
        let same = EngineStep::new(StepKind::Same, Some(old), Some(&new));
        let running = manager.begin(same).await.map_err(failed)?;
        manager.end(running, true).await.map_err(failed)?;
    }
    create(&manager, options).await?;
    manager.close().await.map_err(failed)?;
    let mut done = Update::default();
    done.kind = "update".to_owned();
    done.result = "succeeded".to_owned();
    stack.record(&done, &*guard).await.map_err(failed)?;
    lock.release().await.map_err(failed)
}

/// Creates resources, so many at once.
async fn create(manager: &Arc<dyn SnapshotManager>, options: &StepOptions) -> Outcome {
    let next = Arc::new(AtomicUsize::new(0));
    let count = options.resources;
    let workers: Vec<_> = (0..options.at_once.max(1))
        .map(|_| {
            let (manager, next) = (Arc::clone(manager), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok(());
                    }
                    create_one(&*manager, number).await?;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.map_err(failed)??;
    }
    Ok(())
}

/// Creates a resource of the form and about the size, 2.5 KB, that pulumi gives to a `pulumi:index:Stash` of a YAML program:
/// most of it says how the host of the language came to make it.
async fn create_one(manager: &dyn SnapshotManager, number: usize) -> Outcome {
    let kind = "pulumi:index:Stash";
    let mut resource = Resource::new(Urn::build("s", "shop", "", kind, &format!("n{number}")), kind);
    resource.custom = true;
    resource.parent = Some(Urn::build("s", "shop", "", "pulumi:pulumi:Stack", "shop-s"));
    resource.inputs = PropertyMap::from_iter([("input", "v")]).into();
    resource.source_position = Some(position());
    resource.stack_trace =
        vec![StackFrame { source_position: Some(position()), extra: Extra::default() }; FRAMES];
    let state = State::new(resource);
    let running =
        manager.begin(EngineStep::new(StepKind::Create, None, Some(&state))).await.map_err(failed)?;
    let now = Time::utc(SystemClock.now());
    state.change(|resource| {
        resource.id = Some(format!("{number:036}").into());
        resource.outputs = PropertyMap::from_iter([("input", "v"), ("output", "v")]).into();
        resource.created = Some(now);
        resource.modified = Some(now);
    });
    manager.end(running, true).await.map_err(failed)
}

/// A place in a program, as long as they are in the middle.
fn position() -> Arc<str> {
    format!("{:x<84}", "project:///../../../example.com/program/main.go#1").into()
}

/// What went wrong, with its causes.
fn failed(error: impl std::error::Error) -> Failure {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    Failure::Step(text)
}
