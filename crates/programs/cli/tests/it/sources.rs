//! The STATE argument.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use super::support::{command, groundstate, groundstate_with, resource, state, with_resources, workspace};

fn one(name: &str) -> String {
    with_resources(&resource("a", name, "{}"))
}

#[test]
fn reads_standard_input() {
    assert_eq!(groundstate_with(&["list", "-"], one("b").as_bytes()).clean(), "a.b\n");
    let message = groundstate_with(&["list", "-"], b"").failed(3);
    assert_eq!(message, "error: <stdin> is empty, so it holds no state\n");
    let message = groundstate_with(&["list", "-"], b"{}").failed(4);
    assert!(message.contains("<stdin>:1:1"), "{message}");
}

#[test]
fn reads_the_state_that_a_directory_uses() {
    let file = state(one("default"));
    let dir = file.dir.path();
    let shown = dir.to_str().unwrap();
    assert_eq!(groundstate(&["list", shown]).clean(), "a.default\n");

    fs::create_dir_all(dir.join(".terraform")).unwrap();
    fs::create_dir_all(dir.join("terraform.tfstate.d/dev")).unwrap();
    fs::write(dir.join(".terraform/environment"), "dev").unwrap();
    fs::write(dir.join("terraform.tfstate.d/dev/terraform.tfstate"), one("dev")).unwrap();
    assert_eq!(groundstate(&["list", shown]).clean(), "a.dev\n");

    let output = command(&["list", shown]).env("TF_WORKSPACE", "default").output().unwrap();
    assert_eq!(output.stdout, b"a.default\n");
}

#[test]
fn names_the_backend_that_keeps_the_state_of_a_directory() {
    let file = state(one("b"));
    let dir = file.dir.path();
    fs::create_dir(dir.join(".terraform")).unwrap();
    let backend = r#"{"version": 3, "backend": {"type": "consul", "config": {"access_token": "hunter2"}}}"#;
    fs::write(dir.join(".terraform/terraform.tfstate"), backend).unwrap();
    let message = groundstate(&["list", dir.to_str().unwrap()]).failed(3);
    assert!(message.contains("the backend \"consul\"") && message.contains("state pull > FILE"), "{message}");
    assert!(!message.contains("hunter2"));
}

#[test]
fn finds_the_kind_of_a_file_from_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    fs::copy(workspace().join("tests/fixtures/states/webshop-v1.tfstate"), &path).unwrap();
    assert!(groundstate(&["list", path.to_str().unwrap()]).clean().contains("aws_s3_bucket.assets\n"));
}

#[test]
fn says_what_is_missing_and_what_to_name_instead() {
    let message = groundstate(&["list", "no-such.tfstate"]).failed(3);
    insta::assert_snapshot!(message, @"
    error: no-such.tfstate does not exist
    help: name a state file, a directory, or `-` for standard input
    ");
    let message = groundstate(&["list", "ftp://example.com/state"]).failed(3);
    assert!(message.contains("fetch the state and pass it on with `-`"), "{message}");
    let dir = tempfile::tempdir().unwrap();
    let message = groundstate(&["list", dir.path().to_str().unwrap()]).failed(3);
    assert!(message.contains("has no state: ") && message.contains("terraform apply"), "{message}");
}

#[test]
fn says_when_a_file_is_empty() {
    let file = state("");
    for verb in ["list", "upgrade"] {
        let message = groundstate(&[verb, &file.path]).failed(3);
        assert_eq!(file.mask(&message), "error: FILE is empty, so it holds no state\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn gives_up_on_input_that_never_ends_and_is_no_state() {
    let zero = fs::File::open("/dev/zero").unwrap();
    let output = command(&["list", "-"]).stdin(zero).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("<stdin>:1:1"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn says_when_results_cannot_be_written() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&["list", "webshop-v1.tfstate"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(12));
    assert!(
        String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write to standard output: ")
    );
}

#[test]
fn ends_quietly_when_its_reader_is_gone() {
    let resources: Vec<String> = (0..20_000).map(|n| resource("a", &format!("n{n}"), "{}")).collect();
    let file = state(with_resources(&resources.join(", ")));
    let mut child =
        command(&["list", &file.path]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn paints_nothing_into_pipes_unless_forced_to() {
    let args = &["show", "webshop-v4-terraform.tfstate"];
    assert!(!groundstate(args).clean().contains('\u{1b}'));
    let forced = command(args).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stdout.contains(&0x1b));
    let refused = command(args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
    assert!(!refused.stdout.contains(&0x1b));
}
