//! What `init` and `workspace select` leave behind.

use groundstate_backends::{BackendsError, ConfigurationFiles, Variables, WorkingDirectory};
use serde_json::json;

use crate::support::{context, directory, name};

/// As Terraform 1.11.4 writes it, all options that are not given being null.
const LOCAL: &str = r#"{
  "version": 3,
  "terraform_version": "1.11.4",
  "backend": {
    "type": "local",
    "config": {
      "path": "s/x.tfstate",
      "workspace_dir": null
    },
    "hash": 514347324
  }
}"#;

/// The same with some of the options of `s3`.
const S3: &str = r#"{
  "version": 3,
  "terraform_version": "1.11.4",
  "backend": {
    "type": "s3",
    "config": {
      "access_key": "AK",
      "assume_role": null,
      "bucket": "b",
      "endpoints": {
        "dynamodb": null,
        "s3": "http://127.0.0.1:18999"
      },
      "key": "a/k.tfstate",
      "max_retries": null,
      "region": "us-east-1",
      "secret_key": "hunter2",
      "use_lockfile": true,
      "workspace_key_prefix": null
    },
    "hash": 2906104171
  }
}"#;

fn read(files: &[(&str, &str)]) -> Result<WorkingDirectory, BackendsError> {
    WorkingDirectory::read(directory(files).path(), &Variables::none())
}

#[test]
fn without_anything_it_is_local_and_the_default_workspace() {
    let read = read(&[("main.tf", "")]).unwrap();
    assert_eq!((read.settings().kind(), read.settings().options().len()), ("local", 0));
    assert!(read.workspace().unwrap().is_default());
}

#[test]
fn reads_the_options_that_are_given() {
    let local = read(&[(".terraform/terraform.tfstate", LOCAL)]).unwrap();
    assert_eq!(local.settings().text("path").unwrap(), Some("s/x.tfstate"));
    assert_eq!(local.settings().text("workspace_dir").unwrap(), None);
    let s3 = read(&[(".terraform/terraform.tfstate", S3)]).unwrap();
    assert_eq!(s3.settings().kind(), "s3");
    let names: Vec<&String> = s3.settings().options().keys().collect();
    assert_eq!(names, ["access_key", "bucket", "endpoints", "key", "region", "secret_key", "use_lockfile"]);
    assert_eq!(s3.settings().options().get("use_lockfile"), Some(&json!(true)));
    assert!(s3.settings().text("use_lockfile").is_err(), "it is not text");
    assert!(!format!("{s3:?}").contains("hunter2"));
}

#[test]
fn reads_what_releases_before_0_9_wrote() {
    let text = r#"{"version": 3, "remote": {"type": "s3", "config": {"bucket": "b"}}}"#;
    let old = read(&[(".terraform/terraform.tfstate", text)]).unwrap();
    assert_eq!((old.settings().kind(), old.settings().text("bucket").unwrap()), ("s3", Some("b")));
}

#[test]
fn the_workspace_is_that_of_the_environment_or_the_selected_one() {
    let dir = directory(&[(".terraform/environment", " dev\n"), ("data/environment", "other")]);
    for (variables, expected) in [
        (&[][..], "dev"),
        (&[("TF_WORKSPACE", "")], "dev"),
        (&[("TF_WORKSPACE", "prod")], "prod"),
        (&[("TF_DATA_DIR", "data")], "other"),
        (&[("TF_DATA_DIR", "nowhere")], "default"),
    ] {
        let read = WorkingDirectory::read(dir.path(), &context(variables).variables).unwrap();
        assert_eq!(read.workspace().unwrap(), name(expected), "{variables:?}");
    }
}

#[test]
fn refuses_workspaces_that_lead_elsewhere() {
    for text in ["..", "a/b", "/etc", "."] {
        let read = read(&[(".terraform/environment", text)]).unwrap();
        let error = read.workspace().unwrap_err();
        assert!(matches!(error, BackendsError::Selection { .. }), "{text}");
        assert!(error.to_string().ends_with("/environment does not have the name of a workspace"), "{error}");
    }
}

#[test]
fn refuses_what_init_does_not_write_without_showing_it() {
    for text in [
        "hunter2",
        "{",
        r#"{"backend": {"type": 7, "config": {"a": "hunter2"}}}"#,
        r#"{"backend": {"type": "s3", "config": ["hunter2"]}}"#,
    ] {
        let error = read(&[(".terraform/terraform.tfstate", text)]).unwrap_err();
        assert!(matches!(error, BackendsError::WorkingDirectory { .. }), "{text}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn the_files_that_opentofu_reads_come_by_name_and_its_own_before_those_of_terraform() {
    let folder = directory(&[
        ("b.tf", "of terraform"),
        ("b.tofu", "of opentofu"),
        ("a.tf.json", "{}"),
        (".hidden.tf", ""),
        ("a.tf~", ""),
        ("child/main.tf", ""),
        ("readme.md", ""),
        ("z.auto.tfvars", ""),
        ("a.auto.tfvars.json", "{}"),
        ("terraform.tfvars", ""),
        ("prod.tfvars", ""),
    ]);
    let files = ConfigurationFiles::read(folder.path()).unwrap();
    let names = |files: &[groundstate_backends::ConfigurationFile]| -> Vec<String> {
        let name = |file: &groundstate_backends::ConfigurationFile| {
            file.path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        files.iter().map(name).collect()
    };
    assert_eq!(names(&files.sources), ["a.tf.json", "b.tofu"]);
    assert_eq!(names(&files.variables), ["terraform.tfvars", "a.auto.tfvars.json", "z.auto.tfvars"]);
    assert!(!format!("{files:?}").contains("of opentofu"));
    assert!(ConfigurationFiles::read(&folder.path().join("nowhere")).unwrap().sources.is_empty());
}

#[cfg(unix)]
#[test]
fn a_variable_that_a_backend_reads_and_that_is_not_text_is_refused_by_its_name() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let text = |name: &str| (OsString::from(name), OsString::from("x"));
    let bytes = |name: &str| (OsString::from(name), OsString::from_vec(b"hush-\xe9".to_vec()));
    let known = Variables::of_environment([text("TF_WORKSPACE"), bytes("LESSOPEN"), text("OTHER")]).unwrap();
    assert_eq!(known.iter().collect::<Vec<_>>(), [("OTHER", "x"), ("TF_WORKSPACE", "x")]);
    for name in ["TF_WORKSPACE", "AWS_PROFILE", "ARM_ACCESS_KEY", "PGHOST", "https_proxy"] {
        let error = Variables::of_environment([text("A"), bytes(name)]).unwrap_err();
        assert_eq!(error.to_string(), format!("the variable {name} is not valid UTF-8"));
    }
}
