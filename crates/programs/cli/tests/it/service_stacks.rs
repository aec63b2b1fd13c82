//! Stacks of a Pulumi service, which is our own server: every verb on a stack that the real pulumi has made, and pulumi sees what it did.

use std::process::Stdio;
use std::time::{Duration, Instant};

use groundstate_testkit::{Fault, FaultProxy, PulumiPlace, PulumiProject, Ran, pulumi_takes_part};
use serde_json::Value;

use super::interop::key_services::ours;
use super::serve::{PATIENCE, Server};
use super::support;

const PROGRAM: &str = "config:\n  n: { type: string, default: '1' }\nresources:\n  a: { type: 'pulumi:index:Stash', properties: { input: 'a${n}' } }\n  b: { type: 'pulumi:index:Stash', properties: { input: { 'fn::secret': swordfish } } }\noutputs:\n  x: 'a${n}'\n  y: { 'fn::secret': swordfish }\n";

/// A server, and a project that has logged in there and has a stack `dev`.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    server: Server,
    project: PulumiProject,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[]);
        let project = PulumiProject::new(&PulumiPlace::service(&server.url, "none"));
        project.program(PROGRAM);
        project.pulumi(&["login", &server.url]).succeeds();
        project.pulumi(&["stack", "init", "dev"]).succeeds();
        project.up("dev");
        Self { _folder: folder, server, project }
    }

    pub(crate) fn project(&self) -> &PulumiProject {
        &self.project
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ours(&self.project, args, "")
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(args).succeeds()).unwrap()
    }

    pub(crate) fn address(&self, stack: &str) -> String {
        format!("pulumi+{}#{stack}", self.server.url)
    }

    /// The user's name on the server, which is the owner of the stacks.
    pub(crate) fn owner(&self) -> String {
        self.project.pulumi(&["whoami"]).succeeds().trim().to_owned()
    }

    fn versions(&self) -> usize {
        let history = self.project.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
        serde_json::from_str::<Value>(&history).unwrap().as_array().unwrap().len()
    }
}

#[test]
fn a_stack_of_a_service_is_read_by_every_verb_that_reads() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let full = format!("{}/shop/dev", place.owner());
    assert_eq!(place.run(&["stacks", "list", "."]).succeeds(), format!("{full}\n"));
    let long = place.run(&["stacks", "list", &format!("pulumi+{}", place.server.url), "--long"]).succeeds();
    assert!(long.contains("resources, updated 2"), "{long}");
    assert_eq!(place.run(&["stacks", "list", ".", "--project", "other"]).succeeds(), "");
    assert_eq!(
        place.run(&["stacks", "list", ".", "--tag", "pulumi:runtime=yaml"]).succeeds(),
        format!("{full}\n")
    );

    for stack in [".".to_owned(), place.address(&full)] {
        let listed = place.run(&["list", &stack]).succeeds();
        assert!(listed.contains("a"), "{listed}");
        assert!(place.run(&["show", &stack]).succeeds().contains("pulumi:index:Stash"));
        assert_eq!(place.run(&["outputs", &stack, "x"]).succeeds().trim(), "\"a1\"");
        let shown = place.run(&["outputs", &stack, "y", "--show-secrets"]).succeeds();
        assert!(shown.contains("swordfish"), "{shown}");
        place.run(&["check", &stack]).succeeds();
        assert!(place.run(&["graph", &stack]).succeeds().contains("Stash"));
        place.run(&["diff", &stack, &stack]).succeeds();
        assert!(place.run(&["order", "waves", &stack]).succeeds().contains("Stash"));
        assert!(place.run(&["order", "blast", &stack, "a"]).succeeds().contains("Stash"));
        assert!(place.run(&["locks", &stack]).succeeds().contains("not locked"));
    }
    let pulled: Value = serde_json::from_str(&place.run(&["pull", "."]).succeeds()).unwrap();
    assert_eq!(pulled, place.project.exported("dev"));
    let sealed = ours(&place.project, &["encrypt", "."], "\"trout\"").succeeds();
    assert_eq!(ours(&place.project, &["decrypt", "."], &sealed).succeeds(), "\"trout\"");

    place.project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    place.project.up("dev");
    let history = place.json(&["history", ".", "--json"]);
    assert_eq!(history["updates_total"], 2, "{history}");
    assert_eq!(
        (&history["updates"][0]["id"], &history["updates"][0]["kind"]),
        (&"2".into(), &"update".into())
    );
    assert_eq!(history["updates"][0]["resource_changes"]["update"], 1, "{history}");
    let second = place.json(&["history", ".", "--json", "--page-size", "1", "--page", "2"]);
    assert_eq!(second["updates"][0]["id"], "1", "{second}");
    assert_eq!(place.run(&["outputs", ".", "x"]).succeeds().trim(), "\"a2\"");
    let old = place.run(&["show", ".", "--at", "1"]).succeeds();
    assert!(old.contains("Stash"), "{old}");
    let missing = place.run(&["show", ".", "--at", "99"]).fails();
    assert!(missing.contains("there is no snapshot \"99\""), "{missing}");
}

