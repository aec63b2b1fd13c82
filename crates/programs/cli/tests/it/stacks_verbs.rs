//! Stacks are created, removed and tagged, and their old copies removed, each under its lock.

use std::fs;

use serde_json::Value;

use super::stack_project::Project;

const EMPTY: &str = r#"{"version":0,"checkpoint":{"stack":"organization/shop/new"}}"#;

fn address(project: &Project, stack: &str) -> String {
    format!("{}#organization/shop/{stack}", project.url())
}

#[test]
fn a_stack_is_created_as_pulumi_does_and_only_once() {
    let project = Project::of("plain");
    let said = project.run(&["stacks", "create", ".", "--stack", "new"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stdout.starts_with("Created the stack organization/shop/new in file://"), "{}", said.stdout);
    assert!(
        said.stderr.contains("`pulumi stack select organization/shop/new` selects it"),
        "{}",
        said.stderr
    );
    assert_eq!(String::from_utf8(project.stored("new.json")).unwrap(), EMPTY);
    assert!(project.locks("new").is_empty());

    fs::write(project.bucket().join("stacks/shop/broken.json"), "{").unwrap();
    for stack in ["new", "dev", "broken"] {
        let refused = project.run(&["stacks", "create", &address(&project, stack)]).failed(9);
        assert!(refused.contains("already exists"), "{refused}");
        assert!(project.locks(stack).is_empty(), "{stack}");
    }
    assert_eq!(project.stored("broken.json"), b"{");
}

#[test]
fn an_empty_bucket_becomes_a_backend_with_its_first_stack() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = folder.path().join("bucket");
    fs::create_dir(&bucket).unwrap();
    let project = Project::of("plain");
    let address = |stack: &str| format!("pulumi+file://{}#{stack}", bucket.display());
    for verb in [&["remove", "--dry-run"][..], &["remove", "--yes"]] {
        let stack = address("organization/shop/new");
        let missing = project.run(&[&["stacks"], verb, &[&stack]].concat()).failed(3);
        assert!(missing.contains("there is no such stack; there are no stacks here"), "{missing}");
        assert!(missing.contains(&format!("`groundstate stacks create '{stack}'`")), "{missing}");
    }
    let refused = project.run(&["stacks", "create", &address("new")]).failed(2);
    assert!(
        refused.contains("has no project") && refused.contains("organization/PROJECT/STACK"),
        "{refused}"
    );
    assert_eq!(fs::read_dir(&bucket).unwrap().count(), 0, "nothing is written before the name is known");
    assert_eq!(project.run(&["stacks", "create", &address("organization/shop/new")]).code, 0);
    assert_eq!(fs::read_to_string(bucket.join(".pulumi/meta.yaml")).unwrap(), "version: 1\n");
    assert_eq!(fs::read_to_string(bucket.join(".pulumi/stacks/shop/new.json")).unwrap(), EMPTY);
}

#[test]
fn a_stack_is_removed_with_its_belongings_and_its_copies_stay() {
    let project = Project::of("plain");
    assert_eq!(project.run(&["stacks", "create", ".", "--stack", "new"]).code, 0);
    let remove = |more: &[&str]| project.run(&[&["stacks", "remove", ".", "--stack", "new"], more].concat());
    let asked = remove(&[]).failed(6);
    assert!(asked.contains("- .pulumi/stacks/shop/new.json\n"), "{asked}");
    assert!(asked.contains("  .pulumi/stacks/shop/new.json.bak stays\n"), "{asked}");
    assert!(asked.contains("`--yes` removes it"), "{asked}");
    let shown = remove(&["--dry-run"]).clean();
    assert!(shown.contains("Would remove the stack organization/shop/new from file://"), "{shown}");
    assert_eq!(String::from_utf8(project.stored("new.json")).unwrap(), EMPTY);

    let said = remove(&["--yes"]).clean();
    let expected = "- .pulumi/stacks/shop/new.json\n  .pulumi/stacks/shop/new.json.bak stays\nRemoved the stack organization/shop/new from ";
    assert!(said.starts_with(expected), "{said}");
    assert!(!project.files().contains(&"new.json".to_owned()));
    assert_eq!(String::from_utf8(project.stored("new.json.bak")).unwrap(), EMPTY);
    assert!(project.locks("new").is_empty());
    let gone = remove(&["--yes"]).failed(3);
    assert!(gone.contains("there is no such stack; the stacks here are organization/shop/dev"), "{gone}");
}

