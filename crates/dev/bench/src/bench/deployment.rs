//! `groundstate-bench deployment`: what reading, checking and writing large deployments costs.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::{Args, ValueEnum};
use groundstate_bench::write_deployment;
use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, encode_to};
use groundstate_pulumi_integrity::{VerifyOptions, verify};

use super::child::{Cost, measure, tell};
use super::report::{self, Bound, Figure, Ratio};
use super::state::built;
use super::{Failure, Outcome, machine, median};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Resources of the deployments to measure with
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// How often each thing is run
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StepOptions {
    step: Step,
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Decode into the model, check it, encode it again
    Model,
    /// Decode and encode with `serde_json::Value`
    Value,
}

/// Measures, prints tables, and fails when a limit is missed.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench deployment`";
        return Err(Failure::Missing(message.to_owned()));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => built()?,
    };
    println!("- machine: {}", machine::line());
    let mut figures = Vec::new();
    let mut ratios = Vec::new();
    let mut speeds = Vec::new();
    for &resources in &options.sizes {
        let size = Size::measure(resources, options.runs.max(1), &program)?;
        println!("- {resources} resources: {:.1} MB", size.bytes as f64 / 1e6);
        figures.extend(size.figures());
        ratios.extend(size.ratios());
        speeds.push(size.seconds(&size.model, "decode") / resources as f64);
    }
    // A small deployment fits into the caches of the processor, so the larger sizes tell how the time grows.
    if let [.., before, last] = speeds.as_slice() {
        let what = "decoding a resource: the largest size / the one before";
        ratios.push(Ratio { instances: None, what, value: last / before, bound: Some(Bound::AtMost(1.5)) });
    }
    println!("\n{}\n{}", report::figures(&figures), report::ratios(&ratios));
    match ratios.iter().filter(|ratio| !ratio.held()).count() {
        0 => Ok(()),
        missed => Err(Failure::Missed(missed)),
    }
}

/// What was measured with one size.
struct Size {
    resources: usize,
    bytes: u64,
    /// Those of `groundstate check`.
    check: Vec<Cost>,
    model: Vec<Cost>,
    value: Vec<Cost>,
}

impl Size {
    fn measure(resources: usize, runs: usize, program: &Path) -> Outcome<Self> {
        let folder =
            tempfile::tempdir().map_err(|source| Failure::Write { path: std::env::temp_dir(), source })?;
        let path = folder.path().join("export.json");
        let failed = |source| Failure::Write { path: path.clone(), source };
        let mut out = BufWriter::new(File::create(&path).map_err(failed)?);
        write_deployment(resources, 1, &mut out).and_then(|()| out.flush()).map_err(failed)?;
        let bytes = fs::metadata(&path).map_err(failed)?.len();
        let mut size = Self { resources, bytes, check: Vec::new(), model: Vec::new(), value: Vec::new() };
        for round in 0..runs {
            eprintln!("{resources} resources: round {} of {runs}", round + 1);
            size.check.push(measure(Command::new(program).arg("check").arg(&path), false)?);
            size.model.push(step("model", &path)?);
            size.value.push(step("value", &path)?);
        }
        Ok(size)
    }

    fn seconds(&self, costs: &[Cost], name: &str) -> f64 {
        median(costs.iter().map(|cost| cost.told(name).as_secs_f64()).collect())
    }

    fn peak(costs: &[Cost]) -> f64 {
        median(costs.iter().map(|cost| cost.peak as f64).collect())
    }

    fn figures(&self) -> Vec<Figure> {
        let figure = |costs: &[Cost], label, name| Figure {
            instances: self.resources,
            label,
            seconds: self.seconds(costs, name),
            bytes: Some(self.bytes),
            peak: Self::peak(costs),
        };
        let check = Figure {
            instances: self.resources,
            label: "`groundstate check`",
            seconds: median(self.check.iter().map(|cost| cost.wall.as_secs_f64()).collect()),
            bytes: Some(self.bytes),
            peak: Self::peak(&self.check),
        };
        vec![
            check,
            figure(&self.model, "deployment: decode", "decode"),
            figure(&self.model, "deployment: check", "verify"),
            figure(&self.model, "deployment: encode", "encode"),
            figure(&self.value, "`serde_json::Value`: decode", "decode"),
            figure(&self.value, "`serde_json::Value`: encode", "encode"),
        ]
    }

    fn ratios(&self) -> Vec<Ratio> {
        let ratio = |what, value, limit| {
            let bound = Some(Bound::AtMost(limit));
            Ratio { instances: Some(self.resources), what, value, bound }
        };
        let both = |costs: &[Cost]| self.seconds(costs, "decode") + self.seconds(costs, "encode");
        let verify = self.seconds(&self.model, "verify") / self.seconds(&self.model, "decode");
        // In a small file, the program itself is most of the memory.
        let bound = (self.bytes >= 100_000_000).then_some(Bound::AtMost(1.0));
        let value = Self::peak(&self.check) / self.bytes as f64;
        let what = "memory of `groundstate check` / file";
        vec![
            Ratio { instances: Some(self.resources), what, value, bound },
            ratio("check / decode", verify, 1.0),
            ratio(
                "decode and encode / the same with `serde_json::Value`",
                both(&self.model) / both(&self.value),
                0.75,
            ),
            ratio(
                "memory / that of `serde_json::Value`",
                Self::peak(&self.model) / Self::peak(&self.value),
                0.7,
            ),
        ]
    }
}

fn step(name: &str, file: &Path) -> Outcome<Cost> {
    let program = std::env::current_exe()
        .map_err(|source| Failure::Start { program: "this program".to_owned(), source })?;
    let mut command = Command::new(program);
    command.args(["deployment-step", name]).arg(file);
    measure(&command, true)
}

/// Does one thing inside this process.
pub(crate) fn run_step(options: &StepOptions) -> Outcome {
    let text =
        fs::read(&options.file).map_err(|source| Failure::Read { path: options.file.clone(), source })?;
    match options.step {
        Step::Model => model(&text),
        Step::Value => value(&text),
    }
}

fn model(text: &[u8]) -> Outcome {
    let start = Instant::now();
    let file = decode(text, &DecodeOptions::default()).map_err(failed)?;
    tell("decode", start.elapsed());
    let start = Instant::now();
    let report = file.snapshot.as_ref().map(|snapshot| verify(snapshot, &VerifyOptions::default()));
    tell("verify", start.elapsed());
    let start = Instant::now();
    let out = encode_to(&file, &EncodeOptions::default(), io::sink()).map_err(failed)?;
    tell("encode", start.elapsed());
    black_box((file, report, out));
    Ok(())
}

fn value(text: &[u8]) -> Outcome {
    let start = Instant::now();
    let value: serde_json::Value = serde_json::from_slice(text).map_err(failed)?;
    tell("decode", start.elapsed());
    let start = Instant::now();
    let mut out = BufWriter::new(io::sink());
    serde_json::to_writer_pretty(&mut out, &value).map_err(failed)?;
    out.flush().map_err(failed)?;
    tell("encode", start.elapsed());
    black_box(value);
    Ok(())
}

fn failed(error: impl std::error::Error) -> Failure {
    Failure::Step(error.to_string())
}