#[test]
fn edits_become_versions_that_pulumi_takes_for_its_own() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    place.project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    place.project.up("dev");
    let (before, exported) = (place.versions(), place.project.exported("dev"));
    let shown = place.run(&["mv", ".", "a", "c", "--dry-run"]).succeeds();
    assert!(shown.contains("Would rename"), "{shown}");
    assert_eq!(place.versions(), before);
    place.run(&["mv", ".", "a", "c"]).succeeds();
    assert_eq!(place.versions(), before + 1);
    place.project.program(&PROGRAM.replace("  a: {", "  c: {"));
    place.project.preview_is_clean("dev");
    let latest = place.json(&["history", ".", "--json"]);
    assert_eq!(latest["updates"][0]["kind"], "import", "{latest}");

    // Back by a version, and by the last one.
    place.run(&["undo", ".", "--yes"]).succeeds();
    assert_eq!(place.project.exported("dev")["deployment"]["resources"], exported["deployment"]["resources"]);
    place.project.program(PROGRAM);
    place.project.preview_is_clean("dev");
    place.run(&["rollback", ".", "--to", "1", "--yes"]).succeeds();
    assert_eq!(place.run(&["outputs", ".", "x"]).succeeds().trim(), "\"a1\"");
    let nothing = place.run(&["rollback", ".", "--to", "1", "--yes"]).succeeds();
    assert!(nothing.contains("Nothing to change"), "{nothing}");

    // A state of a file becomes the newest version; one of another stack does not.
    place.project.write("state.json", &exported.to_string());
    place.run(&["push", ".", "state.json", "--yes"]).succeeds();
    assert_eq!(place.run(&["outputs", ".", "x"]).succeeds().trim(), "\"a2\"");
    place
        .project
        .write("other.json", &exported.to_string().replace("urn:pulumi:dev::", "urn:pulumi:other::"));
    let refused = place.run(&["push", ".", "other.json", "--yes"]).fails_with(9);
    assert!(refused.contains("from a different stack") && refused.contains("--force"), "{refused}");
    place.project.preview_is_clean("dev");
    place.run(&["rm", ".", "b"]).succeeds();
    let preview = place.project.pulumi(&["preview", "--stack", "dev"]).succeeds();
    assert!(preview.contains("1 to create") || preview.contains("+ 1"), "{preview}");
}

