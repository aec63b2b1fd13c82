//! How many requests and bytes an operation takes, of Terraform and of the command, as the server counts them.
//!
//! `cargo test -p groundstate-cli --test it interop::traffic -- --nocapture` prints the tables of `docs/benchmarks.md`.

#![expect(clippy::print_stdout, reason = "it measures, and who asks for the figures has to see them")]

use groundstate_testkit::{Ran, S3Locks, TestBackend, Traffic, terraform_takes_part};

use super::workdir::Workdir;

/// An operation: its name, and how either program is told to do it.
struct Operation {
    name: &'static str,
    theirs: &'static [&'static str],
    ours: &'static [&'static str],
}

/// What one does the other undoes, so that both find the same.
const OPERATIONS: [Operation; 6] = [
    Operation { name: "list all resources", theirs: &["state", "list"], ours: &["list", "."] },
    Operation {
        name: "print one output",
        theirs: &["output", "-raw", "first"],
        ours: &["outputs", ".", "first", "--raw"],
    },
    Operation { name: "fetch the state", theirs: &["state", "pull"], ours: &["pull", "."] },
    Operation {
        name: "move a resource",
        theirs: &["state", "mv", "terraform_data.first", "terraform_data.moved"],
        ours: &["mv", ".", "terraform_data.moved", "terraform_data.first"],
    },
    Operation {
        name: "make a workspace",
        theirs: &["workspace", "new", "theirs"],
        ours: &["workspaces", "new", ".", "ours"],
    },
    Operation {
        name: "delete a workspace",
        theirs: &["workspace", "delete", "ours"],
        ours: &["workspaces", "delete", ".", "theirs"],
    },
];

/// What a program did to the server.
fn measured(place: &TestBackend, run: impl FnOnce() -> Ran) -> Traffic {
    let server = place.server().expect("the places of this test are in this process");
    let mark = server.mark();
    run().succeeds();
    if std::env::var_os("GROUNDSTATE_TRAFFIC").is_some() {
        server.requests_since(mark).iter().for_each(|request| println!("    {request:?} {}", request.query));
    }
    server.traffic_since(mark)
}

fn row(name: &str, theirs: &Traffic, ours: &Traffic) {
    let cell = |traffic: &Traffic| {
        format!("{:>3} | {:>7} | {:>8}", traffic.requests, traffic.received, traffic.sent)
    };
    println!("| {name:<20} | {} | {} |", cell(theirs), cell(ours));
}

fn compare(title: &str, place: &TestBackend) {
    let dir = Workdir::applied(place);
    println!("{title}: requests, bytes up, bytes down of terraform; the same of groundstate");
    let mut more = Vec::new();
    for Operation { name, theirs, ours } in OPERATIONS {
        let theirs = measured(place, || dir.terraform(theirs));
        if name == "make a workspace" {
            // Terraform has selected what it made.
            dir.terraform(&["workspace", "select", "default"]).succeeds();
        }
        let ours = measured(place, || dir.groundstate(ours));
        row(name, &theirs, &ours);
        if ours.requests > theirs.requests {
            more.push(format!("{name}: {ours} of ours, {theirs} of Terraform's"));
        }
    }
    assert!(more.is_empty(), "{more:#?}");
}

/// A state of many megabytes whose outputs stand in front, as both products write them.
fn large() -> Vec<u8> {
    let filler = "x".repeat(1000);
    let resources: Vec<String> = (0..8000)
        .map(|number| {
            format!(
                r#"{{"mode":"managed","type":"terraform_data","name":"n{number:05}","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{number}","input":{{"value":"{filler}","type":"string"}},"output":{{"value":"{filler}","type":"string"}},"triggers_replace":null}},"sensitive_attributes":[]}}]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"5ac1b3ba-4d6b-2a4f-8f4d-8f4d2a4f4d6b","outputs":{{"first":{{"value":"one","type":"string"}}}},"resources":[{}],"check_results":null}}"#,
        resources.join(",")
    )
    .into_bytes()
}

fn one_output(title: &str, place: &TestBackend) {
    let dir = Workdir::new(place);
    let state = large();
    place.put_state(&state);
    let theirs = measured(place, || dir.terraform(&["output", "-raw", "first"]));
    let ours = measured(place, || dir.groundstate(&["outputs", ".", "first", "--raw"]));
    println!("{title}: one output of a state of {} bytes", state.len());
    row("print one output", &theirs, &ours);
    // A digest is one of the whole state.
    if place.settings().get("dynamodb_table").is_none() {
        assert!(ours.sent * 10 < state.len() as u64, "{ours}");
    }
    assert!(ours.requests <= theirs.requests, "{ours} of ours, {theirs} of Terraform's");
}

/// Makes both tests of each place.
macro_rules! places {
    ($($name:ident: $title:literal, $place:expr;)*) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn no_operation_takes_more_requests_than_terraform() {
                    if terraform_takes_part() {
                        compare($title, &$place);
                    }
                }

                #[test]
                fn one_output_of_a_large_state_does_not_fetch_it_all() {
                    if terraform_takes_part() {
                        one_output($title, &$place);
                    }
                }
            }
        )*
    };
}

places! {
    s3_lockfile: "S3 with lock files", TestBackend::s3_here(S3Locks::File);
    s3_dynamodb: "S3 with a table of locks", TestBackend::s3_here(S3Locks::Table);
    s3_both: "S3 with both locks", TestBackend::s3_here(S3Locks::Both);
    gcs: "Google Cloud Storage", TestBackend::gcs_here();
    azurerm: "Azure Blob Storage", TestBackend::azurerm_here();
}
