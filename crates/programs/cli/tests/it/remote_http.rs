//! States at servers of Terraform's HTTP protocol, by address and by directory.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use groundstate_testkit::{Answer, Fault, TestBackend};

use super::remote::Work;
use super::support::{command, groundstate, resource, with_resources};

fn work() -> Work {
    Work::new(TestBackend::http_here())
}

/// The methods of the requests so far, in words.
fn methods(work: &Work) -> String {
    let server = work.place.server().unwrap();
    server.requests().iter().map(|request| request.method.clone()).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_address_needs_no_directory_and_is_locked_where_it_is() {
    let work = work();
    let url = work.url();
    let new = work.path().join("new.tfstate");
    fs::write(&new, with_resources(&resource("a", "one", "{}"))).unwrap();
    assert_eq!(groundstate(&["push", &url, new.to_str().unwrap(), "--yes"]).code, 0);
    assert_eq!(groundstate(&["list", &url]).clean(), "a.one\n");
    let server = work.place.server().unwrap();
    server.clear_requests();
    assert_eq!(groundstate(&["mv", &url, "a.one", "a.two", "--backup", "-"]).code, 0);
    assert_eq!(methods(&work), "LOCK GET GET POST UNLOCK");
    assert!(groundstate(&["locks", &url]).clean().ends_with("/app: not locked\n"));
    // Without a lock, as with `-lock=false`.
    server.clear_requests();
    assert_eq!(groundstate(&["mv", &url, "a.two", "a.one", "--backup", "-", "--no-lock"]).code, 0);
    assert_eq!(methods(&work), "GET GET POST");
    let unlocked = format!("{url}?lock_address=&unlock_address=");
    let run = groundstate(&["mv", &unlocked, "a.one", "a.two", "--backup", "-"]);
    assert!(run.code == 0 && run.stderr.contains("has no lock_address"), "{}", run.stderr);
    assert_eq!(
        groundstate(&["list", &format!("{url}?workspace=dev")]).clean(),
        "a.two\n",
        "it is the server's"
    );
    let named = groundstate(&["list", &url, "--workspace", "dev"]).failed(2);
    assert!(named.contains("has no workspace dev") && named.contains("address of its own"), "{named}");
}

#[test]
fn a_user_stands_in_the_address_and_a_password_does_not() {
    let work = work();
    let at = |user: &str| work.url().replace("http://", &format!("http://{user}@"));
    let refused = groundstate(&["list", &at("ana:hunter2")]).failed(2);
    assert!(refused.contains("TF_HTTP_PASSWORD") && !refused.contains("hunter2"), "{refused}");
    work.push(&["one"]);
    work.run_with(&["list", &at("ana")], &[("TF_HTTP_PASSWORD", "hunter2")]).clean();
    let last = work.place.server().unwrap().requests().pop().unwrap();
    assert_eq!(last.header("authorization"), Some("Basic YW5hOmh1bnRlcjI="));
}

#[test]
fn a_write_that_the_server_refuses_leaves_the_state_as_a_file_and_no_lock() {
    let work = work();
    work.push(&["one", "two"]);
    let server = work.place.server().unwrap();
    for (answer, code, words) in [
        (Answer::new(403), 11, "answers POST with 403"),
        (Answer::new(413).text("it is too large"), 2, "it is too large"),
        (Answer::new(409).text("the lineage differs"), 9, "the lineage differs"),
    ] {
        server.fault(Fault::instead(answer).on("POST", "*"));
        let run = work.run(&["rm", ".", "a.one"]);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(run.stderr.contains(words) && run.stderr.contains("./errored.tfstate"), "{}", run.stderr);
        server.clear_faults();
        assert_eq!(work.place.locks().len(), 0);
        assert_eq!(work.run(&["list", "errored.tfstate"]).clean(), "a.two\n");
        fs::remove_file(work.path().join("errored.tfstate")).unwrap();
    }
    assert_eq!(work.run(&["list", "."]).clean(), "a.one\na.two\n");
}

#[test]
fn answers_that_get_lost_change_nothing_for_the_user() {
    for loss in [Fault::after_commit_500, Fault::drop_after_commit] {
        for method in ["LOCK", "POST", "UNLOCK"] {
            let work = work();
            work.push(&["one", "two"]);
            let server = work.place.server().unwrap();
            server.fault(loss().on(method, "*").nth(1));
            let run = work.run(&["rm", ".", "a.one"]);
            assert_eq!(run.code, 0, "{method}: {}", run.stderr);
            assert_eq!(work.run(&["list", "."]).clean(), "a.two\n", "{method}");
            assert_eq!(work.place.locks().len(), 0, "{method}");
        }
    }
}

#[test]
fn a_release_that_terraform_takes_for_a_failure_is_warned_of() {
    let work = work();
    work.push(&["one", "two"]);
    let server = work.place.server().unwrap();
    server.fault(Fault::after_commit(204, "").on("UNLOCK", "*"));
    let run = work.run(&["rm", ".", "a.one"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let warnings: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{}", run.stderr);
    assert!(warnings[0].contains("is released, but UNLOCK was answered with 204"), "{}", run.stderr);
    assert_eq!(work.place.locks().len(), 0);
}

#[test]
fn a_server_that_does_not_lock_says_so_before_anything_is_written() {
    let work = work();
    work.push(&["one"]);
    let server = work.place.server().unwrap();
    for status in [404, 405, 501] {
        server.clear_requests();
        server.fault(Fault::instead(Answer::new(status)).on("LOCK", "*"));
        let run = work.run(&["rm", ".", "a.one"]);
        server.clear_faults();
        assert!(run.code != 0 && run.stderr.contains("lock_"), "{status}: {} {}", run.code, run.stderr);
        assert_eq!(methods(&work), "LOCK", "{status}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_while_the_lock_is_taken_leaves_no_lock() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let work = work();
    work.push(&["one"]);
    let server = work.place.server().unwrap();
    // The lock is there, and the answer takes its time.
    server.fault(Fault::delay_answer(Duration::from_secs(5)).on("LOCK", "*").nth(1));
    let mut command = command(&["rm", ".", "a.one"]);
    command.current_dir(work.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while work.place.locks().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "the command has ended before");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert_eq!(work.place.locks().len(), 0, "{stderr}");
    assert_eq!(work.run(&["list", "."]).clean(), "a.one\n");
}

#[test]
fn states_move_between_servers_files_and_buckets() {
    let (work, other) = (work(), TestBackend::http_here());
    let from = tempfile::tempdir().unwrap();
    let file = from.path().join("terraform.tfstate");
    let text = with_resources(&resource("a", "b", "{}")).replace("\"serial\": 1", "\"serial\":   4");
    fs::write(&file, &text).unwrap();
    let there = other.settings()["address"].as_str().unwrap();
    for (from, to) in [(file.to_str().unwrap(), "."), (".", there), (there, "copy.tfstate")] {
        let run = work.run(&["migrate", from, to]);
        assert_eq!(run.code, 0, "{from} {to}: {}", run.stderr);
    }
    assert_eq!(work.stored().unwrap(), text);
    assert_eq!(other.object("").unwrap(), text.as_bytes());
    assert_eq!(fs::read_to_string(work.path().join("copy.tfstate")).unwrap(), text);
    assert_eq!((work.place.locks().len(), other.locks().len()), (0, 0));
    let listed = work.run(&["workspaces", "list", "."]).clean();
    assert_eq!(listed, "* default\n");
    let refused = work.run(&["workspaces", "new", ".", "dev"]).failed(2);
    assert!(refused.contains("address of its own"), "{refused}");
}
