//! Reading while a write is under way, and after one that was interrupted.

use std::fs;
use std::path::PathBuf;

use super::support::{TempState, groundstate, state};

/// The new state, which only the journal has.
const NEW: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 2, "lineage": "l", "outputs": {"o": {"value": "new", "type": "string"}}, "resources": [{"mode": "managed", "type": "terraform_data", "name": "new", "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]}]}"#;
const DIGEST: &str = "871a0a1254fc24dda49a8d87956f6fec5a0202340b2d9fb665ae15afb1ba0e0e";

/// A file that a killed writer left: the mark over the begin of the old state, and the journal beside it.
fn interrupted() -> (TempState, PathBuf) {
    let mut mark = b"\0groundstate journal 1\n".to_vec();
    mark.extend(format!("sha256 {DIGEST}\nlength {}\n\n", NEW.len()).bytes());
    mark.resize(512, b' ');
    let file = state([&mark, NEW.replace("new", "old").repeat(3).as_bytes()].concat());
    let journal = file.dir.path().join(".terraform.tfstate.groundstate-journal");
    fs::write(&journal, [&mark, NEW.as_bytes()].concat()).unwrap();
    (file, journal)
}

#[test]
fn every_command_that_reads_finishes_an_interrupted_write_first() {
    for (args, expected) in [
        (&["list", "FILE"][..], "terraform_data.new\n"),
        (&["list", "FILE", "terraform_data.new"], "terraform_data.new\n"),
        (&["outputs", "FILE", "o", "--raw"], "new"),
        (&["show", "FILE", "terraform_data.new"], "terraform_data"),
        (&["show", "FILE"], "terraform_data"),
        (&["upgrade", "FILE"], "\"serial\": 2"),
        (&["diff", "FILE", "FILE"], "the same"),
        (&["pull", "FILE"], NEW),
        (&["salvage", "FILE"], "\"serial\": 2"),
    ] {
        let (file, journal) = interrupted();
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "FILE" { &*file.path } else { arg }).collect();
        let run = groundstate(&args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        assert!(run.stdout.contains(expected) || run.stderr.contains(expected), "{args:?}: {}", run.stdout);
        assert_eq!(fs::read_to_string(&file.path).unwrap(), NEW, "{args:?}");
        assert!(!journal.exists(), "{args:?}");
    }
}

#[test]
fn what_is_stored_or_merged_from_a_file_is_read_in_the_same_way() {
    let (file, _) = interrupted();
    let other = file.dir.path().join("other.tfstate");
    groundstate(&["push", other.to_str().unwrap(), &file.path]).clean();
    assert!(fs::read_to_string(other).unwrap().contains("terraform_data"));
}

#[test]
fn a_write_whose_journal_is_gone_is_reported_as_that() {
    let (file, journal) = interrupted();
    fs::remove_file(journal).unwrap();
    for args in [["list", &*file.path], ["show", &file.path], ["outputs", &file.path]] {
        let text = groundstate(&args).failed(5);
        assert!(text.contains("journal is missing or damaged: bring back a backup"), "{text}");
    }
}
