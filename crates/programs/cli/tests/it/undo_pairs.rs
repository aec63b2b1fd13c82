//! Undo of moves between two states: both go back or neither does, or the undo names what stays.

use std::fs;

use groundstate_testkit::pulumi_takes_part;

use super::encryption::{PLAIN, block, passphrase};
use super::service_stacks::Place;
use super::stack_move::{listed, resource, shop, stack, urn};
use super::stack_project::Project;
use super::support::{self, Run, groundstate, shell, state, state_home, with_resources};

#[test]
fn undo_of_a_move_restores_both_stacks() {
    for verb in ["mv", "split"] {
        let (file, other) = (shop(None, ""), stack("prod", None, &[]));
        let before = [&file, &other].map(|side| listed(&side.path));
        match verb {
            "mv" => groundstate(&["mv", &file.path, "net", "--to", &other.path]),
            _ => groundstate(&["split", &file.path, &other.path, "net", "web"]),
        };
        assert!(listed(&other.path).contains(&urn("prod", "t:t:Net", "net")), "{verb}");
        // Either side undoes both.
        let from = if verb == "mv" { &file.path } else { &other.path };
        let undone = groundstate(&["undo", from, "--yes"]);
        assert_eq!(undone.code, 0, "{verb}: {}", undone.stderr);
        assert_eq!([&file, &other].map(|side| listed(&side.path)), before, "{verb}");
    }
}

