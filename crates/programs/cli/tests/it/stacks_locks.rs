//! Locks of Pulumi stacks: shown, removed, and given back by commands that are interrupted.

use std::fs;

use serde_json::Value;

use super::stack_project::Project;

/// The object of a lock with this content.
fn put(project: &Project, stack: &str, name: &str, content: &str) {
    let folder = project.bucket().join("locks/organization/shop").join(stack);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
}

const FIRST: &str = "00000000-0000-4000-8000-000000000001.json";
const SECOND: &str = "00000000-0000-4000-8000-000000000002.json";

#[test]
fn every_lock_is_shown_and_removed_also_of_a_stack_that_does_not_exist() {
    let project = Project::of("plain");
    let lock = r#"{"pid":7,"username":"eve\u001b]0;x\u0007","hostname":"h\nhelp: run me","timestamp":"2026-01-01T00:00:00Z"}"#;
    let lease = r#"{"token":9,"holder":{"id":"x","pid":8,"username":"ana","hostname":"here","acquired":"2026-01-01T00:00:00Z","expires":"2026-01-01T00:05:00Z"}}"#;
    for stack in ["dev", "crashed"] {
        put(&project, stack, FIRST, lock);
        put(&project, stack, SECOND, "");
        let leases = project.bucket().join("groundstate/locks/organization/shop");
        fs::create_dir_all(&leases).unwrap();
        fs::write(leases.join(format!("{stack}.json")), lease).unwrap();

        let shown = project.run(&["locks", ".", "--stack", stack]).clean();
        assert!(shown.starts_with(&format!("stack organization/shop/{stack} in file://")), "{shown}");
        assert!(shown.lines().next().unwrap().ends_with(": 3 locks"), "{shown}");
        for expected in ["unreadable lock: ", "eve", "ana@here", FIRST, SECOND, "groundstate/locks"] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        assert!(!shown.lines().any(|line| line.starts_with("help")), "{shown}");
        let json = project.run(&["locks", ".", "--stack", stack, "--json"]).clean();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["locks"][0]["others"].as_array().unwrap().len(), 2, "{json}");

        let freed = project.run(&["unlock", ".", "--stack", stack, "--force"]).clean();
        assert_eq!(freed.lines().count(), 3, "{freed}");
        assert!(freed.lines().all(|line| line.starts_with("Released file://")), "{freed}");
        assert!(freed.contains(FIRST) && freed.contains(SECOND) && freed.contains("ana@here"), "{freed}");
        assert!(!freed.chars().any(|c| c.is_control() && c != '\n'), "{freed:?}");
        assert!(project.locks(stack).is_empty());
        let again = project.run(&["unlock", ".", "--stack", stack, "--force"]).failed(7);
        assert!(again.contains("is not locked"), "{again}");
    }
    assert_eq!(project.run(&["stacks", "create", ".", "--stack", "crashed"]).code, 0);
}

