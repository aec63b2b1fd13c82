//! Locks that do not end as they should: lost while they were held, not released, and taken while a signal ends the command.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use groundstate_testkit::{Fault, S3Locks, TestBackend};
use serde_json::Value;

use super::locks::{is_ignored, until};
use super::remote::{Work, everywhere};
use super::support::{Run, command, groundstate, resource, with_resources};
use super::surgery::webshop;

const PROGRAM: &str = env!("CARGO_BIN_EXE_groundstate");

/// Every kind of place in the network.
fn all_places() -> Vec<Work> {
    let more = [TestBackend::azurerm_here(), TestBackend::http_here()].map(Work::new);
    everywhere().into_iter().chain(more).collect()
}

/// Starts the command in the directory.
fn start(work: &Work, args: &[&str]) -> Child {
    let mut command = command(args);
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(work.place.environment().iter().cloned());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

fn ended(child: Child) -> Run {
    Run::of(child.wait_with_output().unwrap())
}

/// The request that takes the lock, and that which releases it: method, path, and which of those.
fn requests(work: &Work) -> [(&'static str, &'static str, u64); 2] {
    match (work.place.kind(), work.place.settings().get("use_lockfile").is_some()) {
        ("gcs", _) => [("PUT", "*.tflock", 1), ("DELETE", "*.tflock", 1)],
        ("http", _) => [("LOCK", "*", 1), ("UNLOCK", "*", 1)],
        ("azurerm", _) => [("PUT", "*?*comp=lease*", 1), ("PUT", "*?*comp=lease*", 2)],
        (_, true) => [("PUT", "*.tflock", 1), ("DELETE", "*.tflock", 1)],
        // A table has one address for everything.
        _ => [("POST", "*", 1), ("POST", "*", 2)],
    }
}

#[test]
fn a_lock_that_another_process_broke_under_a_command_is_no_success() {
    for work in all_places() {
        work.push(&["one"]);
        let broken = work.run(&["lock", ".", "--", PROGRAM, "unlock", ".", "--force"]);
        assert_eq!(broken.code, 10, "{}", broken.stderr);
        assert!(broken.stderr.contains("was lost while it was held"), "{}", broken.stderr);
        assert!(
            !broken.stderr.contains("free it") && !broken.stderr.contains("frees it"),
            "{}",
            broken.stderr
        );
        // The command's own failure counts more.
        let script = format!("{PROGRAM} unlock . --force; exit 7");
        let failed = work.run(&["lock", ".", "--", "sh", "-c", &script]);
        assert!(failed.code == 7 && failed.stderr.contains("was lost"), "{}", failed.stderr);
        // Another process has locked meanwhile: there is no advice to break its lock, and it stays.
        let script = format!(
            "{PROGRAM} unlock . --force; {PROGRAM} lock . -- sleep 60 2>second & \
             while ! {PROGRAM} locks . | grep -q ': locked'; do kill -0 $! || exit 9; sleep 0.1; done"
        );
        let mut child = start(&work, &["lock", ".", "--", "sh", "-c", &script]);
        let code = child.wait().unwrap().code();
        let second = fs::read_to_string(work.path().join("second")).unwrap_or_default();
        assert_eq!(code, Some(10), "{second}");
        assert_eq!(work.place.locks().len(), work.place.locks_of_a_holder());
    }
}

#[test]
fn half_of_a_lock_that_is_gone_is_a_lost_lock() {
    let work = Work::new(TestBackend::s3_here(S3Locks::Both));
    work.push(&["one"]);
    // A configuration that knows of the object only frees that.
    let mut settings = work.place.settings().clone();
    settings.remove("dynamodb_table");
    let half = work.path().join("half");
    fs::create_dir_all(half.join(".terraform")).unwrap();
    let backend = serde_json::json!({"version": 3, "backend": {"type": "s3", "config": settings, "hash": 1}});
    fs::write(half.join(".terraform/terraform.tfstate"), backend.to_string()).unwrap();
    let run = work.run(&["lock", ".", "--", PROGRAM, "unlock", "half", "--force", "--trust-directory"]);
    assert!(
        run.code == 10 && run.stderr.contains("was lost while it was held"),
        "{}{}",
        run.code,
        run.stderr
    );
    assert_eq!(work.place.locks().len(), 0);
}

#[test]
fn a_lock_that_cannot_be_released_is_no_success_and_its_id_frees_it() {
    for work in all_places() {
        work.push(&["one"]);
        let server = work.place.server().unwrap();
        let [_, (method, path, nth)] = requests(&work);
        // A change in a table makes other requests first: all after the one that takes the lock fail for it.
        let fault = Fault::refuse(403, "AccessDenied", None).on(method, path);
        let args: &[&str] = match (method, work.place.kind()) {
            ("POST", _) => &["lock", ".", "--", "true"],
            _ => &["mv", ".", "a.one", "a.two"],
        };
        server.fault(fault.after(nth - 1));
        let run = work.run(args);
        server.clear_faults();
        assert_eq!(run.code, 10, "{}: {}", work.place.kind(), run.stderr);
        assert!(run.stderr.contains("stays locked"), "{}", run.stderr);
        assert!(args[0] == "lock" || run.stdout.contains("The state before"), "it is done: {}", run.stdout);
        let told = run.stderr.split("`groundstate unlock . ").nth(1).unwrap();
        let id = told.split('`').next().unwrap();
        let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
        assert_eq!(is_number, work.place.kind() == "gcs", "{id}");
        let freed = work.run(&["unlock", ".", id]);
        assert_eq!(freed.code, 0, "{}", freed.stderr);
        assert_eq!(work.place.locks().len(), 0);
    }
}

#[test]
fn a_workspace_that_is_made_and_stays_locked_is_said() {
    let work = Work::new(TestBackend::gcs_here());
    let server = work.place.server().unwrap();
    server.fault(Fault::refuse(403, "AccessDenied", None).on("DELETE", "*.tflock"));
    let run = work.run(&["workspaces", "new", ".", "dev"]);
    server.clear_faults();
    assert_eq!(run.code, 10, "{}", run.stderr);
    assert!(run.stderr.contains("it is done, but the lock "), "{}", run.stderr);
    assert!(work.run(&["workspaces", "list", "."]).clean().contains("dev"));
}

#[test]
fn a_file_that_was_replaced_under_its_lock_is_a_lost_lock() {
    let file = webshop();
    let script = format!("cp {0} {0}.new && mv {0}.new {0}", file.path);
    let run = groundstate(&["lock", &file.path, "--", "sh", "-c", &script]);
    assert!(
        run.code == 10 && run.stderr.contains("was lost while it was held"),
        "{}{}",
        run.code,
        run.stderr
    );
}

#[test]
fn a_signal_while_the_lock_is_being_taken_leaves_no_lock() {
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        if is_ignored(name, code) {
            continue;
        }
        for late_answer in [true, false] {
            for work in all_places() {
                work.push(&["one"]);
                let before = work.stored();
                let server = work.place.server().unwrap();
                let [(method, path, nth), _] = requests(&work);
                let by = Duration::from_millis(1500);
                let fault = if late_answer { Fault::delay_answer(by) } else { Fault::delay(by) };
                server.fault(fault.on(method, path).nth(nth));
                let seen = server.count(method, path);
                let child = start(&work, &["mv", ".", "a.one", "a.two"]);
                until("the lock is asked for", || server.count(method, path) > seen);
                std::thread::sleep(Duration::from_millis(100));
                signal(&child, name);
                let run = ended(child);
                let kind = work.place.kind();
                assert_eq!(run.code, code, "{kind}: {}", run.stderr);
                // What was on its way has arrived by now, whatever the command did.
                std::thread::sleep(Duration::from_millis(1600));
                assert!(run.stderr.contains("nothing was written"), "{kind}: {}", run.stderr);
                assert_eq!(
                    work.run(&["locks", "."]).clean(),
                    format!("{}: not locked\n", name_of(&work)),
                    "{kind}"
                );
                assert_eq!(work.stored(), before);
            }
        }
    }
}

