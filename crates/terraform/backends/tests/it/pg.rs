//! Settings of states in PostgreSQL.

use std::fs;

use groundstate_backends::{Registry, Settings};

use crate::support::{context, directory};

fn open(settings: &Settings, variables: &[(&str, &str)]) -> Result<String, String> {
    let opened = Registry::standard().open(settings, &context(variables));
    opened.map(|opened| opened.backend.to_string()).map_err(|error| error.to_string())
}

fn place(url: &str, variables: &[(&str, &str)]) -> Result<String, String> {
    let place = Registry::standard().place(url, None, &context(variables));
    place
        .map(|place| format!("{} {}", place.opened.backend, place.workspace))
        .map_err(|error| error.to_string())
}

#[test]
fn the_environment_stands_in_for_options() {
    let bare = Settings::new("pg");
    let variables = [
        ("PG_CONN_STR", "postgres://ci@db.example.com/tf"),
        ("PG_SCHEMA_NAME", "network"),
        ("PG_TABLE_NAME", "t"),
    ];
    assert_eq!(open(&bare, &variables).unwrap(), "pg://ci@db.example.com/tf/network.t");
    let given = bare.clone().with("conn_str", "host=h dbname=d").with("schema_name", "s");
    assert_eq!(open(&given, &variables).unwrap(), "pg://h/d/s.t");
    let libpq = [("PGHOST", "h"), ("PGDATABASE", "d"), ("PGUSER", "u"), ("PGPORT", "1")];
    assert_eq!(open(&bare, &libpq).unwrap(), "pg://u@h:1/d/terraform_remote_state.states");
    assert_eq!(open(&given, &libpq).unwrap(), "pg://u@h:1/d/s.states");
    let wrong = open(&bare, &[("PG_SKIP_TABLE_CREATION", "hunter2")]).unwrap_err();
    assert!(wrong.contains("\"skip_table_creation\"") && !wrong.contains("hunter2"), "{wrong}");
}

#[test]
fn addresses_name_server_database_and_schema() {
    let url = "pg://h:1/d?schema_name=s&user=u&sslmode=disable&workspace=dev";
    assert_eq!(place(url, &[]).unwrap(), "pg://u@h:1/d/s.states dev");
    assert_eq!(
        place("postgres:///d", &[("PGHOST", "h")]).unwrap(),
        "pg://h/d/terraform_remote_state.states default"
    );
}

#[test]
fn what_cannot_be_used_is_named_without_its_value() {
    let pg = || Settings::new("pg").with("conn_str", "postgres://u:hunter2@h/d");
    for (settings, expected) in [
        (pg().with("skema", "hunter2"), "skema"),
        (pg().with("skip_table_creation", "hunter2"), "\"skip_table_creation\""),
        (pg().with("schema_name", 5), "\"schema_name\""),
        (pg().with("history", true), "\"history\""),
        (Settings::new("pg").with("conn_str", "postgres://u:hunter2@h:port/d"), "the URL of the database"),
        (Settings::new("pg").with("conn_str", "hunter2"), "the connection string"),
        (Settings::new("pg").with("conn_str", "service=hunter2"), "the parameter service"),
    ] {
        let error = open(&settings, &[]).unwrap_err();
        assert!(error.contains(expected) && !error.contains("hunter2"), "{expected}: {error}");
    }
    assert!(!format!("{:?}", pg()).contains("hunter2"));
}

#[test]
fn an_initialised_directory_needs_no_options() {
    let block = "terraform {\n  backend \"pg\" {\n    conn_str = \"postgres://h/d\"\n  }\n}\n";
    let record = r#"{"version": 3, "backend": {"type": "pg", "config": {"conn_str": "postgres://h/d", "schema_name": null}}}"#;
    let dir = directory(&[(".terraform/terraform.tfstate", record), ("main.tf", block)]);
    let shown = "pg://h/d/terraform_remote_state.states default";
    assert_eq!(place(dir.path().to_str().unwrap(), &[]).unwrap(), shown);
    fs::write(dir.path().join(".terraform/environment"), "dev").unwrap();
    assert_eq!(place(dir.path().to_str().unwrap(), &[]).unwrap(), shown.replace("default", "dev"));
}
