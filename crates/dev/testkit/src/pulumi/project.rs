//! A Pulumi project in a temporary directory, in which the CLI and other programs run.

use std::path::Path;
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::{
    fs::File,
    process::Child,
    time::{Duration, Instant},
};

use super::cli;
use super::place::PulumiPlace;
use crate::ran::Ran;

/// The name of the projects.
const NAME: &str = "shop";

/// Resources that need no plugin.
const PROGRAM: &str = r#"
config:
  n: { type: integer, default: 1 }
resources:
  first: { type: "pulumi:Stash", properties: { input: "v${n}" } }
  second: { type: "pulumi:Stash", properties: { input: "${first.output}" } }
outputs:
  x: ${second.output}
"#;

/// How a program holds the lock: it reads from a pipe into which nothing has been written.
#[cfg(unix)]
const HOLD: &str = "\nvariables:\n  wait: { \"fn::readFile\": ./pipe }\n";

/// How long a program may take to come to that.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(180);

/// Variables by which the user, or a program that the user runs, would change what the CLI does.
const FOREIGN: [&str; 14] = [
    "AGENT",
    "AI_AGENT",
    "ARM_",
    "AWS_",
    "AZURE_",
    "CLAUDE",
    "CODEX_",
    "COPILOT_",
    "CURSOR_",
    "GEMINI_",
    "GOOGLE_",
    "PG",
    "PULUMI_",
    "STORAGE_EMULATOR_HOST",
];

/// A directory with a program, and the settings with which the CLI finds its stacks in a place.
#[derive(Debug)]
pub struct PulumiProject {
    directory: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl PulumiProject {
    /// A project `shop` with two resources, whose `input` the configuration `n` changes.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn new(place: &PulumiPlace) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(directory.path().join("home")).expect("a folder in it");
        let home = directory.path().join("home").display().to_string();
        let own = [
            ("PULUMI_HOME", home.as_str()),
            ("PULUMI_CREDENTIALS_PATH", &home),
            ("PULUMI_CREDENTIAL_STORE", "plaintext"),
            ("PULUMI_BACKEND_URL", place.url()),
            ("PULUMI_CONFIG_PASSPHRASE", "test"),
            ("PULUMI_SKIP_UPDATE_CHECK", "true"),
            ("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true"),
            ("PULUMI_DISABLE_REGISTRY_RESOLVE", "true"),
            ("PULUMI_SKIP_CONFIRMATIONS", "true"),
            ("PULUMI_OPTION_NON_INTERACTIVE", "true"),
            ("PULUMI_OPTION_COLOR", "never"),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = own.chain(place.environment().iter().cloned()).collect();
        let this = Self { directory, environment };
        this.program(PROGRAM);
        this
    }

    /// Changes a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// Changes a variable from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// One with this stack, to which the program has been applied.
    ///
    /// # Panics
    ///
    /// If the CLI refuses.
    #[track_caller]
    pub fn applied(place: &PulumiPlace, stack: &str) -> Self {
        let this = Self::new(place);
        this.pulumi(&["stack", "init", stack]).succeeds();
        this.up(stack);
        this
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("a file in the directory of the project");
    }

    /// Replaces the program: its `config`, `variables`, `resources` and `outputs`.
    pub fn program(&self, text: &str) {
        self.write("Pulumi.yaml", &format!("name: {NAME}\nruntime: yaml\n{text}"));
    }

    /// Has a program of any kind run in the directory, with these settings and none of the user's own.
    pub fn prepared(&self, mut command: Command, arguments: &[&str]) -> Command {
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| FOREIGN.iter().any(|prefix| name.starts_with(prefix))) {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env("HOME", self.path().join("home")).envs(self.environment.iter().cloned());
        command
    }

    /// Runs pulumi, whatever comes of it.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn pulumi(&self, arguments: &[&str]) -> Ran {
        let output = self.prepared(Command::new(cli()), arguments).output().expect("pulumi starts");
        Ran::of(cli(), arguments, output)
    }

