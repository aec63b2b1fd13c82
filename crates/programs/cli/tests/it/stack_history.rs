//! The history of stacks where they live: listed by pages, shown, compared and restored.

use std::fs;
#[cfg(unix)]
use std::io::ErrorKind;
use std::path::PathBuf;

use serde_json::Value;

use super::stack_project::Project;
use super::support::Run;

const IDS: [&str; 3] =
    ["history-1795406551513484223", "history-1795406549387114509", "history-1795406543334947232"];

fn history_folder(project: &Project) -> PathBuf {
    project.path().join("bucket/.pulumi/history/shop/dev")
}

/// The entry of an update of the fixture `plain`, from the newest.
fn entry(project: &Project, at: usize) -> PathBuf {
    let stamp = IDS[at].strip_prefix("history-").unwrap();
    history_folder(project).join(format!("dev-{stamp}.history.json"))
}

fn json(project: &Project, args: &[&str]) -> (i32, Value) {
    let run = project.run(&[args, &["--json"]].concat());
    (run.code, serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", run.stderr)))
}

fn texts<'v>(list: &'v Value, member: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|item| item[member].as_str().unwrap_or("-")).collect()
}

#[test]
fn updates_are_listed_newest_first_without_configuration() {
    let project = Project::of("plain");
    let shown = project.run(&["history", "."]).clean();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("3  refresh  succeeded  2026-11-23T"), "{shown}");
    assert!(lines[0].ends_with(&format!("{}  3 same", IDS[0])), "{shown}");
    assert!(lines[1].starts_with("2  update ") && lines[1].ends_with("2 same, 1 update"), "{shown}");
    assert_eq!(&lines[3..5], ["", "Other copies of the state:"]);
    assert!(shown.contains("\nbak ") && shown.contains("\nbackup-1795406551515180029 "), "{shown}");
    assert_eq!(project.run(&["history", &project.stack()]).clean(), shown);

    let (code, found) = json(&project, &["history", "."]);
    assert_eq!(code, 0);
    assert_eq!(texts(&found["updates"], "id"), IDS);
    assert_eq!(texts(&found["updates"], "kind"), ["refresh", "update", "update"]);
    assert_eq!(found["updates"][2]["resource_changes"]["create"], 3);
    assert_eq!(texts(&found["copies"], "source"), ["bak", "backup", "backup", "backup"]);
    let text = found.to_string();
    assert!(!text.contains("shop:n") && !text.contains("exec.kind"), "no configuration: {text}");
}

#[test]
fn a_page_has_as_many_as_it_is_asked_for() {
    let project = Project::of("plain");
    // What is not on the page is not read: the oldest entry is damaged, and nothing is said of it.
    fs::write(entry(&project, 2), "{").unwrap();
    let first = project.run(&["history", ".", "--page-size", "2"]).clean();
    assert!(first.starts_with("3  refresh") && first.contains("\n2  update"), "{first}");
    assert!(first.contains("3 updates and 4 other copies in all: `--page 2` shows the next"), "{first}");
    let (code, second) = json(&project, &["history", ".", "--page-size", "2", "--page", "2"]);
    assert_eq!(
        (code, second["updates_total"].as_u64(), second["copies_total"].as_u64()),
        (1, Some(3), Some(4))
    );
    assert_eq!(second["updates"].as_array().unwrap().len(), 1);
    assert_eq!(second["copies"].as_array().unwrap().len(), 2);
    let (_, behind) = json(&project, &["history", ".", "--page", "9"]);
    assert_eq!(behind["updates"].as_array().unwrap().len(), 0);
    assert!(project.run(&["history", ".", "--page", "9"]).clean().ends_with("has no page 9\n"));
    let (_, all) = json(&project, &["history", ".", "--page-size", "0"]);
    assert_eq!(all["updates"].as_array().unwrap().len(), 3);
    assert_eq!(project.run(&["history", ".", "--page", "0"]).code, 2);
}

