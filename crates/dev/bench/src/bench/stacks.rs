//! `groundstate-bench stacks`: what listing, exporting and updating stacks costs in Pulumi's own backends, beside the `pulumi` on the path.

mod bucket;
mod program;
mod step;
mod update;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use groundstate_testkit::pulumi_takes_part;

use super::{Failure, Outcome, machine, state};
use bucket::{Places, checkpoint};
use program::{Program, repeat};
pub(crate) use step::{StepOptions, run_step};

/// About how many bytes a resource of [`checkpoint`] has besides its filler.
const MEMBERS: usize = 228;

/// Bytes of filler in the resources of the stack that is exported.
const FILLER: usize = 1000;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Stacks in the bucket that is listed
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100, 10_000])]
    sizes: Vec<usize>,
    /// Megabytes of the stack that is exported; 0 leaves that part out
    #[arg(long, default_value_t = 100)]
    export: usize,
    /// Resources that an update creates
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000])]
    updates: Vec<usize>,
    /// How many steps of our updates run at once; as many as pulumi runs if missing
    #[arg(long)]
    at_once: Option<usize>,
    /// How often each list and export is run; fewer times where one takes long
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Seconds after which what is measured is stopped
    #[arg(long, default_value_t = 300)]
    patience: u64,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
}

impl Options {
    fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }

    /// The default of `pulumi up --parallel` is four steps for each core.
    fn at_once(&self) -> usize {
        self.at_once.unwrap_or_else(|| 4 * std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Measures both and prints a table.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench stacks`";
        return Err(Failure::Missing(message.to_owned()));
    }
    if !pulumi_takes_part() {
        let message = "there is no pulumi to measure; `cargo xtask services install` builds it";
        return Err(Failure::Missing(message.to_owned()));
    }
    let own = match &options.program {
        // It runs in the directory of a project.
        Some(program) => std::path::absolute(program)
            .map_err(|source| Failure::Start { program: program.display().to_string(), source })?,
        None => state::built()?,
    };
    let own = Program::Groundstate(own);
    println!("- machine: {}", machine::line());
    println!("- peer: Pulumi {}", machine::version_of("pulumi", "version").unwrap_or_default());
    println!("- steps at once: {}\n", options.at_once());
    println!("| what | who | where | time | peak memory, MB | requests | MB up | MB down |");
    println!("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for &size in &options.sizes {
        list(options, size, &own)?;
    }
    if options.export > 0 {
        export(options, &own)?;
    }
    let mut known = Vec::new();
    for &count in &options.updates {
        update::measure(options, count, &mut known)?;
    }
    Ok(())
}

fn list(options: &Options, size: usize, own: &Program) -> Outcome {
    let stacks: Vec<_> = (0..size).map(|number| (format!("s{number:05}"), checkpoint(5, 100))).collect();
    let places = Places::new(&stacks)?;
    let what = if size == 1 { "list 1 stack".to_owned() } else { format!("list {size} stacks") };
    for bucket in places.both() {
        let row = |who: &str, program: &Program, arguments: &[&str]| {
            let measured =
                repeat((options.runs, options.patience()), bucket, || bucket.command(program, arguments))?;
            println!("{}", measured.row(&what, who, bucket));
            Ok(())
        };
        let address = bucket.address();
        row("pulumi", &Program::Pulumi, &["stack", "ls", "--all", "--json"])?;
        row("names", own, &["stacks", "list", &address])?;
        row("names and contents, `--long`", own, &["stacks", "list", &address, "--long"])?;
    }
    Ok(())
}

fn export(options: &Options, own: &Program) -> Outcome {
    let resources = options.export * 1_000_000 / (FILLER + MEMBERS);
    let places = Places::new(&[("s".to_owned(), checkpoint(resources, FILLER))])?;
    let what = format!("export {} MB", options.export);
    for bucket in places.both() {
        let row = |who: &str, program: &Program, arguments: &[&str]| {
            let measured =
                repeat((options.runs, options.patience()), bucket, || bucket.command(program, arguments))?;
            println!("{}", measured.row(&what, who, bucket));
            Ok(())
        };
        let address = format!("{}#organization/shop/s", bucket.address());
        row("pulumi", &Program::Pulumi, &["stack", "export", "--stack", "s"])?;
        row("library", &Program::Step, &["export", bucket.url()])?;
        row("`pull`", own, &["pull", &address])?;
        row("`show --json`", own, &["show", &address, "--json"])?;
    }
    Ok(())
}