    /// Applies the program to a stack.
    ///
    /// # Panics
    ///
    /// If the CLI refuses.
    #[track_caller]
    pub fn up(&self, stack: &str) {
        self.pulumi(&["up", "--yes", "--skip-preview", "--stack", stack]).succeeds();
    }

    /// Asserts that the CLI finds nothing to do, and so takes the state for its own.
    ///
    /// # Panics
    ///
    /// If the CLI refuses the state, or would change something.
    #[track_caller]
    pub fn preview_is_clean(&self, stack: &str) {
        self.pulumi(&["preview", "--expect-no-changes", "--stack", stack]).succeeds();
    }

    /// The deployment, as the CLI exports it.
    ///
    /// # Panics
    ///
    /// If the CLI refuses.
    #[track_caller]
    pub fn exported(&self, stack: &str) -> serde_json::Value {
        let text = self.pulumi(&["stack", "export", "--stack", stack]).succeeds();
        serde_json::from_str(&text).expect("an export is JSON")
    }

    /// Has pulumi hold the lock on a stack: an update begins that takes until [`PulumiHolds::release`].
    ///
    /// # Panics
    ///
    /// If it never comes to hold the lock.
    #[cfg(unix)]
    pub fn holds(&self, stack: &str) -> PulumiHolds {
        let manifest = self.path().join("Pulumi.yaml");
        let program = std::fs::read_to_string(&manifest).expect("a project has a program");
        let pipe = self.path().join("pipe");
        let _left = std::fs::remove_file(&pipe);
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "cannot make a pipe");
        self.write("Pulumi.yaml", &(program.clone() + HOLD));
        let arguments = ["up", "--yes", "--skip-preview", "--stack", stack];
        let mut command = self.prepared(Command::new(cli()), &arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pulumi starts");
        let mut holds = PulumiHolds { child: Some(child), pipe: None };
        let start = Instant::now();
        // The program runs under the lock, and it has begun when it reads from the pipe.
        while holds.pipe.is_none() {
            let child = holds.child.as_mut().expect("it runs");
            let gone = child.try_wait().is_ok_and(|status| status.is_some());
            assert!(!gone && start.elapsed() < PATIENCE, "it never held the lock: {}", holds.killed());
            std::thread::sleep(Duration::from_millis(20));
            holds.pipe = writer(&pipe);
        }
        self.write("Pulumi.yaml", &program);
        holds
    }
}

/// The end of a pipe into which one writes, if there is a reader.
#[cfg(unix)]
fn writer(pipe: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).custom_flags(nix::libc::O_NONBLOCK).open(pipe).ok()
}

/// An update of pulumi that goes on when it is told to.
#[cfg(unix)]
#[derive(Debug)]
pub struct PulumiHolds {
    child: Option<Child>,
    /// While this is open, its reader waits for more.
    pipe: Option<File>,
}

#[cfg(unix)]
impl PulumiHolds {
    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Lets it go on and waits for its end.
    ///
    /// # Panics
    ///
    /// If it cannot be waited for.
    pub fn release(mut self) -> Ran {
        self.pipe = None;
        self.ended()
    }

    /// Ends it as a crash would, so that its lock stays behind.
    pub fn kill(mut self) {
        let _output = self.killed();
    }

    fn killed(&mut self) -> Ran {
        if let Some(child) = &mut self.child {
            let _killed = child.kill();
        }
        // The host of the language ends when what it reads does.
        self.pipe = None;
        self.ended()
    }

    fn ended(&mut self) -> Ran {
        let child = self.child.take().expect("it is waited for once");
        Ran::of("pulumi up", &[], child.wait_with_output().expect("it ends"))
    }
}

#[cfg(unix)]
impl Drop for PulumiHolds {
    /// A test that fails must not leave a process behind.
    fn drop(&mut self) {
        if self.child.is_some() {
            let _output = self.killed();
        }
    }
}
