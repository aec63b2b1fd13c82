//! `workspaces` and `--workspace`, in directories.

use std::fs;

use super::support::{command, groundstate, resource, state, with_resources};

fn one(name: &str) -> String {
    with_resources(&resource("a", name, "{}"))
}

#[test]
fn are_listed_made_and_deleted() {
    let file = state(one("default"));
    let dir = file.dir.path().to_str().unwrap();
    assert_eq!(groundstate(&["workspaces", "list", dir]).clean(), "* default\n");
    let made = groundstate(&["workspaces", "new", dir, "dev"]).clean();
    assert_eq!(made.replace(dir, "DIR"), "Made the workspace dev in DIR\n");
    let again = groundstate(&["workspaces", "new", dir, "dev"]).failed(9);
    assert!(again.contains("cannot create the workspace dev"), "{again}");
    assert_eq!(groundstate(&["workspaces", "list", dir]).clean(), "* default\n  dev\n");
    let json = groundstate(&["workspaces", "list", dir, "--json"]).clean();
    assert!(
        json.contains(r#"[{"name":"default","selected":true},{"name":"dev","selected":false}]"#),
        "{json}"
    );

    let selected =
        command(&["workspaces", "delete", dir, "dev"]).env("TF_WORKSPACE", "dev").output().unwrap();
    assert_eq!(selected.status.code(), Some(2));
    fs::write(file.dir.path().join("terraform.tfstate.d/dev/terraform.tfstate"), one("dev")).unwrap();
    let refused = groundstate(&["workspaces", "delete", dir, "dev"]).failed(2);
    assert!(refused.contains("it has resources"), "{refused}");
    groundstate(&["workspaces", "delete", dir, "dev", "--force"]).clean();
    assert_eq!(groundstate(&["workspaces", "list", dir]).clean(), "* default\n");
    for name in ["default", "dev"] {
        let refused = groundstate(&["workspaces", "delete", dir, name]);
        assert!(matches!((name, refused.code), ("default", 2) | ("dev", 3)), "{name}: {refused:?}");
    }
}

#[test]
fn a_single_state_has_none() {
    let file = state(one("default"));
    let refused = groundstate(&["workspaces", "list", &file.path]).failed(2);
    assert!(file.mask(&refused).starts_with("error: FILE is a single state"), "{refused}");
    let refused = groundstate(&["list", &file.path, "--workspace", "dev"]).failed(2);
    assert!(file.mask(&refused).contains("FILE is a single state and has no workspace \"dev\""), "{refused}");
    assert_eq!(groundstate(&["list", &file.path, "--workspace", "default"]).clean(), "a.default\n");
}

#[test]
fn the_command_line_selects_one_for_every_command() {
    let file = state(one("default"));
    let dir = file.dir.path();
    fs::create_dir_all(dir.join("terraform.tfstate.d/dev")).unwrap();
    fs::write(dir.join("terraform.tfstate.d/dev/terraform.tfstate"), one("dev")).unwrap();
    let shown = dir.to_str().unwrap();
    let list = |workspace| groundstate(&["list", shown, "--workspace", workspace]).clean();
    assert_eq!((list("dev"), list("default")), ("a.dev\n".into(), "a.default\n".into()));
    groundstate(&["--workspace", "dev", "mv", shown, "a.dev", "a.moved"]).clean();
    assert_eq!((list("dev"), list("default")), ("a.moved\n".into(), "a.default\n".into()));
    let missing = groundstate(&["list", shown, "--workspace", "prod"]).failed(3);
    assert!(missing.contains("in the workspace \"prod\"") && missing.contains("`--workspace`"), "{missing}");
    assert_eq!(groundstate(&["list", shown, "--workspace", "a/b"]).code, 2);
}

#[test]
fn an_address_of_a_file_is_that_file() {
    let file = state(one("default"));
    assert_eq!(groundstate(&["list", &format!("file://{}", file.path)]).clean(), "a.default\n");
    let unknown = groundstate(&["list", "consul://host/db"]).failed(3);
    assert!(unknown.contains("no backend has addresses that begin with consul://"), "{unknown}");
    let secret = groundstate(&["list", "file://me:hunter2@host/x"]).failed(2);
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn the_command_line_selects_one_of_the_place_and_not_of_files() {
    let file = state(one("default"));
    let dir = file.dir.path();
    fs::create_dir_all(dir.join("terraform.tfstate.d/dev")).unwrap();
    fs::write(dir.join("terraform.tfstate.d/dev/terraform.tfstate"), one("old")).unwrap();
    let new = dir.join("new.json");
    let next = one("new").replace("\"serial\": 1", "\"serial\": 2");
    fs::write(&new, &next).unwrap();
    let [shown, new] = [dir, &new].map(|path| path.to_str().unwrap());
    let dev = |args: &[&str]| groundstate(&[&["--workspace", "dev"], args].concat());
    let differences = dev(&["diff", shown, new]);
    assert_eq!((differences.code, &*differences.stderr), (1, ""), "{}", differences.stdout);
    assert!(
        differences.stdout.contains("a.old") && differences.stdout.contains("a.new"),
        "{}",
        differences.stdout
    );
    let checked = dev(&["check", shown, new]);
    assert!(checked.code <= 1 && checked.stdout.contains(new), "{}{}", checked.stdout, checked.stderr);
    dev(&["push", shown, new]).clean();
    assert_eq!(dev(&["list", shown]).clean(), "a.new\n");
    dev(&["undo", shown]).clean();
    assert_eq!(dev(&["list", shown]).clean(), "a.old\n");
    dev(&["undo", shown, "--from", new, "--force"]).clean();
    assert_eq!(dev(&["list", shown]).clean(), "a.new\n");
    assert_eq!(dev(&["merge-errored", shown, new]).code, 0);
    assert_eq!(groundstate(&["list", shown]).clean(), "a.default\n");
    // Where all are files there is no place that it could mean.
    let refused = dev(&["diff", new, &file.path]).failed(2);
    assert!(refused.contains("is a single state and has no workspace \"dev\""), "{refused}");
}

#[test]
fn one_that_exists_is_not_said_to_have_changed() {
    let file = state(one("default"));
    let dir = file.dir.path().to_str().unwrap();
    groundstate(&["workspaces", "new", dir, "dev"]).clean();
    for name in ["dev", "default"] {
        let again = groundstate(&["workspaces", "new", dir, name]).failed(9);
        assert!(again.contains(&format!("cannot create the workspace {name}: it exists already")), "{again}");
    }
}
