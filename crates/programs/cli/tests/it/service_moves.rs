//! Stacks that move between buckets and services, with their histories, tags and secrets; the real pulumi made them, and goes on with them.

use groundstate_testkit::{Fault, FaultProxy, PulumiPlace, PulumiProject, Ran, pulumi_takes_part};
use serde_json::Value;

use super::interop::key_services::ours;
use super::serve::Server;
use super::support;

const PROGRAM: &str = "config:\n  n: { type: string, default: '1' }\nresources:\n  a: { type: 'pulumi:index:Stash', properties: { input: 'a${n}' } }\n  b: { type: 'pulumi:index:Stash', properties: { input: { 'fn::secret': swordfish } } }\noutputs:\n  x: 'a${n}'\n  y: { 'fn::secret': swordfish }\n";

/// Two updates of a stack `dev`, with a tag and a secret in the configuration.
fn updated(place: &PulumiPlace) -> PulumiProject {
    let project = PulumiProject::new(place);
    project.program(PROGRAM);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    project.up("dev");
    project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    project.up("dev");
    project.pulumi(&["stack", "tag", "set", "team", "web", "--stack", "dev"]).succeeds();
    project
}

fn run(project: &PulumiProject, args: &[&str]) -> Ran {
    ours(project, args, "")
}

fn json(ran: Ran) -> Value {
    serde_json::from_str(&ran.succeeds()).unwrap()
}

/// The history without what depends on the place.
fn history(project: &PulumiProject, stack: &str) -> Vec<Value> {
    let updates = json(run(project, &["history", stack, "--json", "--page-size", "0"]))["updates"].clone();
    let known = ["kind", "result", "started_at", "ended_at", "message", "resource_changes"];
    let plain = |update: &Value| known.iter().map(|name| update[*name].clone()).collect();
    updates.as_array().unwrap().iter().map(plain).collect()
}