#[test]
fn a_stack_with_resources_is_refused_without_force() {
    let project = Project::of("gzip");
    let before = project.stored("dev.json.gz");
    let refused = project.run(&["stacks", "remove", ".", "--yes"]).failed(6);
    assert!(
        refused.contains("refusing to remove stack because it still contains resources")
            && refused.contains("`groundstate list .` shows them")
            && refused.contains("`groundstate stacks remove --force .` forgets them"),
        "{refused}"
    );
    assert_eq!(project.stored("dev.json.gz"), before);
    let run = project.run(&["stacks", "remove", ".", "--force", "--backups", "--yes", "--json"]);
    let said: Value = serde_json::from_str(&run.clean()).unwrap();
    assert_eq!(said["stack"], "organization/shop/dev");
    assert_eq!((&said["copies"], &said["dry_run"]), (&serde_json::json!([]), &Value::Bool(false)));
    assert!(
        said["removed"].as_array().unwrap().contains(&".pulumi/stacks/shop/dev.json.gz".into()),
        "{said}"
    );
    assert!(project.files().is_empty(), "{:?}", project.files());
    for folder in ["history", "backups"] {
        let left = fs::read_dir(project.bucket().join(folder).join("shop/dev"));
        assert!(left.map_or(true, |mut left| left.next().is_none()), "{folder}");
    }
}

#[test]
fn a_damaged_stack_is_removed_by_force_and_its_bytes_stay() {
    let project = Project::of("plain");
    fs::write(project.bucket().join("stacks/shop/dev.json"), "{\"version\":3,").unwrap();
    let refused = project.run(&["stacks", "remove", ".", "--yes"]).failed(5);
    assert!(refused.contains("`groundstate stacks remove --force .` removes it as it is"), "{refused}");
    assert_eq!(project.run(&["stacks", "remove", ".", "--force", "--yes"]).code, 0);
    assert_eq!(project.stored("dev.json.bak"), b"{\"version\":3,");
    assert!(!project.files().contains(&"dev.json".to_owned()));
}

