//! A directory that a stranger wrote: it decides about nothing but the place of its own states.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use groundstate_testkit::{Answer, Recorder};
use serde_json::{Value, json};

use crate::support::{Run, command, resource, with_resources};

/// What must not arrive anywhere.
const SECRET: &str = "hunter2";

/// Commands that read a directory.
const READING: [&[&str]; 11] = [
    &["list", "."],
    &["show", "."],
    &["outputs", "."],
    &["outputs", ".", "x"],
    &["check", "."],
    &["graph", "."],
    &["pull", "."],
    &["history", "."],
    &["locks", "."],
    &["workspaces", "list", "."],
    &["diff", ".", "."],
];

/// Commands that change what a directory names.
const CHANGING: [&[&str]; 14] = [
    &["push", ".", "new.json"],
    &["push", "--force", ".", "new.json"],
    &["workspaces", "new", ".", "dev"],
    &["workspaces", "delete", ".", "dev"],
    &["migrate", "new.json", "."],
    &["lock", ".", "--", "true"],
    &["unlock", ".", "1"],
    &["mv", ".", "a.b", "a.c"],
    &["rm", ".", "a.b"],
    &["taint", ".", "a.b"],
    &["replace-provider", ".", "hashicorp/aws", "hashicorp/awscc"],
    &["merge-errored", ".", "new.json"],
    &["undo", "."],
    &["recover", "."],
];

/// A command for each way in which a directory is opened: to be read, listed, locked and changed.
const EACH_WAY: [&[&str]; 6] = [
    &["list", "."],
    &["outputs", ".", "x"],
    &["workspaces", "list", "."],
    &["locks", "."],
    &["push", ".", "new.json"],
    &["migrate", "new.json", "."],
];

