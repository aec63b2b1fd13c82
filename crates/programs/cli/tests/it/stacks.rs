//! Stacks in Pulumi's own backends, where they live: buckets that the real pulumi wrote.

use std::fs;

use super::stack_project::Project;

#[test]
fn a_project_directory_and_an_address_mean_the_same_stack() {
    for name in ["plain", "gzip", "zstd"] {
        let project = Project::of(name);
        let here = project.run(&["list", "."]).clean();
        assert!(here.contains("urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"), "{here}");
        assert_eq!(project.run(&["list"]).clean(), here);
        assert_eq!(project.run(&["list", &project.stack()]).clean(), here);
        assert_eq!(project.run(&["list", &project.url(), "--stack", "organization/shop/dev"]).clean(), here);
        assert_eq!(project.run(&["list", ".", "--stack", "dev"]).clean(), here);
        for verb in ["show", "outputs", "graph"] {
            assert!(!project.run(&[verb, "."]).clean().is_empty(), "{verb}");
        }
        assert_eq!(project.run(&["check", ".", "--fail-on", "error"]).code, 0);
        assert_eq!(project.run(&["locks", "."]).code, 0);
    }
}

#[test]
fn a_stack_is_changed_where_it_lives_and_stays_compressed() {
    for (name, file) in [("plain", "dev.json"), ("gzip", "dev.json.gz"), ("zstd", "dev.json.zst")] {
        let project = Project::of(name);
        let (before, files) = (project.stored(file), project.files());
        let urn = project.run(&["list", "."]).clean();
        let urn = urn.lines().find(|urn| urn.contains("Stash")).expect("it has a resource").to_owned();
        let preview = project.run(&["protect", ".", &urn, "--dry-run"]);
        assert_eq!((preview.code, project.stored(file)), (0, before.clone()), "{}", preview.stderr);

        let said = project.run(&["protect", ".", &urn]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let shown = project.run(&["show", ".", &urn, "--json"]).clean();
        assert!(shown.contains(r#""protect":true"#), "{shown}");
        assert_eq!(project.stored(&format!("{file}.bak")), before);
        let active = |files: &[String]| files.iter().filter(|file| !file.ends_with(".bak")).count();
        assert_eq!(active(&project.files()), active(&files), "{:?}", project.files());
        let locks = project.path().join("bucket/.pulumi/locks/organization/shop/dev");
        assert!(fs::read_dir(locks).map_or(true, |mut left| left.next().is_none()), "a lock is left");
    }
}

#[test]
fn a_lock_of_pulumi_refuses_changes_is_shown_and_can_be_broken() {
    let project = Project::of("held");
    let urn = project.run(&["list", "."]).clean().lines().last().unwrap().to_owned();
    let refused = project.run(&["protect", ".", &urn]).failed(8);
    assert!(refused.contains("daemon@builder"), "{refused}");
    let shown = project.run(&["locks", ".", "--json"]);
    let locks: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let id = locks["locks"][0]["holder"]["id"].as_str().unwrap().to_owned();
    assert!(shown.stdout.contains("daemon@builder"), "{}", shown.stdout);
    let wrong = project.run(&["unlock", ".", "00000000-0000-0000-0000-000000000000"]);
    assert_ne!(wrong.code, 0);
    let freed = project.run(&["unlock", ".", &id]);
    assert_eq!(freed.code, 0, "{}", freed.stderr);
    assert_eq!(project.run(&["protect", ".", &urn]).code, 0);
}

#[test]
fn stacks_are_listed_also_where_one_is_damaged() {
    let project = Project::of("plain");
    let names = project.run(&["stacks", "list"]).clean();
    assert!(names.lines().any(|name| name == "organization/shop/dev"), "{names}");
    assert_eq!(project.run(&["stacks", "list", &project.url()]).clean(), names);
    assert_eq!(project.run(&["stacks", "list", "--project", "other"]).stdout, "");

    fs::write(project.path().join("bucket/.pulumi/stacks/shop/broken.json"), "{\"version\":3,").unwrap();
    let names = project.run(&["stacks", "list"]).clean();
    assert!(names.contains("organization/shop/broken"), "{names}");
    let long = project.run(&["stacks", "list", "--long"]);
    assert_eq!(long.code, 1);
    assert!(long.stdout.contains("organization/shop/broken  cannot be read"), "{}", long.stdout);
    assert!(long.stdout.contains("organization/shop/dev  ") && long.stdout.contains(" resources, updated "));
    let json = project.run(&["stacks", "list", "--long", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["stacks"][0]["unreadable"].is_string(), "{json}");
}

#[test]
fn a_checkpoint_that_is_in_no_list_is_warned_of() {
    let project = Project::of("plain");
    let names = project.run(&["stacks", "list"]).clean();
    let folder = project.bucket().join("stacks/bad shop");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("dev.json"), "{}").unwrap();
    let to = project.path().join("to");
    fs::create_dir(&to).unwrap();
    let to = format!("pulumi+file://{}", to.display());
    for args in [vec!["stacks", "list"], vec!["stacks", "migrate", &project.url(), &to, "--all-stacks"]] {
        let said = project.run(&args);
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert!(said.stderr.contains(".pulumi/stacks/bad shop/dev.json is left out"), "{}", said.stderr);
    }
    assert_eq!(project.run(&["stacks", "list"]).stdout, names);
}

#[test]
fn what_is_no_stack_is_refused_with_the_way_to_one() {
    let project = Project::of("plain");
    for (args, code, expected) in [
        (vec!["list", &project.url()], 2, "names no stack"),
        (vec!["list", &format!("{}#organization/shop/..", project.url())], 2, "stack name"),
        (
            vec!["list", ".", "--stack", "nothing"],
            3,
            "there is no such stack; the stacks here are organization/shop/dev",
        ),
        (vec!["list", "pulumi+s3://ana:hush@bucket#dev"], 2, "user or a password"),
        (vec!["list", "pulumi+https://app.example/x#dev"], 11, "pulumi login https://app.example/x"),
        (vec!["list", "pulumi+file:///no/such/folder#dev"], 3, "does not exist"),
        (vec!["stacks", "list", "terraform.tfstate"], 2, "neither a directory nor the address"),
        (vec!["workspaces", "list", &project.stack()], 2, "Pulumi has stacks instead"),
    ] {
        let said = project.run(&args);
        assert!(
            said.stderr.contains(expected) && !said.stderr.contains("hush"),
            "{args:?}: {} {}",
            said.code,
            said.stderr
        );
        assert_eq!(said.code, code, "{args:?}: {}", said.stderr);
    }
    fs::write(project.path().join("terraform.tfstate"), "{}").unwrap();
    let said = project.run(&["list", "."]).failed(2);
    assert!(
        said.contains("is both a Pulumi project and a Terraform directory") && said.contains("--stack"),
        "{said}"
    );
    assert_eq!(project.run(&["list", ".", "--stack", "dev"]).code, 0);
}

#[test]
fn what_killed_processes_left_is_named_for_the_stack_and_for_the_backend() {
    let project = Project::of("plain");
    let bucket = project.path().join("bucket/.pulumi");
    assert!(!project.run(&["check", "."]).stdout.contains("GS08"));
    let left = [
        "stacks/shop/dev.json.17ab.tmp",
        "stacks/shop/gone.json.bak",
        "locks/organization/shop/dev/0.json",
        "locks/organization/shop/gone/1.json.17ab.tmp",
    ];
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 24 * 60 * 60);
    for name in left {
        fs::create_dir_all(bucket.join(name).parent().unwrap()).unwrap();
        fs::File::create(bucket.join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let checked = project.run(&["check", "."]);
    assert_eq!(checked.code, 1, "{}", checked.stderr);
    for (code, place, help) in [
        (
            "info[GS0801]",
            "stacks/shop/dev.json.17ab.tmp (0 bytes, written ",
            "`groundstate stacks prune` removes it",
        ),
        (
            "error[GS0803]",
            "locks/organization/shop/dev/0.json: unreadable lock: ",
            "groundstate unlock STACK",
        ),
    ] {
        let shown = &checked.stdout;
        assert!([code, place, help].iter().all(|part| shown.contains(part)), "{code}: {shown}");
    }
    assert!(!checked.stdout.contains("gone"), "{}", checked.stdout);
    assert_eq!(project.run(&["check", ".", "--ignore", "GS0803", "--fail-on", "warning"]).code, 0);
    let json: serde_json::Value =
        serde_json::from_str(&project.run(&["check", ".", "--json"]).stdout).unwrap();
    let codes: Vec<&str> = json["files"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert!(codes.ends_with(&["GS0801", "GS0803"]), "{codes:?}");

    let listed = project.run(&["stacks", "list", "--long"]);
    assert_eq!(listed.code, 0, "every stack could be read: {}", listed.stderr);
    assert!(listed.stdout.lines().all(|line| line.contains(", updated ")), "{}", listed.stdout);
    for said in ["unreadable lock (GS0803)", "temporary file among the locks (GS0802)", "gone.json.bak"] {
        assert!(listed.stderr.contains(said), "{said}: {}", listed.stderr);
    }
    let json = project.run(&["stacks", "list", "--long", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let codes: Vec<_> = json["leftovers"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["GS0801", "GS0802", "GS0803", "GS0820"]);
    let part = project.run(&["stacks", "list", "--long", "--project", "shop"]);
    assert_eq!((part.code, part.stderr.as_str()), (0, ""));

    // The commands that the findings name clear them away.
    let gone = format!("{}#organization/shop/gone", project.url());
    for args in [
        vec!["unlock", ".", "--force"],
        vec!["unlock", &gone, "--force"],
        vec!["stacks", "prune", ".", "--keep", "100", "--yes"],
        vec!["stacks", "remove", &gone, "--backups", "--yes"],
    ] {
        let done = project.run(&args);
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
    }
    let cleared = project.run(&["stacks", "list", "--long"]);
    assert_eq!((cleared.code, cleared.stderr.as_str()), (0, ""));
    assert!(!project.run(&["check", "."]).stdout.contains("GS08"));
}
