//! `groundstate-bench server`: locked write cycles of many clients at state servers, beside another server of the same protocol.

mod cycles;
mod memory;

use std::path::PathBuf;

use clap::Args;

use super::nodes::{Kind, Nodes, Place, Program};
use super::{Failure, Outcome, machine, median, state};
pub(super) use cycles::Cycles;
use cycles::run_cycles;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Clients at once, each with a state of its own
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    clients: Vec<usize>,
    /// Servers on one store, behind a proxy that takes them in turn
    #[arg(long, value_delimiter = ',', default_values_t = [1, 3])]
    nodes: Vec<usize>,
    /// Where the servers keep states: directory, postgres, s3
    #[arg(long, value_delimiter = ',', default_values = ["directory", "postgres", "s3"])]
    stores: Vec<Kind>,
    /// Seconds that each figure is measured for
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How often each figure is measured, all in turn
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Kilobytes of a state
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// States that are written and read at once when memory is measured; 0 leaves that part out
    #[arg(long, default_value_t = 64)]
    states: usize,
    /// Megabytes of each of them
    #[arg(long, default_value_t = 20)]
    megabytes: usize,
    /// A look: one round of 2 seconds with 1 and 16 clients, and 8 states for the memory
    #[arg(long)]
    quick: bool,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
    /// An earlier build of the program, measured in turn with the other
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// The server `terraform-backend` of nimbolus
    #[arg(long, default_value = "terraform-backend")]
    peer_command: PathBuf,
}

/// One line of the table.
struct Row {
    program: Program,
    kind: Kind,
    nodes: usize,
    clients: usize,
    rounds: Vec<Cycles>,
    /// Why the peer was given up.
    failure: Option<Failure>,
}

/// Measures and prints tables.
pub(crate) fn run(options: &Options) -> Outcome {
    let own = match &options.program {
        Some(program) => program.clone(),
        None if cfg!(debug_assertions) => {
            let message = "figures of a debug build say nothing: run `cargo xtask bench server`";
            return Err(Failure::Missing(message.to_owned()));
        }
        None => state::built()?,
    };
    let mut programs = vec![Program::Own("groundstate", own.clone())];
    programs.extend(options.baseline.clone().map(|program| Program::Own("groundstate, before", program)));
    let peer = Program::Peer(options.peer_command.clone());
    println!("- machine: {}", machine::line());
    println!("- load when it began: {}", machine::load().unwrap_or_else(|| "not known".to_owned()));
    let version = machine::version_of(&own.display().to_string(), "--version");
    println!("- groundstate: {}", version.unwrap_or_default());
    match peer.is_there() {
        true => programs.push(peer),
        false => println!(
            "- not run: terraform-backend; `go install` builds it, and --peer-command says where it is"
        ),
    }
    println!(
        "- state: {} kB; a cycle is LOCK, GET, POST, UNLOCK, each on a connection of its own\n",
        options.size
    );
    let mut rows = rows(options, &programs);
    let (rounds, seconds) = if options.quick { (1, 2) } else { (options.rounds, options.seconds) };
    for _ in 0..rounds {
        for row in &mut rows {
            let Some(place) = Place::fresh(row.kind)? else { continue };
            let nodes = Nodes::start(&row.program, &place, row.nodes)?;
            match run_cycles(&nodes, row.clients, options.size * 1000, seconds) {
                Ok(cycles) => row.rounds.push(cycles),
                // What a peer does not carry out is a result too.
                Err(failure) if matches!(row.program, Program::Peer(_)) => row.failure = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
    }
    print_cycles(&rows);
    let states = if options.quick { options.states.min(8) } else { options.states };
    if states > 0 {
        memory::measure(&programs, states, options.megabytes)?;
    }
    println!("\n- load when it ended: {}", machine::load().unwrap_or_else(|| "not known".to_owned()));
    Ok(())
}

/// What is compared stands side by side, so that a noisy minute counts on all sides.
fn rows(options: &Options, programs: &[Program]) -> Vec<Row> {
    let clients = options.clients.iter().filter(|clients| !options.quick || **clients <= 16);
    let mut rows = Vec::new();
    for kind in &options.stores {
        for nodes in &options.nodes {
            for clients in clients.clone() {
                for program in programs.iter().filter(|program| program.takes(*kind, *nodes)) {
                    let program = program.clone();
                    rows.push(Row {
                        program,
                        kind: *kind,
                        nodes: *nodes,
                        clients: *clients,
                        rounds: Vec::new(),
                        failure: None,
                    });
                }
            }
        }
    }
    rows
}

fn print_cycles(rows: &[Row]) {
    println!("| store | nodes | clients | server | cycles/s | p50, ms | p99, ms | of groundstate |");
    println!("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |");
    let mut own: Option<&Row> = None;
    for row in rows {
        if matches!(row.program, Program::Own("groundstate", _)) {
            own = Some(row);
        }
        if let Some(failure) = &row.failure {
            let Row { kind, nodes, clients, program, .. } = row;
            println!("| {kind} | {nodes} | {clients} | {program} | failed: {failure} | | | |");
            continue;
        }
        if row.rounds.is_empty() {
            continue;
        }
        let middle = |figure: fn(&Cycles) -> f64| median(row.rounds.iter().map(figure).collect());
        let ratio = own.map(|own| {
            // Round by round.
            let pairs = row.rounds.iter().zip(&own.rounds);
            median(pairs.map(|(row, own)| row.per_second() / own.per_second()).collect())
        });
        let ratio = ratio.filter(|_| !own.is_some_and(|own| std::ptr::eq(own, row)));
        println!(
            "| {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {} |",
            row.kind,
            row.nodes,
            row.clients,
            row.program,
            middle(Cycles::per_second),
            middle(|cycles| cycles.percentile(0.50)),
            middle(|cycles| cycles.percentile(0.99)),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        );
    }
}
