//! Measures groundstate on large states, beside `serde_json` and Terraform.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on the terminal")]

mod bench;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use groundstate_bench::{Format, Recipe};

use bench::{
    Failure, Outcome, child, deployment, encryption, hostile, journal, replay, server, service, stacks,
    state, steps, walk,
};

/// Measures groundstate on large states, beside `serde_json` and Terraform.
#[derive(Debug, Parser)]
#[command(name = "groundstate-bench")]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures and prints Markdown; exit code 1 says that a limit was missed
    State(state::Options),
    /// Measures what walking a plan costs for each node; exit code 1 says that the limit was missed
    Walk(walk::Options),
    /// Measures appends to journals, and runs that store each of their changes
    Journal(journal::Options),
    /// Measures the same for Pulumi deployments
    Deployment(deployment::Options),
    /// Counts what updates of Pulumi stacks write as journals and as whole snapshots, and measures replays
    Replay(replay::Options),
    /// Measures how time and memory grow with inputs made to be expensive; exit code 1 says that a limit was missed
    Hostile(hostile::Options),
    /// Measures encrypting and decrypting a state, beside the cipher alone, and the status of many states
    Encryption(encryption::Options),
    /// Measures stacks in Pulumi's own backends: lists, exports and updates, beside the `pulumi` on the path
    Stacks(stacks::Options),
    /// Measures locked write cycles and memory of state servers, beside another server of the protocol
    Server(server::Options),
    /// Measures the state server as a Pulumi service: entries, runs of the `pulumi` on the path, and memory
    Service(service::Options),
    /// Writes an invented state
    Gen(Gen),
    /// Runs a program and says how long it took and how much memory it needed
    #[command(hide = true)]
    Child(child::Options),
    /// Does one thing inside this process and says how long it took
    #[command(hide = true)]
    Step(steps::Options),
    /// Does one thing with a deployment inside this process
    #[command(hide = true)]
    DeploymentStep(deployment::StepOptions),
    /// Does one thing with a stack inside this process
    #[command(hide = true)]
    StacksStep(stacks::StepOptions),
    /// Does one thing with an envelope inside this process
    #[command(hide = true)]
    EncryptionStep(encryption::StepOptions),
    /// Does one thing with a journal inside this process
    #[command(hide = true)]
    ReplayStep(replay::StepOptions),
}

#[derive(Debug, Args)]
struct Gen {
    /// Resource instances
    #[arg(short = 'n', long, default_value_t = 1000)]
    instances: usize,
    /// Another seed gives another state
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// v4, opentofu or v3
    #[arg(long, default_value = "v4")]
    format: Format,
    /// Where to write; standard output if missing
    #[arg(short, long)]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Program::parse().command {
        Command::State(options) => state::run(&options),
        Command::Walk(options) => walk::run(&options),
        Command::Journal(options) => journal::run(&options),
        Command::Deployment(options) => deployment::run(&options),
        Command::Replay(options) => replay::run(&options),
        Command::ReplayStep(options) => replay::run_step(&options),
        Command::Encryption(options) => encryption::run(&options),
        Command::EncryptionStep(options) => encryption::run_step(&options),
        Command::Server(options) => server::run(&options),
        Command::Service(options) => service::run(&options),
        Command::Stacks(options) => stacks::run(&options),
        Command::StacksStep(options) => stacks::run_step(&options),
        Command::Hostile(options) => hostile::run(&options),
        Command::Gen(options) => generate(&options),
        Command::Child(options) => child::run(&options),
        Command::Step(options) => steps::run(&options),
        Command::DeploymentStep(options) => deployment::run_step(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("groundstate-bench: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn generate(options: &Gen) -> Outcome {
    let recipe = Recipe::new(options.instances).seed(options.seed);
    match &options.output {
        Some(path) => write_state(recipe, options.format, path),
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            let written = recipe.write(options.format, &mut out).and_then(|()| out.flush());
            written.map_err(|source| Failure::Write { path: "standard output".into(), source })
        }
    }
}

/// Writes an invented state into a file.
fn write_state(recipe: Recipe, format: Format, path: &Path) -> Outcome {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        recipe.write(format, &mut out)?;
        out.flush()
    };
    write().map_err(|source| Failure::Write { path: path.to_owned(), source })
}
