//! Links, pipes, permissions and the memory of the process, in folders that others may write too.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use groundstate_testkit::{S3Locks, TestBackend};

use crate::remote::Work;
use crate::support::{
    Run, TempState, backups, command, groundstate, groundstate_with, resource, state, with_resources,
};

fn one_resource() -> String {
    with_resources(&resource("a", "one", r#"{"schema_version": 0, "attributes": {"id": "hunter2"}}"#))
}

fn beside(file: &TempState, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", file.path))
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the command, which has to end by itself within a time that is long for everything but an endless wait.
#[track_caller]
fn ends(args: &[&str]) -> Run {
    let mut child =
        command(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{args:?} waits for something that does not come");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Run::of(child.wait_with_output().unwrap())
}

#[test]
fn copies_of_a_state_can_be_read_by_its_owner_only() {
    let file = state(one_resource());
    set_mode(Path::new(&file.path), 0o666);
    groundstate(&["taint", &file.path, "a.one"]).clean();
    let directory = file.dir.path().join(".terraform.tfstate.groundstate-backups");
    assert_eq!((mode(&directory), mode(&backups(&file.path)[0])), (0o700, 0o600));
    groundstate(&["undo", &file.path]).clean();
    assert_eq!(mode(&backups(&file.path)[0]), 0o600);
    fs::write(&file.path, "{").unwrap();
    let new = state(one_resource());
    groundstate(&["push", &file.path, &new.path, "--force"]).clean();
    assert_eq!(mode(&beside(&file, ".unreadable")), 0o600);
    // The state itself stays as wide as its owner made it.
    assert_eq!(mode(Path::new(&file.path)), 0o666);

    // What exists and is wider becomes narrow, and what is narrower stays so.
    for (before, after) in [(0o644, 0o600), (0o400, 0o400)] {
        let named = beside(&file, ".copy");
        fs::copy(&file.path, &named).unwrap();
        set_mode(&named, before);
        groundstate(&["taint", &file.path, "a.one", "--backup", named.to_str().unwrap()]).clean();
        assert_eq!(mode(&named), after);
        fs::remove_file(&named).unwrap();
        groundstate(&["untaint", &file.path, "a.one", "--backup", "-"]).clean();
    }
}

#[test]
fn copies_of_a_state_in_the_network_are_private_too_and_follow_no_link() {
    let work = Work::new(TestBackend::s3_here(S3Locks::File));
    work.push(&["one"]);
    assert_eq!(work.run(&["mv", ".", "a.one", "a.two"]).code, 0);
    let listed: serde_json::Value =
        serde_json::from_str(&work.run(&["undo", ".", "--list", "--json"]).clean()).unwrap();
    let kept = Path::new(listed["backups"][0]["path"].as_str().unwrap()).to_owned();
    assert_eq!((mode(&kept), mode(kept.parent().unwrap())), (0o600, 0o700));
    let backup = work.path().join("named");
    let victim = work.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink("victim", &backup).unwrap();
    let said = work.run(&["mv", ".", "a.two", "a.three", "--backup", backup.to_str().unwrap()]).failed(12);
    assert!(said.contains("it is a symbolic link, which is not followed"), "{said}");
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert_eq!(work.run(&["list", "."]).clean(), "a.two\n");
}

#[test]
fn a_link_in_the_place_of_a_copy_is_not_followed() {
    let file = state(one_resource());
    let victim = file.dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let before = fs::read(&file.path).unwrap();
    for target in ["victim", "nothing", "/dev/null"] {
        let backup = beside(&file, ".named");
        symlink(target, &backup).unwrap();
        let said =
            groundstate(&["taint", &file.path, "a.one", "--backup", backup.to_str().unwrap()]).failed(2);
        assert!(said.contains(".named: it is a symbolic link, which is not followed; remove it"), "{said}");
        assert_eq!(fs::read_link(&backup).unwrap(), Path::new(target));
        fs::remove_file(&backup).unwrap();
    }
    let elsewhere = file.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink("elsewhere", file.dir.path().join(".terraform.tfstate.groundstate-backups")).unwrap();
    let said = groundstate(&["taint", &file.path, "a.one"]).failed(12);
    assert!(said.contains("it is a symbolic link, which is not followed"), "{said}");
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read(&file.path).unwrap(), before);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert!(!file.dir.path().join("nothing").exists());
}

#[test]
fn what_another_user_put_there_is_neither_followed_nor_replaced() {
    let file = state(one_resource());
    let backup = beside(&file, ".named");
    let named = backup.to_str().unwrap();
    fs::write(&backup, "theirs").unwrap();
    if std::os::unix::fs::chown(&backup, Some(1234), None).is_err() {
        return println!("not run: only an administrator can give files away");
    }
    let said = groundstate(&["taint", &file.path, "a.one", "--backup", named]).failed(2);
    assert!(said.contains("it belongs to another user"), "{said}");
    assert_eq!(fs::read(&backup).unwrap(), b"theirs");
    fs::remove_file(&backup).unwrap();

    let victim = file.dir.path().join("victim.tfstate");
    fs::write(&victim, one_resource()).unwrap();
    let link = file.dir.path().join("link.tfstate");
    symlink("victim.tfstate", &link).unwrap();
    let link = link.to_str().unwrap();
    // An own link is followed: the state is what it leads to.
    assert_eq!(groundstate(&["mv", link, "a.one", "a.two"]).code, 0);
    assert_eq!(groundstate(&["upgrade", &file.path, "-o", link]).code, 0);
    assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    let before = fs::read(&victim).unwrap();
    std::os::unix::fs::lchown(link, Some(1234), None).unwrap();
    for args in [
        &["mv", link, "a.one", "a.three"][..],
        &["push", link, &file.path, "--force"],
        &["upgrade", &file.path, "-o", link],
        &["salvage", &file.path, "-o", link],
    ] {
        let said = ends(args).stderr;
        assert!(said.contains("is a symbolic link of another user"), "{args:?}: {said}");
        assert_eq!(fs::read(&victim).unwrap(), before);
    }
}

#[test]
fn pipes_devices_and_sockets_are_refused_at_once() {
    let file = state(one_resource());
    let dir = file.dir.path();
    let (fifo, socket) = (dir.join("fifo"), dir.join("socket"));
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, kind) in
        [(&*fifo, "a named pipe"), (&socket, "a socket"), (Path::new("/dev/zero"), "a device")]
    {
        let path = path.to_str().unwrap();
        for args in [
            &["list", path][..],
            &["show", path],
            &["check", path],
            &["outputs", path],
            &["pull", path],
            &["rm", path, "a.one"],
            &["push", path, &file.path],
            &["push", &file.path, path],
            &["salvage", path],
            &["diff", &file.path, path],
            &["locks", path],
            &["undo", &file.path, "--from", path],
            &["edit", &file.path, "--script", path],
            &["order", "destroy", path],
            &["upgrade", path],
            &["upgrade", &file.path, "-o", path],
            &["salvage", &file.path, "-o", path],
            &["graph", &file.path, "-o", path],
            &["taint", &file.path, "a.one", "--backup", path],
        ] {
            let run = ends(args);
            assert!([2, 12].contains(&run.code), "{args:?}: {} {}", run.code, run.stderr);
            let said = run.stderr.contains(kind) || run.stderr.contains("it is not a regular file");
            assert!(said && run.stderr.contains(path), "{args:?}: {}", run.stderr);
        }
    }
    assert_eq!(fs::read(&file.path).unwrap(), one_resource().as_bytes());
}

#[test]
fn open_pipes_are_read_and_written_as_before() {
    let file = state(one_resource());
    let script = format!(
        "'{0}' list <(cat '{1}') && cat '{1}' | '{0}' list /dev/stdin && '{0}' upgrade '{1}' -o /dev/stdout | '{0}' list -",
        env!("CARGO_BIN_EXE_groundstate"),
        file.path
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a.one\n".repeat(3), "{output:?}");
    groundstate(&["upgrade", &file.path, "-o", "/dev/null"]).clean();
    assert_eq!(groundstate_with(&["list", "-"], one_resource().as_bytes()).clean(), "a.one\n");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_neither_dumped_nor_shown_to_others() {
    use std::os::unix::process::CommandExt;
    let file = state(one_resource());
    set_mode(file.dir.path(), 0o777);
    set_mode(Path::new(&file.path), 0o666);
    let script = "echo ready; read go";
    let mut command = command(&["lock", &file.path, "--", "sh", "-c", script]);
    // Files of a process that belongs to root look the same either way.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        command.uid(65534);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir("/");
    let Ok(mut child) = command.spawn() else {
        return println!("not run: another user may not run the program");
    };
    let mut first = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let limits = fs::read_to_string(proc.join("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    // The kernel gives the files of a process whose memory is protected to root.
    assert_eq!(fs::metadata(proc.join("mem")).unwrap().uid(), 0);
    drop(child.stdin.take());
    child.wait().unwrap();
}
