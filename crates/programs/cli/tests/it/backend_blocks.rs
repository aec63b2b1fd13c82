//! Blocks that say where the state of a directory is: with expressions, and with state stores.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Run, command, resource, with_resources};

/// Commands that change or lock what the directory names.
const CHANGING: [&[&str]; 12] = [
    &["rm", ".", "a.b"],
    &["mv", ".", "a.b", "a.c"],
    &["taint", ".", "a.b"],
    &["push", ".", "new.json", "--yes"],
    &["push", ".", "new.json", "--yes", "--force"],
    &["replace-provider", ".", "hashicorp/aws", "hashicorp/awscc"],
    &["migrate", "new.json", "."],
    &["lock", ".", "--", "true"],
    &["unlock", ".", "1"],
    &["undo", "."],
    &["workspaces", "new", ".", "w"],
    &["workspaces", "delete", ".", "w"],
];

/// Commands that read it.
const READING: [&[&str]; 6] = [
    &["list", "."],
    &["outputs", "."],
    &["check", "."],
    &["pull", "."],
    &["locks", "."],
    &["workspaces", "list", "."],
];

struct Directory(tempfile::TempDir);

impl Directory {
    fn new(record: Option<serde_json::Value>, configuration: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".terraform")).unwrap();
        let this = Self(dir);
        if let Some(record) = record {
            this.write(".terraform/terraform.tfstate", &record.to_string());
        }
        this.write("main.tf", configuration);
        this.write("new.json", &with_resources(&resource("a", "new", "{}")));
        this
    }

    /// A directory whose last `init` was for `prod`.
    fn of_prod(expression: &str) -> Self {
        let record = json!({"version": 3, "backend": {"type": "local", "config": {"path": "prod.tfstate"}, "hash": 7}});
        let configuration = format!(
            "variable \"env\" {{}}\nlocals {{ file = \"${{var.env}}.tfstate\" }}\n\
             terraform {{\n  backend \"local\" {{\n    path = {expression}\n  }}\n}}\n"
        );
        let this = Self::new(Some(record), &configuration);
        this.write("prod.tfstate", &with_resources(&resource("a", "b", "{}")));
        this
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn names(&self) -> Vec<std::ffi::OsString> {
        let mut names: Vec<_> =
            fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = command(args);
        command.current_dir(self.path()).stdin(Stdio::null()).envs(variables.iter().copied());
        Run::of(command.output().unwrap())
    }

    /// Asserts that the command is refused, and leaves each file as it is.
    #[track_caller]
    fn refuses(&self, args: &[&str], variables: &[(&str, &str)], reason: &str) -> String {
        let [names, state] = [json!(format!("{:?}", self.names())), json!(self.state())];
        let run = self.run(args, variables);
        assert_eq!((run.code, &*run.stdout), (3, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{args:?}: {}", run.stderr);
        assert_eq!([json!(format!("{:?}", self.names())), json!(self.state())], [names, state], "{args:?}");
        run.stderr
    }

    fn state(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.path().join(name)).unwrap_or_default();
        read("prod.tfstate") + &read("terraform.tfstate")
    }
}

const PROD: [(&str, &str); 1] = [("TF_VAR_env", "prod")];
const DEV: [(&str, &str); 1] = [("TF_VAR_env", "dev")];

#[test]
fn a_state_that_variables_no_longer_mean_is_neither_read_nor_changed() {
    let directory = Directory::of_prod("local.file");
    for args in READING.iter().chain(&CHANGING) {
        let stderr = directory.refuses(args, &DEV, "the option \"path\" of the backend has changed");
        assert!(
            stderr.contains("run `terraform init` there") && stderr.contains("--var"),
            "{args:?}: {stderr}"
        );
    }
    assert_eq!(directory.run(&["list", "."], &PROD).clean(), "a.b\n");
    directory.run(&["rm", ".", "a.b"], &PROD).clean();
    assert_eq!(directory.run(&["list", "."], &PROD).clean(), "");
}

#[test]
fn variables_of_the_command_line_count_more_than_all_others() {
    let directory = Directory::of_prod("\"${var.env}.tfstate\"");
    directory.write("terraform.tfvars", "env = \"dev\"\n");
    directory.write("prod.tfvars", "env = \"prod\"\n");
    directory.refuses(&["rm", ".", "a.b"], &PROD, "has changed");
    for args in [&["--var", "env=prod"][..], &["--var-file", "prod.tfvars"]] {
        assert_eq!(directory.run(&[&["list", "."], args].concat(), &DEV).clean(), "a.b\n");
    }
    let both = ["rm", ".", "a.b", "--var", "env=dev", "--var-file", "prod.tfvars"];
    directory.refuses(&both, &PROD, "has changed");
    let missing = directory.run(&["list", ".", "--var-file", "none.tfvars"], &PROD).failed(3);
    assert!(missing.contains("none.tfvars does not exist"), "{missing}");
    directory.write("bad.tfvars", "env = hunter2 }");
    let bad = directory.run(&["list", ".", "--var-file", "bad.tfvars"], &PROD).failed(2);
    assert!(bad.contains("bad.tfvars, line 1") && !bad.contains("hunter2"), "{bad}");
    let unnamed = directory.run(&["list", ".", "--var", "hunter2"], &PROD).failed(2);
    assert!(unnamed.contains("NAME=VALUE"), "{unnamed}");
}

#[test]
fn a_block_that_cannot_be_evaluated_permits_reading_and_names_the_state() {
    for (expression, variables) in [("\"${lower(var.env)}.tfstate\"", &PROD[..]), ("local.file", &[][..])] {
        let directory = Directory::of_prod(expression);
        for args in CHANGING {
            let trusting = [args, &["--trust-directory"]].concat();
            for args in [args, &trusting] {
                // What follows `--` belongs to the command that runs under the lock.
                if !(args.contains(&"lock") && args.contains(&"--trust-directory")) {
                    directory.refuses(
                        args,
                        variables,
                        "the option \"path\" of the backend block cannot be evaluated",
                    );
                }
            }
        }
        let run = directory.run(&["list", "."], variables);
        assert_eq!((run.code, &*run.stdout), (0, "a.b\n"), "{}", run.stderr);
        assert!(run.stderr.contains("prod.tfstate, which the last `init` recorded"), "{}", run.stderr);
    }
}

#[test]
fn a_directory_with_a_state_store_is_refused_by_its_name() {
    let record = json!({"version": 3, "terraform_version": "1.17.0", "state_store": {
        "type": "acme_s3",
        "provider": {"version": "1.0.0", "source": "registry.terraform.io/acme/store", "config": {}, "hash": 1},
        "config": {"bucket": "x"},
        "hash": 12345,
    }});
    let block =
        "terraform {\n  state_store \"acme_s3\" {\n    provider \"acme\" {}\n    bucket = \"x\"\n  }\n}\n";
    for (record, block) in [(Some(record.clone()), block), (Some(record), ""), (None, block)] {
        let directory = Directory::new(record, block);
        directory.write("terraform.tfstate", &with_resources(&resource("a", "b", "{}")));
        for args in READING.iter().chain(&CHANGING) {
            let stderr = directory.refuses(args, &[], "the state store \"acme_s3\"");
            assert!(!stderr.contains("--trust-directory"), "{args:?}: {stderr}");
        }
        let stderr =
            directory.refuses(&["list", ".", "--trust-directory"], &[], "the state store \"acme_s3\"");
        assert!(stderr.contains("state pull > FILE"), "{stderr}");
        directory.refuses(&["migrate", ".", "other"], &[], "the state store \"acme_s3\"");
    }
}

#[test]
fn a_record_with_an_unknown_member_is_refused_by_its_name() {
    let directory = Directory::new(Some(json!({"version": 3, "state_vault": {"type": "x"}})), "");
    directory.write("terraform.tfstate", &with_resources(&resource("a", "b", "{}")));
    for args in READING.iter().chain(&CHANGING) {
        directory.refuses(args, &[], "the member \"state_vault\"");
    }
}
