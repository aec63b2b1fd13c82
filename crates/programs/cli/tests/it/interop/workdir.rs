//! A working directory of Terraform, used with the command as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use groundstate_testkit::{Ran, TestBackend};

use crate::support;

/// Resources that need no plugin.
const CONFIGURATION: &str = r#"
resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = terraform_data.first.output
}

output "first" {
  value = terraform_data.first.output
}
"#;

/// Holds the lock for as long as the test wants, though not for ever.
const HOLD: &str = "touch holding; for i in $(seq 600); do [ -e release ] && exit; sleep 0.1; done";

/// A working directory, initialised for a place.
#[derive(Debug)]
pub(super) struct Workdir {
    temporary: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl Workdir {
    /// A directory in which `terraform init` has run.
    pub(super) fn new(place: &TestBackend) -> Self {
        Self::with_block(place, &place.block())
    }

    /// One whose block differs from what the place says.
    pub(super) fn with_block(place: &TestBackend, block: &str) -> Self {
        let this =
            Self { temporary: tempfile::tempdir().unwrap(), environment: place.environment().to_vec() };
        this.write("backend.tf", block);
        this.write("main.tf", CONFIGURATION);
        this.write("terraform.rc", "");
        this.terraform(&["init", "-input=false"]).succeeds();
        this
    }

    /// One in which the configuration has been applied too.
    pub(super) fn applied(place: &TestBackend) -> Self {
        let this = Self::new(place);
        this.terraform(&["apply", "-auto-approve"]).succeeds();
        this
    }

    pub(super) fn path(&self) -> &Path {
        self.temporary.path()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn prepared(&self, mut command: Command, args: &[&str]) -> Command {
        // The developer's own settings and credentials must not reach it.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let foreign = ["TF_", "AWS_", "GOOGLE_", "GCLOUD_", "ARM_", "AZURE_", "PG"];
            if foreign.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env("HOME", self.path())
            .env("TF_CLI_CONFIG_FILE", self.path().join("terraform.rc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .envs(self.environment.iter().cloned());
        command
    }

    /// Runs terraform, whatever comes of it.
    pub(super) fn terraform(&self, args: &[&str]) -> Ran {
        Ran::of("terraform", args, self.prepared(Command::new("terraform"), args).output().unwrap())
    }

    /// Runs our command, whatever comes of it.
    pub(super) fn groundstate(&self, args: &[&str]) -> Ran {
        Ran::of("groundstate", args, self.prepared(support::command(&[]), args).output().unwrap())
    }

    /// Has terraform hold the lock: it applies something that takes until [`Held::release`].
    pub(super) fn terraform_holds(&self) -> Held {
        let _removed = fs::remove_file(self.path().join("release"));
        let hold = format!(
            "resource \"terraform_data\" \"hold\" {{\n  provisioner \"local-exec\" {{\n    command = {}\n  }}\n}}\n",
            serde_json::Value::from(HOLD)
        );
        self.write("hold.tf", &hold);
        let args = ["apply", "-auto-approve", "-no-color"];
        Held::wait(self.prepared(Command::new("terraform"), &args), self.path())
    }

    /// Has our command hold the lock.
    pub(super) fn groundstate_holds(&self) -> Held {
        let args = ["lock", ".", "--", "sh", "-c", HOLD];
        Held::wait(self.prepared(support::command(&[]), &args), self.path())
    }

    /// Asserts that Terraform finds nothing to do, and so takes the state for its own.
    #[track_caller]
    pub(super) fn plan_is_clean(&self) {
        let plan = self.terraform(&["plan", "-detailed-exitcode", "-no-color"]);
        assert_eq!(plan.code, Some(0), "{plan}");
    }

    /// The state as Terraform pulls it.
    #[track_caller]
    pub(super) fn pulled(&self) -> serde_json::Value {
        serde_json::from_str(&self.terraform(&["state", "pull"]).succeeds()).unwrap()
    }
}

/// A program that holds the lock.
#[derive(Debug)]
pub(super) struct Held {
    child: Option<Child>,
    dir: PathBuf,
}

impl Held {
    /// Starts the program and waits until it holds the lock.
    fn wait(mut command: Command, dir: &Path) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut held = Self { child: Some(child), dir: dir.to_owned() };
        let start = Instant::now();
        while !dir.join("holding").exists() {
            let child = held.child.as_mut().unwrap();
            if child.try_wait().unwrap().is_some() || start.elapsed() > Duration::from_secs(120) {
                let output = held.child.take().unwrap().wait_with_output().unwrap();
                panic!("it never held the lock: {}", Ran::of("holder", &[], output));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        held
    }

    /// Lets it go on and waits for its end.
    pub(super) fn release(mut self) -> Ran {
        fs::write(self.dir.join("release"), "").unwrap();
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        for name in ["holding", "release"] {
            let _removed = fs::remove_file(self.dir.join(name));
        }
        Ran::of("holder", &[], output)
    }

    /// Ends it as a crash would, so that its lock stays behind.
    pub(super) fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had started ends by itself then.
        fs::write(self.dir.join("release"), "").unwrap();
    }
}

impl Drop for Held {
    /// A test that fails must not leave a process behind.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _killed = child.kill();
            let _ended = child.wait();
        }
    }
}
