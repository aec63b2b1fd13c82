//! The real Terraform and OpenTofu beside this store, on one database.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use groundstate_statemgr_pg::statemgr::{ErrorKind, Expect, StateStore, WriteOptions};
use groundstate_testkit::is_required;
use tempfile::TempDir;

use crate::support::{OF_OPENTOFU, OF_TERRAFORM, Place, holders, info, row};

const CONFIGURATION: &str = r#"
variable "slow" { default = false }
resource "terraform_data" "a" {
  input            = "one"
  triggers_replace = var.slow
  provisioner "local-exec" {
    command = var.slow ? "touch begun; for i in $(seq 1200); do [ -e go ] && exit; sleep 0.1; done" : "true"
  }
}
"#;

/// A working directory of a program.
struct Workdir {
    program: &'static str,
    folder: TempDir,
}

impl Workdir {
    /// One that is initialised.
    fn new(program: &'static str, place: &Place) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let block =
            format!("terraform {{\n  backend \"pg\" {{\n    conn_str = {:?}\n  }}\n}}\n", place.conn_str());
        fs::write(folder.path().join("main.tf"), format!("{block}{CONFIGURATION}")).unwrap();
        fs::write(folder.path().join("cli.rc"), "").unwrap();
        let this = Self { program, folder };
        this.succeeds(&["init", "-input=false"]);
        this
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TF_") || name.starts_with("PG")) {
                command.env_remove(name);
            }
        }
        command.env("TF_CLI_CONFIG_FILE", self.folder.path().join("cli.rc")).env("CHECKPOINT_DISABLE", "1");
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs it, while others use the runtime.
    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{} {arguments:?}: {}", self.program, text(&output));
        text(&output)
    }

    /// Has it apply, which takes until it is let go.
    async fn applies(&self) -> Applying {
        let mut command = self.command(&["apply", "-auto-approve", "-no-color", "-var", "slow=true"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let applying = Applying { child: Some(child), go: self.folder.path().join("go") };
        let started = Instant::now();
        while !self.folder.path().join("begun").exists() {
            assert!(started.elapsed() < Duration::from_secs(120), "{} does not begin", self.program);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        applying
    }
}

struct Applying {
    child: Option<Child>,
    go: std::path::PathBuf,
}

impl Applying {
    fn end(mut self) -> Output {
        fs::write(&self.go, "").unwrap();
        self.child.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Applying {
    /// A test that fails must not leave a process behind.
    fn drop(&mut self) {
        drop(fs::write(&self.go, ""));
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Those of the programs that are on the path.
#[expect(clippy::print_stdout, reason = "who runs the tests has to know what was not compared")]
fn programs() -> Vec<&'static str> {
    let is_there = |program: &&str| {
        let found = Command::new(program).arg("version").output().is_ok();
        assert!(found || !is_required(program), "{program} has to be on the PATH");
        if !found {
            println!("not run: {program} is not on the PATH");
        }
        found
    };
    ["terraform", "tofu"].into_iter().filter(is_there).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_uses_the_tables_that_the_other_made() {
    for program in programs() {
        for is_ours_first in [true, false] {
            let Some(place) = Place::new().await else { return };
            if is_ours_first {
                place.backend().prepare().await.unwrap();
            }
            let workdir = Workdir::new(program, &place);
            workdir.succeeds(&["apply", "-auto-approve"]);
            let store = place.store();
            let stored = store.read().await.unwrap().unwrap();
            let state: serde_json::Value = serde_json::from_slice(&stored.bytes).unwrap();
            assert_eq!(state["resources"][0]["type"], "terraform_data", "{program}");
            let other = place.other().await;
            let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'terraform_remote_state' AND tablename = 'states'";
            assert_eq!(
                other.query_one(indexes, &[]).await.unwrap().get::<_, i64>(0),
                3,
                "{program} {is_ours_first}"
            );
            // What is written here is what it goes on with.
            let grant = store.lock(&info("a")).await.unwrap();
            let mut next = state;
            next["serial"] = (next["serial"].as_u64().unwrap() + 1).into();
            let bytes = serde_json::to_vec_pretty(&next).unwrap();
            store
                .write(
                    Bytes::copy_from_slice(&bytes),
                    &WriteOptions::expecting(Expect::Version(stored.version)),
                )
                .await
                .unwrap();
            store.unlock(&grant.id).await.unwrap();
            let plan = workdir.run(&["plan", "-detailed-exitcode", "-no-color"]).await;
            assert_eq!(plan.status.code(), Some(0), "{program}: {}", text(&plan));
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&workdir.succeeds(&["state", "pull"])).unwrap(),
                next
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_either_keeps_the_other_out() {
    for program in programs() {
        let Some(place) = Place::new().await else { return };
        let workdir = Workdir::new(program, &place);
        workdir.succeeds(&["apply", "-auto-approve"]);
        let (store, other) = (place.store(), place.other().await);

        let grant = store.lock(&info("a")).await.unwrap();
        let plan = workdir.run(&["plan", "-no-color"]).await;
        assert!(
            !plan.status.success() && text(&plan).contains("Workspace is already locked"),
            "{}",
            text(&plan)
        );
        store.unlock(&grant.id).await.unwrap();

        let applying = workdir.applies().await;
        let error = store.lock(&info("b")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked, "{program}: {error}");
        let process = holders(&other, row(&other, "default").await).await[0];
        assert_eq!(error.holder().unwrap().id.as_str(), format!("process-{process}"), "{program}");
        // Reading needs no lock.
        assert!(store.read().await.unwrap().is_some());
        let ended = applying.end();
        assert!(ended.status.success(), "{program}: {}", text(&ended));
        let grant = store.lock(&info("c")).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_lock_of_either_keeps_the_other_from_a_first_lock() {
    for (program, key) in [("terraform", OF_TERRAFORM), ("tofu", OF_OPENTOFU)] {
        if !programs().contains(&program) {
            continue;
        }
        let Some(place) = Place::new().await else { return };
        let workdir = Workdir::new(program, &place);
        let (store, other) = (place.store(), place.other().await);

        let grant = store.lock(&info("a")).await.unwrap();
        let apply = workdir.run(&["apply", "-auto-approve", "-no-color"]).await;
        assert!(!apply.status.success(), "{program}: {}", text(&apply));
        assert!(text(&apply).contains("locked for workspace creation"), "{program}: {}", text(&apply));
        store.unlock(&grant.id).await.unwrap();

        let applying = workdir.applies().await;
        assert_eq!(holders(&other, key).await.len(), 1, "{program} holds {key}");
        let error = store.lock(&info("b")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked, "{program}: {error}");
        let ended = applying.end();
        assert!(ended.status.success(), "{program}: {}", text(&ended));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_terraform_claims_to_have_unlocked_nothing_is_and_here_it_is_or_is_refused() {
    for program in programs() {
        let Some(place) = Place::new().await else { return };
        let workdir = Workdir::new(program, &place);
        workdir.succeeds(&["apply", "-auto-approve"]);
        let (store, other) = (place.store(), place.store());
        let grant = store.lock(&info("681fbb37-7302-b5fd-bac8-6224f8cc5180")).await.unwrap();
        workdir.succeeds(&["force-unlock", "-force", grant.id.as_str()]);
        assert_eq!(
            other.lock_holder().await.unwrap().unwrap().id,
            grant.id,
            "{program} has released nothing"
        );
        store.write(Bytes::from_static(b"{\"version\":4}"), &WriteOptions::any()).await.unwrap();

        other.force_unlock(&grant.id).await.unwrap();
        assert_eq!(other.lock_holder().await.unwrap(), None);
        let error = store.write(Bytes::from_static(b"{}"), &WriteOptions::any()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
        assert_eq!(other.force_unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
}