#[test]
fn a_stack_stays_locked_while_a_command_runs() {
    let project = Project::of("plain");
    let groundstate = env!("CARGO_BIN_EXE_groundstate");
    let shown = project.run(&["lock", ".", "--", groundstate, "locks", "."]).clean();
    assert!(shown.contains("dev.json") && shown.contains(&format!(": {} locks", 2)), "{shown}");
    let refused = project.run(&["lock", ".", "--", groundstate, "stacks", "tags", ".", "--set", "a=b"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("another process holds it"), "{}", refused.stderr);
    assert!(project.locks("dev").is_empty());
    assert!(project.run(&["locks", "."]).clean().contains("not locked"));
    assert_eq!(project.run(&["stacks", "tags", ".", "--set", "a=b"]).code, 0);
}

#[test]
fn hints_name_the_stack_behind_the_options_of_an_address() {
    let project = Project::of("plain");
    put(&project, "dev", FIRST, "");
    let url = format!("{}?metadata=skip", project.url());
    let stack = format!("{url}#organization/shop/dev");
    let named = format!("'{url}#organization/shop/dev'");
    for (args, verb) in [
        (vec!["stacks", "tags", &stack, "--set", "a=b"], "unlock --force"),
        (vec!["stacks", "prune", &url, "--all-stacks", "--keep", "0", "--yes"], "unlock --force"),
        (vec!["unprotect", &stack, "web"], "locks"),
        (vec!["rollback", &stack, "--to", "backup"], "locks"),
    ] {
        let run = project.run(&args);
        assert_eq!(run.code, 8, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("`groundstate {verb} {named}`")), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn a_directory_without_a_project_takes_a_stack_by_its_full_name() {
    let project = Project::of("plain");
    let outside = tempfile::tempdir().unwrap();
    let here = outside.path().display().to_string();
    let full = "organization/shop/dev";
    assert!(project.run(&["locks", &here, "--stack", full]).clean().contains("not locked"));
    assert!(project.run(&["list", &here, "--stack", full]).clean().contains("pulumi:pulumi:Stack"));
    let said = project.run(&["locks", &here, "--stack", "dev"]).failed(2);
    assert!(said.contains("has no project") && said.contains("organization/PROJECT/STACK"), "{said}");
    let mut without = project.command(&["unlock", &here, "--stack", full, "--force"]);
    let said = super::support::Run::of(without.env_remove("PULUMI_BACKEND_URL").output().unwrap()).failed(3);
    assert!(said.contains("set PULUMI_BACKEND_URL, or log in with `pulumi login URL`"), "{said}");
}

#[cfg(unix)]
mod signals {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::{FIRST, put};
    use crate::stack_project::Project;

    fn start(project: &Project, args: &[&str]) -> Child {
        let mut command = project.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn wait_until(what: impl Fn() -> bool) {
        let started = Instant::now();
        while !what() {
            assert!(started.elapsed() < Duration::from_secs(60), "it takes too long");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_signal_ends_the_wait_for_a_lock_and_leaves_none() {
        let project = Project::of("plain");
        put(
            &project,
            "dev",
            FIRST,
            r#"{"pid":7,"username":"ana","hostname":"h","timestamp":"2026-01-01T00:00:00Z"}"#,
        );
        for args in [
            &["stacks", "tags", ".", "--set", "a=b"][..],
            &["stacks", "remove", ".", "--force", "--yes"],
            &["stacks", "prune", ".", "--keep", "1", "--yes"],
        ] {
            let before = project.files();
            let mut child = start(&project, &[args, &["--lock-timeout", "10m"]].concat());
            let mut said = String::new();
            // It says that it waits, and then it listens.
            let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
            std::io::BufRead::read_line(&mut stderr, &mut said).unwrap();
            assert!(said.contains("waiting for the lock"), "{said}");
            kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
            let status = child.wait().unwrap();
            assert_eq!((status.code(), status.signal()), (Some(143), None), "{args:?}");
            assert_eq!((project.locks("dev"), project.files()), (vec![FIRST.to_owned()], before));
        }
    }

    #[test]
    fn a_lock_that_a_killed_command_left_is_named_and_removed() {
        let project = Project::of("plain");
        let mut child = start(&project, &["lock", ".", "--", "sleep", "600"]);
        wait_until(|| project.locks("dev").len() == 1);
        // The lock is written between two lists; after the second the command runs.
        std::thread::sleep(Duration::from_millis(300));
        child.kill().unwrap();
        child.wait().unwrap();
        let refused = project.run(&["stacks", "tags", ".", "--set", "a=b"]).failed(8);
        assert!(refused.contains("`groundstate unlock --force .` frees it"), "{refused}");
        let freed = project.run(&["unlock", ".", "--force"]).clean();
        assert_eq!(freed.lines().count(), 2, "{freed}");
        assert_eq!(project.run(&["stacks", "tags", ".", "--set", "a=b"]).code, 0);
    }
}

#[test]
fn the_dead_process_of_a_lock_of_this_host_is_named() {
    let project = Project::of("plain");
    let host = nix::unistd::gethostname().unwrap().into_string().unwrap();
    // No process has a number that large.
    let lock = |pid: u32, host: &str| {
        format!(r#"{{"pid":{pid},"username":"eve","hostname":"{host}","timestamp":"2026-01-01T00:00:00Z"}}"#)
    };
    for (pid, on_host, is_dead) in [
        (i32::MAX as u32, &*host, true),
        (i32::MAX as u32, "elsewhere", false),
        (std::process::id(), &*host, false),
    ] {
        put(&project, "dev", FIRST, &lock(pid, on_host));
        let shown = project.run(&["locks", "."]).clean();
        assert_eq!(shown.contains(&format!("{pid}, which no longer runs")), is_dead, "{shown}");
        let freed = project.run(&["unlock", ".", "--if-stale"]);
        assert_eq!(freed.code, if is_dead { 0 } else { 8 }, "{}", freed.stderr);
    }
}