/// The state as `locks` names it.
fn name_of(work: &Work) -> String {
    let text = work.run(&["locks", "."]).clean();
    text.trim_end().trim_end_matches(": not locked").to_owned()
}

#[test]
fn a_second_signal_ends_the_wait_and_names_what_may_be_left() {
    for work in all_places() {
        work.push(&["one"]);
        let server = work.place.server().unwrap();
        let [(method, path, nth), _] = requests(&work);
        server.fault(Fault::delay(Duration::from_secs(30)).on(method, path).nth(nth));
        let seen = server.count(method, path);
        let child = start(&work, &["mv", ".", "a.one", "a.two"]);
        until("the lock is asked for", || server.count(method, path) > seen);
        std::thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        signal(&child, "TERM");
        std::thread::sleep(Duration::from_millis(700));
        signal(&child, "TERM");
        let run = ended(child);
        assert_eq!(run.code, 143, "{}", run.stderr);
        assert!(begin.elapsed() < Duration::from_secs(12), "{:?}", begin.elapsed());
        let lock = match work.place.kind() {
            "azurerm" => "the lease on ",
            "http" => "the lock of ",
            _ if method == "POST" => "the row ",
            _ => ".tflock",
        };
        assert!(run.stderr.contains(lock) && run.stderr.contains("unlock . --if-stale"), "{}", run.stderr);
        assert!(run.stderr.contains("waiting for the answer"), "{}", run.stderr);
    }
}