#[test]
fn undo_of_a_move_between_stacks_of_a_bucket_restores_both() {
    let project = Project::of("plain");
    let other = format!("{}#organization/shop/prod", project.url());
    assert_eq!(project.run(&["stacks", "create", &other]).code, 0);
    let names = |stack: &str| project.run(&["list", stack]).clean();
    let before = [names("."), names(&other)];
    let resource = before[0].lines().find(|line| line.contains("::first")).unwrap().to_owned();
    let moved = project.run(&["mv", ".", &resource, "--to", &other]);
    assert_eq!(moved.code, 0, "{}", moved.stderr);
    assert!(names(&other).contains("::first") && !names(".").contains("::first"));
    let undone = project.run(&["undo", &other, "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!([names("."), names(&other)], before);
    let checked = project.run(&["check", ".", &other, "--fail-on", "error"]);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
}

/// Runs the command where no file may have more than 100 KiB.
fn confined(args: &str) -> Run {
    // Blocks have 512 or 1024 bytes, whatever the shell is.
    let program = env!("CARGO_BIN_EXE_groundstate");
    let line = format!("trap '' XFSZ; ulimit -f 100; exec {program} {args}");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).env("GROUNDSTATE_STATE_DIR", state_home());
    Run::of(command.output().unwrap())
}

#[cfg(unix)]
#[test]
fn undo_puts_the_first_state_back_if_the_second_cannot_be_written() {
    let padding = "x".repeat(300_000);
    let large = resource("prod", "t:t:Large", "large", &format!(r#","outputs":{{"text":"{padding}"}}"#));
    let instance = |id: &str| format!(r#"{{"schema_version": 0, "attributes": {{"id": "{id}"}}}}"#);
    let small = support::resource("a", "one", &instance("one"));
    let other = support::resource("a", "large", &instance(&padding));
    for (one, two, name) in [
        (shop(None, ""), stack("prod", None, &[large]), "web"),
        (state(with_resources(&small)), state(with_resources(&other).replace("\"l\"", "\"m\"")), "a.one"),
    ] {
        let moved = groundstate(&["mv", &one.path, name, "--to", &two.path]);
        assert_eq!(moved.code, 0, "{}", moved.stderr);
        let before = [&one, &two].map(|side| fs::read(&side.path).unwrap());
        let refused = confined(&format!("undo {} --yes", one.path));
        assert_ne!(refused.code, 0, "{}", refused.stdout);
        let after = [&one, &two].map(|side| fs::read(&side.path).unwrap());
        let content = |bytes: &[u8]| {
            let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let members = value.as_object_mut().unwrap();
            members.retain(|name, _| !["serial", "check_results"].contains(&name.as_str()));
            value
        };
        // A state that was written twice has a higher serial.
        assert_eq!(content(&after[0]), content(&before[0]), "{name}: {}", refused.stderr);
        assert_eq!(after[1], before[1], "{name}");
        assert!(refused.stderr.contains("was put back as it was"), "{name}: {}", refused.stderr);
        // Nothing was undone, so the same command does it where there is room.
        let undone = groundstate(&["undo", &one.path, "--yes"]);
        assert_eq!(undone.code, 0, "{name}: {}", undone.stderr);
        assert!(groundstate(&["list", &one.path]).clean().contains(name), "{name}");
        assert!(!groundstate(&["list", &two.path]).clean().contains(name), "{name}");
    }
}

#[test]
fn undo_of_a_move_between_stacks_of_a_service_names_the_command_for_the_other() {
    if !pulumi_takes_part() {
        return;
    }
    let place = Place::new();
    let new = place.address(&format!("{}/shop/new", place.owner()));
    place.run(&["stacks", "create", &new]).succeeds();
    let before = place.run(&["list", "."]).succeeds();
    let undo = |more: &[&str]| {
        let undone = place.run(&[&["undo", "."], more].concat());
        assert_eq!(undone.code, Some(0), "{}", undone.stderr);
        undone.stderr
    };
    place.run(&["mv", ".", "a", "--to", &new]).succeeds();
    let alone = undo(&["--alone", "--dry-run"]);
    assert!(!alone.contains("keeps its side"), "{alone}");
    // The move made the first version of the other stack, so no command takes that back.
    let first = undo(&["--yes"]);
    assert!(first.contains("keeps its side, and had no state before") && !first.contains("undo "), "{first}");
    assert_eq!(place.run(&["list", "."]).succeeds(), before);

    place.run(&["mv", ".", "b", "--to", &new]).succeeds();
    let second = undo(&["--yes"]);
    assert_eq!(place.run(&["list", "."]).succeeds(), before);
    assert!(second.contains("keeps its side"), "{second}");
    // The command that the warning names takes the other side back.
    let command = second.split('`').find(|part| part.starts_with("groundstate undo ")).unwrap();
    let mut run = place.project().prepared(shell(&format!("{command} --yes")), &[]);
    let run = Run::of(run.output().unwrap());
    assert_eq!(run.code, 0, "{command}: {}", run.stderr);
    let left = place.run(&["list", &new]).succeeds();
    assert!(!left.contains("::b") && left.contains("::a"), "{left}");
}

#[test]
fn the_log_has_whole_states_that_replace_those_of_a_bucket() {
    let project = Project::of("plain");
    let home = project.path().join("log");
    let run = |args: &[&str]| {
        let mut command = project.command(args);
        Run::of(command.env("GROUNDSTATE_STATE_DIR", &home).output().unwrap())
    };
    let exported = project.path().join("old.json").display().to_string();
    assert_eq!(run(&["pull", ".", "--at", "bak", "-o", &exported]).code, 0);
    for (args, operation) in [
        (vec!["push", ".", &exported, "--yes"], "state-push"),
        (vec!["undo", ".", "--yes"], "state-undo"),
        (vec!["rollback", ".", "--to", "bak", "--yes"], "state-rollback"),
    ] {
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        let log = run(&["log", "."]).clean();
        assert!(log.lines().next().is_some_and(|line| line.contains(operation)), "{operation}: {log}");
    }
    assert_eq!(run(&["log"]).clean().lines().count(), 6);
}

#[test]
fn the_log_has_states_that_were_encrypted_and_decrypted() {
    let file = state(with_resources(&support::resource("a", "one", "{}")));
    let home = file.dir.path().join("log");
    let key = passphrase("a");
    for (verb, methods) in
        [("encrypt", ["aes_gcm.a", "unencrypted.plain"]), ("decrypt", ["unencrypted.plain", "aes_gcm.a"])]
    {
        let mut command = support::command(&["encryption", verb, &file.path]);
        command.env("TF_ENCRYPTION", block(&[&key, PLAIN], &methods)).env("GROUNDSTATE_STATE_DIR", &home);
        let ran = Run::of(command.output().unwrap());
        assert_eq!(ran.code, 0, "{verb}: {}", ran.stderr);
        let mut command = support::command(&["log", &file.path]);
        let log = Run::of(command.env("GROUNDSTATE_STATE_DIR", &home).output().unwrap()).clean();
        assert!(log.lines().next().is_some_and(|line| line.contains(&format!("encryption {verb}"))), "{log}");
    }
    // A copy in the clear of a state that is encrypted now would be worse than none.
    assert_eq!(support::backups(&file.path), Vec::<std::path::PathBuf>::new());
}
