//! `groundstate-bench service`: the state server as a Pulumi service: entries of many updates at once, whole runs of `pulumi up`,
//! and the memory that a large stack needs.

mod entries;
mod large;
mod runs;

use std::path::PathBuf;

use clap::Args;

use super::nodes::{Kind, Nodes, Place, Program};
use super::{Failure, Outcome, machine, median, state};
use entries::{Rate, run_updates};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Updates at once, each of a stack of its own
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    updates: Vec<usize>,
    /// Where the server keeps stacks: directory, postgres, s3
    #[arg(long, value_delimiter = ',', default_values = ["directory", "postgres"])]
    stores: Vec<Kind>,
    /// Entries of a batch; pulumi sends at most 100, and what it has after 50 ms
    #[arg(long, default_value_t = 20)]
    batch: usize,
    /// Seconds that each figure is measured for
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How often each figure is measured, all in turn; 0 leaves that part out
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Resources that `pulumi up` makes
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000])]
    resources: Vec<usize>,
    /// Seconds after which a run of pulumi is stopped; 0 leaves that part out
    #[arg(long, default_value_t = 600)]
    patience: u64,
    /// Megabytes of the large stack; 0 leaves that part out
    #[arg(long, default_value_t = 100)]
    megabytes: usize,
    /// A look: one round of 2 seconds, 100 resources, 10 megabytes
    #[arg(long)]
    quick: bool,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
}

/// Measures and prints tables.
pub(crate) fn run(options: &Options) -> Outcome {
    let own = match &options.program {
        Some(program) => program.clone(),
        None if cfg!(debug_assertions) => {
            let message = "figures of a debug build say nothing: run `cargo xtask bench service`";
            return Err(Failure::Missing(message.to_owned()));
        }
        None => state::built()?,
    };
    println!("- machine: {}", machine::line());
    println!("- load when it began: {}", machine::load().unwrap_or_else(|| "not known".to_owned()));
    let version = machine::version_of(&own.display().to_string(), "--version");
    println!("- groundstate: {}", version.unwrap_or_default());
    let program = Program::Own("groundstate", own);
    let (rounds, seconds) = if options.quick { (1, 2) } else { (options.rounds, options.seconds) };
    if rounds > 0 {
        measure_entries(options, &program, rounds, seconds)?;
    }
    if options.patience > 0 {
        let quick = [100];
        let resources = if options.quick { &quick[..] } else { &options.resources };
        runs::measure(&program, resources, options.patience)?;
    }
    let megabytes = if options.quick { options.megabytes.min(10) } else { options.megabytes };
    if megabytes > 0 {
        large::measure(&program, megabytes)?;
    }
    println!("\n- load when it ended: {}", machine::load().unwrap_or_else(|| "not known".to_owned()));
    Ok(())
}

fn measure_entries(options: &Options, program: &Program, rounds: usize, seconds: u64) -> Outcome {
    println!("\n- entries: batches of {}, each on a connection of its own\n", options.batch);
    println!("| store | updates | entries/s | batches/s | p50 of a batch, ms | p99, ms |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let mut rows: Vec<(Kind, usize, Vec<Rate>)> = Vec::new();
    for kind in &options.stores {
        rows.extend(options.updates.iter().map(|updates| (*kind, *updates, Vec::new())));
    }
    for _ in 0..rounds {
        for (kind, updates, rates) in &mut rows {
            let Some(place) = Place::fresh(*kind)? else { continue };
            let nodes = Nodes::start(program, &place, 1)?;
            rates.push(run_updates(&nodes, *updates, options.batch, seconds)?);
        }
    }
    for (kind, updates, rates) in rows.iter().filter(|(_, _, rates)| !rates.is_empty()) {
        let middle = |figure: fn(&Rate) -> f64| median(rates.iter().map(figure).collect());
        let batches = middle(Rate::per_second);
        println!(
            "| {kind} | {updates} | {:.0} | {batches:.1} | {:.1} | {:.1} |",
            batches * options.batch as f64,
            middle(|rate| rate.percentile(0.50)),
            middle(|rate| rate.percentile(0.99)),
        );
    }
    Ok(())
}