#[test]
fn a_damaged_entry_is_flagged_and_the_others_are_shown() {
    for damage in [&b"{\"kind\":\"upd"[..], b"", b"\x1f\x8b\x08broken", b"[]"] {
        let project = Project::of("plain");
        fs::write(entry(&project, 1), damage).unwrap();
        let run = project.run(&["history", "."]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stdout.starts_with("3  refresh") && run.stdout.contains("\n1  update"), "{}", run.stdout);
        assert!(run.stdout.contains("2  cannot be read"), "{}", run.stdout);
        assert!(run.stderr.contains("dev-1795406549387114509.history.json"), "{}", run.stderr);
        let (code, found) = json(&project, &["history", "."]);
        assert_eq!((code, found["updates"][1]["unreadable"].is_string()), (1, true));
        assert_eq!(found["updates"][1]["id"], IDS[1], "its state can be restored nevertheless");
    }
}

#[test]
fn compressions_mix_in_one_history() {
    let project = Project::of("zstd");
    let (code, found) = json(&project, &["history", "."]);
    assert_eq!(code, 0);
    let ids = texts(&found["updates"], "id");
    assert_eq!(
        ids,
        ["history-1795406569488856339", "history-1795406567419529500", "history-1795406565953280082"]
    );
    let copies = texts(&found["copies"], "id");
    assert!(copies.contains(&"bak") && copies.contains(&"bak.gz"), "{copies:?}");
    for id in ids.iter().chain(&copies) {
        let shown = project.run(&["show", ".", "--at", id]).clean();
        assert!(shown.contains("Stash"), "{id}: {shown}");
    }
}

