//! Blocks with expressions: the recorded state counts while the block still means it.

use groundstate_backends::{
    BackendsError, ConfigurationFile, Disagreement, Purpose, Registry, Variables, WorkingDirectory,
};
use serde_json::{Value, json};

use crate::support::{context, directory};

const RECORD: &str = ".terraform/terraform.tfstate";

/// A configuration as OpenTofu accepts it, with declarations for the backend block.
const DECLARATIONS: &str = r#"
variable "env" { type = string }
variable "team" { default = "net" }
variable "buckets" { type = map(string) }
locals {
  name = "${var.team}-${var.env}"
  dirs = { prod = "p", dev = "d" }
}
"#;

fn recorded(kind: &str, config: &Value) -> String {
    json!({"version": 3, "backend": {"type": kind, "config": config, "hash": 7}}).to_string()
}

/// A directory that was initialised with this record.
fn initialised(kind: &str, config: &Value, block: &str) -> tempfile::TempDir {
    let block = format!("{DECLARATIONS}terraform {{\n  backend \"{kind}\" {{\n{block}\n  }}\n}}\n");
    directory(&[(RECORD, &recorded(kind, config)), ("main.tf", &block)])
}

fn variables(environment: &[(&str, &str)]) -> Variables {
    context(environment).variables
}

/// The first reason against reading and against changing the state.
fn refusals(dir: &tempfile::TempDir, variables: &Variables) -> [Option<Disagreement>; 2] {
    let read = WorkingDirectory::read(dir.path(), variables).expect("the directory can be read");
    [Purpose::Read, Purpose::Change].map(|purpose| match read.check(purpose, false) {
        Ok(()) => None,
        Err(BackendsError::Disagreement { disagreement, .. }) => Some(disagreement),
        Err(error) => unreachable!("{error}"),
    })
}

#[track_caller]
fn agrees(dir: &tempfile::TempDir, variables: &Variables) {
    assert_eq!(refusals(dir, variables), [None, None]);
    let read = WorkingDirectory::read(dir.path(), variables).expect("the directory can be read");
    assert_eq!(read.doubt(), None);
}

#[track_caller]
fn has_changed(dir: &tempfile::TempDir, variables: &Variables, option: &str) {
    let changed = Some(Disagreement::Changed(Some(option.to_owned())));
    assert_eq!(refusals(dir, variables), [changed.clone(), changed]);
}

/// Reading is permitted, and no change is, not even in a trusted directory.
#[track_caller]
fn is_doubtful(dir: &tempfile::TempDir, variables: &Variables, option: &str) -> String {
    let [reading, changing] = refusals(dir, variables);
    assert_eq!(reading, None);
    let Some(Disagreement::NotEvaluated { option: found, why, .. }) = changing else {
        unreachable!("{changing:?}")
    };
    assert_eq!(found, option);
    let read = WorkingDirectory::read(dir.path(), variables).expect("the directory can be read");
    assert!(read.doubt().is_some());
    assert!(read.check(Purpose::Change, true).is_err());
    why
}

