//! Locks that are none, locks of other mechanisms, and what is said of places that cannot be used.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;

use groundstate_testkit::{Fault, S3Locks, TestBackend};
use serde_json::{Value, json};

use super::locks::until;
use super::remote::{Work, all_places, everywhere};
use super::stack_project::Project;
use super::support::{Run, command, shell};

const PROGRAM: &str = env!("CARGO_BIN_EXE_groundstate");

/// The address of the place without the option that locks.
fn bare(work: &Work) -> String {
    work.url().replace("&use_lockfile=true", "").replace("use_lockfile=true&", "")
}

/// A directory beside the one of the place, whose configuration has these options instead.
fn beside(work: &Work, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> PathBuf {
    let mut settings = json!(work.place.settings());
    change(settings.as_object_mut().unwrap());
    let folder = work.path().join("other");
    fs::create_dir_all(folder.join(".terraform")).unwrap();
    let record = json!({"version": 3, "backend": {"type": work.place.kind(), "config": settings, "hash": 1}});
    fs::write(folder.join(".terraform/terraform.tfstate"), record.to_string()).unwrap();
    folder
}

/// The commands in hints, in their order.
fn commands(text: &str) -> Vec<String> {
    let help = text.lines().filter(|line| line.starts_with("help: "));
    let quoted = help.flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|command| command.starts_with("groundstate ")).map(str::to_owned).collect()
}

/// The one suggested command that begins with this verb.
#[track_caller]
pub(crate) fn suggested(text: &str, verb: &str) -> String {
    let found: Vec<String> = commands(text)
        .into_iter()
        .filter(|command| command.starts_with(&format!("groundstate {verb} ")))
        .collect();
    let [command] = found.as_slice() else { panic!("{verb}: {found:?} in {text}") };
    command.clone()
}

#[test]
fn an_address_of_s3_takes_the_lock_file() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    let url = bare(&work);
    assert!(!url.contains("use_lockfile"), "{url}");
    let inside = work.run(&["lock", &url, "--", PROGRAM, "mv", ".", "a.one", "a.two"]);
    assert_eq!(inside.code, 8, "{}", inside.stderr);
    let inside = work.run(&["lock", ".", "--", PROGRAM, "mv", &url, "a.one", "a.two"]);
    assert_eq!(inside.code, 8, "{}", inside.stderr);
    let moved = work.run(&["mv", &url, "a.one", "a.two"]);
    assert!(moved.code == 0 && !moved.stderr.contains("kept apart"), "{}", moved.stderr);
    assert_eq!(work.place.locks().len(), 0);
}

#[test]
fn an_address_of_s3_without_its_lock_warns_and_respects_locks() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    let url = format!("{}&use_lockfile=false", bare(&work));
    let moved = work.run(&["mv", &url, "a.one", "a.two"]);
    assert_eq!(moved.code, 0, "{}", moved.stderr);
    assert!(moved.stderr.contains("has neither use_lockfile nor dynamodb_table"), "{}", moved.stderr);
    let listed = work.run(&["list", &url]);
    assert!(listed.code == 0 && listed.stderr.is_empty(), "reading needs no lock: {}", listed.stderr);
    let held = work.run(&["lock", ".", "--", PROGRAM, "mv", &url, "a.two", "a.three"]);
    assert_eq!(held.code, 8, "{}", held.stderr);
}

