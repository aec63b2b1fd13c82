//! `groundstate-bench hostile`: how time and memory of the command grow with inputs that are made to be expensive.
//!
//! Each shape is run at two sizes, the larger one four times the smaller. What counts is growth: the exponent of the
//! processor's time over the bytes that are read, and the most memory against those bytes; of both what the program takes to do nothing is
//! taken away. They are the same for builds with and without optimisation, so that any build of the command can be judged.

mod growth;
mod pulumi;
mod shape;
mod terraform;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::child::{Cost, Limits, measure_within};
use super::state::built;
use super::{Failure, Outcome, machine};
use growth::{Growth, Run};
use shape::Shape;

/// How many times larger the second input is.
const STEP: usize = 4;

/// A run is stopped here, so that a shape that grows with the square ends. In seconds of the processor.
const MOST_SECONDS: u64 = 240;

/// And here, in bytes of addresses.
const MOST_MEMORY: u64 = 8 << 30;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The shapes to run, by the beginnings of their names; all if none is given
    shapes: Vec<String>,
    /// How often each thing is run; the fastest counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Makes all inputs smaller by this factor
    #[arg(long, default_value_t = 1)]
    divide: usize,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
}

/// All shapes.
fn shapes() -> impl Iterator<Item = &'static Shape> {
    [terraform::SHAPES, pulumi::SHAPES].into_iter().flatten()
}

/// Measures, prints a table, and fails when something grows faster than it may.
pub(crate) fn run(options: &Options) -> Outcome {
    let program = match &options.program {
        // It runs in the folder of each input.
        Some(program) => std::path::absolute(program)
            .map_err(|source| Failure::Start { program: program.display().to_string(), source })?,
        None => built()?,
    };
    let wanted = |shape: &&Shape| {
        options.shapes.is_empty() || options.shapes.iter().any(|name| shape.name.starts_with(name.as_str()))
    };
    let chosen: Vec<&Shape> = shapes().filter(wanted).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = shapes().map(|shape| shape.name).collect();
        return Err(Failure::Missing(format!("no such shape, the shapes are: {}", names.join(", "))));
    }
    let start = start_of(&program, options.runs)?;
    println!("- machine: {}", machine::line());
    let version = machine::version_of(&program.to_string_lossy(), "--version");
    println!("- groundstate: {}", version.unwrap_or_else(|| "no version told".to_owned()));
    println!("- memory of a start, taken away below: {:.1} MB", start.peak as f64 / 1e6);
    println!("\n{}", growth::HEADING);
    let mut missed = 0;
    for shape in chosen {
        match grow(shape, options, &program, &start) {
            Ok(growth) => {
                missed += usize::from(!growth.held());
                println!("{}", growth.row(shape.name));
            }
            Err(Failure::Child { command, status, stderr }) => {
                missed += 1;
                println!("{}", growth::failed_row(shape.name, &status));
                let last = stderr.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
                eprintln!("{}: `{command}` ended with {status}: {last}", shape.name);
            }
            Err(failure) => return Err(failure),
        }
    }
    if missed == 0 { Ok(()) } else { Err(Failure::Missed(missed)) }
}

/// What the program takes to do nothing: in memory most of it are pages of the program itself, which all its processes share.
fn start_of(program: &Path, runs: usize) -> Outcome<Cost> {
    let mut command = Command::new(program);
    command.arg("--version");
    fastest(&command, runs, 0)
}

/// Runs a shape at both sizes.
fn grow(shape: &Shape, options: &Options, program: &Path, start: &Cost) -> Outcome<Growth> {
    let small = (shape.size / options.divide.max(1)).max(1);
    let run = |size: usize| -> Outcome<Run> {
        let folder =
            tempfile::tempdir().map_err(|source| Failure::Write { path: std::env::temp_dir(), source })?;
        let written = (shape.write)(folder.path(), size);
        let bytes = written.map_err(|source| Failure::Write { path: folder.path().to_owned(), source })?;
        let mut command = Command::new(program);
        command.args(shape.arguments).current_dir(folder.path());
        eprintln!("{}: {size}", shape.name);
        let cost = fastest(&command, options.runs, shape.code)?;
        let time = cost.processor().saturating_sub(start.processor());
        Ok(Run { size, bytes, time, peak: cost.peak.saturating_sub(start.peak) })
    };
    Ok(Growth { small: run(small)?, large: run(small * STEP)? })
}

/// The fastest of several runs, with the most memory of all.
fn fastest(command: &Command, runs: usize, code: i32) -> Outcome<Cost> {
    let limits = Limits { code, seconds: MOST_SECONDS, memory: MOST_MEMORY };
    let mut best = measure_within(command, &limits)?;
    for _ in 1..runs.max(1) {
        let next = measure_within(command, &limits)?;
        let peak = best.peak.max(next.peak);
        if next.processor() < best.processor() {
            best = next;
        }
        best.peak = peak;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::shapes;

    #[test]
    fn each_shape_has_a_name_of_its_own_and_writes_what_grows_with_its_size() {
        let mut names = BTreeSet::new();
        for shape in shapes() {
            assert!(names.insert(shape.name), "{}", shape.name);
            let folder = tempfile::tempdir().unwrap();
            let [small, large] = [10, 40].map(|size| (shape.write)(folder.path(), size).unwrap() as f64);
            assert!(large > 1.5 * small && large < 6.0 * small, "{}: {small} and {large}", shape.name);
            let missing = shape.arguments.iter().filter(|argument| argument.ends_with(".json"));
            for file in missing {
                assert!(folder.path().join(file).exists(), "{}: {file}", shape.name);
            }
        }
    }
}
