//! Runs the suite on the stores of this workspace: `cargo xtask conformance` starts it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on the terminal")]

mod args;
mod clouds;
mod files;
mod protocol;
mod table;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use groundstate_conformance::{CASES, Harness, MemoryHarness, run};

use groundstate_testkit::{S3Locks, TestBackend};

use args::{Command, parse};
use clouds::CloudHarness;
use files::FileHarness;

/// The stores by name. An address is a harness like any other: one more line here.
fn stores() -> Vec<(&'static str, Arc<dyn Harness>)> {
    vec![
        ("memory", Arc::new(MemoryHarness::new())),
        ("memory-lease", Arc::new(MemoryHarness::with_lease(Duration::from_secs(60)))),
        ("fs", Arc::new(FileHarness::in_place())),
        ("fs-rename", Arc::new(FileHarness::by_renaming())),
        ("s3", Arc::new(CloudHarness::new("S3, lock files", || TestBackend::s3_here(S3Locks::File)))),
        ("s3-table", Arc::new(CloudHarness::new("S3, DynamoDB", || TestBackend::s3_here(S3Locks::Table)))),
        ("gcs", Arc::new(CloudHarness::new("Google Cloud Storage", TestBackend::gcs_here))),
        ("azurerm", Arc::new(CloudHarness::new("Azure Blob Storage", TestBackend::azurerm_here))),
    ]
}

/// Those too that the report does not have: a server of the HTTP protocol, whose results depend on the server, and those whose servers are not of
/// the test kit, where variables say that they are there, so that the report is the same on every machine.
fn all_stores() -> Vec<(&'static str, Arc<dyn Harness>)> {
    let mut stores = stores();
    stores.push(("http", Arc::new(CloudHarness::new("HTTP", TestBackend::http_here))));
    if std::env::var_os("GROUNDSTATE_PG").is_some() {
        let make = || TestBackend::pg().expect("the variable says where the server is");
        stores.push(("pg", Arc::new(CloudHarness::new("PostgreSQL", make))));
    }
    stores
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = all_stores().iter().map(|(name, _)| *name).collect();
    match parse(&args, &names) {
        Ok(Command::Help) => {
            println!("{}\n\n{}", args::USAGE, protocol::USAGE);
            ExitCode::SUCCESS
        }
        Ok(Command::List) => list(),
        Ok(Command::Run { store, settings, json }) => {
            let Some((_, harness)) = all_stores().into_iter().find(|(name, _)| *name == store) else {
                return ExitCode::from(2);
            };
            let report = run(harness, &settings.restart(["run", "--store", &store]));
            println!("{}", if json { report.to_json() } else { report.to_string() });
            if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(Command::Try(trial)) => trial.run(),
        Ok(Command::Report { file, check }) => table::write(&stores(), &file, check),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn list() -> ExitCode {
    for case in CASES {
        println!("{:<2} {:<50} needs {}", case.code, case.name, case.needs);
    }
    println!("\nservers of Terraform's HTTP protocol:");
    protocol::list();
    println!("\nstores: {}", all_stores().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "));
    ExitCode::SUCCESS
}
