//! The real OpenTofu: what it writes we write again, and what we write it takes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use groundstate_statefile::{DecodeOptions, Dialect, EncodeOptions, decode, encode, encode_equally, list};
use tempfile::TempDir;

/// A folder in which OpenTofu has applied the configuration of our fixtures twice, with another message.
struct Applied(TempDir);

impl Applied {
    /// Nothing if OpenTofu is not there and need not be.
    #[expect(clippy::print_stdout, reason = "who runs the tests has to know what was not compared")]
    fn new() -> Option<Self> {
        if let Err(error) = Command::new("tofu").arg("version").output() {
            let required = std::env::var("GROUNDSTATE_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "tofu"), "tofu is required: {error}");
            println!("not run: tofu is not on the PATH");
            return None;
        }
        let applied = Self(tempfile::tempdir().expect("a folder"));
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opentofu/everything");
        fs::create_dir(applied.0.path().join("m")).expect("a folder");
        for file in ["main.tf", "m/main.tf", "other.tfstate"] {
            fs::copy(config.join(file), applied.0.path().join(file)).expect("a copy of the configuration");
        }
        fs::write(applied.0.path().join("cli.tfrc"), "").expect("an empty file");
        applied.tofu(&["init"]);
        applied.tofu(&["apply", "-auto-approve"]);
        applied.tofu(&["apply", "-auto-approve", "-var=message=second"]);
        Some(applied)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tofu");
        // The developer's own settings must not reach it, nor must it look for plugins or updates.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TF_") || name.starts_with("TOFU_")) {
                command.env_remove(name);
            }
        }
        command.current_dir(self.0.path()).args(arguments);
        command.env("TF_CLI_CONFIG_FILE", self.0.path().join("cli.tfrc")).env("CHECKPOINT_DISABLE", "1");
        command.output().expect("tofu runs")
    }

    /// What a command prints that has to succeed.
    fn tofu(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(arguments);
        let shown = || String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
        assert!(output.status.success(), "tofu {arguments:?}: {}", shown());
        output.stdout
    }

    fn state(&self) -> Vec<u8> {
        fs::read(self.0.path().join("terraform.tfstate")).expect("a state")
    }
}

/// Reads and writes, in the layout that is asked for or in that of the text.
#[track_caller]
fn again(text: &[u8], indented: Option<bool>) -> Vec<u8> {
    let file = decode(text, &DecodeOptions::default()).expect("a state");
    assert_eq!(file.dialect, Dialect::OpenTofu);
    assert!(file.notes.is_empty(), "{:?}", file.notes);
    let mut options = EncodeOptions::default();
    options.indented = indented;
    encode(&file, &options).expect("nothing is lost")
}

#[test]
fn what_opentofu_writes_is_written_again_byte_for_byte() {
    let Some(applied) = Applied::new() else { return };
    let backup = fs::read(applied.0.path().join("terraform.tfstate.backup")).expect("a backup");
    let pulled = applied.tofu(&["state", "pull"]);
    for (name, text) in [("state", applied.state()), ("backup", backup), ("pull", pulled)] {
        let ours = again(&text, None);
        assert!(ours == text, "{name}:\n{}", String::from_utf8_lossy(&ours));
    }
}

#[test]
fn opentofu_finds_nothing_to_do_for_a_state_we_wrote() {
    let Some(applied) = Applied::new() else { return };
    let read = |text: &[u8]| decode(text, &DecodeOptions::default()).expect("a state").state;
    let before = read(&applied.state());
    for indented in [true, false] {
        let ours = again(&applied.state(), Some(indented));
        fs::write(applied.0.path().join("terraform.tfstate"), ours).expect("the state is replaced");
        // Exit code 2 would stand for changes.
        applied.tofu(&["plan", "-detailed-exitcode", "-var=message=second"]);
        // Not as bytes: OpenTofu shuffles results of checks and sensitive paths whenever it writes.
        let after = read(&applied.tofu(&["state", "pull"]));
        assert!(encode_equally(&before, &after), "indented: {indented}");
    }
}

#[test]
fn opentofu_lists_in_the_order_we_list() {
    let Some(applied) = Applied::new() else { return };
    let theirs = String::from_utf8(applied.tofu(&["state", "list"])).expect("UTF-8");
    let ours = list(&applied.state()[..], false).expect("a state");
    let ours: String = ours.iter().map(|listed| format!("{listed}\n")).collect();
    assert_eq!(theirs, ours);
}