#[test]
fn a_stack_of_a_bucket_moves_into_a_service_and_back_with_its_history() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = tempfile::tempdir().unwrap();
    let server = Server::start(store.path(), &[]);
    let mut project = updated(&PulumiPlace::folder(folder.path()));
    let bucket = format!("pulumi+file://{}", folder.path().display());
    let service = format!("pulumi+{}", server.url);
    let before = history(&project, ".");
    let exported = project.exported("dev");
    project.set("PULUMI_BACKEND_URL", &server.url);
    project.set("PULUMI_ACCESS_TOKEN", "none");
    project.pulumi(&["login", &server.url]).succeeds();

    let shown =
        run(&project, &["stacks", "migrate", &bucket, &service, "--all-stacks", "--dry-run"]).succeeds();
    assert!(
        shown.contains("organization/shop/dev to local/shop/dev  would be copied with 2 objects"),
        "{shown}"
    );
    assert_eq!(run(&project, &["stacks", "list", &service]).succeeds(), "");
    let done = json(run(&project, &["stacks", "migrate", &bucket, &service, "--all-stacks", "--json"]));
    let stack = &done["stacks"][0];
    assert_eq!((&stack["outcome"], &stack["objects"]), (&"copied".into(), &2.into()), "{done}");
    assert_eq!(stack["sha256"].as_str().unwrap().len(), 64);
    let again = json(run(&project, &["stacks", "migrate", &bucket, &service, "--all-stacks", "--json"]));
    assert_eq!(
        (&again["stacks"][0]["outcome"], &again["stacks"][0]["sha256"]),
        (&"present".into(), &stack["sha256"])
    );

    // The secrets are those of a passphrase still, and pulumi goes on.
    let there = format!("{service}#local/shop/dev");
    assert_eq!(history(&project, &there), before);
    assert_eq!(project.exported("dev")["deployment"]["resources"], exported["deployment"]["resources"]);
    assert_eq!(project.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");
    project.preview_is_clean("dev");
    let pulumis =
        project.pulumi(&["stack", "history", "--json", "--show-secrets", "--stack", "dev"]).succeeds();
    assert!(pulumis.contains("hunter2"), "{pulumis}");
    assert!(run(&project, &["show", &there, "--at", "1"]).succeeds().contains("Stash"));

    // And back into an empty bucket.
    let other = tempfile::tempdir().unwrap();
    let back = format!("pulumi+file://{}", other.path().display());
    let moved = run(&project, &["stacks", "migrate", &there, &back, "--remove", "--yes"]).succeeds();
    assert!(moved.contains("local/shop/dev to organization/shop/dev  moved with 3 objects"), "{moved}");
    assert_eq!(run(&project, &["stacks", "list", &service]).succeeds(), "");
    project.set("PULUMI_BACKEND_URL", &format!("file://{}", other.path().display()));
    assert_eq!(history(&project, &format!("{back}#organization/shop/dev")), before);
    assert_eq!(project.exported("dev")["deployment"]["resources"], exported["deployment"]["resources"]);
    project.preview_is_clean("dev");
    let pulumis =
        project.pulumi(&["stack", "history", "--json", "--show-secrets", "--stack", "dev"]).succeeds();
    assert!(pulumis.contains("hunter2") && pulumis.contains("\"kind\": \"update\""), "{pulumis}");
    assert_eq!(project.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");
    project.up("dev");
}

#[test]
fn secrets_of_a_service_are_encrypted_anew_where_they_go() {
    if !pulumi_takes_part() {
        return;
    }
    let store = tempfile::tempdir().unwrap();
    let server = Server::start(store.path(), &[]);
    let mut project = updated(&PulumiPlace::service(&server.url, "none"));
    project.pulumi(&["login", &server.url]).succeeds();
    let here = format!("pulumi+{}#local/shop/dev", server.url);
    let folder = tempfile::tempdir().unwrap();
    let bucket = format!("pulumi+file://{}", folder.path().display());
    let refused = run(&project, &["stacks", "migrate", &here, &bucket]).fails();
    assert!(
        refused.contains("a bucket has no such key") && refused.contains("--secrets-provider passphrase"),
        "{refused}"
    );

    // Into another organisation of the same service: the key is that of the new stack.
    let other = format!("pulumi+{}#acme/shop/dev", server.url);
    run(&project, &["stacks", "migrate", &here, &other]).succeeds();
    let state = run(&project, &["pull", &other]).succeeds();
    assert!(state.contains(r#""owner": "acme""#) && !state.contains("swordfish"), "{state}");
    for version in ["1", "2"] {
        let shown = run(&project, &["show", &other, "--at", version, "--show-secrets"]).succeeds();
        assert!(shown.contains("swordfish"), "{shown}");
    }
    let again = run(&project, &["stacks", "migrate", &here, &other]).succeeds();
    assert!(again.contains("is there already"), "{again}");

    project.write("new", "another");
    let args = [
        "stacks",
        "migrate",
        &*here,
        &*bucket,
        "--secrets-provider",
        "passphrase",
        "--new-passphrase-file",
        "new",
    ];
    // The passphrase of the user's other stacks is another one, at the first run and at the next.
    run(&project, &args).succeeds();
    assert!(run(&project, &args).succeeds().contains("is there already"));
    let refused = run(&project, &args[..6]).fails();
    assert!(refused.contains("incorrect passphrase"), "{refused}");
    project.set("PULUMI_CONFIG_PASSPHRASE", "another");
    project.set("PULUMI_BACKEND_URL", &format!("file://{}", folder.path().display()));
    let shown = project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", "dev"]).succeeds();
    assert_eq!(shown.trim(), "swordfish");
    drop(server);
    let there = format!("{bucket}#organization/shop/dev");
    let shown = run(&project, &["outputs", &there, "y", "--show-secrets"]).succeeds();
    assert_eq!(shown.trim(), "\"swordfish\"");
    let ours = run(&project, &["history", &format!("{bucket}#organization/shop/dev"), "--json"]).succeeds();
    assert!(ours.contains("\"updates_total\": 2") || ours.contains("\"updates_total\":2"), "{ours}");
    for entry in walk(folder.path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).into_owned();
        assert!(!text.contains("swordfish") && !text.contains("hunter2"), "{}", entry.display());
    }
}

#[test]
fn all_stacks_move_from_one_service_to_another() {
    if !pulumi_takes_part() {
        return;
    }
    let stores = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, other] = [&stores[0], &stores[1]].map(|store| Server::start(store.path(), &[]));
    let mut project = updated(&PulumiPlace::service(&one.url, "none"));
    project.pulumi(&["login", &one.url]).succeeds();
    let before = history(&project, ".");
    project.pulumi(&["stack", "init", "empty"]).succeeds();
    // The stored login is that of the first, the variables are that of the second.
    project.set("PULUMI_BACKEND_URL", &other.url);
    let [from, to] = [&one, &other].map(|server| format!("pulumi+{}", server.url));
    let done = json(run(&project, &["stacks", "migrate", &from, &to, "--all-stacks", "--json"]));
    let outcomes: Vec<&Value> =
        done["stacks"].as_array().unwrap().iter().map(|stack| &stack["outcome"]).collect();
    assert_eq!(outcomes, ["copied", "copied"], "{done}");
    assert_eq!(history(&project, &format!("{to}#local/shop/dev")), before);
    // The keys are those of the second service: the first is gone.
    drop(one);
    project.pulumi(&["login", &other.url]).succeeds();
    // The configuration is a file of the project, which stays as it is.
    project.pulumi(&["config", "set", "--secret", "password", "hunter2", "--stack", "dev"]).succeeds();
    project.preview_is_clean("dev");
    let shown = project.pulumi(&["stack", "output", "y", "--show-secrets", "--stack", "dev"]).succeeds();
    assert_eq!(shown.trim(), "swordfish");
    assert_eq!(run(&project, &["stacks", "list", &to]).succeeds(), "local/shop/dev\nlocal/shop/empty\n");
}

#[test]
fn a_copy_that_was_cut_off_at_any_request_goes_on() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = tempfile::tempdir().unwrap();
    let server = Server::start(store.path(), &[]);
    let project = updated(&PulumiPlace::folder(folder.path()));
    let from = format!("pulumi+file://{}#organization/shop/dev", folder.path().display());
    let before = history(&project, ".");
    for number in 1..200 {
        let proxy = FaultProxy::in_front_of(&server.url);
        let to = format!("pulumi+{}#org{number}/shop/dev", proxy.endpoint());
        let migrate = || {
            let args = ["stacks", "migrate", &*from, &*to];
            let mut command = project.prepared(support::command(&[]), &args);
            command.env("PULUMI_BACKEND_URL", proxy.endpoint()).env("PULUMI_ACCESS_TOKEN", "none");
            Ran::of("groundstate", &args, command.output().unwrap())
        };
        // From this request on nothing is answered, as for a process that was killed.
        proxy.fault(Fault::refuse(401, "gone", None).after(number));
        let first = migrate();
        let is_over = first.code == Some(0);
        proxy.clear_faults();
        let ended = migrate().succeeds();
        assert!(!is_over || ended.contains("is there already"), "{number}: {ended}");
        let args = ["history", &*to, "--json"];
        let mut command = project.prepared(support::command(&[]), &args);
        command.env("PULUMI_BACKEND_URL", proxy.endpoint()).env("PULUMI_ACCESS_TOKEN", "none");
        let found = json(Ran::of("groundstate", &args, command.output().unwrap()));
        assert_eq!(found["updates_total"], before.len(), "{number}: {found}");
        if is_over {
            assert!(number > 6, "the copy was over after {number} requests");
            return;
        }
    }
    panic!("the copy never ends");
}