#[test]
fn each_option_of_a_block_is_evaluated_and_compared() {
    for (kind, config, block, option) in [
        (
            "s3",
            json!({"bucket": "b", "key": "prod/net.tfstate"}),
            "bucket = \"b\"\nkey = \"${var.env}/net.tfstate\"",
            "key",
        ),
        ("s3", json!({"bucket": "prod", "key": "k"}), "bucket = var.env\nkey = \"k\"", "bucket"),
        (
            "s3",
            json!({"bucket": "b", "key": "k", "region": "prod"}),
            "bucket = \"b\"\nkey = \"k\"\nregion = var.env",
            "region",
        ),
        (
            "s3",
            json!({"bucket": "b", "key": "k", "endpoints": {"s3": "https://prod.test"}}),
            "bucket = \"b\"\nkey = \"k\"\nendpoints = { s3 = \"https://${var.env}.test\" }",
            "endpoints.s3",
        ),
        (
            "s3",
            json!({"bucket": "b", "key": "k", "workspace_key_prefix": "net-prod"}),
            "bucket = \"b\"\nkey = \"k\"\nworkspace_key_prefix = local.name",
            "workspace_key_prefix",
        ),
        (
            "gcs",
            json!({"bucket": "b", "prefix": "net-prod"}),
            "bucket = \"b\"\nprefix = local.name",
            "prefix",
        ),
        ("local", json!({"path": "p/x.tfstate"}), "path = \"${local.dirs[var.env]}/x.tfstate\"", "path"),
        (
            "pg",
            json!({"conn_str": "host=x", "schema_name": "prod"}),
            "conn_str = \"host=x\"\nschema_name = \"${var.env}\"",
            "schema_name",
        ),
        ("pg", json!({"conn_str": "host=prod"}), "conn_str = \"host=${var.env}\"", "conn_str"),
        (
            "azurerm",
            json!({"storage_account_name": "a", "container_name": "c", "key": "prod"}),
            "storage_account_name = \"a\"\ncontainer_name = \"c\"\nkey = var.env",
            "key",
        ),
        ("http", json!({"address": "https://h/prod"}), "address = \"https://h/${var.env}\"", "address"),
    ] {
        let dir = initialised(kind, &config, block);
        agrees(&dir, &variables(&[("TF_VAR_env", "prod")]));
        has_changed(&dir, &variables(&[("TF_VAR_env", "dev")]), option);
        let why = WorkingDirectory::read(dir.path(), &Variables::none()).unwrap();
        let why = why.check(Purpose::Change, false).unwrap_err().to_string();
        assert!(why.contains("TF_VAR_env") || why.contains("index"), "{why}");
    }
}