#[test]
fn an_edit_that_is_killed_before_its_import_arrives_has_changed_nothing() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let (before, exported) = (place.versions(), place.project.exported("dev"));
    // The import waits in the network; so does, the next time, the look before it.
    for (method, path) in [("POST", "*/import"), ("GET", "*/dev")] {
        let proxy = FaultProxy::in_front_of(&place.server.url);
        proxy.fault(Fault::delay(Duration::from_secs(600)).on(method, path));
        let stack = format!("pulumi+{}#{}/shop/dev", proxy.endpoint(), place.owner());
        let mut command = place.project.prepared(support::command(&[]), &["mv", &stack, "a", "c"]);
        command.env("PULUMI_BACKEND_URL", proxy.endpoint()).env("PULUMI_ACCESS_TOKEN", "none");
        let mut child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while proxy.count(method, path) == 0 {
            assert!(
                start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none(),
                "it never asks {path}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((place.versions(), place.project.exported("dev")), (before, exported.clone()));
    }
    place.run(&["mv", ".", "a", "c"]).succeeds();
    place.project.program(&PROGRAM.replace("  a: {", "  c: {"));
    place.project.preview_is_clean("dev");
}

#[test]
fn an_edit_does_not_replace_what_another_one_has_stored_after_it_looked() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    // The import of the first edit waits in the network, behind its look, until the second edit is stored.
    let proxy = FaultProxy::in_front_of(&place.server.url);
    proxy.fault(Fault::delay(Duration::from_secs(8)).on("POST", "*/import").times(1));
    let stack = format!("pulumi+{}#{}/shop/dev", proxy.endpoint(), place.owner());
    let mut first = place.project.prepared(support::command(&[]), &["mv", &stack, "a", "c"]);
    first.env("PULUMI_BACKEND_URL", proxy.endpoint()).env("PULUMI_ACCESS_TOKEN", "none");
    let mut first = first.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while proxy.count("POST", "*/import") == 0 {
        assert!(start.elapsed() < PATIENCE && first.try_wait().unwrap().is_none(), "it never imports");
        std::thread::sleep(Duration::from_millis(20));
    }
    place.run(&["mv", ".", "b", "d"]).succeeds();
    let second = place.project.exported("dev");
    let refused = first.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(9), "{words}");
    assert!(words.contains("another state was stored after it was read"), "{words}");
    assert_eq!(place.project.exported("dev"), second);
}

#[test]
fn a_running_update_locks_the_stack_and_cancelling_frees_it() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let running = place.project.holds("dev");
    let holder = place.json(&["locks", ".", "--json"]);
    let holder = &holder["locks"][0];
    assert_eq!(
        (&holder["locked"], &holder["holder"]["operation"]),
        (&true.into(), &"update".into()),
        "{holder}"
    );
    assert_eq!(holder["holder"]["who"], place.owner(), "{holder}");
    let id = holder["holder"]["id"].as_str().unwrap().to_owned();
    for verb in [
        &["rm", ".", "b"][..],
        &["rm", ".", "b", "--no-lock"],
        &["rollback", ".", "--to", "1", "--yes"],
        &["stacks", "remove", ".", "--force", "--yes"],
        &["stacks", "rename", ".", "new"],
    ] {
        let refused = place.run(verb).fails();
        assert!(refused.contains("groundstate unlock"), "{verb:?}: {refused}");
    }
    let wrong = place.run(&["unlock", ".", "other"]).fails();
    assert!(wrong.contains("has another id"), "{wrong}");
    place.run(&["list", "."]).succeeds();
    let freed = place.run(&["unlock", ".", "--force"]).succeeds();
    assert!(freed.contains("Cancelled the update"), "{freed}");
    running.kill();
    let again = place.run(&["unlock", ".", "--force"]).fails();
    assert!(again.contains("no update of"), "{again}");
    assert_ne!(id, "");
    place.run(&["rm", ".", "b"]).succeeds();
}

/// The stack that gains was never updated: its address says who it is, and the service has its key.
#[test]
fn resources_move_into_an_empty_stack_of_the_service() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let new = place.address(&format!("{}/shop/new", place.owner()));
    place.run(&["stacks", "create", &new]).succeeds();
    for resource in ["a", "b"] {
        let moved = place.run(&["mv", ".", resource, "--to", &new]).succeeds();
        assert!(moved.contains("urn:pulumi:new::shop::"), "{moved}");
    }
    let listed = place.run(&["list", &new]).succeeds();
    assert!(listed.contains("::a") && listed.contains("::b") && listed.contains("::shop-new"), "{listed}");
    let checked = place.run(&["check", &new]).succeeds();
    assert!(checked.contains("nothing found in 4 resources"), "{checked}");
    let stored = place.project.exported("new").to_string();
    assert!(stored.contains("\"service\"") && !stored.contains("swordfish"), "{stored}");
    let shown = place.project.pulumi(&["stack", "export", "--stack", "new", "--show-secrets"]).succeeds();
    assert!(shown.contains("swordfish"), "{shown}");
}