/// A state of the stack `dev` with this output.
fn state(output: &str) -> String {
    format!(
        r#"{{"version":3,"deployment":{{"manifest":{{"time":"2026-01-01T00:00:00Z","magic":"","version":""}},"resources":[{{"urn":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev","type":"pulumi:pulumi:Stack","custom":false,"outputs":{{"x":"{output}"}}}}]}}}}"#
    )
}

#[test]
fn a_stack_that_is_there_with_another_state_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let run = |args: &[&str]| {
        let mut command = support::command(args);
        command.env("PULUMI_BACKEND_URL", &server.url).env("PULUMI_ACCESS_TOKEN", "none");
        Ran::of("groundstate", args, command.output().unwrap())
    };
    let file = folder.path().join("state.json");
    let stack = |owner: &str| format!("pulumi+{}#{owner}/shop/dev", server.url);
    for owner in ["one", "two"] {
        std::fs::write(&file, state(owner)).unwrap();
        run(&["stacks", "create", &stack(owner)]).succeeds();
        run(&["push", &stack(owner), file.to_str().unwrap()]).succeeds();
    }
    let refused = run(&["stacks", "migrate", &stack("one"), &stack("two")]).fails_with(9);
    assert!(refused.contains("exists already with another state"), "{refused}");
    assert_eq!(run(&["outputs", &stack("two"), "x"]).succeeds().trim(), "\"two\"");
    let renamed = format!("pulumi+{}#one/shop/other", server.url);
    let refused = run(&["stacks", "migrate", &stack("one"), &renamed]).fails_with(2);
    assert!(refused.contains("keeps the names") && refused.contains("stacks rename"), "{refused}");
    // What was imported has a history here, which goes along.
    run(&["stacks", "migrate", &stack("one"), &stack("three")]).succeeds();
    assert!(run(&["history", &stack("three")]).succeeds().contains("import"));
}