#[test]
fn a_directory_without_lock_options_respects_and_shows_the_lock_of_others() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    let folder = beside(&work, |settings| drop(settings.remove("use_lockfile")));
    let other = folder.to_str().unwrap();
    let trusting = |args: &[&str]| work.run(&[args, &["--trust-directory"]].concat());
    let moved = trusting(&["mv", other, "a.one", "a.two"]);
    assert_eq!(moved.code, 0, "{}", moved.stderr);
    assert!(moved.stderr.contains("has neither use_lockfile nor dynamodb_table"), "{}", moved.stderr);

    work.leave_stale_lock();
    let before = work.stored();
    let refused = trusting(&["mv", other, "a.two", "a.three"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert_eq!(work.stored(), before);
    let shown = trusting(&["locks", other]).clean();
    assert!(shown.contains(": locked") && shown.contains("lock id:"), "{shown}");
    // What the refusal suggests frees it.
    let freed = work.shell(&format!("{} --trust-directory", suggested(&refused.stderr, "unlock")));
    assert_eq!(freed.code, 0, "{}", freed.stderr);
    assert_eq!(work.place.locks().len(), 0);
}

#[test]
fn a_lock_that_is_taken_during_work_without_one_is_told() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    let folder = beside(&work, |settings| drop(settings.remove("use_lockfile")));
    // Another client locks, is killed, and leaves its lock.
    let script = format!(
        "{PROGRAM} lock . -- sleep 60 & while ! {PROGRAM} locks . | grep -q ': locked'; do kill -0 $! || exit 9; sleep 0.1; done; kill -9 $!"
    );
    let args = ["lock", folder.to_str().unwrap(), "--trust-directory", "--without-lock", "--", "sh", "-c"];
    let run = work.run(&[&args[..], &[&script]].concat());
    assert_eq!(run.code, 10, "{}", run.stderr);
    assert!(run.stderr.contains("another client took one meanwhile"), "{}", run.stderr);
}

#[test]
fn locks_of_every_mechanism_are_shown_and_released() {
    let work = Work::new(TestBackend::s3_here(S3Locks::Both));
    work.push(&["one"]);
    let folder = beside(&work, |settings| drop(settings.remove("use_lockfile")));
    let other = folder.to_str().unwrap();
    work.leave_stale_lock();
    // The row goes, and the object stays.
    assert_eq!(work.run(&["unlock", other, "--trust-directory", "--if-stale"]).code, 0);
    assert_eq!(work.place.locks().len(), 1);
    let shown = work.run(&["locks", other, "--trust-directory"]);
    assert!(shown.stdout.contains(": locked"), "{}{}", shown.stdout, shown.stderr);
    assert!(shown.stdout.contains("which no longer runs"), "{}", shown.stdout);
    let freed = work.run(&["unlock", other, "--trust-directory", "--force"]);
    assert_eq!(freed.code, 0, "{}", freed.stderr);
    assert_eq!(work.place.locks().len(), 0);
}

