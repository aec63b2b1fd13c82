//! `groundstate-bench replay`: what a journal costs beside whole snapshots, and how fast it is replayed.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::{Args, ValueEnum};
use groundstate_bench::write_deployment;
use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, Layout, Secrets, decode, encode};
use groundstate_pulumi_journal::{
    Base, Recorder, Replayer, State, Step as EngineStep, StepKind, encode_entry,
};
use groundstate_pulumi_snapshot::{Manifest, Snapshot};

use super::child::{Cost, measure, tell};
use super::report::{self, Bound, Ratio};
use super::{Failure, Outcome, machine, median};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Resources of the stacks whose update is counted
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 50_000])]
    sizes: Vec<usize>,
    /// How often each thing is run
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

#[derive(Debug, Args)]
pub(crate) struct StepOptions {
    step: Step,
    base: PathBuf,
    entries: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Decode the base
    Base,
    /// Decode base and entries
    Entries,
    /// Decode both, replay, and make the snapshot
    Replay,
}

/// Measures, prints tables, and fails when a limit is missed.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench replay`";
        return Err(Failure::Missing(message.to_owned()));
    }
    println!("- machine: {}\n", machine::line());
    println!("| resources | whole snapshots: writes | MB | journal: entries | MB | whole / journal |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut ratios = Vec::new();
    let mut replays = Vec::new();
    for &resources in &options.sizes {
        let update = Update::write(resources)?;
        println!("{}", update.row());
        let replay = Replay::measure(&update, options.runs.max(1))?;
        ratios.extend(replay.ratios(&update));
        replays.push(replay.row(&update));
    }
    println!("\n| entries | decode base and entries | replay | snapshot | entries/s | peak memory, MB |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |\n{}", replays.join("\n"));
    println!("\n{}", report::ratios(&ratios));
    match ratios.iter().filter(|ratio| !ratio.held()).count() {
        0 => Ok(()),
        missed => Err(Failure::Missed(missed)),
    }
}

/// An update of every resource of a stack.
struct Update {
    resources: usize,
    entries: usize,
    /// Of one whole snapshot as it is stored, and of all entries.
    snapshot_bytes: u64,
    entry_bytes: u64,
    folder: tempfile::TempDir,
}

impl Update {
    fn write(resources: usize) -> Outcome<Self> {
        let folder =
            tempfile::tempdir().map_err(|source| Failure::Write { path: std::env::temp_dir(), source })?;
        let mut text = Vec::new();
        let in_memory = |source| Failure::Write { path: "memory".into(), source };
        write_deployment(resources, 1, &mut text).map_err(in_memory)?;
        let file = decode(&text, &DecodeOptions::default()).map_err(failed)?;
        let stored = encode(&file, &EncodeOptions::default().layout(Layout::COMPACT)).map_err(failed)?;
        let base = folder.path().join("base.json");
        fs::write(&base, &stored).map_err(|source| Failure::Write { path: base.clone(), source })?;
        let path = folder.path().join("entries.jsonl");
        let write = |source| Failure::Write { path: path.clone(), source };
        let mut out = BufWriter::new(File::create(&path).map_err(write)?);
        let (mut entries, mut entry_bytes) = (0, 0);
        let base = Base::new(file.snapshot.unwrap_or_default());
        let mut recorder = Recorder::new(&base);
        for old in &base.states {
            let new = State::new(old.get());
            let step = EngineStep::new(StepKind::Update, Some(old), Some(&new));
            let (running, begin) = recorder.begin(step).map_err(failed)?;
            let end = recorder.end(running, true).map_err(failed)?;
            for recorded in begin.into_iter().chain(end) {
                let line = encode_entry(&recorded.entry, Secrets::Sealed).map_err(failed)?;
                entries += 1;
                entry_bytes += line.len() as u64;
                out.write_all(&line).and_then(|()| out.write_all(b"\n")).map_err(write)?;
            }
        }
        out.flush().map_err(write)?;
        Ok(Self { resources, entries, snapshot_bytes: stored.len() as u64, entry_bytes, folder })
    }

    /// Whole snapshots are written before and after each step, with everything in them.
    fn whole_bytes(&self) -> u64 {
        self.snapshot_bytes * self.entries as u64
    }

