//! `groundstate-bench state`: what groundstate needs for large states, against its limits and its peers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use groundstate_bench::{FREE_RESOURCE, Format, KNOWN_OUTPUT, KNOWN_RESOURCE, Recipe};

use super::child::{Cost, measure};
use super::figures::{Runs, Task, flatness};
use super::peer::Home;
use super::steps::Step;
use super::{Failure, Outcome, machine, report};
use crate::write_state;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Instances of the states to measure with
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// How often each thing is run; Terraform less often
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Leave Terraform out
    #[arg(long)]
    no_terraform: bool,
    /// The program to measure; the one built for release beside this one if missing
    #[arg(long, env = "GROUNDSTATE_BIN")]
    program: Option<PathBuf>,
}

/// Everything that a run needs besides the task.
struct Files {
    program: PathBuf,
    v4: PathBuf,
    v3: PathBuf,
    edited: PathBuf,
    /// Where groundstate changes a state.
    own: Home,
    /// Where Terraform finds a state of format 4, and one of format 3.
    terraform: Option<[Home; 2]>,
}

/// Measures, prints tables, and fails when a limit is missed.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench state`";
        return Err(Failure::Missing(message.to_owned()));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => built()?,
    };
    let terraform = machine::version_of("terraform", "version").filter(|_| !options.no_terraform);
    println!("- machine: {}", machine::line());
    let own = machine::version_of(&program.to_string_lossy(), "--version");
    println!("- groundstate: {}", own.unwrap_or_else(|| "no version told".to_owned()));
    println!("- peer: {}", terraform.as_deref().unwrap_or("not run: no terraform on the path, or left out"));

    let mut all = Vec::new();
    for instances in &options.sizes {
        all.push(measure_size(*instances, options.runs.max(1), &program, terraform.is_some())?);
    }
    for runs in &all {
        let [v4, v3] = runs.bytes.map(|bytes| bytes as f64 / 1e6);
        println!("- {} instances: {v4:.1} MB in format 4, {v3:.1} MB in format 3", runs.instances);
    }
    let figures: Vec<_> = all.iter().flat_map(Runs::figures).collect();
    let ratios: Vec<_> = all.iter().flat_map(Runs::ratios).chain(flatness(&all)).collect();
    println!("\n{}\n{}", report::figures(&figures), report::ratios(&ratios));
    match ratios.iter().filter(|ratio| !ratio.held()).count() {
        0 => Ok(()),
        missed => Err(Failure::Missed(missed)),
    }
}

/// Builds the command as it is shipped, and says where it is.
pub(crate) fn built() -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["build", "--profile", "dist", "--quiet", "--package", "groundstate-cli", "--bin", "groundstate"];
    let start = |source| Failure::Start { program: "cargo build".to_owned(), source };
    let status = Command::new(cargo).args(arguments).status().map_err(start)?;
    if !status.success() {
        return Err(Failure::Missing("the command `groundstate` does not build".to_owned()));
    }
    let own = std::env::current_exe().map_err(start)?;
    let program = own.with_file_name(format!("groundstate{}", std::env::consts::EXE_SUFFIX));
    let missing = || Failure::Missing(format!("there is no {}: name one with --program", program.display()));
    program.exists().then(|| program.clone()).ok_or_else(missing)
}

fn measure_size(instances: usize, runs: usize, program: &Path, terraform: bool) -> Outcome<Runs> {
    let folder =
        tempfile::tempdir().map_err(|source| Failure::Write { path: std::env::temp_dir(), source })?;
    let path = |name: &str| folder.path().join(name);
    let (v4, v3) = (path("v4.tfstate"), path("v3.tfstate"));
    write_state(Recipe::new(instances), Format::Terraform, &v4)?;
    write_state(Recipe::new(instances), Format::V3, &v3)?;
    let peers = || Ok([Home::new(path("peer-v4"), &v4)?, Home::new(path("peer-v3"), &v3)?]);
    let own = Home::new(path("own"), &v4)?;
    let terraform = if terraform { Some(peers()?) } else { None };
    let edited = path("edited.tfstate");
    let place = Files { program: program.to_owned(), v4, v3, edited, own, terraform };
    let bytes = [size(&place.v4)?, size(&place.v3)?];
    let mut costs = Vec::new();
    for round in 0..runs {
        eprintln!("{instances} instances: round {} of {runs}", round + 1);
        for task in Task::ALL.into_iter().filter(|task| round < task.rounds(runs, bytes[0])) {
            costs.extend(place.run(task)?.map(|cost| (task, cost)));
        }
    }
    Ok(Runs { instances, bytes, costs })
}

impl Files {
    /// What one run of a task costs; nothing if Terraform is not there.
    fn run(&self, task: Task) -> Outcome<Option<Cost>> {
        let own = |arguments: &[&str]| {
            let mut command = Command::new(&self.program);
            let (verb, rest) = arguments.split_first().unwrap_or((&"", &[]));
            command.arg(verb).arg(&self.v4).args(rest);
            measure(&command, false).map(Some)
        };
        let change = |verb: &str, arguments: &[&str]| {
            self.own.put(&self.v4)?;
            let mut command = Command::new(&self.program);
            command.arg(verb).arg(self.own.path()).args(arguments);
            measure(&command, false).map(Some)
        };
        let peer = |at: usize, arguments: &[&str]| match &self.terraform {
            Some(peers) => measure(&peers[at].terraform_state(arguments), false).map(Some),
            None => Ok(None),
        };
        match task {
            Task::List => own(&["list"]),
            Task::Output => own(&["outputs", KNOWN_OUTPUT]),
            Task::Skip => self.step(Step::Skip, &self.v4),
            Task::Open => self.step(Step::Open, &self.v4),
            Task::Edit => self.step(Step::Edit, &self.v4),
            Task::Model => self.step(Step::Model, &self.v4),
            Task::Value => self.step(Step::Value, &self.v4),
            Task::ModelV3 => self.step(Step::Model, &self.v3),
            Task::TerraformList => peer(0, &["list"]),
            Task::TerraformPull => peer(0, &["pull"]),
            Task::TerraformPullV3 => peer(1, &["pull"]),
            Task::Copy => self.step(Step::Copy, &self.v4),
            Task::Rm => change("rm", &[KNOWN_RESOURCE]),
            Task::Mv => change("mv", &[KNOWN_RESOURCE, FREE_RESOURCE]),
            Task::TerraformRm => self.changed_by_peer(&["rm", KNOWN_RESOURCE]),
            Task::TerraformMv => self.changed_by_peer(&["mv", KNOWN_RESOURCE, FREE_RESOURCE]),
        }
    }

    fn changed_by_peer(&self, arguments: &[&str]) -> Outcome<Option<Cost>> {
        let Some([peer, _]) = &self.terraform else { return Ok(None) };
        let cost = measure(&peer.terraform_state(arguments), false)?;
        peer.put(&self.v4)?;
        Ok(Some(cost))
    }

    fn step(&self, step: Step, file: &Path) -> Outcome<Option<Cost>> {
        let program = std::env::current_exe()
            .map_err(|source| Failure::Start { program: "this program".to_owned(), source })?;
        let mut command = Command::new(program);
        command.args(["step", step.name()]).arg(file);
        if matches!(step, Step::Edit | Step::Copy) {
            command.arg("--output").arg(&self.edited);
        }
        measure(&command, true).map(Some)
    }
}

fn size(path: &Path) -> Outcome<u64> {
    let failed = |source| Failure::Read { path: path.to_owned(), source };
    Ok(fs::metadata(path).map_err(failed)?.len())
}
