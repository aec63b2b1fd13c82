//! Every command on places in the network, which answer as the clouds do.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use groundstate_testkit::{Fault, S3Locks, TestBackend};
use serde_json::{Value, json};

use super::support::{Run, command, resource, shell, with_resources};

/// A working directory that `init` has left with a backend.
pub(crate) struct Work {
    pub(crate) place: TestBackend,
    keeps_history: bool,
    dir: tempfile::TempDir,
}

impl Work {
    pub(crate) fn new(place: TestBackend) -> Self {
        let dir = tempfile::tempdir().expect("there is room for a folder");
        let backend =
            json!({"version": 3, "backend": {"type": place.kind(), "config": place.settings(), "hash": 1}});
        fs::create_dir(dir.path().join(".terraform")).expect("the folder is empty");
        fs::write(dir.path().join(".terraform/terraform.tfstate"), backend.to_string()).expect("it is there");
        fs::write(dir.path().join("backend.tf"), place.block()).expect("the folder is empty");
        Self { place, keeps_history: false, dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs the command in the directory, on itself: `.` in the arguments is it.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = command(args);
        command.current_dir(self.path()).stdin(Stdio::null()).envs(variables.iter().copied());
        command.envs(self.place.environment().iter().cloned());
        command.env("GROUNDSTATE_HISTORY", if self.keeps_history { "true" } else { "" });
        Run::of(command.output().expect("the program is there"))
    }

    /// Runs a line of the shell in the directory.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let mut command = shell(line);
        command.current_dir(self.path()).stdin(Stdio::null());
        command.envs(self.place.environment().iter().cloned());
        command.env("GROUNDSTATE_HISTORY", if self.keeps_history { "true" } else { "" });
        Run::of(command.output().expect("there is a shell"))
    }

    /// The same place, which keeps every snapshot from now on.
    pub(crate) fn keeping_history(self) -> Self {
        Self { keeps_history: true, ..self }
    }