#[test]
fn stacks_are_made_tagged_renamed_and_removed() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let owner = place.owner();
    let new = place.address(&format!("{owner}/shop/new"));
    assert!(place.run(&["stacks", "create", &new]).succeeds().starts_with("Created the stack"));
    let again = place.run(&["stacks", "create", &new]).fails_with(9);
    assert!(again.contains("already exists"), "{again}");
    place.run(&["stacks", "tags", &new, "--set", "team=web"]).succeeds();
    assert_eq!(
        place.project.pulumi(&["stack", "tag", "get", "team", "--stack", "new"]).succeeds().trim(),
        "web"
    );
    assert_eq!(place.run(&["stacks", "tags", &new]).succeeds(), "pulumi:project=shop\nteam=web\n");
    place.project.pulumi(&["stack", "tag", "set", "owner", "ana", "--stack", "new"]).succeeds();
    place.run(&["stacks", "tags", &new, "--remove", "team"]).succeeds();
    assert_eq!(place.run(&["stacks", "tags", &new]).succeeds(), "owner=ana\npulumi:project=shop\n");

    let refused = place.run(&["stacks", "remove", ".", "--yes"]).fails_with(6);
    assert!(refused.contains("which nothing would manage any more"), "{refused}");
    let shown = place.run(&["stacks", "rename", ".", "live", "--dry-run"]).succeeds();
    assert!(shown.starts_with("Would rename the stack"), "{shown}");
    place.run(&["stacks", "rename", ".", "live"]).succeeds();
    // A command that was killed before the answer came is ended by the same command.
    let again = place.run(&["stacks", "rename", ".", "live"]).succeeds();
    assert!(again.starts_with("Ended the rename of"), "{again}");
    place.run(&["stacks", "rename", ".", "new"]).fails();
    place.project.pulumi(&["stack", "select", "live"]).succeeds();
    place.project.preview_is_clean("live");
    let missing = place.run(&["list", &place.address(&format!("{owner}/shop/lvie"))]).fails();
    assert!(missing.contains("there is no such stack") && missing.contains("shop/live"), "{missing}");
    assert!(missing.contains("did you mean"), "{missing}");
    place.run(&["stacks", "remove", &new, "--yes"]).succeeds();
    place.run(&["stacks", "remove", ".", "--stack", "live", "--force", "--yes"]).succeeds();
    assert_eq!(place.run(&["stacks", "list", "."]).succeeds(), "");
    for (verb, word) in [
        (&["stacks", "prune", ".", "--stack", "dev", "--keep", "1"][..], "history"),
        (&["stacks", "upgrade", "."], "nothing to upgrade"),
        (&["recover", ".", "--stack", "dev"], "unlock --force"),
    ] {
        let refused = place.run(verb).fails_with(2);
        assert!(refused.contains("is a service") && refused.contains(word), "{verb:?}: {refused}");
    }
}

#[test]
fn another_version_in_between_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let stack = format!("pulumi+{}#acme/shop/dev", server.url);
    let run = |args: &[&str]| {
        let mut command = support::command(args);
        command.env("PULUMI_BACKEND_URL", &server.url).env("PULUMI_ACCESS_TOKEN", "none");
        Ran::of("groundstate", args, command.output().unwrap())
    };
    run(&["stacks", "create", &stack]).succeeds();
    let root = |output: &str| {
        format!(
            r#"{{"version":3,"deployment":{{"manifest":{{"time":"2026-01-01T00:00:00Z","magic":"","version":""}},"resources":[{{"urn":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev","type":"pulumi:pulumi:Stack","custom":false,"outputs":{{"x":"{output}"}}}}],"odd":1.0}}}}"#
        )
    };
    let file = folder.path().join("state.json");
    for output in ["one", "two"] {
        std::fs::write(&file, root(output)).unwrap();
        run(&["push", &stack, file.to_str().unwrap()]).succeeds();
        assert_eq!(run(&["outputs", &stack, "x"]).succeeds().trim(), format!("\"{output}\""));
    }
    // What is not understood is kept, byte for byte.
    assert!(run(&["pull", &stack]).succeeds().contains("\"odd\": 1.0"));
    let history = run(&["history", &stack]).succeeds();
    assert_eq!(history.lines().count(), 2, "{history}");
}
