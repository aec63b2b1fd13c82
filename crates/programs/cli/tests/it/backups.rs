//! Backups, undo and the log: each state has its own, several steps go back, and no output replaces a state.

use std::fs;
use std::path::Path;

use groundstate_testkit::{S3Locks, TestBackend};
use serde_json::Value;

use super::remote::Work;
use super::schemas::Schemas;
use super::stack_project::Project;
use super::support::{TempState, backups, groundstate, resource, state, with_resources};

fn three() -> TempState {
    let instance = |id: &str| format!(r#"{{"schema_version": 0, "attributes": {{"id": "{id}"}}}}"#);
    let all = ["one", "two", "three"].map(|name| resource("a", name, &instance(name)));
    state(with_resources(&all.join(",")))
}

fn list(path: &str) -> Vec<String> {
    groundstate(&["list", path]).clean().lines().map(str::to_owned).collect()
}

fn listed(args: &[&str]) -> Value {
    serde_json::from_str(&groundstate(args).clean()).unwrap()
}

#[test]
fn undo_goes_further_back_each_time_and_to_any_backup() {
    let file = three();
    for name in ["a.one", "a.two"] {
        groundstate(&["rm", &file.path, name]).clean();
    }
    assert_eq!(list(&file.path), ["a.three"]);
    groundstate(&["undo", &file.path]).clean();
    assert_eq!(list(&file.path), ["a.three", "a.two"]);
    groundstate(&["undo", &file.path]).clean();
    assert_eq!(list(&file.path), ["a.one", "a.three", "a.two"]);
    let said = groundstate(&["undo", &file.path]).failed(3);
    assert!(said.contains("every change that has a backup is undone"), "{said}");
    // What an undo replaced is a backup too.
    groundstate(&["undo", &file.path, "--to", "3", "--yes"]).clean();
    assert_eq!(list(&file.path), ["a.three"]);
    groundstate(&["undo", &file.path, "--to", "99"]).failed(7);

    let shown = groundstate(&["undo", &file.path, "--list", "--json"]).clean();
    Schemas::read().validate(&["backups".to_owned()], &shown).unwrap();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let numbers: Vec<u64> =
        shown["backups"].as_array().unwrap().iter().map(|each| each["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!(shown["backups"][1]["restored"], 1);
    let lines = groundstate(&["undo", &file.path, "--list"]).clean();
    assert!(lines.lines().count() == 5 && lines.contains("before state-rm"), "{lines}");
}

#[test]
fn a_backup_of_terraform_is_never_replaced() {
    let file = three();
    let theirs = format!("{}.backup", file.path);
    fs::write(&theirs, "what terraform kept").unwrap();
    groundstate(&["rm", &file.path, "a.one"]).clean();
    groundstate(&["undo", &file.path]).clean();
    assert_eq!(fs::read_to_string(theirs).unwrap(), "what terraform kept");
    assert_eq!(list(&file.path), ["a.one", "a.three", "a.two"]);
}

#[test]
fn a_refused_write_leaves_the_backup_of_the_change_before() {
    let file = three();
    groundstate(&["rm", &file.path, "a.one"]).clean();
    let before = backups(&file.path);
    let foreign = state(with_resources("").replace("\"l\"", "\"other\""));
    groundstate(&["push", &file.path, &foreign.path]).failed(9);
    groundstate(&["rm", &file.path, "a.nine"]).failed(7);
    assert_eq!(backups(&file.path), before);
    groundstate(&["undo", &file.path]).clean();
    assert_eq!(list(&file.path), ["a.one", "a.three", "a.two"]);
}

#[test]
fn undo_of_a_move_restores_both_states_or_neither() {
    let (file, other) = (three(), state(with_resources("").replace("\"l\"", "\"m\"")));
    groundstate(&["mv", &file.path, "a.one", "--to", &other.path]).clean();
    for side in [&file.path, &other.path] {
        assert_eq!(backups(side).len(), 1, "each state keeps a backup of its own");
    }
    let preview = groundstate(&["undo", &file.path, "--dry-run"]).clean();
    assert!(preview.contains("+ a.one") && preview.contains("- a.one"), "{preview}");
    assert_eq!(list(&other.path), ["a.one"]);

    // The other state has changed since, so the two cannot go back together.
    groundstate(&["taint", &other.path, "a.one"]).clean();
    let said = groundstate(&["undo", &file.path]).failed(9);
    assert!(
        said.contains("the other state was changed after the move") && said.contains("--alone"),
        "{said}"
    );
    groundstate(&["undo", &other.path]).clean();
    assert_eq!((list(&file.path).len(), list(&other.path).len()), (2, 1));

    let said = groundstate(&["undo", &other.path, "--json"]).clean();
    Schemas::read().validate(&["store".to_owned()], &said).unwrap();
    assert_eq!((list(&file.path).len(), list(&other.path).len()), (3, 0));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["other"]["written"], true);
}

#[test]
fn undo_of_a_move_leaves_both_states_if_one_is_locked() {
    let (file, other) = (three(), state(with_resources("").replace("\"l\"", "\"m\"")));
    groundstate(&["mv", &file.path, "a.one", "--to", &other.path]).clean();
    let own = env!("CARGO_BIN_EXE_groundstate");
    let run = groundstate(&["lock", &other.path, "--", own, "undo", &file.path]);
    assert_eq!(run.code, 8, "{}", run.stderr);
    assert_eq!((list(&file.path).len(), list(&other.path).len()), (2, 1));
    groundstate(&["undo", &file.path, "--alone"]).clean();
    assert_eq!((list(&file.path).len(), list(&other.path).len()), (3, 1));
}

#[test]
fn undo_of_a_split_empties_the_state_that_it_made() {
    let file = three();
    let other = file.dir.path().join("new.tfstate").to_str().unwrap().to_owned();
    groundstate(&["split", &file.path, &other, "a.one", "a.two"]).clean();
    assert_eq!((list(&file.path).len(), list(&other).len()), (1, 2));
    groundstate(&["undo", &file.path]).clean();
    assert_eq!((list(&file.path).len(), list(&other).len()), (3, 0));
}

#[test]
fn the_log_shows_what_was_done_to_which_state() {
    let (file, other) = (three(), state(with_resources("").replace("\"l\"", "\"m\"")));
    groundstate(&["rm", &file.path, "a.two"]).clean();
    groundstate(&["mv", &file.path, "a.one", "--to", &other.path]).clean();
    groundstate(&["undo", &file.path]).clean();
    let text = groundstate(&["log", &file.path, "--json"]).clean();
    Schemas::read().validate(&["log".to_owned()], &text).unwrap();
    let log: Value = serde_json::from_str(&text).unwrap();
    let operations = log["operations"].as_array().unwrap();
    let names: Vec<&str> = operations.iter().map(|each| each["operation"].as_str().unwrap()).collect();
    assert_eq!(names, ["state-undo", "state-mv", "state-rm"]);
    assert_eq!(operations[1]["states"].as_array().unwrap().len(), 2);
    assert_eq!(listed(&["log", &other.path, "--json"])["operations"].as_array().unwrap().len(), 2);
    let text = groundstate(&["log", &file.path, "-n", "1"]).clean();
    assert!(text.contains("state-undo") && text.contains("restored 2"), "{text}");
}

/// Several stacks of one bucket are changed from one directory.
#[test]
fn a_backup_of_one_stack_takes_the_place_of_no_other() {
    let project = Project::of("plain");
    let urn = project.run(&["list", "."]).clean();
    let urn = urn.lines().find(|urn| urn.contains("Stash")).unwrap().to_owned();
    let before = project.stored("dev.json");
    let said = project.run(&["protect", ".", &urn]);
    assert!(said.stdout.contains("is backup 1"), "{}", said.stdout);
    let said = project.run(&["unprotect", ".", &urn]);
    assert!(said.stdout.contains("is backup 2"), "{}", said.stdout);
    assert_eq!(project.run(&["undo", "."]).code, 0);
    assert!(project.run(&["show", ".", &urn, "--json"]).clean().contains(r#""protect":true"#));
    // The backend alone keeps one state, which is the one that was just undone.
    let said = project.run(&["undo", "."]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(!project.run(&["show", ".", &urn, "--json"]).clean().contains(r#""protect":true"#));
    let shown: Value =
        serde_json::from_str(&project.run(&["undo", ".", "--list", "--json"]).clean()).unwrap();
    let first = shown["backups"].as_array().unwrap().last().unwrap()["path"].as_str().unwrap().to_owned();
    let first = groundstate(&["upgrade", &first]);
    assert_eq!(first.stdout.len(), before.len());
    assert!(!project.path().join("dev.backup").exists());
}

#[test]
fn stack_has_one_set_of_backups_however_it_is_named_and_shares_it_with_no_other_project() {
    let project = Project::of("plain");
    let urn = project.run(&["list", "."]).clean();
    let urn = urn.lines().find(|urn| urn.contains("Stash")).unwrap().to_owned();
    let said = project.run(&["protect", ".", &urn]).clean();
    assert!(said.contains("is backup 1"), "{said}");
    let said = project.run(&["unprotect", &project.stack(), &urn]).clean();
    assert!(said.contains("is backup 2"), "{said}");
    // The stack of the same name of another project in the bucket.
    let other = project.bucket().join("stacks/other");
    fs::create_dir_all(&other).unwrap();
    fs::copy(project.bucket().join("stacks/shop/dev.json"), other.join("dev.json")).unwrap();
    fs::write(project.path().join("Pulumi.yaml"), "name: other\nruntime: yaml\n").unwrap();
    let said = project.run(&["protect", ".", &urn]).clean();
    assert!(said.contains("is backup 1"), "{said}");
    let listed = project.run(&["undo", ".", "--list"]).clean();
    assert!(!listed.contains("unprotect"), "{listed}");
}

#[test]
fn places_of_one_name_have_backups_of_their_own() {
    let (one, two) =
        (Work::new(TestBackend::s3_here(S3Locks::File)), Work::new(TestBackend::s3_here(S3Locks::File)));
    for (work, name) in [(&one, "one"), (&two, "two")] {
        work.push(&[name]);
        let run = work.run(&["mv", ".", &format!("a.{name}"), "a.moved"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    for (work, name) in [(&one, "one"), (&two, "two")] {
        assert_eq!(work.run(&["undo", "."]).code, 0);
        assert_eq!(work.run(&["list", "."]).clean(), format!("a.{name}\n"));
    }
}

#[test]
fn where_all_states_are_kept_undo_goes_back_by_the_history() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File)).keeping_history();
    work.push(&["one"]);
    for (from, to) in [("a.one", "a.two"), ("a.two", "a.three")] {
        assert_eq!(work.run(&["mv", ".", from, to]).code, 0);
    }
    for expected in ["a.two\n", "a.one\n"] {
        let run = work.run(&["undo", "."]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(work.run(&["list", "."]).clean(), expected);
    }
    let said = work.run(&["undo", "."]).failed(3);
    assert!(said.contains("no state before the present one"), "{said}");
}

#[test]
fn the_base_of_a_merge_is_found_in_the_history_and_pull_prints_it() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File)).keeping_history();
    work.push(&["one", "two"]);
    let base = work.stored().unwrap();
    let serial = |text: &str, serial: u64| {
        let value: Value = serde_json::from_str(text).unwrap();
        text.replace(&format!("\"serial\": {}", value["serial"]), &format!("\"serial\": {serial}"))
    };
    let before = serde_json::from_str::<Value>(&base).unwrap()["serial"].as_u64().unwrap();
    assert_eq!(work.run(&["mv", ".", "a.one", "a.moved"]).code, 0);
    // The apply began with the base, and made one more.
    let errored = serial(&base, before + 1)
        .replace("\"resources\": [", &format!("\"resources\": [{},", resource("a", "new", "{}")));
    assert_ne!(errored, base);
    fs::write(work.path().join("errored.tfstate"), errored).unwrap();
    let run = work.run(&["merge-errored", ".", "errored.tfstate"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(work.run(&["list", "."]).clean(), "a.moved\na.new\na.two\n");

    let history: Value = serde_json::from_str(&work.run(&["history", ".", "--json"]).clean()).unwrap();
    let oldest = history["snapshots"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(work.run(&["pull", ".", "--at", &oldest]).clean(), base);
    work.run(&["pull", ".", "--at", "2001"]).failed(7);
}

#[test]
fn no_output_replaces_a_state_a_plan_or_a_journal() {
    let file = three();
    let dir = file.dir.path();
    let put = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = fs::read_to_string(&file.path).unwrap();
    let other = put("other.tfstate", &text.replace("\"lineage\": \"l\"", "\"lineage\": \"m\""));
    let plan = put("tfplan", "PK\u{3}\u{4}....tfplan....");
    let entries = put("entries", "{\"version\":1,\"kind\":0,\"sequenceID\":1,\"operationID\":1}\n");
    let linked = dir.join("linked").to_str().unwrap().to_owned();
    fs::hard_link(&other, &linked).unwrap();
    let stack = put(
        "stack.json",
        r#"{"version":3,"deployment":{"manifest":{"time":"2024-05-06T07:08:09Z","magic":"","version":""},"resources":[]}}"#,
    );
    for output in [&file.path, &other, &plan, &entries, &linked, &stack] {
        let before = fs::read(output).unwrap();
        for args in
            [&["graph", &file.path, "-o", output][..], &["order", "destroy", &file.path, "-o", output]]
        {
            let said = groundstate(args).failed(6);
            assert!(said.contains("which the output would replace"), "{args:?}: {said}");
        }
        if *output != file.path {
            for verb in ["upgrade", "salvage", "pull"] {
                groundstate(&[verb, &file.path, "-o", output]).failed(6);
            }
        }
        assert_eq!(fs::read(output).unwrap(), before, "{output}");
    }
    let drawing = dir.join("graph.dot").to_str().unwrap().to_owned();
    for _ in 0..2 {
        groundstate(&["graph", &file.path, "-o", &drawing]).clean();
        groundstate(&["graph", &file.path, "--format", "json", "-o", &drawing]).clean();
    }
}

#[cfg(unix)]
#[test]
fn no_output_replaces_a_state_behind_a_symbolic_link() {
    let file = three();
    let link = file.dir.path().join("link");
    std::os::unix::fs::symlink(&file.path, &link).unwrap();
    let before = fs::read(&file.path).unwrap();
    groundstate(&["graph", &file.path, "-o", link.to_str().unwrap()]).failed(6);
    assert_eq!(fs::read(&file.path).unwrap(), before);
}

#[test]
fn a_state_that_an_output_replaces_is_kept() {
    let file = three();
    let older = fs::read(&file.path).unwrap();
    let copy = file.dir.path().join("copy.tfstate").to_str().unwrap().to_owned();
    fs::copy(&file.path, &copy).unwrap();
    groundstate(&["rm", &file.path, "a.one"]).clean();
    let run = groundstate(&["pull", &file.path, "-o", &copy]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the state before is backup 1"), "{}", run.stderr);
    assert_eq!(fs::read(&backups(&copy)[0]).unwrap(), older);
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&file.path).unwrap());
}

#[test]
fn a_named_backup_replaces_no_other_state() {
    let file = three();
    let other = state(with_resources("").replace("\"l\"", "\"m\""));
    let before = fs::read(&other.path).unwrap();
    groundstate(&["rm", &file.path, "a.one", "--backup", &other.path]).failed(6);
    assert_eq!(fs::read(&other.path).unwrap(), before);
    assert_eq!(list(&file.path).len(), 3);
}

#[test]
fn a_new_stack_keeps_the_last_copy_of_one_that_vanished() {
    let project = Project::of("plain");
    let urn = project.run(&["list", "."]).clean().lines().last().unwrap().to_owned();
    assert_eq!(project.run(&["protect", ".", &urn]).code, 0);
    let stacks = project.path().join("bucket/.pulumi/stacks/shop");
    let last = fs::read(stacks.join("dev.json.bak")).unwrap();
    fs::remove_file(stacks.join("dev.json")).unwrap();
    let said = project.run(&["stacks", "create", &project.stack()]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stderr.contains("had resources") && said.stderr.contains("rollback --to ID"),
        "{}",
        said.stderr
    );
    // The next write replaces `.bak`.
    let kept = |folder: &Path| {
        fs::read_dir(folder)
            .unwrap()
            .filter(|entry| fs::read(entry.as_ref().unwrap().path()).unwrap() == last)
            .count()
    };
    assert_eq!(kept(&stacks), 2);
}