    /// Takes the lock in a process that is killed, so that the lock stays.
    pub(crate) fn leave_stale_lock(&self) {
        let mut command = command(&["lock", ".", "--", "sleep", "60"]);
        command.current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(self.place.environment().iter().cloned());
        let mut child = command.spawn().unwrap();
        wait_until(&mut child, || !self.place.locks().is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Stores a state with resources of these names.
    pub(crate) fn push(&self, names: &[&str]) {
        let path = self.path().join("new.tfstate");
        let resources: Vec<String> = names.iter().map(|name| resource("a", name, "{}")).collect();
        fs::write(&path, with_resources(&resources.join(","))).expect("it is a folder");
        let run = self.run(&["push", ".", path.to_str().expect("it is text"), "--force", "--yes"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }

    /// The state of the default workspace, as the service has it.
    pub(crate) fn stored(&self) -> Option<String> {
        self.place.object(self.key()).map(|bytes| String::from_utf8(bytes).expect("it is text"))
    }

    fn key(&self) -> &'static str {
        match self.place.kind() {
            "gcs" => "team/app/default.tfstate",
            _ => "team/app.tfstate",
        }
    }

    /// The same place as an address.
    pub(crate) fn url(&self) -> String {
        let settings = self.place.settings();
        let text = |name: &str| settings.get(name).and_then(Value::as_str).expect("it is a text").to_owned();
        if self.place.kind() == "http" {
            // The lock is where the state is.
            return text("address");
        }
        let (base, own) = match self.place.kind() {
            "gcs" => (format!("gs://{}/{}", text("bucket"), text("prefix")), ["bucket", "prefix"]),
            _ => (format!("s3://{}/{}", text("bucket"), text("key")), ["bucket", "key"]),
        };
        let mut options = Vec::new();
        for (name, value) in settings.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
            match value {
                Value::Object(members) => options.extend(
                    members
                        .iter()
                        .map(|(inner, value)| format!("{name}.{inner}={}", value.as_str().unwrap_or(""))),
                ),
                Value::String(text) => options.push(format!("{name}={text}")),
                other => options.push(format!("{name}={other}")),
            }
        }
        format!("{base}?{}", options.join("&"))
    }
}

/// Waits for something that a command does; it is wrong if the command ends before.
#[track_caller]
fn wait_until(child: &mut Child, mut happens: impl FnMut() -> bool) {
    while !happens() {
        assert!(child.try_wait().expect("it was started").is_none(), "the command has ended before");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A directory for each kind of place that has one state and a lock.
pub(crate) fn all_places() -> Vec<Work> {
    everywhere().into_iter().chain([Work::new(TestBackend::http_here())]).collect()
}

/// A directory for each kind of place with workspaces and objects.
pub(crate) fn everywhere() -> Vec<Work> {
    let s3 = [S3Locks::File, S3Locks::Table, S3Locks::Both].map(TestBackend::s3_here);
    s3.into_iter().chain([TestBackend::gcs_here()]).map(Work::new).collect()
}

#[test]
fn an_initialised_directory_just_works() {
    for work in all_places() {
        let nothing = work.run(&["list", "."]).failed(3);
        assert!(nothing.contains("no state is stored in "), "{nothing}");
        work.push(&["one", "two"]);
        assert_eq!(work.run(&["list", "."]).clean(), "a.one\na.two\n");
        assert_eq!(work.run(&["list", &work.url()]).clean(), "a.one\na.two\n");
        assert_eq!(work.run(&["list", &work.url(), "a.two"]).clean(), "a.two\n");
        assert!(work.run(&["show", ".", "a.one"]).clean().contains("# a.one"));
        assert_eq!(work.run(&["outputs", "."]).code, 0);
        assert!(work.run(&["check", "."]).stdout.contains("://"));
        assert_eq!(work.run(&["pull", "."]).clean(), work.stored().unwrap());
        assert_eq!(work.run(&["diff", ".", &work.url()]).clean(), "the states mean the same\n");
        assert_eq!(work.place.locks().len(), 0);
    }
}

#[test]
fn changes_are_made_under_the_lock_and_leave_a_copy() {
    for work in all_places() {
        work.push(&["one", "two"]);
        let before = work.stored().unwrap();
        let run = work.run(&["mv", ".", "a.one", "a.three"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.run(&["list", "."]).clean(), "a.three\na.two\n");
        assert!(run.stdout.ends_with("which `groundstate undo` restores.\n"), "{}", run.stdout);
        assert!(
            !fs::read_dir(work.path())
                .unwrap()
                .any(|entry| { entry.unwrap().file_name().to_string_lossy().ends_with(".backup") })
        );
        let listed: Value =
            serde_json::from_str(&work.run(&["undo", ".", "--list", "--json"]).clean()).unwrap();
        let copy = listed["backups"][0]["path"].as_str().unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), before);
        let run = work.run(&["undo", "."]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.run(&["list", "."]).clean(), "a.one\na.two\n");
        let run = work.run(&["rm", ".", "a.one", "a.two", "--backup", "-"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.place.locks().len(), 0);
    }
}

#[test]
fn a_lock_is_shown_with_its_process_and_freed() {
    for work in all_places() {
        work.push(&["one"]);
        let program = env!("CARGO_BIN_EXE_groundstate");
        let inside = work.run(&["lock", ".", "--", program, "locks", ".", "--json"]).clean();
        let found: Value = serde_json::from_str(&inside).unwrap();
        let holder = &found["locks"][0]["holder"];
        assert_eq!((&holder["alive"], &holder["operation"]), (&json!(true), &json!("lock")), "{found}");
        assert!(!holder["info"].as_str().unwrap().contains("[groundstate"), "{found}");
        let refused = work.run(&["lock", ".", "--", program, "rm", ".", "a.one"]);
        assert_eq!(refused.code, 8, "{}", refused.stderr);
        assert!(
            refused.stderr.contains("if its holder is gone, `groundstate unlock . "),
            "{}",
            refused.stderr
        );
        let stale = work.run(&["lock", ".", "--", program, "unlock", ".", "--if-stale"]);
        assert!(stale.stderr.contains("its process is alive"), "{}", stale.stderr);
        // The lock is broken under the command, which says so at its end.
        let broken = work.run(&["lock", ".", "--", program, "unlock", ".", "--force"]);
        assert!(broken.stdout.starts_with("Released the lock of "), "{}{}", broken.stdout, broken.stderr);
        assert!(broken.code == 10 && broken.stderr.contains("was lost"), "{}", broken.stderr);
        assert!(work.run(&["locks", "."]).clean().ends_with(": not locked\n"));
        let nothing = work.run(&["unlock", ".", "--force"]).failed(7);
        assert!(nothing.contains("is not locked"), "{nothing}");
    }
}

#[test]
fn a_lock_of_a_process_that_was_killed_is_found_to_be_stale() {
    for work in all_places() {
        work.push(&["one"]);
        work.leave_stale_lock();
        let shown = work.run(&["locks", "."]).clean();
        assert!(shown.contains("which no longer runs") && shown.contains("age:"), "{shown}");
        assert_eq!(work.run(&["rm", ".", "a.one"]).code, 8);
        let run = work.run(&["unlock", ".", "--if-stale"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.run(&["rm", ".", "a.one"]).code, 0);
    }
}

#[test]
fn a_state_that_cannot_be_stored_is_kept_and_the_lock_released() {
    for work in everywhere() {
        work.push(&["one", "two"]);
        let server = work.place.server().unwrap();
        server.fault(Fault::refuse(403, "AccessDenied", None).on("PUT", "*.tfstate"));
        let run = work.run(&["rm", ".", "a.one"]);
        assert_eq!(run.code, 11, "{}", run.stderr);
        assert!(run.stderr.contains("`groundstate push . ./errored.tfstate`"), "{}", run.stderr);
        assert_eq!(work.place.locks().len(), 0);
        server.clear_faults();
        assert_eq!(work.run(&["list", "errored.tfstate"]).clean(), "a.two\n");
        let run = work.run(&["push", ".", "errored.tfstate", "--yes"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.run(&["list", "."]).clean(), "a.two\n");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_while_the_lock_is_taken_leaves_no_lock() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let with_objects =
        |work: &Work| work.place.kind() == "gcs" || work.place.settings().contains_key("use_lockfile");
    for work in everywhere().into_iter().filter(with_objects) {
        work.push(&["one"]);
        let server = work.place.server().unwrap();
        // The lock is there, and the answer takes its time.
        server.fault(Fault::delay_answer(Duration::from_secs(5)).on("PUT", "*.tflock"));
        let mut command = command(&["rm", ".", "a.one"]);
        command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        wait_until(&mut child, || !work.place.locks().is_empty());
        kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(143), "{stderr}");
        assert!(stderr.contains("interrupted, nothing was written"), "{stderr}");
        assert_eq!(work.place.locks().len(), 0, "{stderr}");
        server.clear_faults();
        assert_eq!(work.run(&["list", "."]).clean(), "a.one\n");
    }
}

#[test]
fn workspaces_are_listed_made_migrated_and_deleted() {
    for work in everywhere() {
        work.push(&["one"]);
        assert_eq!(work.run(&["workspaces", "list", "."]).clean(), "* default\n");
        assert_eq!(work.run(&["workspaces", "new", ".", "dev"]).code, 0);
        assert_eq!(work.run(&["workspaces", "new", ".", "dev"]).code, 9);
        assert_eq!(work.run(&["workspaces", "list", "."]).clean(), "* default\n  dev\n");
        assert_eq!(work.run(&["list", ".", "--workspace", "dev"]).clean(), "");
        assert_eq!(work.run(&["list", &format!("{}&workspace=dev", work.url())]).clean(), "");
        assert_eq!(work.run(&["workspaces", "delete", ".", "default"]).code, 2);
        let run = work.run(&["migrate", ".", "copy", "--all-workspaces"]);
        assert_eq!(run.code, 2, "a folder that is not there is taken for a file: {}", run.stderr);
        fs::create_dir(work.path().join("copy")).unwrap();
        let run = work.run(&["migrate", ".", "copy", "--all-workspaces"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(
            fs::read_to_string(work.path().join("copy/terraform.tfstate")).unwrap(),
            work.stored().unwrap()
        );
        assert_eq!(work.run(&["workspaces", "delete", ".", "dev"]).code, 0);
        assert_eq!(work.run(&["workspaces", "list", "."]).clean(), "* default\n");
    }
}

#[test]
fn states_arrive_from_a_directory_with_lineage_serial_and_bytes() {
    for work in everywhere() {
        let from = tempfile::tempdir().unwrap();
        let text = with_resources(&resource("a", "b", "{}")).replace("\"serial\": 1", "\"serial\":   4");
        fs::write(from.path().join("terraform.tfstate"), &text).unwrap();
        let from = from.path().to_str().unwrap();
        let run = work.run(&["migrate", from, "."]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.stored().unwrap(), text);
        assert_eq!(work.place.locks().len(), 0);
        // The answer to the first write got lost: it is recognised and not taken for another's.
        let newer = text.replace("\"serial\":   4", "\"serial\":   5");
        fs::write(Path::new(from).join("terraform.tfstate"), &newer).unwrap();
        let server = work.place.server().unwrap();
        server.fault(Fault::after_commit_500().on("PUT", "*.tfstate").nth(1));
        let run = work.run(&["migrate", from, "."]);
        assert_eq!((run.code, work.stored().unwrap()), (0, newer), "{}", run.stderr);
        let run = work.run(&["migrate", from, "."]);
        assert!(run.stdout.contains("is there already, serial 5"), "{}", run.stdout);
    }
}

#[test]
fn every_state_is_kept_and_can_come_back() {
    for work in everywhere() {
        let work = work.keeping_history();
        work.push(&["one", "two"]);
        let run = work.run(&["rm", ".", "a.one"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stdout.contains("The state before is in"), "{}", run.stdout);
        let json: Value = serde_json::from_str(&work.run(&["history", ".", "--json"]).clean()).unwrap();
        let serials: Vec<u64> = json["snapshots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["serial"].as_u64().unwrap())
            .collect();
        assert_eq!(serials.len(), 2, "{json}");
        assert!(serials[0] > serials[1], "{json}");
        let first = json["snapshots"][1]["id"].as_str().unwrap();
        assert!(work.run(&["history", "."]).clean().lines().nth(1).unwrap().starts_with(first));
        let paged = work.run(&["history", ".", "--page", "1"]).failed(2);
        assert!(paged.contains("is no Pulumi stack"), "{paged}");
        assert!(work.run(&["show", ".", "--at", first]).clean().contains("# a.one"));
        let diff = work.run(&["diff", ".", "--at", first]);
        assert!(diff.code == 1 && diff.stdout.contains("- a.one"), "{}{}", diff.stdout, diff.stderr);
        let second = json["snapshots"][0]["id"].as_str().unwrap();
        assert_eq!(
            work.run(&["diff", ".", "--at", second, "--at", second]).clean(),
            "the states mean the same\n"
        );
        work.push(&["one", "two", "three"]);
        let before = work.stored();
        let refused = work.run(&["rollback", ".", "--to", second]).failed(6);
        assert!(refused.contains("2 objects would vanish") && refused.contains("  - a.one\n"), "{refused}");
        assert_eq!(work.stored(), before);
        assert_eq!(work.run(&["rollback", ".", "--to", second, "--yes"]).code, 0);
        assert_eq!(work.run(&["list", "."]).clean(), "a.two\n");
        let preview = work.run(&["rollback", ".", "--to", first, "--dry-run"]).clean();
        assert!(preview.contains("+ a.one"), "{preview}");
        let run = work.run(&["rollback", ".", "--to", first]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let serial = |text: &str| serde_json::from_str::<Value>(text).unwrap()["serial"].as_u64().unwrap();
        let highest = serial(&before.unwrap()).max(serials[0]) + 2;
        assert!(run.stdout.contains(&format!("has serial {highest} now")), "{}", run.stdout);
        assert_eq!(work.run(&["list", "."]).clean(), "a.one\na.two\n");
        assert_eq!(work.run(&["rollback", ".", "--to", "nope"]).code, 7);
        assert_eq!(work.place.locks().len(), 0);
    }
}

#[test]
fn what_is_missing_or_wrong_is_named_with_what_to_change() {
    for work in everywhere() {
        let bucket = work.place.settings()["bucket"].as_str().unwrap().to_owned();
        let elsewhere = Work::new(work.place.with("bucket", "no-such-bucket-here"));
        let message = elsewhere.run(&["list", "."]).failed(3);
        assert!(
            message.contains("no-such-bucket-here") && !message.contains("no state is stored"),
            "{message}"
        );
        let wrong = Work::new(elsewhere.place.with("bucket", bucket).with("bukket", "hunter2"));
        let message = wrong.run(&["list", "."]).failed(2);
        assert!(message.contains("bukket") && !message.contains("hunter2"), "{message}");
    }
}

#[test]
fn locks_move_from_a_table_to_objects() {
    let work = Work::new(TestBackend::s3_here(S3Locks::Table));
    work.push(&["one"]);
    assert_eq!(work.run(&["workspaces", "new", ".", "dev"]).code, 0);
    assert!(work.place.digest().is_some());
    let preview = work.run(&["migrate-lock", ".", "--all-workspaces", "--dry-run"]).clean();
    assert!(preview.starts_with("default: would be locked by ") && preview.contains("dev: "), "{preview}");
    assert!(work.place.digest().is_some());
    let program = env!("CARGO_BIN_EXE_groundstate");
    let held = work.run(&["lock", ".", "--", program, "migrate-lock", "."]);
    assert_eq!(held.code, 8, "{}", held.stderr);
    let run = work.run(&["migrate-lock", ".", "--all-workspaces"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains(".tflock") && run.stderr.contains("use_lockfile = true"), "{}", run.stdout);
    assert_eq!((work.place.digest(), work.place.locks().len()), (None, 0));
    let again = work.run(&["migrate-lock", "."]);
    assert!(again.stdout.contains("the table has no digest of it"), "{}", again.stdout);
    for other in [Work::new(TestBackend::gcs_here()), Work::new(TestBackend::s3_here(S3Locks::File))] {
        let refused = other.run(&["migrate-lock", "."]).failed(2);
        assert!(refused.contains("table"), "{refused}");
    }
}

#[test]
fn a_digest_is_repaired() {
    let work = Work::new(TestBackend::s3_here(S3Locks::Both));
    work.push(&["one"]);
    let right = work.place.digest().unwrap();
    let nothing = work.run(&["repair-digest", "."]).clean();
    assert!(nothing.starts_with("Nothing to repair: ") && nothing.contains(&right), "{nothing}");
    // An object is put there by other means.
    let newer = work.stored().unwrap().replace("one", "two");
    let put = put_without_digest(&work, &newer);
    assert!(put, "the object is replaced");
    let run = work.run(&["repair-digest", "."]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains(&format!(" was {right} and is ")), "{}", run.stdout);
    assert_ne!(work.place.digest().unwrap(), right);
    assert_eq!(work.run(&["list", "."]).clean(), "a.two\n");
    assert_eq!(work.place.locks().len(), 0);
}

/// Replaces the object of the state, past everybody who keeps digests.
fn put_without_digest(work: &Work, text: &str) -> bool {
    let settings = work.place.settings();
    let mut plain = settings.clone();
    plain.remove("dynamodb_table");
    let backend = json!({"version": 3, "backend": {"type": "s3", "config": plain, "hash": 1}});
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".terraform")).unwrap();
    fs::write(dir.path().join(".terraform/terraform.tfstate"), backend.to_string()).unwrap();
    let block = json!({"terraform": {"backend": {"s3": plain}}});
    fs::write(dir.path().join("main.tf.json"), block.to_string()).unwrap();
    fs::write(dir.path().join("new.tfstate"), text).unwrap();
    let mut command = command(&["push", ".", "new.tfstate", "--force"]);
    let run = Run::of(command.current_dir(dir.path()).output().unwrap());
    run.code == 0
}

#[test]
fn azure_is_a_place_like_the_others() {
    let server = groundstate_testkit::AzureServer::start_blocking();
    server.create_container("states");
    let endpoint = server.account_endpoint();
    let account = endpoint.rsplit('/').next().unwrap().to_owned();
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "storage_account_name": account, "container_name": "states", "key": "prod.tfstate",
        "access_key": "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    });
    let backend = json!({"version": 3, "backend": {"type": "azurerm", "config": config, "hash": 1}});
    fs::create_dir(dir.path().join(".terraform")).unwrap();
    fs::write(dir.path().join(".terraform/terraform.tfstate"), backend.to_string()).unwrap();
    let block = json!({"terraform": {"backend": {"azurerm": config}}});
    fs::write(dir.path().join("main.tf.json"), block.to_string()).unwrap();
    fs::write(dir.path().join("new.tfstate"), with_resources(&resource("a", "one", "{}"))).unwrap();
    let run = |args: &[&str]| {
        let mut command = command(args);
        command.current_dir(dir.path()).env("GROUNDSTATE_AZURE_BLOB_ENDPOINT", &endpoint);
        Run::of(command.stdin(Stdio::null()).output().unwrap())
    };
    let pushed = run(&["push", ".", "new.tfstate"]);
    assert_eq!(pushed.code, 0, "{}", pushed.stderr);
    assert_eq!(run(&["list", "."]).clean(), "a.one\n");
    let url =
        format!("az://states/prod.tfstate?storage_account_name={account}&endpoint={endpoint}&workspace=dev");
    assert_eq!(run(&["workspaces", "new", ".", "dev"]).code, 0);
    let listed = Run::of(
        command(&["list", &url])
            .env("ARM_ACCESS_KEY", config["access_key"].as_str().unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    );
    assert_eq!(listed.clean(), "");
    let program = env!("CARGO_BIN_EXE_groundstate");
    assert_eq!(run(&["lock", ".", "--", program, "rm", ".", "a.one"]).code, 8);
    // A lease whose document is gone: Terraform cannot free it.
    let mut held = command(&["lock", ".", "--", "sleep", "60"]);
    held.current_dir(dir.path()).env("GROUNDSTATE_AZURE_BLOB_ENDPOINT", &endpoint);
    let mut child = held.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || server.lease_id("states", "prod.tfstate").is_some());
    // The document is written after the lease is taken.
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    let known = run(&["unlock", ".", "--break"]);
    assert!(known.code == 8 && known.stderr.contains("has left a record"), "{}", known.stderr);
    assert_eq!(run(&["unlock", ".", "--if-stale"]).code, 0);
    assert_eq!(server.lease_id("states", "prod.tfstate"), None);
    assert_eq!(run(&["rm", ".", "a.one"]).code, 0);
}

#[test]
fn one_output_of_a_large_state_is_read_without_the_rest() {
    for work in [Work::new(TestBackend::gcs_here()), Work::new(TestBackend::s3_here(S3Locks::File))] {
        let padding = "x".repeat(1 << 20);
        let text =
            with_resources(&resource("a", "one", &format!("{{\"attributes\": {{\"id\": \"{padding}\"}}}}")));
        let outputs = r#""outputs": {"url": {"value": "https://example.com", "type": "string"}}"#;
        let text = text.replace("\"outputs\": {}", outputs);
        fs::write(work.path().join("new.tfstate"), &text).unwrap();
        assert_eq!(work.run(&["push", ".", "new.tfstate"]).code, 0);
        let server = work.place.server().unwrap();
        let mark = server.mark();
        assert_eq!(work.run(&["outputs", ".", "url", "--raw"]).clean(), "https://example.com");
        let sent = server.traffic_since(mark).sent;
        assert!(sent < 200_000, "{sent} bytes for one output");
        assert_eq!(work.run(&["outputs", ".", "nope"]).code, 7);
    }
}

#[test]
fn a_migration_that_was_killed_goes_on() {
    let work = Work::new(TestBackend::gcs_here());
    let from = work.path().join("from");
    let text =
        |name: &str| with_resources(&resource("a", name, "{}")).replace("\"serial\": 1", "\"serial\": 7");
    for name in ["b", "c"] {
        let path = from.join("terraform.tfstate.d").join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("terraform.tfstate"), text(name)).unwrap();
    }
    fs::write(from.join("terraform.tfstate"), text("default")).unwrap();
    let server = work.place.server().unwrap();
    server.fault(Fault::delay(Duration::from_secs(20)).on("PUT", "*/b.tfstate"));
    let mut killed = command(&["migrate", "from", ".", "--all-workspaces"]);
    let mut child =
        killed.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || server.count("PUT", "*/b.tflock") > 0);
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    server.clear_faults();
    let receipt = fs::read_to_string(work.path().join("groundstate-migration.json")).unwrap();
    assert!(receipt.contains("\"default\"") && !receipt.contains("finished"), "{receipt}");

    let locked = work.run(&["migrate", "from", ".", "--all-workspaces"]);
    assert_eq!(locked.code, 8, "{}", locked.stderr);
    assert_eq!(work.run(&["unlock", ".", "--if-stale", "--workspace", "b"]).code, 0);
    let run = work.run(&["migrate", "from", ".", "--all-workspaces"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("default: is there already, serial 7\nb: "), "{}", run.stdout);
    for name in ["b", "c", "default"] {
        assert_eq!(work.run(&["pull", ".", "--workspace", name]).clean(), text(name));
    }
    let receipt: Value =
        serde_json::from_slice(&fs::read(work.path().join("groundstate-migration.json")).unwrap()).unwrap();
    let states = receipt["states"].as_array().unwrap();
    assert_eq!((states.len(), &states[0]["outcome"]), (3, &json!("copied")), "{receipt}");
    assert!(receipt["finished"].is_string());
}

#[test]
fn refusals_of_a_service_say_what_to_change() {
    let server = groundstate_testkit::S3Server::start_blocking();
    server.create_bucket("states");
    let list = |key: &str, region: &str| {
        let url = format!(
            "s3://states/a.tfstate?region={region}&endpoints.s3={}&use_path_style=true",
            server.endpoint()
        );
        let mut command = command(&["list", &url]);
        command.env("AWS_ACCESS_KEY_ID", key).env("AWS_SECRET_ACCESS_KEY", "hunter2").stdin(Stdio::null());
        // A wrong option is one of the command line, and only what is not there is no state.
        let code = match (key, region) {
            ("known", "us-east-1") => 2,
            ("unknown" | "known", _) => 11,
            _ => 3,
        };
        let message = Run::of(command.output().unwrap()).failed(code);
        assert!(!message.contains("hunter2"), "{message}");
        message
    };
    assert!(list("a", "us-east-1").contains("no state is stored in s3://states/a.tfstate"));
    server.require_key("known", "hunter2");
    let message = list("unknown", "us-east-1");
    assert!(message.contains("access_key") || message.contains("AWS_ACCESS_KEY_ID"), "{message}");
    server.require_region("eu-west-1");
    let message = list("known", "us-east-1");
    assert!(message.contains("region") && message.contains("eu-west-1"), "{message}");
    server.set_clock_skewed(true);
    let message = list("known", "eu-west-1");
    assert!(message.contains("clock"), "{message}");
    server.set_clock_skewed(false);
    server.deny("GET", "*");
    let message = list("known", "eu-west-1");
    assert!(message.contains("s3:GetObject") || message.contains("permission"), "{message}");
}
