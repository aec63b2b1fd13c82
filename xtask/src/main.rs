//! Checks and chores of the workspace; run as `cargo xtask`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on the terminal")]

mod bench;
mod ci;
mod conformance;
mod examples;
mod finding;
mod fuzz;
mod layers;
mod order_campaign;
mod outcome;
mod services;
mod simulate;
mod source;
mod tidy;
mod torture;
mod tree;
mod workspace;

use std::process::ExitCode;

use outcome::{Failure, Outcome};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [STEP...]           run every check, or those named; `ci --list` names them
  tidy                   check manifests, READMEs, file headers, forbidden words, names and places of files
  layers                 check that dependencies point down and that the lower layers do no I/O
  bench NAME [ARG...]    run a benchmark of the package groundstate-bench, built for release
  conformance list       name the cases of the stores' contract, and the stores of the workspace
  conformance run --store NAME [--case NAME|CLAUSE] [--conditions NAME,...] [--seed NUMBER] [--json]
                         run the cases on a store
  conformance run --url URL [--case NAME|CLAUSE] [--lock-method VERB]... [--header NAME=VALUE]... [--json]
                         try a server of Terraform's HTTP protocol, below an address that may be written to; `run --help`
                         says more
  conformance report [--check]
                         run them on all stores and write the table in docs/conformance.md, or compare it
  conformance new NAME [--to FOLDER [--path]]
                         make a crate for a new store: in this workspace, or alone in FOLDER, where `--path` has it
                         depend on this checkout
  examples               check the first example of each crate with that crate as its only dependency
  fuzz [TARGET] [--seconds N] [--jobs N]
                         run the fuzz targets of all crates, or one, N seconds each (60), N at a time (one a core);
                         `fuzz --list` names them
  order-campaign [--seeds N] [--first S]
                         plan and apply N made-up configurations (30) with terraform and tofu, and compare their orders of
                         operations with those of `groundstate order`
  services up|down [NAME...]
                         install and start servers for tests, or stop what was started: S3 and DynamoDB, Azure Blob,
                         Google Cloud Storage, PostgreSQL
  services install [NAME...]
                         build programs for tests and checks into the user's cache folder, once per machine: cargo-deny,
                         cargo-fuzz, OpenTofu
  services status        name the services, what became of them and where they listen
  services env           print the variables by which tests find servers and programs, for `eval`
  simulate [--cases N] [--seed S] [--threads N]
                         run engines that are made up on both managers of snapshots, N cases (1000) on N threads (1), and
                         make the first that fails smaller
  torture fs [--kills N] [--processes N] [--steps N] [--seed N]
                         kill writers of the file store N times (500), and let N processes (16) count N steps (200) each
  torture journal [--kills N] [--seed N]
                         kill writers of a journal N times (500) amid their appends
  torture stacks [--store directory|s3|gcs|azure|postgres] [--kills N] [--seed N]
                         kill writers of Pulumi stacks N times (500) in every store, or in one, and recover what they leave
  help                   print this text

exit codes: 0 nothing to report, 1 a check failed, 2 wrong usage, 3 a tool or package that is needed is missing
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(args: &[String]) -> Outcome {
    let (command, args) =
        args.split_first().ok_or_else(|| Failure::Usage(format!("no command\n\n{USAGE}")))?;
    match command.as_str() {
        "ci" => ci::run(args),
        "tidy" => tidy::run(args),
        "layers" => layers::run(args),
        "bench" => bench::run(args),
        "conformance" => conformance::run(args),
        "examples" => examples::run(args),
        "fuzz" => fuzz::run(args),
        "services" => services::run(args),
        "order-campaign" => order_campaign::run(args),
        "simulate" => simulate::run(args),
        "torture" => torture::run(args),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(Failure::Usage(format!("there is no command `{other}`\n\n{USAGE}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{USAGE, dispatch};

    fn exit_code(args: &[&str]) -> u8 {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        dispatch(&args).map_or_else(|failure| failure.exit_code(), |()| 0)
    }

    #[test]
    fn wrong_usage_has_an_exit_code_of_its_own() {
        assert_eq!(exit_code(&["help"]), 0);
        for args in [
            &[][..],
            &["frobnicate"],
            &["tidy", "now"],
            &["layers", "--all"],
            &["bench"],
            &["ci", "no-such-step"],
            &["conformance"],
            &["conformance", "frobnicate"],
            &["conformance", "run"],
            &["conformance", "new"],
            &["examples", "now"],
            &["fuzz", "--seconds"],
            &["fuzz", "--seconds", "soon"],
            &["fuzz", "no-such-target"],
            &["order-campaign", "--seeds"],
            &["order-campaign", "--seeds", "many"],
            &["order-campaign", "30"],
            &["services"],
            &["services", "sideways"],
            &["torture"],
            &["torture", "tape"],
        ] {
            assert_eq!(exit_code(args), 2, "{args:?}");
        }
    }

    #[test]
    fn the_usage_text_names_every_command() {
        for command in [
            "ci",
            "tidy",
            "layers",
            "bench",
            "conformance",
            "examples",
            "fuzz",
            "order-campaign",
            "services",
            "torture",
            "help",
        ] {
            assert!(USAGE.contains(&format!("\n  {command} ")), "{command}");
        }
    }
}
