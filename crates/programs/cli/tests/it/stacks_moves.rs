//! Stacks are renamed, migrated and upgraded, under their locks.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::stack_project::Project;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".attrs"));
    names.sort();
    names
}

#[test]
fn a_rename_takes_history_copies_and_configuration_along() {
    for name in ["plain", "gzip", "zstd"] {
        let project = Project::of(name);
        fs::write(project.path().join("Pulumi.dev.yaml"), "config: {}\n").unwrap();
        let before = names(&project.bucket().join("history/shop/dev"));
        let urns = project.run(&["list", "."]).clean();
        let shown = project.run(&["stacks", "rename", ".", "test", "--dry-run"]);
        assert!(shown.stderr.contains("4 encrypted values were not looked into"), "{}", shown.stderr);
        let shown = shown.stdout;
        assert!(
            shown.contains("Would rename the stack organization/shop/dev to organization/shop/test"),
            "{shown}"
        );
        assert_eq!(project.run(&["list", "."]).clean(), urns, "nothing was renamed");

        let said = project.run(&["stacks", "rename", ".", "test"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(said.stderr.contains("`pulumi stack select organization/shop/test`"), "{}", said.stderr);
        assert!(project.path().join("Pulumi.test.yaml").exists(), "{}", said.stderr);
        assert!(!project.path().join("Pulumi.dev.yaml").exists());
        let renamed = project.run(&["list", ".", "--stack", "test"]).clean();
        assert_eq!(
            renamed,
            urns.replace("urn:pulumi:dev::", "urn:pulumi:test::").replace("shop-dev", "shop-test")
        );
        assert_eq!(project.run(&["check", ".", "--stack", "test", "--fail-on", "error"]).code, 0);
        let after = names(&project.bucket().join("history/shop/test"));
        let expected: Vec<String> = before.iter().map(|name| name.replacen("dev-", "test-", 1)).collect();
        assert_eq!(after, expected);
        assert!(names(&project.bucket().join("history/shop/dev")).is_empty());
        assert!(!project.files().iter().any(|file| file.starts_with("dev.")), "{:?}", project.files());
        assert!(project.locks("dev").is_empty() && project.locks("test").is_empty());
        let gone = project.run(&["stacks", "rename", ".", "again"]).failed(3);
        assert!(gone.contains("there is no such stack"), "{gone}");
    }
}

/// Everything in the bucket is done, and the file beside it still has the old name.
#[test]
fn rename_that_was_killed_at_the_end_is_ended_by_the_same_command() {
    let project = Project::of("plain");
    fs::write(project.path().join("Pulumi.dev.yaml"), "config: {}\n").unwrap();
    assert_eq!(project.run(&["stacks", "rename", ".", "test"]).code, 0);
    fs::rename(project.path().join("Pulumi.test.yaml"), project.path().join("Pulumi.dev.yaml")).unwrap();
    for args in [&["stacks", "rename", ".", "test", "--dry-run"][..], &["stacks", "rename", ".", "test"]] {
        let said = project.run(args);
        assert_eq!(said.code, 0, "{}", said.stderr);
    }
    assert!(project.path().join("Pulumi.test.yaml").exists());
    let again = project.run(&["stacks", "rename", ".", "test"]);
    assert!(again.code == 0 && again.stdout.starts_with("Ended the rename of"), "{again:?}");
    // Another stack of the wanted name is none that was renamed.
    project.run(&["stacks", "rename", ".", "other"]).failed(3);
}

#[test]
fn a_rename_finds_the_configuration_where_the_project_has_it_and_replaces_no_other_one() {
    for (file, text, before, after) in [
        (
            "Pulumi.yaml",
            "name: shop\nruntime: yaml\nstackConfigDir: stacks\n",
            "stacks/Pulumi.dev.yaml",
            "stacks/Pulumi.test.yaml",
        ),
        ("Pulumi.yml", "name: shop\nruntime: yaml\n", "Pulumi.dev.yml", "Pulumi.test.yml"),
    ] {
        for is_taken in [false, true] {
            let project = Project::of("plain");
            fs::remove_file(project.path().join("Pulumi.yaml")).unwrap();
            fs::write(project.path().join(file), text).unwrap();
            fs::create_dir_all(project.path().join("stacks")).unwrap();
            let [before, after] = [before, after].map(|name| project.path().join(name));
            fs::write(&before, "encryptionsalt: v1:own\n").unwrap();
            if is_taken {
                fs::write(&after, "encryptionsalt: v1:other\n").unwrap();
            }
            let said = project.run(&["stacks", "rename", ".", "test"]);
            assert_eq!(said.code, 0, "{}", said.stderr);
            let [named, new] = [&before, &after].map(|path| said.stderr.contains(path.to_str().unwrap()));
            assert!(named && new, "{}", said.stderr);
            let salt = if is_taken { "encryptionsalt: v1:other\n" } else { "encryptionsalt: v1:own\n" };
            assert_eq!(fs::read_to_string(&after).unwrap(), salt);
            assert_eq!(before.exists(), is_taken, "{}", said.stderr);
            assert_eq!(said.stderr.contains("warning: cannot rename "), is_taken, "{}", said.stderr);
        }
    }
}

#[test]
fn a_name_that_is_taken_or_no_name_or_a_locked_stack_is_refused() {
    let project = Project::of("plain");
    assert_eq!(project.run(&["stacks", "create", ".", "--stack", "new"]).code, 0);
    let before = project.stored("dev.json");
    for (new, code, expected) in [
        ("new", 9, "has a state"),
        ("organization/shop/new", 9, "has a state"),
        ("dev", 2, "is called organization/shop/dev already"),
        ("..", 2, "cannot be the name of a stack"),
        ("acme/shop/x", 2, "organization"),
        ("a b", 2, "cannot be the name of a stack"),
    ] {
        let refused = project.run(&["stacks", "rename", ".", new]).failed(code);
        assert!(refused.contains(expected), "{new}: {refused}");
    }
    assert_eq!(project.stored("dev.json"), before);
    let held = Project::of("held");
    let refused = held.run(&["stacks", "rename", ".", "other"]).failed(8);
    assert!(refused.contains("daemon@builder"), "{refused}");
    assert!(held.locks("other").is_empty(), "the lock of the new name was given back");
}

#[test]
fn all_stacks_are_copied_and_again_finds_them_there() {
    let project = Project::of("plain");
    assert_eq!(project.run(&["stacks", "create", ".", "--stack", "new"]).code, 0);
    // Copies are of bytes, so a damaged one goes along.
    fs::write(project.bucket().join("stacks/shop/broken.json"), "{").unwrap();
    let other = project.path().join("other");
    fs::create_dir(&other).unwrap();
    let to = format!("pulumi+file://{}", other.display());
    let migrate = |more: &[&str]| {
        project.run(&[&["stacks", "migrate", &project.url(), &to, "--all-stacks", "--json"], more].concat())
    };
    let planned = json(&migrate(&["--dry-run"]).clean());
    assert_eq!(planned["stacks"].as_array().unwrap().len(), 4);
    assert!(!other.join(".pulumi").exists(), "nothing was written");
    for (more, expected) in [(&[][..], "copied"), (&[], "present")] {
        let said = json(&migrate(more).clean());
        let outcomes: Vec<&Value> =
            said["stacks"].as_array().unwrap().iter().map(|stack| &stack["outcome"]).collect();
        assert!(outcomes.iter().all(|outcome| **outcome == expected), "{said}");
    }
    for folder in ["stacks/shop", "history/shop/dev", "backups/shop/dev"] {
        let (here, there) = (project.bucket().join(folder), other.join(".pulumi").join(folder));
        assert_eq!(names(&here), names(&there), "{folder}");
        for name in names(&here) {
            assert_eq!(fs::read(here.join(&name)).unwrap(), fs::read(there.join(&name)).unwrap(), "{name}");
        }
    }
    let here = project.run(&["stacks", "migrate", ".", &project.url()]);
    assert_eq!((here.code, &*here.stdout), (2, "organization/shop/dev  stays\n"), "{}", here.stderr);
    let left = migrate(&["--remove", "--yes"]);
    assert_eq!(left.code, 9, "{}", left.stderr);
    assert!(left.stdout.contains("so it was not moved"), "{}", left.stdout);
    assert!(project.files().contains(&"dev.json".to_owned()));
    // What changed since is not replaced.
    let urn = project.run(&["list", "."]).clean().lines().last().unwrap().to_owned();
    assert_eq!(project.run(&["protect", ".", &urn]).code, 0);
    let said = migrate(&[]);
    assert_eq!(said.code, 9, "{}", said.stderr);
    let said = json(&said.stdout);
    let failed = said["stacks"].as_array().unwrap().iter().filter(|stack| stack["outcome"] == "failed");
    let failed: Vec<&Value> = failed.map(|stack| &stack["stack"]).collect();
    assert_eq!(failed, ["organization/shop/dev"], "{said}");
}

#[test]
fn a_stack_is_moved_under_another_name_once_that_is_agreed_to() {
    let project = Project::of("gzip");
    let other = project.path().join("other");
    fs::create_dir(&other).unwrap();
    let to = format!("pulumi+file://{}#organization/store/prod", other.display());
    let asked = project.run(&["stacks", "migrate", ".", &to, "--remove"]).failed(6);
    assert!(asked.contains("- organization/shop/dev") && asked.contains("`--yes`"), "{asked}");
    let said = project.run(&["stacks", "migrate", ".", &to, "--remove", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("organization/shop/dev to organization/store/prod  moved with"),
        "{}",
        said.stdout
    );
    assert!(project.files().is_empty(), "{:?}", project.files());
    let urns = project.run(&["list", &to]).clean();
    assert!(urns.contains("urn:pulumi:prod::store::pulumi:pulumi:Stack::store-prod"), "{urns}");
    assert!(other.join(".pulumi/stacks/store/prod.json.gz").exists());
}

#[test]
fn a_backend_without_projects_is_upgraded_and_what_cannot_be_stays() {
    let project = Project::of("plain");
    let bucket = project.bucket();
    for folder in ["stacks", "history", "backups"] {
        let from = bucket.join(folder).join("shop");
        for name in names(&from) {
            fs::rename(from.join(&name), bucket.join(folder).join(&name)).unwrap();
        }
    }
    fs::remove_dir_all(bucket.join("stacks/shop")).unwrap();
    fs::remove_file(bucket.join("meta.yaml")).unwrap();
    fs::write(bucket.join("stacks/empty.json"), r#"{"version":0,"checkpoint":{"stack":"empty"}}"#).unwrap();
    let refused = project.run(&["stacks", "list"]).failed(2);
    assert!(refused.contains("groundstate stacks upgrade"), "{refused}");

    let planned = json(&project.run(&["stacks", "upgrade", "--dry-run", "--json"]).stdout);
    assert_eq!(planned["stacks"][0]["to"], "organization/shop/dev", "{planned}");
    assert!(!bucket.join("meta.yaml").exists());
    // A name that is taken is refused by the preview too.
    fs::create_dir_all(bucket.join("stacks/shop")).unwrap();
    fs::copy(bucket.join("stacks/dev.json"), bucket.join("stacks/shop/dev.json")).unwrap();
    let taken = project.run(&["stacks", "upgrade", "--dry-run"]);
    assert!(taken.code == 1 && taken.stdout.contains("dev  stays"), "{taken:?}");
    assert!(taken.stderr.contains("choose another name"), "{taken:?}");
    fs::remove_dir_all(bucket.join("stacks/shop")).unwrap();
    let asked = project.run(&["stacks", "upgrade"]).failed(6);
    assert!(asked.contains("- dev") && asked.contains("Pulumi before 3.61"), "{asked}");
    let said = project.run(&["stacks", "upgrade", "--yes"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(
        said.stdout.contains("dev  is organization/shop/dev now") && said.stdout.contains("empty  stays")
    );
    assert!(said.stderr.contains("`--project STACK=PROJECT`"), "{}", said.stderr);
    assert_eq!(project.run(&["check", ".", "--fail-on", "error"]).code, 0);
    assert!(names(&bucket.join("history/shop/dev")).len() > 1);
    let said = project.run(&["stacks", "upgrade", "--yes", "--project", "empty=shop"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let said = project.run(&["stacks", "upgrade", "--yes"]);
    assert_eq!((said.code, &*said.stdout), (0, ""));
    assert!(said.stderr.contains("are in projects"), "{}", said.stderr);
}
