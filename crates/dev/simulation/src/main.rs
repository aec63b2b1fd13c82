//! Long runs: `groundstate-simulation --cases N --seed S [--threads N]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on the terminal")]

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use groundstate_simulation::{Campaign, Stats, simulate};

const USAGE: &str = "usage: groundstate-simulation [--cases N] [--seed S] [--threads N]";

fn main() -> ExitCode {
    let (mut cases, mut seed, mut threads) = (1000_u64, 20_261_121_u64, 1_u64);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let slot = match arg.as_str() {
            "--cases" => &mut cases,
            "--seed" => &mut seed,
            "--threads" => &mut threads,
            _ => return usage(),
        };
        let Some(number) = args.next().and_then(|value| value.parse().ok()) else { return usage() };
        *slot = number;
    }
    report(seed, cases, threads.max(1))
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn report(seed: u64, cases: u64, threads: u64) -> ExitCode {
    println!("seed {seed}, {cases} cases");
    let begun = Instant::now();
    let parts: Vec<Campaign> = thread::scope(|scope| {
        let part = |number: u64| (cases * number / threads)..(cases * (number + 1) / threads);
        let workers: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || simulate(seed, part(number)))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut stats = Stats::default();
    parts.iter().for_each(|part| stats += part.stats.clone());
    println!(
        "{} cases passed: {} runs, {} of them killed, {} entries, {} parts of journals, in {:.1} s",
        stats.cases,
        stats.runs,
        stats.killed,
        stats.entries,
        stats.parts,
        begun.elapsed().as_secs_f64()
    );
    let steps: Vec<String> = stats.steps.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    println!("steps: {}", steps.join(", "));
    let missing = parts.len() as u64 != threads;
    match parts.into_iter().find_map(|part| part.failure) {
        Some((number, tape, failure)) => {
            failure.log.iter().for_each(|line| println!("{line}"));
            println!("case {number} of seed {seed} fails: {}", failure.what);
            println!("as a tape: {tape:?}");
            ExitCode::FAILURE
        }
        None if missing => {
            println!("a worker panicked");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}