    fn row(&self) -> String {
        let mb = |bytes: u64| format!("{:.0}", bytes as f64 / 1e6);
        let (whole, journal) = (self.whole_bytes(), self.entry_bytes);
        let ratio = whole as f64 / journal as f64;
        format!(
            "| {} | {} | {} | {} | {} | {ratio:.0} |",
            self.resources,
            self.entries,
            mb(whole),
            self.entries,
            mb(journal)
        )
    }

    fn step(&self, name: &str) -> Outcome<Cost> {
        let program = std::env::current_exe()
            .map_err(|source| Failure::Start { program: "this program".to_owned(), source })?;
        let mut command = Command::new(program);
        let folder = self.folder.path();
        command.args(["replay-step", name]).args([folder.join("base.json"), folder.join("entries.jsonl")]);
        measure(&command, true)
    }
}

/// What replaying an update cost.
struct Replay {
    base: Cost,
    entries: Cost,
    replays: Vec<Cost>,
}

impl Replay {
    fn measure(update: &Update, runs: usize) -> Outcome<Self> {
        let replays = (0..runs).map(|_| update.step("replay")).collect::<Outcome<Vec<_>>>()?;
        Ok(Self { base: update.step("base")?, entries: update.step("entries")?, replays })
    }

    fn seconds(&self, name: &str) -> f64 {
        median(self.replays.iter().map(|cost| cost.told(name).as_secs_f64()).collect())
    }

    fn peak(&self) -> f64 {
        median(self.replays.iter().map(|cost| cost.peak as f64).collect())
    }

    fn speed(&self, update: &Update) -> f64 {
        update.entries as f64 / (self.seconds("replay") + self.seconds("snapshot"))
    }

    fn row(&self, update: &Update) -> String {
        let ms = |name| format!("{:.1} ms", self.seconds(name) * 1e3);
        format!(
            "| {} | {} | {} | {} | {:.0} | {:.0} |",
            update.entries,
            ms("decode"),
            ms("replay"),
            ms("snapshot"),
            self.speed(update),
            self.peak() / 1e6
        )
    }

    /// The replay may need as much again as the base, besides base and entries.
    fn ratios(&self, update: &Update) -> Vec<Ratio> {
        let allowed = (self.base.peak + self.entries.peak) as f64;
        let ratio = |what, value, bound| Ratio { instances: Some(update.resources), what, value, bound };
        let mut ratios = vec![ratio(
            "memory of a replay / twice the base and the entries",
            self.peak() / allowed,
            Some(Bound::AtMost(1.0)),
        )];
        if update.entries >= 100_000 {
            let what = "thousands of entries replayed a second";
            ratios.push(ratio(what, self.speed(update) / 1e3, Some(Bound::AtLeast(500.0))));
        }
        ratios
    }
}

/// Does one thing inside this process.
pub(crate) fn run_step(options: &StepOptions) -> Outcome {
    let read = |path: &Path| fs::read(path).map_err(|source| Failure::Read { path: path.to_owned(), source });
    let start = Instant::now();
    let base = decode(&read(&options.base)?, &DecodeOptions::default()).map_err(failed)?;
    let base: Snapshot = base.snapshot.unwrap_or_default();
    if options.step == Step::Base {
        black_box(base);
        return Ok(());
    }
    let text = read(&options.entries)?;
    let entries = groundstate_pulumi_journal::decode(&text, &Default::default()).map_err(failed)?.entries;
    drop(text);
    tell("decode", start.elapsed());
    if options.step == Step::Entries {
        black_box((base, entries));
        return Ok(());
    }
    let start = Instant::now();
    let mut replayer = Replayer::new(base);
    for entry in entries {
        replayer.apply(entry).map_err(failed)?;
    }
    tell("replay", start.elapsed());
    let start = Instant::now();
    let replayed = replayer.snapshot(Manifest::default()).map_err(failed)?;
    tell("snapshot", start.elapsed());
    black_box((replayer, replayed));
    Ok(())
}

fn failed(error: impl std::error::Error) -> Failure {
    Failure::Step(error.to_string())
}
