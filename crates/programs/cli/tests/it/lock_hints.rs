//! Every command that is suggested around a lock or a write that failed can be pasted into a shell, and does what the hint says.

use std::process::Stdio;

use groundstate_testkit::{Fault, S3Locks, TestBackend};

use super::lock_trust::suggested;
use super::locks::until;
use super::remote::Work;
use super::serve::Server;
use super::support::{Run, command, groundstate, resource, shell, state, with_resources};

/// A situation that prints suggestions.
struct Situation {
    name: &'static str,
    /// A process that was killed has left its lock.
    stale: bool,
    fault: Option<(&'static str, &'static str, Fault)>,
    /// The verb that fails, and how.
    fails: (&'static [&'static str], i32),
    /// Suggested verbs, with what the user adds to each.
    suggests: &'static [(&'static str, &'static str)],
}

fn situations() -> Vec<Situation> {
    let refused = || Fault::refuse(403, "AccessDenied", None);
    let rm: &[&str] = &["rm", "PLACE", "a.one"];
    vec![
        Situation {
            name: "the lock of another client",
            stale: true,
            fault: None,
            fails: (rm, 8),
            suggests: &[("locks", ""), ("unlock", "")],
        },
        Situation {
            name: "the lock of another client under another verb",
            stale: true,
            fault: None,
            fails: (&["taint", "PLACE", "a.one"], 8),
            suggests: &[("locks", ""), ("unlock", "")],
        },
        Situation {
            name: "a write that the place refuses",
            stale: false,
            fault: Some(("PUT", "*.tfstate", refused())),
            fails: (rm, 11),
            suggests: &[("push", " --yes")],
        },
        Situation {
            name: "a lock that cannot be released",
            stale: false,
            fault: Some(("DELETE", "*.tflock", refused())),
            fails: (rm, 10),
            suggests: &[("locks", ""), ("unlock", "")],
        },
        Situation {
            name: "a write between read and write",
            stale: false,
            fault: Some(("PUT", "*.tfstate", Fault::refuse(412, "PreconditionFailed", None))),
            fails: (rm, 9),
            suggests: &[("merge-errored", " --yes")],
        },
    ]
}

#[test]
fn each_suggested_command_does_what_its_hint_says() {
    for Situation { name, stale, fault, fails: (args, code), suggests } in situations() {
        for is_url in [false, true] {
            let work = Work::new(TestBackend::s3_here(S3Locks::File));
            work.push(&["one", "two"]);
            let url = work.url();
            let place = if is_url { url.as_str() } else { "." };
            if stale {
                work.leave_stale_lock();
            }
            let server = work.place.server().unwrap();
            if let Some((method, path, fault)) = &fault {
                server.fault(fault.clone().on(method, path));
            }
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "PLACE" { place } else { arg }).collect();
            let failed = work.run(&args);
            server.clear_faults();
            assert_eq!(failed.code, code, "{name}, {place}: {}", failed.stderr);
            for (verb, more) in suggests {
                let mut line = suggested(&failed.stderr, verb);
                // Secrets are no part of what is shown; the user adds them.
                if let Some((_, given)) = url.split_once('?').filter(|_| line.contains('…')) {
                    let secrets: Vec<&str> = given.split('&').filter(|pair| !line.contains(*pair)).collect();
                    line = line.replace('…', &secrets.join("&"));
                }
                let ran = work.shell(&format!("{line}{more}"));
                assert_eq!(ran.code, 0, "{name}, {place}: `{line}`: {}", ran.stderr);
            }
            assert_eq!(work.place.locks().len(), 0, "{name}, {place}");
        }
    }
}

#[test]
fn the_suggested_undo_of_the_other_state_can_be_pasted() {
    let instance = r#"{"schema_version": 0, "attributes": {"id": "one"}}"#;
    let (file, other) = (
        state(with_resources(&resource("a", "one", instance))),
        state(with_resources("").replace("\"l\"", "\"m\"")),
    );
    // A name that a shell would take apart.
    let odd = other.dir.path().join("it's a & b.tfstate");
    std::fs::rename(&other.path, &odd).unwrap();
    let odd = odd.to_str().unwrap();
    assert_eq!(groundstate(&["mv", &file.path, "a.one", "--to", odd]).code, 0);
    assert_eq!(groundstate(&["taint", odd, "a.one"]).code, 0);
    let refused = groundstate(&["undo", &file.path]);
    assert_eq!(refused.code, 9, "{}", refused.stderr);
    let ran = Run::of(shell(&suggested(&refused.stderr, "undo")).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let undone = groundstate(&["undo", &file.path]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
}

#[test]
fn suggestions_for_a_stack_of_a_service_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let stack = format!("pulumi+{}#acme/shop/dev", server.url);
    let prepared = |mut command: std::process::Command| {
        command.env("PULUMI_BACKEND_URL", &server.url).env("PULUMI_ACCESS_TOKEN", "none");
        command.current_dir(folder.path()).stdin(Stdio::null());
        command
    };
    let run = |args: &[&str]| Run::of(prepared(command(args)).output().unwrap());
    let created = run(&["stacks", "create", &stack]);
    assert_eq!(created.code, 0, "{}", created.stderr);
    for args in [&["lock", &stack, "--", "true"][..], &["stacks", "remove", &stack, "--yes"]] {
        let mut holder = prepared(command(&["lock", &stack, "--", "sleep", "60"]));
        let mut holder = holder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the stack is locked", || run(&["locks", &stack]).stdout.contains(": locked"));
        holder.kill().unwrap();
        holder.wait().unwrap();
        let refused = run(args);
        assert_eq!(refused.code, 8, "{args:?}: {}", refused.stderr);
        for verb in ["locks", "unlock"] {
            let line = suggested(&refused.stderr, verb);
            let ran = Run::of(prepared(shell(&line)).output().unwrap());
            assert_eq!(ran.code, 0, "`{line}`: {}", ran.stderr);
        }
        assert!(run(&["locks", &stack]).stdout.contains("not locked"));
    }
}