#[test]
fn later_sources_of_a_variable_count_more_than_earlier_ones() {
    let block = "bucket = \"b\"\nkey = var.env";
    let dir = initialised("s3", &json!({"bucket": "b", "key": "prod"}), block);
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let environment = [("TF_VAR_env", "dev")];
    has_changed(&dir, &variables(&environment), "key");
    write("terraform.tfvars", "env = \"prod\"\n");
    agrees(&dir, &variables(&environment));
    write("terraform.tfvars.json", r#"{"env": "dev"}"#);
    has_changed(&dir, &variables(&environment), "key");
    write("a.auto.tfvars", "env = \"prod\"\n");
    agrees(&dir, &variables(&environment));
    write("b.auto.tfvars.json", r#"{"env": "dev"}"#);
    has_changed(&dir, &variables(&environment), "key");
    let file = ConfigurationFile { path: "prod.tfvars".into(), text: "env = \"prod\"".to_owned() };
    let given = variables(&environment).with_file(file);
    agrees(&dir, &given);
    has_changed(&dir, &given.with_value("env", "dev"), "key");
    agrees(&dir, &variables(&environment).with_value("env", "prod"));
}

#[test]
fn defaults_and_overrides_of_variables_count() {
    let dir = initialised("s3", &json!({"bucket": "b", "key": "net"}), "bucket = \"b\"\nkey = var.team");
    agrees(&dir, &Variables::none());
    std::fs::write(dir.path().join("a_override.tf"), "variable \"team\" { default = \"web\" }").unwrap();
    has_changed(&dir, &Variables::none(), "key");
    agrees(&dir, &Variables::none().with_value("team", "net"));
}

#[test]
fn a_block_that_cannot_be_evaluated_is_only_read() {
    let config = json!({"bucket": "b", "key": "prod"});
    for (expression, reason) in [
        ("lower(var.env)", "the function `lower`"),
        ("var.env == \"prod\" ? \"prod\" : \"dev\"", "a condition"),
        ("terraform.workspace", "`terraform.workspace`"),
        ("module.x.key", "`module.x.key`"),
        ("var.missing", "the variable `missing` has no value"),
        ("local.missing", "the local `missing` is not known"),
        ("local.dirs[\"staging\"]", "not there"),
        ("\"${path.module}/x\"", "`path.module`"),
    ] {
        let dir = initialised("s3", &config, &format!("bucket = \"b\"\nkey = {expression}"));
        let why = is_doubtful(&dir, &variables(&[("TF_VAR_env", "prod")]), "key");
        assert!(why.contains(reason), "{expression}: {why}");
    }
    // An option that was not recorded is not evaluated either.
    let dir = initialised("s3", &config, "bucket = \"b\"\nkey = \"prod\"\nregion = var.missing");
    is_doubtful(&dir, &Variables::none(), "region");
    // A certain difference counts more than a doubt.
    let dir = initialised("s3", &config, "bucket = \"b\"\nkey = \"dev\"\nregion = var.missing");
    has_changed(&dir, &Variables::none(), "key");
}

#[test]
fn an_option_that_becomes_null_is_a_change() {
    let block = "bucket = \"b\"\nprefix = var.p";
    let dir = initialised("gcs", &json!({"bucket": "b", "prefix": "prod"}), block);
    std::fs::write(dir.path().join("v.tf"), "variable \"p\" { default = null }").unwrap();
    has_changed(&dir, &Variables::none(), "prefix");
    agrees(&dir, &Variables::none().with_value("p", "prod"));
}

#[test]
fn json_is_evaluated_like_the_native_syntax() {
    let block = json!({
        "variable": {"env": {"type": "string"}},
        "locals": {"key": "${var.env}/net"},
        "terraform": {"backend": {"s3": {"bucket": "b", "key": "state/${local.key}"}}},
    });
    let record = recorded("s3", &json!({"bucket": "b", "key": "state/prod/net"}));
    let dir = directory(&[(RECORD, &record), ("main.tf.json", &block.to_string())]);
    agrees(&dir, &variables(&[("TF_VAR_env", "prod")]));
    has_changed(&dir, &variables(&[("TF_VAR_env", "dev")]), "key");
    is_doubtful(&dir, &Variables::none(), "key");
}

#[test]
fn values_on_a_command_line_of_the_products_make_variables_doubtful() {
    let dir = initialised("s3", &json!({"bucket": "b", "key": "prod"}), "bucket = \"b\"\nkey = var.env");
    for (name, words) in
        [("TF_CLI_ARGS", "-var=env=dev"), ("TF_CLI_ARGS_plan", "-lock=true '-var-file' x.tfvars")]
    {
        let environment = variables(&[("TF_VAR_env", "prod"), (name, words)]);
        let why = is_doubtful(&dir, &environment, "key");
        assert!(why.contains(name), "{why}");
        agrees(&dir, &environment.with_value("env", "prod"));
    }
    agrees(&dir, &variables(&[("TF_VAR_env", "prod"), ("TF_CLI_ARGS", "-no-color -target=var.x")]));
}

#[test]
fn files_of_variables_that_cannot_be_read_leave_the_block_in_doubt() {
    let dir = initialised("s3", &json!({"bucket": "b", "key": "prod"}), "bucket = \"b\"\nkey = var.env");
    std::fs::write(dir.path().join("terraform.tfvars"), "env = \"hunter2\" }").unwrap();
    let why = is_doubtful(&dir, &variables(&[("TF_VAR_env", "prod")]), "key");
    assert!(why.contains("terraform.tfvars, line 1") && !why.contains("hunter2"), "{why}");
}

#[test]
fn a_file_of_opentofu_decides_where_terraform_cannot_evaluate_its_own() {
    let record = recorded("s3", &json!({"bucket": "b", "key": "prod"}));
    let block =
        |key: &str| format!("terraform {{\n  backend \"s3\" {{\n bucket = \"b\"\n key = {key}\n }}\n}}\n");
    let dir = directory(&[(RECORD, &record), ("main.tf", &block("var.x")), ("main.tofu", &block("\"dev\""))]);
    has_changed(&dir, &variables(&[("TF_VAR_x", "prod")]), "key");
    let dir = directory(&[(RECORD, &record), ("main.tf", &block("\"dev\"")), ("main.tofu", &block("var.x"))]);
    agrees(&dir, &variables(&[("TF_VAR_x", "prod")]));
}

#[test]
fn a_state_that_is_read_in_doubt_is_named() {
    let dir = initialised("local", &json!({"path": "prod.tfstate"}), "path = \"${lower(var.env)}.tfstate\"");
    let context = context(&[]).purpose(Purpose::Read);
    let place = Registry::standard().place(dir.path().to_str().unwrap(), None, &context).unwrap();
    let [warning] = &place.opened.warnings[..] else { unreachable!("{:?}", place.opened.warnings) };
    assert!(
        warning.contains("\"path\"") && warning.contains("prod.tfstate, which the last `init` recorded"),
        "{warning}"
    );
}

#[test]
fn a_state_store_is_refused_by_its_name_and_nothing_is_trusted() {
    let store = r#"{"version": 3, "state_store": {"type": "acme_s3", "config": {"bucket": "x"}}}"#;
    let both =
        r#"{"version": 3, "backend": {"type": "local", "config": {}}, "state_store": {"type": "acme_s3"}}"#;
    let native = "terraform {\n  state_store \"acme_s3\" {\n    provider \"acme\" {}\n  }\n}\n";
    let json = r#"{"terraform": {"state_store": {"acme_s3": {"provider": {"acme": {}}}}}}"#;
    let local = recorded("local", &json!({"path": null}));
    for files in [
        vec![(RECORD, store), ("main.tf", native)],
        vec![(RECORD, store), ("main.tf", "")],
        vec![(RECORD, store), ("main.tf", "terraform {\n  backend \"local\" {}\n}\n")],
        vec![(RECORD, store), ("main.tf", "terraform {{ backend")],
        vec![(RECORD, both), ("main.tf", "terraform {\n  backend \"local\" {}\n}\n")],
        vec![("main.tf", native)],
        vec![("main.tf.json", json)],
        vec![(RECORD, &local), ("main.tf", native)],
    ] {
        let dir = directory(&[files.clone(), vec![("terraform.tfstate", "{}")]].concat());
        for (purpose, trust) in [(Purpose::Read, false), (Purpose::Read, true), (Purpose::Change, true)] {
            let context = context(&[]).purpose(purpose).trusts_directories(trust);
            let error = Registry::standard().place(dir.path().to_str().unwrap(), None, &context).unwrap_err();
            assert!(error.to_string().contains("the state store \"acme_s3\""), "{files:?}: {error}");
        }
    }
    // The products may keep their states in different places.
    let block = "terraform {\n  backend \"local\" {}\n}\n";
    agrees(&directory(&[(RECORD, &local), ("a.tf", native), ("a.tofu", block)]), &Variables::none());
}

#[test]
fn a_record_of_a_later_release_is_not_taken_for_a_local_state() {
    for (text, member) in [
        (r#"{"version": 3, "state_vault": {"type": "x"}}"#, "state_vault"),
        (r#"{"version": 3, "backend": {"type": "local", "config": {}, "region": "x"}}"#, "backend.region"),
        (r#"{"version": 3, "Backend": {"type": "s3"}}"#, "Backend"),
        (r#"{"version": 3, "remote": {"type": "s3", "more": 1}}"#, "remote.more"),
    ] {
        let dir = directory(&[(RECORD, text), ("main.tf", "terraform {\n  backend \"local\" {}\n}\n")]);
        let [reading, changing] = refusals(&dir, &Variables::none());
        assert_eq!(reading, Some(Disagreement::UnknownRecord(member.to_owned())));
        assert_eq!(changing, reading);
    }
    let dir = directory(&[(RECORD, r#"{"version": 4, "resources": []}"#)]);
    let error = WorkingDirectory::read(dir.path(), &Variables::none()).unwrap_err().to_string();
    assert!(error.contains("its version is later than 3"), "{error}");
    // Members without a value say nothing.
    agrees(&directory(&[(RECORD, r#"{"version": 3, "state_store": null, "x": null}"#)]), &Variables::none());
}