#[test]
fn a_signal_during_a_write_is_told_by_what_is_stored() {
    for work in all_places() {
        work.push(&["one"]);
        let server = work.place.server().unwrap();
        let (method, path) = match work.place.kind() {
            "azurerm" => ("PUT", "*app.tfstate?"),
            "http" => ("POST", "*"),
            _ => ("PUT", "*.tfstate"),
        };
        server.fault(Fault::delay_answer(Duration::from_millis(1500)).on(method, path).nth(1));
        let seen = server.count(method, path);
        let child = start(&work, &["mv", ".", "a.one", "a.two"]);
        until("the state is written", || server.count(method, path) > seen);
        signal(&child, "TERM");
        let run = ended(child);
        assert_eq!(run.code, 0, "what was asked for is done: {}", run.stderr);
        assert_eq!(work.run(&["list", "."]).clean(), "a.two\n");
        assert_eq!(work.place.locks().len(), 0);
    }
}

/// States of these workspaces in a directory.
fn source(work: &Work, names: &[&str]) {
    let from = work.path().join("from");
    fs::create_dir(&from).unwrap();
    for name in names {
        let path = match *name {
            "default" => from.clone(),
            name => from.join("terraform.tfstate.d").join(name),
        };
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("terraform.tfstate"), with_resources(&resource("a", name, "{}"))).unwrap();
    }
}

fn receipt(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("groundstate-migration.json")).unwrap()).unwrap()
}

#[test]
fn a_signal_during_a_write_of_a_migration_leaves_a_true_receipt() {
    let work = Work::new(TestBackend::gcs_here());
    source(&work, &["b", "c", "default"]);
    let server = work.place.server().unwrap();
    server.fault(Fault::delay_answer(Duration::from_millis(1500)).on("PUT", "*/b.tfstate"));
    let child = start(&work, &["migrate", "from", ".", "--all-workspaces"]);
    until("b is written", || server.count("PUT", "*/b.tfstate") > 0);
    signal(&child, "TERM");
    let run = ended(child);
    server.clear_faults();
    assert_eq!(run.code, 143, "{}", run.stderr);
    assert!(run.stderr.contains("interrupted after 2 of 3 states"), "{}", run.stderr);
    assert!(!run.stderr.contains("nothing was written"), "{}", run.stderr);
    let states = receipt(work.path())["states"].clone();
    let names: Vec<&str> =
        states.as_array().unwrap().iter().map(|entry| entry["workspace"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "b"]);
    assert_eq!(work.place.locks().len(), 0);
    assert_eq!(work.run(&["migrate", "from", ".", "--all-workspaces"]).code, 0);
}