#[test]
fn a_lock_of_another_process_refuses_both_verbs_and_names_the_way_out() {
    let project = Project::of("held");
    let locks = project.locks("dev");
    let refused = project.run(&["stacks", "remove", ".", "--force", "--yes"]).failed(8);
    assert!(refused.contains("daemon@builder"), "{refused}");
    assert!(refused.contains("`groundstate unlock --force .` frees it"), "{refused}");
    assert_eq!(project.locks("dev"), locks);

    let folder = project.bucket().join("locks/organization/shop/new");
    fs::create_dir_all(&folder).unwrap();
    // What a program of another user wrote is not to move the cursor.
    let lock =
        r#"{"pid":1,"username":"eve\u001b[2J\nroot","hostname":"h","timestamp":"2026-01-01T00:00:00Z"}"#;
    fs::write(folder.join("6a3c0000-0000-4000-8000-000000000000.json"), lock).unwrap();
    let refused = project.run(&["stacks", "create", ".", "--stack", "new", "--lock-timeout", "300ms"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    assert!(refused.stderr.contains(r"created by eve\u001b[2J\nroot@h (pid 1)"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("`groundstate unlock --force . --stack new` frees it"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("waiting for the lock"), "{}", refused.stderr);
}

#[test]
fn tags_are_shown_set_and_removed_and_others_stay() {
    let project = Project::of("plain");
    let tags = |more: &[&str]| project.run(&[&["stacks", "tags", "."], more].concat());
    let before = tags(&[]).clean();
    assert!(!before.is_empty(), "the fixture has tags");
    let set = tags(&["--set", "owner=ana=bo", "--set", "area=x"]).clean();
    assert_eq!(set, "+ area=x\n+ owner=ana=bo\n");
    assert_eq!(
        tags(&["--set", "owner=eve", "--remove", "area"]).clean(),
        "- area=x\n- owner=ana=bo\n+ owner=eve\n"
    );
    let stored = project.stored("dev.pulumi-tags");
    let again = tags(&["--set", "owner=eve"]);
    assert_eq!((again.code, &*again.stdout), (0, ""));
    assert!(again.stderr.contains("set already, so nothing was written"), "{}", again.stderr);
    assert_eq!(project.stored("dev.pulumi-tags"), stored);
    let shown = tags(&[]).clean();
    assert!(before.lines().all(|line| shown.lines().any(|after| after == line)), "{before}{shown}");
    assert!(shown.lines().any(|line| line == "owner=eve"), "{shown}");
    let listed = project.run(&["stacks", "list", "--tag", "owner=eve"]).clean();
    assert_eq!(listed, "organization/shop/dev\n");
    assert!(project.locks("dev").is_empty());
}

#[test]
fn tags_that_no_stack_can_have_are_refused_before_anything_is_locked() {
    let project = Project::of("held");
    let long = format!("{}=x", "n".repeat(41));
    let value = format!("n={}", "v".repeat(257));
    for (args, code, expected) in [
        (vec!["--set", "a b=x"], 2, "letters, digits"),
        (vec!["--set", "=x"], 2, "letters, digits"),
        (vec!["--set", "x"], 2, "NAME=VALUE"),
        (vec!["--set", &long], 2, "more than 40 characters"),
        (vec!["--set", &value], 2, "more than 256 characters"),
        (vec!["--set", "a=1", "--set", "a=2"], 2, "more than once"),
        (vec!["--set", "a=1", "--remove", "a"], 2, "more than once"),
        (vec!["--set", "a=1"], 8, "daemon@builder"),
        (vec!["--stack", "none"], 3, "`groundstate stacks create . --stack none` creates it"),
    ] {
        let said = project.run(&[&["stacks", "tags", "."], &args[..]].concat()).failed(code);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let project = Project::of("plain");
    assert_eq!(project.run(&["stacks", "tags", ".", "--set", "owner=ana"]).code, 0);
    let said = project.run(&["stacks", "tags", ".", "--remove", "ovner"]).failed(7);
    assert!(said.contains("has no tag \"ovner\"") && said.contains("did you mean owner?"), "{said}");
    fs::write(project.bucket().join("stacks/shop/dev.pulumi-tags"), "{").unwrap();
    let said = project.run(&["stacks", "tags", ".", "--set", "a=b"]).failed(5);
    assert!(said.contains("dev.pulumi-tags") && said.contains("remove it, and set them again"), "{said}");
    assert_eq!(project.stored("dev.pulumi-tags"), b"{");
}

/// The names of what the bucket has of a stack in a folder, without descriptions.
fn copies(project: &Project, folder: &str) -> Vec<String> {
    let names = fs::read_dir(project.bucket().join(folder).join("shop/dev")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".attrs"));
    names.sort();
    names
}

#[test]
fn old_copies_are_shown_then_removed_and_the_newest_stay() {
    let project = Project::of("plain");
    let (history, backups) = (copies(&project, "history"), copies(&project, "backups"));
    assert_eq!((history.len(), backups.len()), (6, 3), "what the fixture has");
    let prune = |more: &[&str]| project.run(&[&["stacks", "prune", "."], more].concat());
    let run = prune(&["--keep", "1", "--kind", "history", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    let stack = &plan["stacks"][0];
    assert_eq!(
        (plan["dry_run"].as_bool(), stack["stack"].as_str()),
        (Some(true), Some("organization/shop/dev"))
    );
    assert_eq!(stack["removed"].as_array().unwrap().len(), 2, "{plan}");
    assert_eq!(stack["kept"].as_array().unwrap().len(), 1, "{plan}");
    let keys = stack["removed"][1]["keys"].as_array().unwrap();
    let expected: Vec<String> =
        [&history[1], &history[0]].map(|name| format!(".pulumi/history/shop/dev/{name}")).into();
    assert_eq!(keys, &expected.iter().map(|key| Value::from(key.as_str())).collect::<Vec<_>>(), "{plan}");

    let asked = prune(&["--keep", "1"]).failed(6);
    assert!(asked.contains("4 copies would be removed"), "{asked}");
    assert!(asked.contains("organization/shop/dev: removes 4 copies ("), "{asked}");
    assert_eq!(
        (copies(&project, "history"), copies(&project, "backups")),
        (history.clone(), backups.clone())
    );

    let said = prune(&["--keep", "1", "--kind", "history", "--yes"]).clean();
    assert_eq!(said.lines().filter(|line| line.starts_with("- organization/shop/dev  history  ")).count(), 2);
    assert!(
        said.ends_with(")\n") && said.contains("removes 2 copies (") && said.contains(", keeps 1 copy ("),
        "{said}"
    );
    assert_eq!((copies(&project, "history"), copies(&project, "backups")), (history[4..].to_vec(), backups));
    assert_eq!(prune(&["--keep", "0", "--yes"]).code, 0);
    assert_eq!((copies(&project, "history").len(), copies(&project, "backups").len()), (2, 1));
    assert!(project.files().contains(&"dev.json.bak".to_owned()) && project.locks("dev").is_empty());
    for (args, expected) in
        [(&[][..], "--keep"), (&["--older-than", "30"], "30d"), (&["--keep", "x"], "--keep")]
    {
        let said = prune(args).failed(2);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_stack_that_is_locked_keeps_its_copies_and_the_others_are_pruned() {
    let project = Project::of("plain");
    let second = |folder: &str| {
        let to = project.bucket().join(folder).join("shop/other");
        fs::create_dir_all(&to).unwrap();
        for (at, name) in copies(&project, folder).iter().enumerate() {
            fs::write(to.join(name.replace("dev", "other")), format!("{at}")).unwrap();
        }
    };
    second("history");
    fs::copy(
        project.bucket().join("stacks/shop/empty.json"),
        project.bucket().join("stacks/shop/other.json"),
    )
    .unwrap();
    let folder = project.bucket().join("locks/organization/shop/dev");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("6a3c0000-0000-4000-8000-000000000000.json"), "").unwrap();
    let before = copies(&project, "history");
    let run =
        project.run(&["stacks", "prune", &project.url(), "--all-stacks", "--keep", "1", "--yes", "--json"]);
    assert_eq!(run.code, 8, "{}", run.stderr);
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    let of = |name: &str| {
        let stacks = said["stacks"].as_array().unwrap();
        stacks.iter().find(|stack| stack["stack"] == format!("organization/shop/{name}")).unwrap().clone()
    };
    assert_eq!(of("dev")["removed"], serde_json::json!([]));
    assert!(of("dev")["failure"].as_str().unwrap().contains("another process holds it"), "{said}");
    assert_eq!(of("other")["removed"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!(copies(&project, "history"), before);
    assert!(run.stderr.contains("unlock --force"), "{}", run.stderr);
}

#[test]
fn where_no_stack_can_be_the_next_command_is_named() {
    let project = Project::of("plain");
    let outside = tempfile::tempdir().unwrap();
    let here = outside.path().display().to_string();
    for (args, code, expected) in [
        (vec!["stacks", "create", &here, "--stack", "new"], 2, "has no project"),
        (vec!["stacks", "create", "missing.json"], 2, "neither a directory nor the address of a stack"),
        (vec!["stacks", "remove", ".", "--stack", ".."], 2, "stack name"),
    ] {
        let said = project.run(&args).failed(code);
        assert!(said.contains(expected) && said.contains("organization/PROJECT/STACK"), "{args:?}: {said}");
    }
    let full = ["stacks", "create", &here, "--stack", "organization/shop/new"];
    assert_eq!(project.run(&full).code, 0);

    let legacy = Project::of("plain");
    fs::remove_dir_all(legacy.bucket()).unwrap();
    fs::create_dir_all(legacy.bucket().join("stacks")).unwrap();
    fs::write(legacy.bucket().join("stacks/dev.json"), EMPTY).unwrap();
    let said = legacy.run(&["stacks", "remove", ".", "--yes"]).failed(2);
    assert!(said.contains("Pulumi 3.257 and newer refuse") && said.contains("state upgrade"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_bucket_without_the_right_to_write_is_named_and_read() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::of("plain");
    let set = |mode: u32| {
        let mut open = vec![project.bucket()];
        while let Some(path) = open.pop() {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            if let Ok(entries) = fs::read_dir(&path) {
                open.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
            }
        }
    };
    set(0o555);
    if fs::write(project.bucket().join("probe"), "").is_ok() {
        set(0o755);
        eprintln!("not run: this user may write everywhere");
        return;
    }
    let created = project.run(&["stacks", "create", ".", "--stack", "new"]);
    let shown = project.run(&["stacks", "remove", ".", "--force", "--dry-run"]);
    set(0o755);
    assert!(created.code == 11 && created.stderr.contains("need that to `.pulumi/`"), "{}", created.stderr);
    assert!(shown.clean().contains("Would remove the stack organization/shop/dev"));
}
