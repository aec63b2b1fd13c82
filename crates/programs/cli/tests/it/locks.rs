//! Locks: who is kept out by whom, and what becomes of them.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::support::{command, groundstate};
use super::surgery::{everything, serial, webshop};

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A command that holds the lock until it is told to go on.
fn holder(state: &str, script: &str) -> Child {
    let dir = Path::new(state).parent().unwrap();
    let script = format!("touch {0}/ready; {script}", dir.display());
    let mut command = command(&["lock", state, "--", "sh", "-c", &script]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command runs", || dir.join("ready").exists());
    child
}

#[test]
fn a_held_lock_keeps_others_out_and_says_who_holds_it() {
    let file = webshop();
    let dir = file.dir.path();
    let mut child = holder(&file.path, &format!("while ! test -e {}/go; do sleep 0.02; done", dir.display()));
    let before = fs::read(&file.path).unwrap();
    for args in [
        &["mv", &file.path, "random_id.suffix", "random_id.b"][..],
        &["mv", &file.path, "random_id.suffix", "random_id.b", "--no-lock"],
        &["lock", &file.path, "--", "true"],
    ] {
        let message = groundstate(args).failed(8);
        assert!(message.contains("for lock in process") && message.contains("lock id"), "{message}");
        assert!(message.contains("--lock-timeout"), "{message}");
    }
    // A preview needs no lock, and neither does reading.
    groundstate(&["mv", &file.path, "random_id.suffix", "random_id.b", "--dry-run"]).clean();
    groundstate(&["pull", &file.path]).clean();
    assert_eq!(fs::read(&file.path).unwrap(), before);

    let text = groundstate(&["locks", &file.path]).clean();
    assert!(text.contains(": locked") && text.contains(&format!("{}, which is alive", child.id())), "{text}");
    let text = groundstate(&["locks", &file.path, "--json"]).clean();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let found = &value["locks"][0];
    assert_eq!((&found["locked"], &found["holder"]["pid"]), (&true.into(), &child.id().into()), "{value}");
    let id = found["holder"]["id"].as_str().unwrap();
    assert_eq!(found["holder"]["operation"], "lock");

    groundstate(&["unlock", &file.path, "another-id"]).failed(9);
    let message = groundstate(&["unlock", &file.path, id]).failed(8);
    assert!(message.contains(&child.id().to_string()), "{message}");
    groundstate(&["unlock", &file.path, "--force"]).failed(8);

    // The waiting process gets it.
    let waiting = command(&["mv", &file.path, "random_id.suffix", "random_id.b", "--lock-timeout", "1m"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    fs::write(dir.join("go"), "").unwrap();
    let waited = waiting.wait_with_output().unwrap();
    assert!(waited.status.success(), "{}", String::from_utf8_lossy(&waited.stderr));
    assert!(child.wait().unwrap().success());
    assert_eq!(serial(&file.path), 88);
    assert!(groundstate(&["locks", &file.path]).clean().ends_with(": not locked\n"));
    groundstate(&["unlock", &file.path, "--force"]).failed(7);
}

#[test]
fn the_code_of_the_command_is_passed_on() {
    let file = webshop();
    let before = everything(file.dir.path());
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
        assert_eq!(groundstate(&["lock", &file.path, "--", "sh", "-c", script]).code, code, "{script}");
    }
    groundstate(&["lock", &file.path, "--", "no-such-program"]).failed(127);
    groundstate(&["lock", &file.path]).failed(2);
    assert!(everything(file.dir.path()) == before, "nothing is left behind");
    let new = file.dir.path().join("new.tfstate");
    groundstate(&["lock", new.to_str().unwrap(), "--", "true"]).clean();
    assert!(everything(file.dir.path()) == before, "nor where there was no state");
}

/// Whether this process, and so what it starts, ignores a signal that ends a program with this code: what a program was
/// told to ignore it goes on ignoring, as under nohup(1).
pub(crate) fn is_ignored(signal: &str, code: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .map_or(0, |set| u64::from_str_radix(set.trim(), 16).unwrap());
    let ignored = ignored >> (code - 129) & 1 == 1;
    if ignored {
        eprintln!("not run: signal {signal} is ignored here");
    }
    ignored
}

#[cfg(unix)]
#[test]
fn signals_reach_the_command_and_the_lock_is_released() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        if is_ignored(signal, code) {
            continue;
        }
        let file = webshop();
        let wait = "trap 'exit 99' USR1; while :; do sleep 0.02; done";
        let child = holder(&file.path, wait);
        let own = child.id().to_string();
        let killed = std::process::Command::new("sh").args(["-c", &format!("kill -{signal} {own}")]).status();
        assert!(killed.unwrap().success());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{signal}");
        assert!(groundstate(&["locks", &file.path]).clean().ends_with(": not locked\n"), "{signal}");
        assert!(!file.dir.path().join(".terraform.tfstate.lock.info").exists(), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_lock() {
    let file = webshop();
    let dir = file.dir.path();
    let mut child = holder(&file.path, &format!("while ! test -e {}/go; do sleep 0.02; done", dir.display()));
    let mut waiting = command(&["rm", &file.path, "random_id.suffix", "--lock-timeout", "10m"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It says whom it waits for as soon as it waits.
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(waiting.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    assert!(line.contains("waiting for the lock"), "{line}");
    let killed =
        std::process::Command::new("sh").args(["-c", &format!("kill -TERM {}", waiting.id())]).status();
    assert!(killed.unwrap().success());
    assert_eq!(waiting.wait().unwrap().code(), Some(143));
    fs::write(dir.join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(serial(&file.path), 87);
}

#[test]
fn two_changes_at_once_are_both_made() {
    let file = webshop();
    let start = |args: [&str; 3]| {
        let args = [args[0], &file.path, args[1], args[2], "--lock-timeout", "1m"];
        command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [
        start(["mv", "random_id.suffix", "random_id.b"]),
        start(["mv", "aws_s3_bucket.assets", "aws_s3_bucket.b"]),
    ];
    for child in both {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let listed = groundstate(&["list", &file.path]).clean();
    assert!(listed.contains("random_id.b\n") && listed.contains("aws_s3_bucket.b\n"), "{listed}");
    assert_eq!(serial(&file.path), 89);
}

#[cfg(unix)]
#[test]
fn a_command_that_is_killed_leaves_a_whole_state() {
    let file = webshop();
    let mut expected = serial(&file.path);
    let count = || groundstate(&["list", &file.path]).clean().lines().count();
    let instances = count();
    for round in 0..40_u64 {
        let (from, to) = match groundstate(&["list", &file.path, "random_id.a"]).code {
            0 => ("random_id.a", "random_id.suffix"),
            _ => ("random_id.suffix", "random_id.a"),
        };
        let mut child = command(&["mv", &file.path, from, to]).stdout(Stdio::null()).spawn().unwrap();
        // Some are killed before they begin, some in the middle, some are done.
        std::thread::sleep(Duration::from_millis(round % 20));
        child.kill().unwrap();
        child.wait().unwrap();
        // The next command recovers what was begun.
        groundstate(&["mv", &file.path, "random_id.nope", "random_id.x"]).failed(7);
        let now = serial(&file.path);
        assert!(now == expected || now == expected + 1, "{now} after {expected}");
        expected = now;
        assert_eq!(count(), instances, "round {round}");
    }
    groundstate(&["taint", &file.path, "aws_s3_bucket.assets"]).clean();
    let names: Vec<String> = everything(file.dir.path()).into_iter().map(|(name, ..)| name).collect();
    assert!(!names.iter().any(|name| name.contains("journal")), "{names:?}");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_is_reported_and_left_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let file = webshop();
    let dir = file.dir.path();
    // The superuser may write anywhere, so it becomes another user.
    let is_root = fs::metadata(dir).unwrap().uid() == 0;
    fs::set_permissions(&file.path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(dir, fs::Permissions::from_mode(0o555)).unwrap();
    let before = everything(dir);
    let binary = tempfile::tempdir().unwrap();
    fs::set_permissions(binary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = binary.path().join("groundstate");
    fs::copy(env!("CARGO_BIN_EXE_groundstate"), &copy).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&copy);
        command.args(args).current_dir("/");
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        command.output().unwrap()
    };
    let dry = run(&["rm", &file.path, "random_id.suffix", "--dry-run"]);
    let refused = run(&["rm", &file.path, "random_id.suffix"]);
    let after = everything(dir);
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&file.path, fs::Permissions::from_mode(0o000)).unwrap();
    let unreadable = run(&["locks", &file.path]);
    let message = String::from_utf8_lossy(&unreadable.stderr).into_owned();
    assert_eq!(unreadable.status.code(), Some(11), "{message}");
    assert!(message.contains("permission was denied") && !message.contains("writable"), "{message}");
    assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(11), "{message}");
    assert!(message.contains("permission was denied") && message.contains("help: "), "{message}");
    assert!(after == before);
}
