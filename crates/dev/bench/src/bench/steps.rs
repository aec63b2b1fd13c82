//! What is measured inside a process of its own.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use groundstate_bench::KNOWN_RESOURCE;
use groundstate_statefile::{DecodeOptions, Document, EncodeOptions, decode, encode_to};
use groundstate_states::Serial;
use groundstate_states::addr::AbsResource;
use serde::de::IgnoredAny;

use super::child::tell;
use super::{Failure, Outcome, median};

/// Times below this are too short for one reading to mean much.
const ENOUGH: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct Options {
    step: Step,
    file: PathBuf,
    /// The resource that an edit removes
    #[arg(long, default_value = KNOWN_RESOURCE)]
    resource: String,
    /// Where an edit or a copy writes
    #[arg(long, default_value = "edited.tfstate")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Skip the document with `serde_json`, in memory
    Skip,
    /// Index the document
    Open,
    /// Read, remove a resource, write
    Edit,
    /// Copy the file twice, each time to the disk
    Copy,
    /// Decode into the model, encode again
    Model,
    /// The same with `serde_json::Value`
    Value,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Open => "open",
            Self::Edit => "edit",
            Self::Copy => "copy",
            Self::Model => "model",
            Self::Value => "value",
        }
    }
}

pub(crate) fn run(options: &Options) -> Outcome {
    if options.step == Step::Copy {
        return copy(&options.file, &options.output);
    }
    let text =
        fs::read(&options.file).map_err(|source| Failure::Read { path: options.file.clone(), source })?;
    match options.step {
        Step::Skip => skip(&text),
        Step::Open => open(text),
        Step::Edit => edit(text, &options.resource, &options.output),
        Step::Model => model(text),
        Step::Value => value(text),
        Step::Copy => Ok(()),
    }
}

/// The least that a change costs which keeps the old file.
fn copy(file: &Path, output: &Path) -> Outcome {
    let start = Instant::now();
    for copy in [output.to_owned(), output.with_extension("second")] {
        let copied = fs::copy(file, &copy).and_then(|_| File::open(&copy)?.sync_all());
        copied.map_err(|source| Failure::Write { path: copy, source })?;
    }
    tell("copy", start.elapsed());
    Ok(())
}

/// Tells the median of as many readings as it takes.
fn skip(text: &[u8]) -> Outcome {
    let mut readings = Vec::new();
    let start = Instant::now();
    while start.elapsed() < ENOUGH || readings.len() < 3 {
        let start = Instant::now();
        let skipped: IgnoredAny = serde_json::from_slice(black_box(text)).map_err(failed)?;
        black_box(skipped);
        readings.push(start.elapsed().as_secs_f64());
    }
    tell("skip", Duration::from_secs_f64(median(readings)));
    Ok(())
}

fn open(text: Vec<u8>) -> Outcome {
    let start = Instant::now();
    let document = Document::open(text).map_err(failed)?;
    tell("open", start.elapsed());
    black_box(document);
    Ok(())
}

fn edit(text: Vec<u8>, resource: &str, output: &Path) -> Outcome {
    let address: AbsResource = resource.parse().map_err(failed)?;
    let document = Document::open(text).map_err(failed)?;
    let mut edit = document.edit();
    edit.serial(Serial::new(document.serial().get() + 1)).resource(address, None);
    let write = |source| Failure::Write { path: output.to_owned(), source };
    let mut out = File::create(output).map_err(write)?;
    // The pieces are long already, so there is nothing to buffer.
    edit.write_to(&mut out).map_err(failed)?;
    out.sync_all().map_err(write)
}

fn model(text: Vec<u8>) -> Outcome {
    let start = Instant::now();
    let file = decode(&text, &DecodeOptions::default()).map_err(failed)?;
    tell("decode", start.elapsed());
    // What follows needs the model only, as in a program that goes on to change it.
    drop(text);
    let start = Instant::now();
    let out = encode_to(&file, &EncodeOptions::default(), BufWriter::new(io::sink())).map_err(failed)?;
    tell("encode", start.elapsed());
    black_box((file, out));
    Ok(())
}

fn value(text: Vec<u8>) -> Outcome {
    let start = Instant::now();
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(failed)?;
    tell("decode", start.elapsed());
    drop(text);
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
