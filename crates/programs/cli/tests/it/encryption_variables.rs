//! Which variables the configuration of encryption sees.

use std::fs;
use std::process::Stdio;

use crate::support::{Run, command, resource, with_resources};

#[test]
fn variables_of_a_directory_do_not_reach_the_configuration_of_the_user() {
    let encryption = r#"
    key_provider "external" "mine" {
      command = ["touch", "KIND.NAME"]
    }
    method "aes_gcm" "mine" {
      keys = key_provider.external.mine
    }
    method "unencrypted" "plain" {}
    state {
      method = method.aes_gcm.mine
      fallback {
        method = method.unencrypted.plain
      }
    }
    "#;
    for reference in ["var.file", "var.default", "local.file"] {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("terraform.tfstate");
        fs::write(&state, with_resources(&resource("a", "b", "{}"))).unwrap();
        fs::write(dir.path().join("terraform.tfvars"), "file = \"of-the-directory\"\n").unwrap();
        let declarations = "variable \"file\" {}\nvariable \"default\" { default = \"of-the-directory\" }\n\
             locals { file = \"of-the-directory\" }\n";
        fs::write(dir.path().join("main.tf"), declarations).unwrap();
        let encryption = encryption.replace("\"KIND.NAME\"", reference);
        let file = dir.path().join("mine.hcl");
        fs::write(&file, &encryption).unwrap();
        let run = |with_file: bool, args: &[&str], variables: &[(&str, &str)]| {
            let mut command = command(&[&["mv", ".", "a.b", "a.c", "--backup", "-"], args].concat());
            match with_file {
                true => drop(command.args(["--encryption", file.to_str().unwrap()])),
                false => drop(command.env("TF_ENCRYPTION", &encryption)),
            }
            command.current_dir(dir.path()).envs(variables.iter().copied()).stdin(Stdio::null());
            Run::of(command.output().unwrap())
        };
        for with_file in [false, true] {
            let refused = run(with_file, &[], &[]).failed(2);
            assert!(refused.contains("option `command`"), "{refused}");
            assert!(!dir.path().join("of-the-directory").exists(), "{reference}");
            if reference == "var.file" {
                let name = format!("of-the-user-{with_file}");
                let failed = run(with_file, &[], &[("TF_VAR_file", &*name)]);
                assert_ne!(failed.code, 0, "`touch` gives no keys: {}", failed.stdout);
                assert!(dir.path().join(&name).exists(), "{}", failed.stderr);
            }
            run(with_file, &["--trust-directory"], &[]);
            let made = dir.path().join("of-the-directory");
            assert!(made.exists(), "a trusted directory gives values");
            fs::remove_file(made).unwrap();
        }
    }
}
