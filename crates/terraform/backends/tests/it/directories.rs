//! What a directory may decide: what `init` recorded counts if the configuration says the same.

use std::fs;

use groundstate_backends::{BackendsError, Disagreement, Purpose, Variables, WorkingDirectory};
use groundstate_common::Origin;
use serde_json::{Value, json};

use crate::support::directory;

fn recorded(kind: &str, config: &Value, hash: u64) -> String {
    json!({"version": 3, "backend": {"type": kind, "config": config, "hash": hash}}).to_string()
}

fn read(files: &[(&str, &str)]) -> WorkingDirectory {
    WorkingDirectory::read(directory(files).path(), &Variables::none()).expect("the directory can be read")
}

#[track_caller]
fn agrees(files: &[(&str, &str)]) -> WorkingDirectory {
    let read = read(files);
    read.check(Purpose::Change, false).expect("the configuration confirms the record");
    read
}

#[track_caller]
fn disagrees(files: &[(&str, &str)]) -> Disagreement {
    let read = read(files);
    let Err(BackendsError::Disagreement { disagreement, .. }) = read.check(Purpose::Read, false) else {
        unreachable!("the configuration does not confirm the record")
    };
    disagreement
}

const RECORD: &str = ".terraform/terraform.tfstate";

/// The schema of a small release of s3, with a block that says this much.
fn s3(config: &Value, block: &str) -> [(&'static str, String); 2] {
    let block = format!("terraform {{\n  backend \"s3\" {{\n{block}\n  }}\n}}\n");
    [(RECORD, recorded("s3", config, 1)), ("main.tf", block)]
}

fn as_files<'f>(files: &'f [(&'static str, String); 2]) -> Vec<(&'static str, &'f str)> {
    files.iter().map(|(name, text)| (*name, text.as_str())).collect()
}

#[test]
fn a_block_that_says_what_was_recorded_agrees() {
    let config = json!({"bucket": "b", "key": "k", "max_retries": 5, "use_lockfile": true, "profile": null,
        "endpoints": {"s3": "https://minio.test", "sts": null}, "assume_role": null});
    for block in [
        "bucket = \"b\"\nkey = \"k\"\nmax_retries = 5\nuse_lockfile = true\nendpoints = { s3 = \"https://minio.test\" }",
        "bucket = \"b\"\nkey = \"k\"\nmax_retries = \"5\"\nuse_lockfile = \"true\"\nprofile = null\nendpoints { s3 = \"https://minio.test\" }",
        "bucket = (\"b\") # ours\nkey = \"k\"\nmax_retries = 5\nuse_lockfile = true\nendpoints = { \"s3\" : \"https://minio.test\", sts = null }",
    ] {
        let read = agrees(&as_files(&s3(&config, block)));
        assert_eq!(read.settings().origin("endpoints"), Origin::Block);
        assert_eq!(read.settings().origin("bucket"), Origin::Block);
    }
}

#[test]
fn json_and_files_of_opentofu_are_read_as_the_products_read_them() {
    let config = json!({"bucket": "b", "key": "k"});
    let record = recorded("s3", &config, 1);
    let hcl = "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n";
    let other = hcl.replace("\"k\"", "\"other\"");
    let json = r#"{"terraform": [{"backend": {"s3": [{"//": "x", "bucket": "b", "key": "k"}]}}]}"#;
    let twice = r#"{"terraform": {"required_version": "1"}, "terraform": {"backend": {"s3": {"bucket": "b", "key": "k"}}}}"#;
    for files in [
        vec![("x.tf.json", json)],
        vec![("x.tofu.json", twice)],
        vec![("x.tofu", hcl)],
        // OpenTofu passes over the one, Terraform over the other.
        vec![("x.tofu", hcl), ("x.tf", other.as_str())],
        vec![("x.tofu", other.as_str()), ("x.tf", hcl)],
        vec![("x.tf", other.as_str()), ("z_override.tf", hcl)],
        vec![("x.tf", hcl), (".x.tf", other.as_str()), ("x.tf~", "junk"), ("#x.tf#", "junk")],
        vec![("x.tf", hcl), ("y.tf", "this is { not HCL, and has no block of ours")],
    ] {
        agrees(&[vec![(RECORD, record.as_str())], files].concat());
    }
    for files in [
        vec![("x.tf", other.as_str())],
        vec![("x.tf", hcl), ("override.tf", other.as_str())],
        vec![("x.tf", "terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n")],
    ] {
        let found = disagrees(&[vec![(RECORD, record.as_str())], files].concat());
        assert!(matches!(found, Disagreement::Changed(_)), "{found:?}");
    }
    let two = read(&[(RECORD, &record), ("a.tf", hcl), ("b.tf", hcl)]);
    let error = two.check(Purpose::Read, false).unwrap_err().to_string();
    assert!(error.contains("a second backend or cloud block"), "{error}");
}

#[test]
fn what_was_recorded_beside_the_block_counts_if_it_is_harmless() {
    let config = json!({"bucket": "b", "key": "k", "region": "r", "access_key": "a"});
    let read = read(&as_files(&s3(&config, "bucket = \"b\"\nregion = var.region")));
    read.check(Purpose::Read, false).expect("a region leads nowhere else");
    let origins = ["bucket", "region", "key"].map(|name| read.settings().origin(name));
    assert_eq!(origins, [Origin::Block, Origin::Block, Origin::Directory]);
    for (name, value) in [
        ("endpoints", json!({"s3": "https://evil.example"})),
        ("endpoint", json!("https://evil.example")),
        ("profile", json!("admin")),
        ("shared_credentials_file", json!("/x")),
        ("shared_credentials_files", json!(["/x", "/y"])),
        ("assume_role", json!({"role_arn": "r"})),
        ("assume_role_with_web_identity", json!({"role_arn": "r", "web_identity_token_file": "/etc/passwd"})),
        ("http_proxy", json!("http://evil.example")),
        ("insecure", json!(true)),
        ("container_credentials_full_uri", json!("http://evil.example")),
        ("no_such_option", json!("x")),
    ] {
        let mut config = config.clone();
        config[name] = value;
        let found = disagrees(&as_files(&s3(&config, "bucket = \"b\"")));
        assert!(matches!(&found, Disagreement::OnlyRecorded(path) if path.starts_with(name)), "{found:?}");
        let found =
            disagrees(&as_files(&s3(&config, &format!("bucket = \"b\"\nkey = var.x\n{name} = var.x"))));
        assert!(
            matches!(&found, Disagreement::NotEvaluated { option, leads_elsewhere: true, .. } if option == name),
            "{found:?}"
        );
    }
}

#[test]
fn the_number_of_a_release_tells_a_changed_block_from_added_options() {
    // Terraform 1.11.4 wrote these for a block with `path`, and for one with nothing.
    let whole = |path: &str| recorded("local", &json!({"path": path, "workspace_dir": null}), 514_347_324);
    let block = |path: &str| format!("terraform {{\n  backend \"local\" {{\n{path}\n  }}\n}}\n");
    agrees(&[(RECORD, &whole("s/x.tfstate")), ("main.tf", &block("path = \"s/x.tfstate\""))]);
    // `-backend-config` has put another path in the place of the block's own.
    agrees(&[(RECORD, &whole("other.tfstate")), ("main.tf", &block("path = \"s/x.tfstate\""))]);
    // Nothing was added at that time, so the block has lost its path since.
    let lost = disagrees(&[(RECORD, &whole("s/x.tfstate")), ("main.tf", &block(""))]);
    assert_eq!(lost, Disagreement::Changed(Some("path".to_owned())));
    let changed = disagrees(&[(RECORD, &whole("s/x.tfstate")), ("main.tf", &block("path = \"y\""))]);
    assert_eq!(changed, Disagreement::Changed(Some("path".to_owned())));
    let new = disagrees(&[
        (RECORD, &whole("s/x.tfstate")),
        ("main.tf", &block("path = \"s/x.tfstate\"\nworkspace_dir = \"w\"")),
    ]);
    assert_eq!(new, Disagreement::Changed(Some("workspace_dir".to_owned())));
}

#[test]
fn only_the_block_says_which_server_of_postgresql_is_asked() {
    // Terraform 1.11.4 wrote the number for a block with this connection string.
    let conn_str = "postgres://tf@127.0.0.1:18432/postgres?sslmode=disable";
    let nothing = json!({"conn_str": null, "schema_name": null, "skip_index_creation": null, "skip_schema_creation": null, "skip_table_creation": null});
    let files = |options: &[(&str, &str)], block: &str| {
        let mut config = nothing.clone();
        for (name, value) in options {
            config[*name] = json!(value);
        }
        let block = format!("terraform {{\n  backend \"pg\" {{\n{block}\n  }}\n}}\n");
        [(RECORD, recorded("pg", &config, 2_687_831_770)), ("main.tf", block)]
    };
    let own = format!("conn_str = {conn_str:?}");
    let read = agrees(&as_files(&files(&[("conn_str", conn_str)], &own)));
    assert_eq!(read.settings().origin("conn_str"), Origin::Block);
    // `-backend-config` may add a schema, and no server.
    let read = agrees(&as_files(&files(&[("conn_str", conn_str), ("schema_name", "network")], &own)));
    assert_eq!(read.settings().origin("schema_name"), Origin::Directory);
    agrees(&as_files(&files(&[], "")));
    let found = disagrees(&as_files(&files(&[("conn_str", "host=evil.example")], "")));
    assert_eq!(found, Disagreement::OnlyRecorded("conn_str".to_owned()));
    let found = disagrees(&as_files(&files(&[("conn_str", "host=evil.example")], "conn_str = var.server")));
    assert!(matches!(&found, Disagreement::NotEvaluated { leads_elsewhere: true, .. }), "{found:?}");
    // The block is what it was, so another server was added to it.
    let found = disagrees(&as_files(&files(&[("conn_str", "host=evil.example")], &own)));
    assert_eq!(found, Disagreement::OnlyRecorded("conn_str".to_owned()));
    let found = disagrees(&as_files(&files(&[("conn_str", conn_str)], "conn_str = \"host=other\"")));
    assert_eq!(found, Disagreement::Changed(Some("conn_str".to_owned())));
}

#[test]
fn a_directory_that_was_never_initialised_is_not_local() {
    for (block, kind) in [
        ("terraform {\n  backend \"s3\" {}\n}\n", "s3"),
        ("terraform {\n  backend \"local\" {}\n}\n", "local"),
        ("terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n", "cloud"),
        ("terraform /* x */ {\n  backend s3 {\n    bucket = \"b\"\n  }\n}\n", "s3"),
    ] {
        let read = read(&[("main.tf", block), ("terraform.tfstate", "{}")]);
        for (purpose, trust, is_let) in [
            (Purpose::Read, false, false),
            (Purpose::Read, true, true),
            (Purpose::Change, false, false),
            (Purpose::Change, true, false),
        ] {
            assert_eq!(read.check(purpose, trust).is_ok(), is_let, "{block} {purpose:?} {trust}");
        }
        let error = read.check(Purpose::Change, false).unwrap_err().to_string();
        assert!(error.contains("never initialised") && error.contains(kind), "{error}");
    }
}

#[test]
fn a_record_without_a_block_counts_only_where_the_directory_is_trusted() {
    let read = read(&[(RECORD, &recorded("s3", &json!({"bucket": "b"}), 1)), ("main.tf", "")]);
    for purpose in [Purpose::Read, Purpose::Change] {
        assert!(read.check(purpose, false).is_err());
        assert!(read.check(purpose, true).is_ok());
    }
}

#[test]
fn a_configuration_that_cannot_be_read_confirms_nothing_and_is_not_shown() {
    for text in ["terraform {\n  backend \"s3\" {\n    hunter2", "terraform {{{ backend hunter2 }"] {
        let read = read(&[("main.tf", text)]);
        let error = read.check(Purpose::Read, false).unwrap_err();
        assert!(matches!(error, BackendsError::Untrusted { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        assert!(read.check(Purpose::Read, true).is_ok());
    }
    let deep = format!("terraform {{\n  backend \"s3\" {{\n    key = {}\n", "[".repeat(500_000));
    assert!(read(&[("main.tf", &deep)]).check(Purpose::Read, false).is_err());
}

#[cfg(unix)]
#[test]
fn small_files_are_regular_small_and_inside() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("credentials");
    fs::write(&secret, "hunter2").unwrap();
    for (name, limit) in [("environment", 64 << 10), ("terraform.tfstate", 1 << 20), ("../main.tf", 1 << 20)]
    {
        let error = |make: &dyn Fn(&std::path::Path)| {
            let dir = directory(&[(".terraform/x", "")]);
            make(&dir.path().join(".terraform").join(name));
            let read = WorkingDirectory::read(dir.path(), &Variables::none());
            let error = read.and_then(|read| read.check(Purpose::Read, false)).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(!text.contains("hunter2"), "{text}");
            error.to_string()
        };
        let link = error(&|path| symlink(&secret, path).unwrap());
        assert!(link.contains("leaves the directory"), "{link}");
        let device = error(&|path| symlink("/dev/zero", path).unwrap());
        assert!(device.contains("leaves the directory"), "{device}");
        let pipe = error(&|path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap());
        assert!(pipe.contains("not a regular file"), "{pipe}");
        let large = error(&|path| fs::write(path, " ".repeat(limit + 1)).unwrap());
        assert!(large.contains(&format!("more than {} KiB", limit >> 10)), "{large}");
        let binary = error(&|path| fs::write(path, b"hunter2\xff").unwrap());
        assert!(binary.contains("not UTF-8"), "{binary}");
    }
    // A link inside is a file like any other, and the configuration may use files of its own checkout.
    let dir = directory(&[(".git/HEAD", ""), ("common/versions.tf", ""), ("a/terraform.tfstate", "{}")]);
    symlink("../common/versions.tf", dir.path().join("a/versions.tf")).unwrap();
    WorkingDirectory::read(&dir.path().join("a"), &Variables::none())
        .unwrap()
        .check(Purpose::Change, false)
        .unwrap();
}