/// A checkout, with a home directory that has something to lose.
struct Checkout {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Checkout {
    fn new(files: &[(&str, &str)]) -> Self {
        let [dir, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        fs::create_dir(dir.path().join(".terraform")).unwrap();
        fs::write(home.path().join("credentials"), SECRET).unwrap();
        let this = Self { dir, home };
        this.write("new.json", &with_resources(&resource("a", "b", "{}")));
        files.iter().for_each(|(name, text)| this.write(name, text));
        this
    }

    /// A directory with what `init` would have recorded.
    fn recorded(kind: &str, config: &Value) -> Self {
        let text = json!({"version": 3, "backend": {"type": kind, "config": config, "hash": 1}}).to_string();
        Self::new(&[(".terraform/terraform.tfstate", &text)])
    }

    /// The same with a block that says so.
    fn initialised(kind: &str, config: &Value) -> Self {
        let this = Self::recorded(kind, config);
        this.write("main.tf.json", &json!({"terraform": {"backend": {kind: config}}}).to_string());
        this
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn secret(&self) -> PathBuf {
        self.home.path().join("credentials")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        Run::of(self.output(args, variables))
    }

    fn output(&self, args: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = command(args);
        command.current_dir(self.path()).stdin(Stdio::null()).env("HOME", self.home.path());
        command.env("AWS_EC2_METADATA_DISABLED", "true").envs(variables.iter().copied());
        command.output().unwrap()
    }

    /// Runs commands, with and without trust, and asserts that none of them tells the server anything it must not.
    fn keeps_from(&self, server: &Recorder, variables: &[(&str, &str)]) {
        for args in EACH_WAY {
            for trust in [&[][..], &["--trust-directory"]] {
                let run = self.run(&[args, trust].concat(), variables);
                assert_ne!(run.code, 0, "{args:?} {trust:?}: {}", run.stdout);
                assert!(
                    !format!("{}{}", run.stdout, run.stderr).contains(SECRET),
                    "{args:?}: {}",
                    run.stderr
                );
                assert!(!server.saw(SECRET), "{args:?} {trust:?}: {:?}", server.requests());
            }
        }
    }

    /// The same, and nothing is sent at all.
    fn is_silent(&self, server: &Recorder, variables: &[(&str, &str)]) {
        self.keeps_from(server, variables);
        assert!(server.requests().is_empty(), "{:?}", server.requests());
    }
}

fn recorder() -> Recorder {
    Recorder::start(Answer::new(404))
}

const KEYS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_SESSION_TOKEN", SECRET)];

fn s3(server: &Recorder, more: &Value) -> Value {
    let mut config = json!({"bucket": "b", "key": "k", "region": "us-east-1", "use_path_style": true,
        "endpoints": {"s3": server.endpoint()}});
    more.as_object().unwrap().iter().for_each(|(name, value)| config[name] = value.clone());
    config
}

#[test]
fn a_directory_does_not_name_files_with_tokens() {
    let server = recorder();
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("credentials");
    fs::write(&file, SECRET).unwrap();
    let container = json!({
        "container_credentials_full_uri": server.endpoint(),
        "container_authorization_token_file": file,
    });
    let identity = json!({
        "assume_role_with_web_identity": {"role_arn": "r", "web_identity_token_file": file},
        "endpoints": {"s3": server.endpoint(), "sts": server.endpoint()},
        "insecure": true,
    });
    for more in [container, identity] {
        let config = s3(&server, &more);
        Checkout::recorded("s3", &config).is_silent(&server, &[]);
        Checkout::initialised("s3", &config).is_silent(&server, &[]);
    }
}

#[test]
fn an_endpoint_that_only_init_recorded_gets_nothing() {
    let server = recorder();
    let directory = Checkout::recorded("s3", &s3(&server, &json!({})));
    for args in READING.iter().chain(&CHANGING) {
        let run = directory.run(args, &KEYS);
        assert_eq!(run.code, 3, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("run `terraform init` there"), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("--trust-directory"), "{args:?}: {}", run.stderr);
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
    // The user may say so; a variable does as well as the option.
    assert_eq!(directory.run(&["list", ".", "--trust-directory"], &KEYS).code, 3);
    assert!(server.saw("AK"), "{:?}", server.requests());
    server.clear_requests();
    directory.run(&["list", "."], &[&KEYS[..], &[("GROUNDSTATE_TRUST_DIRECTORY", "1")]].concat());
    assert!(server.saw("AK"), "{:?}", server.requests());
}

#[test]
fn an_endpoint_of_the_block_works_without_a_question() {
    let server = recorder();
    let directory = Checkout::initialised("s3", &s3(&server, &json!({})));
    let nothing = directory.run(&["list", "."], &KEYS).failed(3);
    assert!(nothing.contains("no state is stored"), "{nothing}");
    assert!(server.count("GET", "/b/k") > 0, "{:?}", server.requests());
}

#[test]
fn tokens_of_google_go_to_google_or_where_the_user_says() {
    let server = recorder();
    let endpoint = format!("{}/storage/v1/", server.endpoint());
    let config = json!({"bucket": "b", "prefix": "p", "storage_custom_endpoint": endpoint});
    let token = ("GOOGLE_OAUTH_ACCESS_TOKEN", SECRET);
    Checkout::recorded("gcs", &config).is_silent(&server, &[token]);
    Checkout::initialised("gcs", &config).is_silent(&server, &[token]);
    let universe = json!({"bucket": "b", "universe_domain": "evil.example"});
    Checkout::initialised("gcs", &universe).is_silent(&server, &[token]);
    // The key of a customer is as bad, though the token is the directory's own.
    let mut own = config.clone();
    own["access_token"] = "t".into();
    let key = ("GOOGLE_ENCRYPTION_KEY", "aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMmh1bnQ=");
    Checkout::initialised("gcs", &own).is_silent(&server, &[key]);
    let directory = Checkout::initialised("gcs", &config);
    let named = [token, ("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", endpoint.as_str())];
    assert_eq!(directory.run(&["list", "."], &named).code, 3);
    assert!(server.saw(SECRET), "{:?}", server.requests());
}

#[test]
fn passwords_go_to_the_server_that_the_user_names() {
    let server = recorder();
    let address = format!("{}/state", server.endpoint());
    let config = json!({"address": address, "lock_address": address, "unlock_address": address});
    let basic = [("TF_HTTP_USERNAME", "ana"), ("TF_HTTP_PASSWORD", SECRET)];
    Checkout::recorded("http", &config).is_silent(&server, &basic);
    Checkout::initialised("http", &config).is_silent(&server, &basic);
    // The address is the user's, and where the lock is taken is not.
    let evil = recorder();
    let mut split = config.clone();
    split["lock_address"] = evil.endpoint().into();
    split["unlock_address"] = evil.endpoint().into();
    let named = [&basic[..], &[("TF_HTTP_ADDRESS", address.as_str())]].concat();
    Checkout::initialised("http", &split).is_silent(&server, &named);
    assert!(evil.requests().is_empty());
    // A directory does not say that any certificate will do for the user's password.
    let mut unchecked = config.clone();
    unchecked["skip_cert_verification"] = true.into();
    Checkout::initialised("http", &unchecked).is_silent(&server, &named);
    for variable in
        [("TF_HTTP_ADDRESS", address.as_str()), ("GROUNDSTATE_HTTP_TRUSTED_SERVERS", &server.endpoint())]
    {
        server.clear_requests();
        let directory = Checkout::initialised("http", &config);
        let nothing = directory.run(&["list", "."], &[&basic[..], &[variable]].concat()).failed(3);
        assert!(nothing.contains("no state is stored"), "{nothing}");
        // ana:hunter2
        assert!(server.saw("Basic YW5hOmh1bnRlcjI="), "{:?}", server.requests());
    }
    // A file of the user's configuration lists servers too.
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("groundstate")).unwrap();
    let list = format!("# ours\n\n{}  # state\n", server.endpoint());
    fs::write(home.path().join("groundstate/trusted-servers"), list).unwrap();
    server.clear_requests();
    let directory = Checkout::initialised("http", &config);
    let folder = ("XDG_CONFIG_HOME", home.path().to_str().unwrap());
    directory.run(&["list", "."], &[&basic[..], &[folder]].concat()).failed(3);
    assert!(server.saw("Basic YW5hOmh1bnRlcjI="), "{:?}", server.requests());
    // A relative folder would lie in the checkout.
    server.clear_requests();
    Checkout::initialised("http", &config)
        .is_silent(&server, &[&basic[..], &[("XDG_CONFIG_HOME", ".")]].concat());
}

#[test]
fn options_that_no_product_has_do_not_come_from_a_directory() {
    let server = recorder();
    let azure = json!({"storage_account_name": "acme", "container_name": "c", "key": "k"});
    let with = |config: &Value, name: &str, value: &str| {
        let mut config = config.clone();
        config[name] = value.into();
        config
    };
    let sas = [("ARM_SAS_TOKEN", "sv=1&sig=hunter2")];
    for config in [
        with(&azure, "endpoint", &format!("{}/acme", server.endpoint())),
        with(&with(&azure, "use_msi", "true"), "msi_endpoint", &server.endpoint()),
        with(&azure, "metadata_host", "evil.example"),
        with(&azure, "history", "true"),
    ] {
        for directory in [Checkout::recorded("azurerm", &config), Checkout::initialised("azurerm", &config)] {
            directory.is_silent(&server, &sas);
        }
    }
    let metadata = json!({"ec2_metadata_service_endpoint": server.endpoint()});
    Checkout::initialised("s3", &s3(&server, &metadata))
        .is_silent(&server, &[("AWS_EC2_METADATA_DISABLED", "")]);
    let own = Checkout::initialised("s3", &s3(&server, &json!({"strict_locks": true})));
    let refused = own.run(&["list", "."], &KEYS).failed(2);
    assert!(refused.contains("\"strict_locks\"") && refused.contains("not from a directory"), "{refused}");
}

#[test]
fn a_directory_that_was_never_initialised_is_neither_read_nor_changed() {
    let stale = with_resources(&resource("a", "stale", "{}"));
    for block in [
        "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n",
        "terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n",
        "terraform {\n  backend \"local\" {\n    path = \"x\"\n  }\n}\n",
    ] {
        let directory = Checkout::new(&[("main.tf", block), ("terraform.tfstate", &stale)]);
        for args in READING.iter().chain(&CHANGING) {
            let refused = directory.run(args, &[]);
            assert_eq!((refused.code, &*refused.stdout), (3, ""), "{args:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("run `terraform init` there"), "{args:?}: {}", refused.stderr);
        }
        for args in CHANGING {
            let refused = directory.run(&[args, &["--trust-directory"]].concat(), &[]);
            assert_eq!((refused.code, &*refused.stdout), (3, ""), "{args:?}: {}", refused.stderr);
        }
        assert_eq!(directory.run(&["list", ".", "--trust-directory"], &[]).clean(), "a.stale\n");
        assert_eq!(fs::read_to_string(directory.path().join("terraform.tfstate")).unwrap(), stale);
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".terraform", "main.tf", "new.json", "terraform.tfstate"]);
    }
}

#[test]
fn a_block_that_has_changed_since_init_is_neither_read_nor_changed() {
    let record = |path: &str| {
        let config = json!({"path": path, "workspace_dir": null});
        json!({"version": 3, "backend": {"type": "local", "config": config, "hash": 514_347_324}}).to_string()
    };
    let block =
        |path: &str| format!("terraform {{\n  backend \"local\" {{\n    path = \"{path}\"\n  }}\n}}\n");
    let old = with_resources(&resource("a", "old", "{}"));
    let directory = Checkout::new(&[
        (".terraform/terraform.tfstate", &record("s.json")),
        ("main.tf", &block("s.json")),
        ("s.json", &old),
    ]);
    assert_eq!(directory.run(&["list", "."], &[]).clean(), "a.old\n");
    directory.write("main.tf", &block("t.json"));
    for args in READING.iter().chain(&CHANGING) {
        let refused = directory.run(args, &[]);
        assert_eq!((refused.code, &*refused.stdout), (3, ""), "{args:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("has changed since it was initialised"),
            "{args:?}: {}",
            refused.stderr
        );
    }
    assert_eq!(directory.run(&["list", ".", "--trust-directory"], &[]).clean(), "a.old\n");
    directory.run(&["rm", ".", "a.old", "--trust-directory"], &[]).failed(3);
    assert_eq!(fs::read_to_string(directory.path().join("s.json")).unwrap(), old);
}

#[cfg(unix)]
#[test]
fn small_files_show_nothing_and_hang_nothing() {
    use std::os::unix::fs::symlink;

    for name in [".terraform/environment", ".terraform/terraform.tfstate", "main.tf"] {
        for make in ["link", "device", "pipe", "folder link", "binary", "text"] {
            let directory = Checkout::new(&[("terraform.tfstate", &with_resources(""))]);
            let path = directory.path().join(name);
            match make {
                "link" => symlink(directory.secret(), &path).unwrap(),
                "device" => symlink("/dev/zero", &path).unwrap(),
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
                    assert!(made.success());
                }
                "folder link" => {
                    fs::remove_dir(directory.path().join(".terraform")).unwrap();
                    let folder = directory.home.path().join("data");
                    fs::create_dir(&folder).unwrap();
                    for file in ["environment", "terraform.tfstate"] {
                        fs::write(folder.join(file), SECRET).unwrap();
                    }
                    symlink(&folder, directory.path().join(".terraform")).unwrap();
                }
                "binary" => fs::write(&path, [SECRET.as_bytes(), &[0xff, 0]].concat()).unwrap(),
                _ => fs::write(&path, format!("terraform {{ backend {SECRET} {SECRET}")).unwrap(),
            }
            let started = Instant::now();
            for args in [&["list", "."][..], &["push", ".", "new.json"], &["workspaces", "list", "."]] {
                let run = directory.run(args, &[]);
                let all = format!("{}{}", run.stdout, run.stderr);
                assert!(!all.contains(SECRET), "{name} {make} {args:?}: {all}");
                assert_ne!(run.code, 0, "{name} {make} {args:?}: {all}");
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{name} {make}");
        }
    }
}

#[test]
fn a_backend_that_is_not_built_in_is_named_with_those_that_are() {
    let directory = Checkout::recorded("consul", &json!({"access_token": SECRET}));
    for args in [
        &["list", "."][..],
        &["workspaces", "list", "."],
        &["push", ".", "new.json"],
        &["migrate", ".", "x.json"],
    ] {
        let error = directory.run(args, &[]).failed(3);
        assert!(
            error.contains("\"consul\"") && error.contains("azurerm, gcs, http, local, pg, s3"),
            "{args:?}: {error}"
        );
        assert!(error.contains("state pull > FILE") && !error.contains(SECRET), "{args:?}: {error}");
    }
}