#[test]
fn lock_refuses_a_place_that_has_none() {
    let s3 = Work::new(TestBackend::s3_here(S3Locks::File));
    s3.push(&["one"]);
    let http = Work::new(TestBackend::http_here());
    http.push(&["one"]);
    let folder = beside(&http, |settings| settings.retain(|name, _| !name.contains("lock")));
    for (work, place) in
        [(&s3, format!("{}&use_lockfile=false", bare(&s3))), (&http, folder.to_str().unwrap().to_owned())]
    {
        let refused = work.run(&["lock", &place, "--trust-directory", "--", "touch", "ran"]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("the place has no lock"), "{}", refused.stderr);
        assert!(refused.stderr.contains("`--without-lock`"), "{}", refused.stderr);
        assert!(!work.path().join("ran").exists(), "the command has not run");
        let ran = work.run(&["lock", &place, "--trust-directory", "--without-lock", "--", "touch", "ran"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("other clients are not kept out"), "{}", ran.stderr);
        assert!(work.path().join("ran").exists());
    }
}

#[test]
fn work_without_a_lock_is_refused_under_the_lock_of_others() {
    let azure = Work::new(TestBackend::azurerm_here());
    for work in everywhere().into_iter().chain([azure]) {
        work.push(&["one"]);
        let inside = work.run(&["lock", ".", "--", PROGRAM, "mv", ".", "a.one", "a.two", "--no-lock"]);
        assert_eq!(inside.code, 8, "{}: {}", work.place.kind(), inside.stderr);
        let free = work.run(&["mv", ".", "a.one", "a.two", "--no-lock"]);
        assert_eq!(free.code, 0, "{}: {}", work.place.kind(), free.stderr);
    }
}

#[test]
fn suggested_commands_name_options_and_workspace() {
    for work in all_places() {
        work.push(&["one"]);
        work.leave_stale_lock();
        let url = work.url();
        for place in [".", url.as_str()] {
            let refused = work.run(&["rm", place, "a.one"]);
            assert_eq!(refused.code, 8, "{}", refused.stderr);
            assert!(!refused.stderr.contains("\\n"), "{}", refused.stderr);
            let mut looking = suggested(&refused.stderr, "locks");
            // Secrets are no part of what is shown; the user adds them.
            if let Some((_, given)) = url.split_once('?').filter(|_| looking.contains('…')) {
                assert!(refused.stderr.contains("replace `…` in the address"), "{}", refused.stderr);
                let secrets: Vec<&str> = given.split('&').filter(|pair| !looking.contains(*pair)).collect();
                looking = looking.replace('…', &secrets.join("&"));
            }
            let shown = work.shell(&looking);
            assert!(shown.code == 0 && shown.stdout.contains(": locked"), "{looking}: {}", shown.stderr);
        }
        let refused = work.run(&["rm", ".", "a.one"]);
        let freed = work.shell(&suggested(&refused.stderr, "unlock"));
        assert_eq!(freed.code, 0, "{}", freed.stderr);
    }
    let work = Work::new(TestBackend::gcs_here());
    work.push(&["one"]);
    assert_eq!(work.run(&["workspaces", "new", ".", "staging"]).code, 0);
    let inside = work.run(&[
        "lock",
        ".",
        "--workspace",
        "staging",
        "--",
        PROGRAM,
        "rm",
        ".",
        "a.one",
        "--workspace",
        "staging",
    ]);
    assert_eq!(inside.code, 8, "{}", inside.stderr);
    let looking = suggested(&inside.stderr, "locks");
    assert!(looking.ends_with("--workspace staging"), "{looking}");
}

/// Takes the lock of a stack in a process that is killed, so that the lock stays.
fn leave_stale_lock(project: &Project) {
    let mut holder = project.command(&["lock", ".", "--", "sleep", "60"]);
    let mut holder = holder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the stack is locked", || !project.locks("dev").is_empty());
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn the_lock_of_a_stack_that_was_cancelled_is_a_lost_lock() {
    let project = Project::of("plain");
    // As `pulumi cancel` does.
    let lost = project.run(&["lock", ".", "--", "sh", "-c", "rm -r bucket/.pulumi/locks"]);
    assert_eq!(lost.code, 10, "{}", lost.stderr);
    assert!(lost.stderr.contains("was lost while it was held"), "{}", lost.stderr);
    let lost = project.run(&["lock", ".", "--", PROGRAM, "unlock", ".", "--force"]);
    assert_eq!(lost.code, 10, "{}", lost.stderr);
    let kept = project.run(&["lock", ".", "--", "true"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
}

#[test]
fn suggested_commands_free_the_lock_of_a_stack_that_groundstate_holds() {
    let project = Project::of("plain");
    let run_in_project = |line: &str| {
        let mut command = shell(line);
        project.select(&mut command);
        Run::of(command.output().unwrap())
    };
    let url = project.stack();
    for args in [
        &["unprotect", ".", "web", "--stack", "dev"][..],
        &["unprotect", &url, "web"],
        &["stacks", "tags", ".", "--set", "a=b"],
    ] {
        leave_stale_lock(&project);
        let refused = project.run(args);
        assert_eq!(refused.code, 8, "{args:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("\\n"), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.matches("urrently locked").count() <= 1, "{args:?}: {}", refused.stderr);
        let looking = suggested(&refused.stderr, "locks");
        let shown = run_in_project(&looking);
        assert!(shown.code == 0 && shown.stdout.contains("lock id:"), "{looking}: {}", shown.stderr);
        let freeing = suggested(&refused.stderr, "unlock");
        let freed = run_in_project(&freeing);
        assert_eq!(freed.code, 0, "{freeing}: {}", freed.stderr);
        assert!(project.locks("dev").is_empty());
        assert!(project.run(&["locks", "."]).clean().contains("not locked"));
    }
}

#[test]
fn a_removed_stack_leaves_no_lease() {
    let project = Project::of("plain");
    assert_eq!(project.run(&["lock", ".", "--", "true"]).code, 0);
    let lease = project.bucket().join("groundstate/locks/organization/shop/dev.json");
    assert!(lease.exists());
    let removed = project.run(&["stacks", "remove", ".", "--force", "--yes"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(!lease.exists());
    let left = fs::read_dir(project.path().join("bucket")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".pulumi"], "no file of the store itself stays");
}

/// Runs with messages as JSON, and gives the code and the kind of the error.
fn kind(args: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let mut command = command(&[args, &["--json"]].concat());
    for (name, _) in std::env::vars()
        .filter(|(name, _)| ["AWS_", "GOOGLE_", "ARM_"].iter().any(|start| name.starts_with(start)))
    {
        command.env_remove(name);
    }
    let run = Run::of(command.envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap());
    let line = run.stderr.lines().rfind(|line| line.contains("\"exit_code\""));
    let line = line.unwrap_or_else(|| panic!("{args:?}: {}{}", run.stdout, run.stderr));
    let error = serde_json::from_str::<Value>(line).unwrap()["error"].take();
    assert_eq!(error["exit_code"], run.code, "{line}");
    (run.code, error["kind"].as_str().unwrap().to_owned())
}

/// A port at which nothing listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_place_that_refuses_connections_is_unreachable() {
    let at = format!("127.0.0.1:{}", closed_port());
    let service = format!("http://{at}");
    let s3 = format!(
        "endpoint=http://{at}&region=us-east-1&use_path_style=true&skip_credentials_validation=true&skip_metadata_api_check=true"
    );
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("GOOGLE_OAUTH_ACCESS_TOKEN", "t"),
        ("PULUMI_ACCESS_TOKEN", "none"),
        ("PULUMI_BACKEND_URL", &service),
        ("PULUMI_HOME", folder.path().to_str().unwrap()),
        ("PGCONNECT_TIMEOUT", "2"),
    ];
    for place in [
        format!("s3://b/k?{s3}&max_retries=0"),
        format!("gs://b/k?storage_custom_endpoint=http://{at}/"),
        format!("http://{at}/state?retry_max=0"),
        format!("pg://{at}/states?user=u&sslmode=disable"),
        format!("pulumi+s3://b?endpoint=http://{at}&region=us-east-1&use_path_style=true#organization/p/s"),
        format!("pulumi+http://{at}#o/p/s"),
    ] {
        for verb in ["list", "locks"] {
            assert_eq!(kind(&[verb, &place], &variables), (12, "unreachable".to_owned()), "{verb} {place}");
        }
    }
}

#[test]
fn refused_and_missing_credentials_are_denied_and_absence_is_neither() {
    for work in all_places() {
        assert_eq!(work.run(&["list", "."]).code, 3, "nothing is stored yet");
        work.push(&["one"]);
        let server = work.place.server().unwrap();
        for status in [401, 403] {
            server.fault(Fault::refuse(status, "AccessDenied", None));
            for args in [&["list", "."][..], &["rm", ".", "a.one"], &["locks", "."]] {
                let run = work.run(args);
                assert_eq!(run.code, 11, "{} {status} {args:?}: {}", work.place.kind(), run.stderr);
            }
            server.clear_faults();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    let variables = [("AWS_EC2_METADATA_DISABLED", "true"), ("PULUMI_HOME", home), ("HOME", home)];
    for place in [
        "s3://b/k?endpoint=http://127.0.0.1:9&region=us-east-1&skip_metadata_api_check=true",
        "pulumi+http://127.0.0.1:9#o/p/s",
    ] {
        assert_eq!(kind(&["list", place], &variables), (11, "denied".to_owned()), "{place}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_denied() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.tfstate");
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let path = file.to_str().unwrap();
    if fs::read(&file).is_ok() {
        eprintln!("not run: this user may read every file");
    } else {
        assert_eq!(kind(&["list", path], &[]), (11, "denied".to_owned()));
    }
    assert_eq!(kind(&["list", &format!("{path}.none")], &[]), (3, "no_state".to_owned()));
}

#[test]
fn a_conflicting_request_is_sent_again_to_every_cloud() {
    for backend in [TestBackend::s3_here(S3Locks::File), TestBackend::gcs_here(), TestBackend::azurerm_here()]
    {
        let work = Work::new(backend);
        work.push(&["one"]);
        let code = match work.place.kind() {
            "s3" => "OperationAborted",
            "gcs" => "Conflict",
            _ => "OperationConflict",
        };
        work.place.server().unwrap().fault(Fault::refuse(409, code, None).on("PUT", "*.tfstate*").nth(1));
        let run = work.run(&["mv", ".", "a.one", "a.two"]);
        assert_eq!(run.code, 0, "{}: {}", work.place.kind(), run.stderr);
    }
}
