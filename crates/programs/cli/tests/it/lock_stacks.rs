//! Locks of Pulumi stacks that a command holds while another program works: the real pulumi is kept out, and can end them.

use std::io::Write as _;
use std::process::{Child, Stdio};

use groundstate_testkit::{Answer, PulumiPlace, PulumiProject, Ran, Recorder, pulumi_takes_part};

use super::interop::key_services::ours;
use super::locks::until;
use super::serve::Server;
use super::support::{Run, command};
use super::terminal::Session;

const PROGRAM: &str = "resources:\n  a: { type: 'pulumi:index:Stash', properties: { input: a } }\n";

/// A project with a stack `dev` that the real pulumi has made at the place.
fn project_at(place: &PulumiPlace, login: &str) -> PulumiProject {
    let project = PulumiProject::new(place);
    project.program(PROGRAM);
    project.pulumi(&["login", login]).succeeds();
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.up("dev");
    project
}

/// Runs `lock . -- sh -c SCRIPT` in the background. The script waits for the file `go` beside the project.
fn holding(project: &PulumiProject) -> Child {
    let args = ["lock", ".", "--", "sh", "-c", "touch held; while ! test -e go; do sleep 0.1; done"];
    let mut command = project.prepared(command(&[]), &args);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("the stack is locked", || project.path().join("held").exists());
    child
}

fn ended(project: &PulumiProject, child: Child) -> Run {
    project.write("go", "");
    Run::of(child.wait_with_output().unwrap())
}

fn refused(run: Ran) {
    let said = run.fails();
    assert!(said.contains("409") || said.contains("currently locked"), "{said}");
}

#[test]
fn a_stack_of_our_server_is_locked_while_a_command_runs() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let project = project_at(&PulumiPlace::service(&server.url, "none"), &server.url);
    let before = project.exported("dev");

    let child = holding(&project);
    refused(project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]));
    let second = ours(&project, &["lock", ".", "--", "touch", "ran"], "").fails_with(8);
    assert!(second.contains("lock"), "{second}");
    ours(&project, &["rm", ".", "a"], "").fails_with(8);
    assert!(!project.path().join("ran").exists());
    let shown = ours(&project, &["locks", "."], "").succeeds();
    assert!(shown.contains(": locked") && shown.contains("lock"), "{shown}");
    assert_eq!(project.exported("dev"), before);
    let run = ended(&project, child);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert!(ours(&project, &["locks", "."], "").succeeds().contains("not locked"));
    project.up("dev");

    // `pulumi cancel` and `unlock` end the lock, and its holder says that it was lost.
    for cancel in [true, false] {
        for file in ["held", "go"] {
            std::fs::remove_file(project.path().join(file)).unwrap();
        }
        let child = holding(&project);
        match cancel {
            true => drop(project.pulumi(&["cancel", "--yes", "dev"]).succeeds()),
            false => drop(ours(&project, &["unlock", ".", "--force"], "").succeeds()),
        }
        project.up("dev");
        let run = ended(&project, child);
        assert_eq!(run.code, 10, "{}", run.stderr);
        assert!(run.stderr.contains("was lost while it was held"), "{}", run.stderr);
        assert!(run.stderr.contains("ended the lock"), "{}", run.stderr);
    }
    project.preview_is_clean("dev");
}

#[test]
fn a_service_without_locks_refuses_to_lock() {
    let stack = r#"{"id":"1","orgName":"acme","projectName":"shop","stackName":"dev","activeUpdate":"u","version":1}"#;
    let service = Recorder::answering(move |request| match request.path().as_str() {
        path if path.ends_with("/api/capabilities") => {
            Answer::new(200).body(r#"{"capabilities":[{"capability":"groundstate-conditional-import"}]}"#)
        }
        path if path.ends_with("/dev") => Answer::new(200).body(stack),
        _ => Answer::new(404).body(r#"{"code":404,"message":"no such thing"}"#),
    });
    let folder = tempfile::tempdir().unwrap();
    let (address, ran) = (service.endpoint(), folder.path().join("ran"));
    let place = format!("pulumi+{address}#acme/shop/dev");
    let run = |more: &[&str]| {
        let args = [&["lock", place.as_str()][..], more, &["--", "touch", ran.to_str().unwrap()]].concat();
        let mut command = command(&args);
        command.env("PULUMI_BACKEND_URL", &address).env("PULUMI_ACCESS_TOKEN", "token");
        Run::of(command.current_dir(folder.path()).output().unwrap())
    };
    let refused = run(&[]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("for its own updates only"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`--without-lock`") && !ran.exists(), "{}", refused.stderr);
    let without = run(&["--without-lock"]);
    assert_eq!(without.code, 0, "{}", without.stderr);
    assert!(without.stderr.contains("other clients are not kept out") && ran.exists(), "{}", without.stderr);
    assert!(service.requests().iter().all(|request| !request.path.ends_with("/lock")));
}

#[test]
fn the_real_cancel_of_a_stack_in_a_bucket_is_a_lost_lock() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = PulumiPlace::folder(folder.path());
    let project = project_at(&place, place.url());
    let child = holding(&project);
    refused(project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]));
    project.pulumi(&["cancel", "--yes", "dev"]).succeeds();
    project.up("dev");
    let run = ended(&project, child);
    assert_eq!(run.code, 10, "{}", run.stderr);
    assert!(run.stderr.contains("was lost while it was held"), "{}", run.stderr);
    project.preview_is_clean("dev");
}

#[test]
fn a_push_whose_lock_the_real_cancel_ended_stores_nothing() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = PulumiPlace::folder(folder.path());
    let project = project_at(&place, place.url());
    let mut fewer = project.exported("dev");
    let resources = fewer["deployment"]["resources"].as_array_mut().unwrap();
    resources.retain(|resource| !resource["urn"].as_str().unwrap().ends_with("::a"));
    project.write("fewer.json", &fewer.to_string());
    let (stack, file) =
        (format!("pulumi+{}#organization/shop/dev", place.url()), project.path().join("fewer.json"));
    // The question is asked under the lock.
    let mut session = Session::start(&["push", &stack, file.to_str().unwrap()], None);
    assert!(session.until("Only `yes` does: "), "{}", session.shown);
    refused(project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]));
    project.pulumi(&["cancel", "--yes", "dev"]).succeeds();
    project.program(&format!("{PROGRAM}  b: {{ type: 'pulumi:index:Stash', properties: {{ input: b }} }}\n"));
    project.up("dev");
    session.terminal.write_all(b"yes\n").unwrap();
    let (code, shown) = session.end();
    // Code 10 would say that it is done.
    assert_eq!(code, Some(9), "{shown}");
    assert!(
        shown.contains("was lost while it was held") && shown.contains("nothing more was written"),
        "{shown}"
    );
    project.preview_is_clean("dev");
}