#[test]
fn a_write_of_a_migration_that_has_no_answer_is_in_the_receipt() {
    let work = Work::new(TestBackend::gcs_here());
    source(&work, &["default"]);
    let server = work.place.server().unwrap();
    server.fault(Fault::delay(Duration::from_secs(30)).on("PUT", "*/default.tfstate"));
    let child = start(&work, &["migrate", "from", "."]);
    until("it is written", || server.count("PUT", "*/default.tfstate") > 0);
    signal(&child, "TERM");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "TERM");
    let run = ended(child);
    server.clear_faults();
    assert_eq!(run.code, 12, "{}", run.stderr);
    assert!(run.stderr.contains("it is not known whether it is stored"), "{}", run.stderr);
    assert_eq!(receipt(work.path())["states"][0]["outcome"], "unknown");
    assert_eq!(work.place.locks().len(), 0);
    assert_eq!(work.run(&["migrate", "from", "."]).code, 0);
    assert_eq!(receipt(work.path())["states"][0]["outcome"], "copied");
}

#[cfg(unix)]
#[test]
fn a_lease_whose_taker_was_killed_before_its_document_is_found_to_be_stale() {
    for exists in [true, false] {
        let work = Work::new(TestBackend::azurerm_here());
        if exists {
            work.push(&["one"]);
        }
        let server = work.place.server().unwrap();
        // The document is the last of the three requests.
        let document = if exists { 2 } else { 1 };
        server.fault(Fault::delay(Duration::from_secs(60)).on("PUT", "*?*comp=metadata*").nth(document));
        let seen = server.count("PUT", "*?*comp=metadata*");
        let mut child = start(&work, &["lock", ".", "--", "true"]);
        until("the document is sent", || {
            server.count("PUT", "*?*comp=metadata*") as u64 >= seen as u64 + document
        });
        let early = work.run(&["unlock", ".", "--if-stale"]);
        assert!(early.code == 8 && early.stderr.contains("its process is alive"), "{}", early.stderr);
        child.kill().unwrap();
        child.wait().unwrap();
        server.clear_faults();
        let shown = work.run(&["locks", "."]).clean();
        assert!(shown.contains("which no longer runs"), "{shown}");
        let freed = work.run(&["unlock", ".", "--if-stale"]);
        assert_eq!(freed.code, 0, "{}", freed.stderr);
        assert_eq!(work.run(&["lock", ".", "--", "true"]).code, 0);
    }
}

/// The lease of a blob by another program that was cut off: `unlock` with its own id, and nothing else, frees it.
#[test]
fn the_id_of_a_lease_without_a_document_releases_it() {
    let work = Work::new(TestBackend::azurerm_here());
    work.push(&["one"]);
    let server = work.place.server().unwrap();
    // The document is removed, and the release of the lease fails: what is left is a lease without a document.
    server.fault(Fault::refuse(403, "AuthorizationFailure", None).on("PUT", "*?*comp=lease*").after(1));
    let run = work.run(&["lock", ".", "--", "true"]);
    server.clear_faults();
    let id = run.stderr.split("`groundstate unlock . ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let wrong = work.run(&["unlock", ".", "11111111-2222-3333-4444-555555555555"]);
    assert_eq!(wrong.code, 9, "{}", wrong.stderr);
    let stale = work.run(&["unlock", ".", "--if-stale"]);
    assert_eq!(stale.code, 8, "no one can tell whose it is: {}", stale.stderr);
    let freed = work.run(&["unlock", ".", &id]);
    assert_eq!(freed.code, 0, "{}", freed.stderr);
}