#[test]
fn a_preview_tells_a_bucket_that_cannot_be_used() {
    let (store, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(store.path(), &[]);
    let run = |args: &[&str]| {
        let mut command = support::command(args);
        command.env("PULUMI_BACKEND_URL", &server.url).env("PULUMI_ACCESS_TOKEN", "none");
        Ran::of("groundstate", args, command.output().unwrap())
    };
    let (file, stack) = (store.path().join("state.json"), format!("pulumi+{}#one/shop/dev", server.url));
    std::fs::write(&file, state("one")).unwrap();
    run(&["stacks", "create", &stack]).succeeds();
    run(&["push", &stack, file.to_str().unwrap()]).succeeds();
    let to = format!("pulumi+file://{}", other.path().display());
    let preview = || run(&["stacks", "migrate", &stack, &to, "--dry-run"]);
    assert!(preview().succeeds().contains("would be copied"));
    let meta = other.path().join(".pulumi/meta.yaml");
    std::fs::create_dir(meta.parent().unwrap()).unwrap();
    std::fs::write(&meta, "version: 99\n").unwrap();
    let refused = preview().fails_with(5);
    assert!(refused.contains("99"), "{refused}");
}

/// Imports into a bucket are in no history, so such a stack has the version 0 whatever is in it.
#[test]
fn a_stack_that_was_only_imported_into_a_bucket_is_not_taken_for_a_copy_that_was_cut_off() {
    let (store, bucket) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = store.path().join("serve.toml");
    let url = PulumiPlace::folder(bucket.path()).url().to_owned();
    std::fs::write(&config, format!("[[pulumi.buckets]]\norganization = \"team\"\nurl = \"{url}\"\n"))
        .unwrap();
    let (config, states) = (config.to_str().unwrap(), store.path().join("states"));
    let arguments = [
        "serve",
        "--init",
        "--config",
        config,
        "--store",
        states.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ];
    let server = Server::of(support::command(&arguments));
    let run = |args: &[&str]| {
        let mut command = support::command(args);
        command.env("PULUMI_BACKEND_URL", &server.url).env("PULUMI_ACCESS_TOKEN", "none");
        Ran::of("groundstate", args, command.output().unwrap())
    };
    let other = tempfile::tempdir().unwrap();
    let from = format!("pulumi+file://{}#organization/shop/dev", other.path().display());
    let to = format!("pulumi+{}#team/shop/dev", server.url);
    let file = store.path().join("state.json");
    for (stack, output) in [(&from, "one"), (&to, "team")] {
        std::fs::write(&file, state(output)).unwrap();
        run(&["stacks", "create", stack]).succeeds();
        run(&["push", stack, file.to_str().unwrap()]).succeeds();
    }
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["stacks", "migrate", &from, &to][..], more].concat();
        let refused = run(&args).fails_with(9);
        assert!(refused.contains("exists already with another state"), "{refused}");
    }
    assert_eq!(run(&["outputs", &to, "x"]).succeeds().trim(), "\"team\"");
    // An empty one is filled.
    let empty = state("").replace("\"resources\":[", "\"resources\":[],\"others\":[");
    std::fs::write(&file, empty).unwrap();
    run(&["push", &to, file.to_str().unwrap(), "--force", "--yes"]).succeeds();
    run(&["stacks", "migrate", &from, &to]).succeeds();
    assert_eq!(run(&["outputs", &to, "x"]).succeeds().trim(), "\"one\"");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