#[test]
fn stacks_with_retained_checkpoints_and_those_without_projects_have_a_history() {
    for (name, source) in [("retained", "retained"), ("legacy", "backup")] {
        let project = Project::of(name);
        let run = |args: &[&str]| {
            let mut command = project.command(args);
            Run::of(command.env("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "1").output().unwrap())
        };
        let listed = run(&["history", ".", "--page-size", "0", "--json"]);
        assert_eq!(listed.code, 0, "{name}: {}", listed.stderr);
        let found: Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!(found["updates_total"], 1, "{found}");
        let oldest =
            found["copies"].as_array().unwrap().iter().rfind(|copy| copy["source"] == source).unwrap();
        let id = oldest["id"].as_str().unwrap();
        assert!(id.starts_with(&format!("{source}-1795406")), "{name}: {id}");
        let then = run(&["show", ".", "--json", "--at", id]).stdout;
        let done = run(&["rollback", ".", "--to", id, "--yes"]);
        assert_eq!(done.code, 0, "{name}: {}", done.stderr);
        assert_eq!(run(&["show", ".", "--json"]).stdout, then, "{name}");
    }
}

#[test]
fn what_a_killed_rename_or_update_has_left_is_listed_in_the_order_of_time() {
    let project = Project::of("plain");
    let folder = history_folder(&project);
    // A rename that was killed half-way: the newest two have the name from before.
    for id in &IDS[..2] {
        for kind in ["history", "checkpoint"] {
            let stamp = id.strip_prefix("history-").unwrap();
            let name = |stack: &str| folder.join(format!("{stack}-{stamp}.{kind}.json"));
            fs::rename(name("dev"), name("a-b")).unwrap();
        }
    }
    // An update that was killed before it was recorded has left its state, another one lost it.
    let state = folder.join("dev-1795406543334947232.checkpoint.json");
    fs::rename(&state, folder.join("dev-1795406599000000000.checkpoint.json")).unwrap();
    // Neither a name of another kind nor a folder counts.
    fs::write(folder.join("dev-1.history.json.tmp"), "x").unwrap();
    fs::create_dir(folder.join("dev-2.history.json")).unwrap();
    let (code, found) = json(&project, &["history", "."]);
    assert_eq!(code, 0);
    assert_eq!(texts(&found["updates"], "id"), [IDS[0], IDS[1], "-"]);
    assert_eq!(texts(&found["updates"], "kind"), ["refresh", "update", "update"]);
    assert!(texts(&found["copies"], "id").contains(&"history-1795406599000000000"), "{found}");
    assert!(project.run(&["history", "."]).clean().contains("state not kept"));
}

#[test]
fn a_copy_is_shown_and_compared_by_its_id() {
    let project = Project::of("plain");
    let now = project.run(&["show", ".", "--json"]).clean();
    let then = project.run(&["show", ".", "--at", IDS[2], "--json"]).clean();
    assert_ne!(now, then);
    let urn = project.run(&["list", "."]).clean().lines().last().unwrap().to_owned();
    assert!(project.run(&["show", ".", &urn, "--at", "bak"]).clean().contains(&urn));
    let differs = project.run(&["diff", ".", "--at", IDS[2]]);
    assert_eq!(differs.code, 1, "{}", differs.stderr);
    assert_eq!(
        project.run(&["diff", ".", "--at", IDS[2], "--at", IDS[2]]).clean(),
        "the states mean the same\n"
    );
    assert_eq!(
        project.run(&["diff", ".", "--at", "history-1795406543", "--at", IDS[2]]).clean(),
        "the states mean the same\n"
    );
    let many = project.run(&["show", ".", "--at", "history-"]).failed(2);
    assert!(many.contains("matches 3 snapshots"), "{many}");
    let none = project.run(&["show", ".", "--at", "2025"]).failed(7);
    assert!(none.contains("`groundstate history` lists them"), "{none}");
    fs::write(history_folder(&project).join("dev-1795406543334947232.checkpoint.json"), "{").unwrap();
    assert!(project.run(&["show", ".", "--at", IDS[2]]).code > 2);
}

#[test]
fn what_has_no_history_is_said() {
    let project = Project::of("plain");
    let nothing = project.run(&["history", ".", "--stack", "nothing"]).failed(3);
    assert!(nothing.contains("there is no such stack; the stacks here are"), "{nothing}");
    let empty = project.run(&["history", ".", "--stack", "empty"]).clean();
    assert!(empty.contains("has no updates in its history"), "{empty}");
    fs::write(project.path().join("x.tfstate"), "{\"version\":4}").unwrap();
    assert_eq!(project.run(&["history", "x.tfstate"]).code, 2);
}

fn checkpoint(project: &Project) -> PathBuf {
    project.path().join("bucket/.pulumi/stacks/shop/dev.json")
}

fn is_unlocked(project: &Project) -> bool {
    let locks = project.path().join("bucket/.pulumi/locks/organization/shop/dev");
    fs::read_dir(locks).map_or(true, |mut left| left.next().is_none())
}

#[test]
fn rollback_restores_a_copy_and_keeps_what_it_replaces() {
    for name in ["plain", "zstd"] {
        let project = Project::of(name);
        let (_, found) = json(&project, &["history", "."]);
        let id = texts(&found["updates"], "id")[2].to_owned();
        let (now, then) =
            (project.run(&["pull", "."]).clean(), project.run(&["show", ".", "--json", "--at", &id]).clean());
        let active = if name == "plain" { "dev.json" } else { "dev.json.zst" };
        let before = project.stored(active);
        let preview = project.run(&["rollback", ".", "--to", &id, "--dry-run"]);
        assert_eq!((preview.code, project.stored(active)), (0, before.clone()), "{}", preview.stderr);
        assert!(preview.stdout.starts_with(&format!("Would go back to {id}\n")), "{}", preview.stdout);
        assert!(is_unlocked(&project), "a preview locks nothing");

        let done = project.run(&["rollback", ".", "--to", &id]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.contains(&format!("dev.json{}.bak.", active.strip_prefix("dev.json").unwrap())));
        assert_eq!(project.run(&["show", ".", "--json"]).clean(), then);
        assert_eq!(project.stored(&format!("{active}.bak")), before, "what it replaces is there");
        assert!(is_unlocked(&project));
        let again = project.run(&["rollback", ".", "--to", &id]).clean();
        assert_eq!(again, "Nothing to change.\n");

        let undone = project.run(&["undo", ".", "--json"]);
        assert_eq!(undone.code, 0, "{}", undone.stderr);
        let undone: Value = serde_json::from_str(&undone.stdout).unwrap();
        assert_eq!(
            (undone["written"].as_bool(), undone["changes"][0]["change"].as_str()),
            (Some(true), Some("undo"))
        );
        assert_eq!(project.run(&["pull", "."]).clean(), now);
    }
}

#[test]
fn a_damaged_state_is_no_obstacle_for_a_rollback() {
    for damage in [&b"{\"version\":3,\"checkpoint\":{"[..], b"", b"\x1f\x8b\x08cut off"] {
        let project = Project::of("plain");
        let then = project.run(&["show", ".", "--json"]).clean();
        fs::write(checkpoint(&project), damage).unwrap();
        let broken = project.run(&["pull", "."]);
        assert!(broken.code > 2 && broken.stderr.contains("groundstate rollback"), "{}", broken.stderr);
        let done = project.run(&["rollback", ".", "--to", IDS[0]]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(
            done.stderr.contains("the present state cannot be read, so it is not compared"),
            "{}",
            done.stderr
        );
        assert!(
            done.stdout.contains("The state before is in .pulumi/stacks/shop/dev.json.bak."),
            "{}",
            done.stdout
        );
        assert_eq!(project.stored("dev.json.bak"), damage);
        assert_eq!(project.run(&["show", ".", "--json"]).clean(), then);
        // Nor for a push.
        assert_eq!(project.run(&["pull", ".", "-o", "export.json"]).clean(), "");
        fs::write(checkpoint(&project), damage).unwrap();
        let pushed = project.run(&["push", ".", "export.json"]);
        assert!(pushed.code == 0 && pushed.stderr.contains("cannot be read"), "{pushed:?}");
        assert_eq!(project.stored("dev.json.bak"), damage);
        assert_eq!(project.run(&["show", ".", "--json"]).clean(), then);
    }
}

#[test]
fn a_rollback_that_would_lose_something_is_refused() {
    let project = Project::of("plain");
    let before = project.stored("dev.json");
    let stamp = |at: usize| IDS[at].strip_prefix("history-").unwrap();
    let copy = |at: usize| history_folder(&project).join(format!("dev-{}.checkpoint.json", stamp(at)));
    // One of another stack, a damaged one, one without the resources that are there, and none.
    let text = fs::read_to_string(copy(0)).unwrap();
    fs::write(copy(0), text.replace("urn:pulumi:dev::", "urn:pulumi:other::")).unwrap();
    fs::write(copy(1), &text[..text.len() / 2]).unwrap();
    fs::write(copy(2), r#"{"version":0,"checkpoint":{"stack":"organization/shop/dev"}}"#).unwrap();
    let foreign = project.run(&["rollback", ".", "--to", IDS[0]]).failed(9);
    assert!(
        foreign.contains("is from a different stack (other != dev)") && foreign.contains("--force"),
        "{foreign}"
    );
    let preview = project.run(&["rollback", ".", "--to", IDS[0], "--dry-run"]).failed(9);
    assert!(preview.contains("is from a different stack"), "{preview}");
    assert!(project.run(&["rollback", ".", "--to", IDS[1]]).failed(5).contains("restore"), "damaged");
    let lossy = project.run(&["rollback", ".", "--to", IDS[2]]).failed(6);
    assert!(lossy.contains("would vanish") && lossy.contains("--yes"), "{lossy}");
    assert!(project.run(&["rollback", ".", "--to", "history-9"]).failed(7).contains("there is no snapshot"));
    let many = project.run(&["rollback", ".", "--to", "history"]).failed(2);
    assert!(many.contains("matches 3 snapshots"), "{many}");
    assert_eq!(project.stored("dev.json"), before);
    assert!(is_unlocked(&project));
    assert_eq!(project.run(&["rollback", ".", "--to", IDS[2], "--yes"]).code, 0);
    assert_eq!(project.run(&["rollback", ".", "--to", IDS[0], "--force"]).code, 0);
    assert!(project.run(&["list", "."]).clean().contains("urn:pulumi:other::"));
    let missing = project.run(&["rollback", ".", "--stack", "nothing", "--to", IDS[0]]).failed(3);
    assert!(missing.contains("there is no such stack"), "{missing}");
    assert!(!project.path().join("bucket/.pulumi/groundstate/locks/organization/shop/nothing.json").exists());
}

#[test]
fn a_lock_of_pulumi_refuses_what_replaces_a_state() {
    let project = Project::of("held");
    let export = project.run(&["pull", ".", "-o", "export.json"]);
    assert_eq!(export.code, 0, "{}", export.stderr);
    let before = project.stored("dev.json");
    for args in [
        &["rollback", ".", "--to", "bak"][..],
        &["undo", "."],
        &["push", ".", "export.json"],
        &["rollback", ".", "--to", "bak", "--no-lock"],
        &["protect", ".", "shop-dev", "--no-lock"],
    ] {
        let refused = project.run(args).failed(8);
        assert!(refused.contains("daemon@builder"), "{args:?}: {refused}");
    }
    assert_eq!(project.stored("dev.json"), before);
    assert_eq!(project.run(&["rollback", ".", "--to", "bak", "--dry-run"]).code, 0);
}

#[test]
fn a_stack_that_was_removed_comes_back_from_a_copy() {
    let project = Project::of("plain");
    let then = project.run(&["show", ".", "--json"]).clean();
    fs::remove_file(checkpoint(&project)).unwrap();
    assert_eq!(project.run(&["pull", "."]).code, 3);
    let done = project.run(&["rollback", ".", "--to", "backup-1795406551515180029"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(project.run(&["show", ".", "--json"]).clean(), then);
}

#[test]
fn the_state_before_goes_to_the_file_that_is_named() {
    let project = Project::of("gzip");
    let before = project.stored("dev.json.gz");
    fs::write(project.path().join("bucket/.pulumi/stacks/shop/dev.json.gz.bak"), {
        let state = project.run(&["pull", "."]).clean();
        let state = state.replacen(
            "\"deployment\": {",
            "\"checkpoint\": {\"stack\": \"organization/shop/dev\", \"latest\": {",
            1,
        );
        format!("{}}}", state.replace("shop-dev\"", "shop-dev\",\"protect\":true").trim_end())
    })
    .unwrap();
    let run = project.run(&["undo", ".", "--backup", "before.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("The state before is in before.json."), "{}", run.stdout);
    assert_eq!(fs::read(project.path().join("before.json")).unwrap(), before);
    assert_ne!(project.stored("dev.json.gz"), before);
}

#[test]
fn a_pull_is_what_a_push_takes() {
    for name in ["plain", "gzip", "zstd"] {
        let project = Project::of(name);
        let export = project.run(&["pull", "."]).clean();
        assert!(export.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n"), "{export}");
        assert_eq!(project.run(&["pull", &project.stack()]).clean(), export);
        assert_eq!(project.run(&["pull", ".", "-o", "export.json"]).clean(), "");
        let file = project.path().join("export.json");
        assert_eq!(fs::read_to_string(&file).unwrap(), export);
        assert_eq!(project.run(&["push", ".", "export.json"]).clean(), "Nothing to change.\n");

        let urn = project.run(&["list", "."]).clean().lines().last().unwrap().to_owned();
        let kept = format!("\"urn\": \"{urn}\",\n                \"futureKey\": 1.50,");
        let changed = export.replace(&format!("\"urn\": \"{urn}\","), &kept);
        let changed = changed.replacen("\"parent\": ", "\"protect\": true,\n                \"parent\": ", 9);
        fs::write(&file, &changed).unwrap();
        let preview = project.run(&["push", ".", "export.json", "--dry-run"]);
        assert!(preview.code == 0 && preview.stdout.starts_with("Would store export.json\n"), "{preview:?}");
        assert_eq!(project.run(&["pull", "."]).clean(), export);
        let pushed = project.run(&["push", ".", "export.json"]);
        assert!(pushed.code == 0 && pushed.stdout.contains("Deployment stored"), "{pushed:?}");
        let now = project.run(&["pull", "."]).clean();
        assert!(now.contains("\"futureKey\": 1.50") && now.contains("\"protect\": true"), "{now}");
        assert_eq!(project.run(&["undo", "."]).code, 0);
        assert_eq!(project.run(&["pull", "."]).clean(), export);
    }
}

#[test]
fn a_push_refuses_what_pulumi_refuses() {
    let project = Project::of("plain");
    let export = project.run(&["pull", "."]).clean();
    let before = project.stored("dev.json");
    let put = |name: &str, text: &str| fs::write(project.path().join(name), text).unwrap();
    put("foreign.json", &export.replace("urn:pulumi:dev::", "urn:pulumi:other::"));
    put(
        "broken.json",
        &export.replacen("\"parent\": \"urn:pulumi:dev::shop", "\"parent\": \"urn:pulumi:dev::gone", 1),
    );
    put("empty.json", "");
    put(
        "state.tfstate",
        r#"{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"l","outputs":{},"resources":[]}"#,
    );
    put(
        "nothing.json",
        r#"{"version":3,"deployment":{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""}}}"#,
    );
    for (file, code, said) in [
        ("foreign.json", 9, "is from a different stack (other != dev)"),
        ("broken.json", 5, "groundstate check broken.json"),
        ("empty.json", 3, "empty"),
        ("state.tfstate", 2, "is a state of Terraform, and stack dev"),
        ("nothing.json", 6, "would vanish"),
        ("missing.json", 3, "missing.json"),
    ] {
        let refused = project.run(&["push", ".", file]).failed(code);
        assert!(refused.contains(said), "{file}: {refused}");
        assert_eq!(project.stored("dev.json"), before);
    }
    let refused = project.run(&["push", "state.tfstate", "foreign.json"]).failed(2);
    assert!(
        refused.contains("is a Pulumi deployment, but state.tfstate holds Terraform states"),
        "{refused}"
    );
    let missing = project.run(&["push", ".", "foreign.json", "--stack", "nothing"]).failed(3);
    assert!(
        missing.contains("there is no such stack") && missing.contains("groundstate stacks create"),
        "{missing}"
    );
    assert_eq!(project.run(&["push", ".", "broken.json", "--force"]).code, 0);
    assert!(is_unlocked(&project));
}

#[test]
fn pending_operations_are_not_pushed_and_each_is_named() {
    let project = Project::of("plain");
    let export = project.run(&["pull", "."]).clean();
    let urn = "urn:pulumi:dev::shop::t:t:T::q";
    let pending = format!(
        r#""pending_operations": [{{"resource":{{"urn":"{urn}","custom":true,"type":"t:t:T"}},"type":"creating"}}], "metadata""#
    );
    fs::write(project.path().join("export.json"), export.replacen("\"metadata\"", &pending, 1)).unwrap();
    let run = project.run(&["push", ".", "export.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains(&format!("removing pending operation 'creating' on '{urn}'")),
        "{}",
        run.stderr
    );
    assert!(!project.run(&["pull", "."]).stdout.contains("creating"));
}

/// Sets the permissions of a folder and of all folders in it.
#[cfg(unix)]
fn set_modes(folder: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let inner = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inner.filter(|path| path.is_dir()).for_each(|inner| set_modes(&inner, mode));
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_bucket_that_cannot_be_written_has_a_history_and_refuses_a_rollback() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let project = Project::of("plain");
    let before = project.stored("dev.json");
    // The superuser may write anywhere, so it becomes another user.
    let is_root = fs::metadata(project.path()).unwrap().uid() == 0;
    let binary = tempfile::tempdir().unwrap();
    fs::set_permissions(binary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = binary.path().join("groundstate");
    fs::copy(env!("CARGO_BIN_EXE_groundstate"), &copy).unwrap();
    set_modes(project.path(), 0o555);
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&copy);
        project.select(command.args(args));
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        loop {
            match command.output() {
                // A process that another test is just starting has the copy open for writing for a moment.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                output => return Run::of(output.unwrap()),
            }
        }
    };
    let shown = run(&["history", "."]);
    let preview = run(&["rollback", ".", "--to", IDS[2], "--dry-run"]);
    let refused = [&["rollback", ".", "--to", IDS[2]][..], &["undo", "."]].map(run);
    let backups = project.path().join("bucket/.pulumi/backups/shop/dev");
    fs::set_permissions(&backups, fs::Permissions::from_mode(0o000)).unwrap();
    let part = run(&["history", "."]);
    set_modes(project.path(), 0o755);

    assert!(shown.clean().starts_with("3  refresh"));
    assert!(preview.clean().starts_with("Would go back to"));
    for refused in refused {
        let refused = refused.failed(11);
        assert!(refused.to_lowercase().contains("permission"), "{refused}");
    }
    assert_eq!(project.stored("dev.json"), before);
    // A folder that cannot be read is named, and the updates are shown.
    assert!(part.code == 11 && part.stdout.starts_with("3  refresh"), "{part:?}");
    assert!(part.stderr.contains("backups/shop/dev"), "{}", part.stderr);
}

#[test]
fn commands_that_mean_nothing_for_a_stack_name_those_that_do() {
    let project = Project::of("plain");
    fs::write(project.path().join("script"), "rm a.b\n").unwrap();
    let export = project.run(&["pull", ".", "-o", "export.json"]);
    assert_eq!(export.code, 0);
    let stack = project.stack();
    for (args, named) in [
        (&["workspaces", "list", "."][..], "groundstate stacks list"),
        (&["workspaces", "new", ".", "x"], "groundstate stacks list"),
        (&["workspaces", "delete", &stack, "x"], "groundstate stacks list"),
        (&["migrate", ".", "elsewhere"], "groundstate help stacks"),
        (&["migrate", &stack, "elsewhere"], "groundstate help stacks"),
        (&["migrate-lock", "."], "groundstate stacks list"),
        (&["repair-digest", "."], "groundstate stacks list"),
        (&["edit", ".", "--script", "script"], "`mv`, `rm`"),
        (&["replace-provider", ".", "a", "b"], "change the program"),
        (&["merge-errored", ".", "export.json"], "`pulumi refresh`"),
        (&["salvage", "."], "groundstate repair"),
        (&["history", ".", "--workspace", "x"], ""),
        (&["rollback", "export.json", "--to", "x"], "groundstate undo"),
        (&["pull", "export.json"], "groundstate upgrade"),
        (&["push", "export.json", "export.json"], "pulumi stack import"),
        (&["history", "export.json"], "groundstate undo"),
    ] {
        let refused = project.run(args);
        assert_ne!(refused.code, 0, "{args:?}: {}", refused.stdout);
        assert!(refused.stderr.contains(named), "{args:?}: {}", refused.stderr);
    }
    let left: Vec<_> =
        fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("terraform")), "{left:?}");
}
