//! Locks: whom they keep out, what they tell, and what they leave.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};

use bytes::Bytes;
use groundstate_conformance::block_on;
use groundstate_statemgr::{ErrorKind, LockId, LockInfo, StateStore, WriteOptions};
use groundstate_statemgr_fs::FsOptions;

use crate::child::Player;
use crate::support::{Calls, Folder, info, shown};

const DOCUMENT: &str = ".terraform.tfstate.lock.info";

#[cfg(target_os = "linux")]
#[test]
fn a_lock_makes_an_empty_file_and_its_release_removes_it() {
    let folder = Folder::new();
    let store = Calls(folder.store_with(FsOptions::new().fencing(false)));
    // A process that another test is just starting has this one's files open for a moment; then it stays once more.
    for _ in 0..20 {
        let grant = store.lock().unwrap();
        assert_eq!(folder.names(), [DOCUMENT, "terraform.tfstate"]);
        assert_eq!(fs::metadata(folder.state()).unwrap().len(), 0);
        store.unlock(&grant).unwrap();
        if !folder.state().exists() {
            return assert_eq!(folder.names(), [""; 0]);
        }
        store.delete().unwrap();
    }
    panic!("the file is never removed: {:?}", folder.names());
}

/// A Terraform that waits for the lock has the file open, and writes into it later.
#[cfg(target_os = "linux")]
#[test]
fn an_empty_file_that_another_process_has_open_is_left() {
    let folder = Folder::new();
    let store = folder.store();
    let grant = store.lock().unwrap();
    let mut other =
        Command::new("sleep").arg("60").stdin(File::open(folder.state()).unwrap()).spawn().unwrap();
    store.unlock(&grant).unwrap();
    assert!(folder.state().exists());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_client_reads_and_writes_under_its_lock_and_locks_again() {
    let folder = Folder::new();
    let store = folder.store();
    for round in ["one", "two"] {
        let grant = store.lock().unwrap();
        store.write(round.as_bytes()).unwrap();
        assert_eq!(store.read().unwrap().unwrap(), round.as_bytes());
        store.unlock(&grant).unwrap();
        assert_eq!(store.unlock(&grant).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert!(!folder.join(DOCUMENT).exists());
}

#[test]
fn the_lock_of_another_process_says_who_holds_it() {
    let folder = Folder::new();
    let player = Player::start("hold the lock", &folder.state()).ready();
    let store = folder.store();
    let error = store.lock().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    for holder in [error.holder().unwrap().clone(), store.holder().unwrap().unwrap()] {
        assert_eq!((holder.pid, holder.alive), (Some(player.pid()), Some(true)));
        assert_eq!((holder.info.who.as_str(), holder.info.operation.as_str()), ("tester@here", "test"));
        assert_eq!(holder.info.path, folder.state().display().to_string());
        assert!(holder.info.info.is_empty(), "the tag is taken off: {:?}", holder.info.info);
        assert!(holder.host.is_some());
    }
    assert_eq!(store.write(b"late").unwrap_err().kind(), ErrorKind::Locked);
    player.finish();
    store.unlock(&store.lock().unwrap()).unwrap();
    assert_eq!(store.holder().unwrap(), None);
}

#[test]
fn the_document_of_a_killed_process_locks_nothing() {
    let folder = Folder::new();
    Player::start("hold the lock", &folder.state()).ready().kill();
    assert!(folder.join(DOCUMENT).exists());
    let store = folder.store();
    assert_eq!(store.holder().unwrap(), None);
    store.unlock(&store.lock().unwrap()).unwrap();
    assert!(!folder.join(DOCUMENT).exists());
}

#[test]
fn a_dropped_client_gives_its_lock_back() {
    let folder = Folder::new();
    let store = folder.store();
    store.lock().unwrap();
    drop(store);
    folder.store().lock().unwrap();
}

/// The document is the original programs' own: they have to be able to read it.
#[test]
fn the_document_has_seven_members_and_nothing_else() {
    let folder = Folder::new();
    let store = folder.store_with(FsOptions::new());
    let mut asked = info("state-mv");
    asked.info = "for <release>".to_owned();
    block_on(store.lock(&asked)).unwrap();
    let text = fs::read_to_string(folder.join(DOCUMENT)).unwrap();
    let read = LockInfo::parse(text.as_bytes()).unwrap();
    assert_eq!(read.to_json(), text);
    assert_eq!((&read.id, &read.operation, &read.who), (&asked.id, &asked.operation, &asked.who));
    assert!(read.info.starts_with("for <release> [groundstate pid="), "{}", read.info);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(folder.join(DOCUMENT)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[cfg(unix)]
#[test]
fn the_document_is_not_written_through_a_link() {
    let folder = Folder::new();
    fs::write(folder.join("precious"), "precious").unwrap();
    std::os::unix::fs::symlink("precious", folder.join(DOCUMENT)).unwrap();
    let store = folder.store();
    let grant = store.lock().unwrap();
    assert!(LockInfo::parse(&fs::read(folder.join(DOCUMENT)).unwrap()).is_ok());
    assert_eq!(fs::read_to_string(folder.join("precious")).unwrap(), "precious");
    store.unlock(&grant).unwrap();

    fs::create_dir(folder.join(DOCUMENT)).unwrap();
    let error = store.lock().unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.kind() == ErrorKind::Invalid && cause.contains(DOCUMENT), "{error}: {cause}");
    fs::remove_dir(folder.join(DOCUMENT)).unwrap();
    store.lock().unwrap();
}

#[cfg(unix)]
#[test]
fn flock_keeps_us_out_and_we_keep_it_out() {
    let folder = Folder::new();
    let store = folder.store();
    store.write(b"state").unwrap();
    let flock = |arguments: &[&str]| {
        let mut command = Command::new("flock");
        command.arg("--exclusive").args(arguments).arg(folder.state());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    };
    // It prints a line once it has the lock, and ends with its input.
    let Ok(mut holder) = flock(&[]).args(["sh", "-c", "echo locked; cat"]).spawn() else {
        return println!("not run: flock is not on the PATH");
    };
    let mut output = std::io::BufReader::new(holder.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
    let error = store.lock().unwrap_err();
    assert_eq!((error.kind(), error.retriable()), (ErrorKind::Locked, true), "{}", shown(&error));
    assert!(store.holder().unwrap().is_some());
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    let grant = store.lock().unwrap();
    assert_eq!(flock(&["--nonblock"]).arg("true").status().unwrap().code(), Some(1));
    store.unlock(&grant).unwrap();
    assert_eq!(flock(&["--nonblock"]).arg("true").status().unwrap().code(), Some(0));
}

#[test]
fn locks_cannot_be_broken_and_the_error_says_what_to_do() {
    let folder = Folder::new();
    let store = folder.store();
    let free = block_on(store.0.force_unlock(&LockId::new("x"))).unwrap_err();
    assert_eq!(free.kind(), ErrorKind::Unsupported);
    assert!(free.to_string().contains("it is not locked"), "{free}");
    let player = Player::start("hold the lock", &folder.state()).ready();
    let held = block_on(store.0.force_unlock(&LockId::new("x"))).unwrap_err();
    assert_eq!(held.kind(), ErrorKind::Unsupported);
    assert!(held.to_string().contains(&player.pid().to_string()), "{held}");
    player.finish();
}

#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_under_the_lock_is_not_written() {
    let folder = Folder::new();
    let store = folder.store();
    store.write(b"old").unwrap();
    let grant = store.lock().unwrap();
    fs::write(folder.join("other"), b"other").unwrap();
    fs::rename(folder.join("other"), folder.state()).unwrap();
    assert_eq!(store.write(b"new").unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(store.unlock(&grant).unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(fs::read(folder.state()).unwrap(), b"other");
    store.unlock(&store.lock().unwrap()).unwrap();
}

#[test]
fn a_token_counts_for_as_long_as_its_lock_is_held() {
    let folder = Folder::new();
    let store = folder.store();
    let grant = store.lock().unwrap();
    let fenced = WriteOptions::any().fence(grant.fence);
    block_on(store.0.write(Bytes::from_static(b"one"), &fenced)).unwrap();
    store.unlock(&grant).unwrap();
    assert_eq!(
        block_on(store.0.write(Bytes::from_static(b"two"), &fenced)).unwrap_err().kind(),
        ErrorKind::LockLost
    );
    assert_eq!(store.read().unwrap().unwrap(), b"one");
}

#[test]
fn tokens_grow_where_their_count_was_lost_or_spoilt() {
    let folder = Folder::new();
    let store = folder.store();
    let mut last = None;
    for spoil in [None, Some(&b"nonsense"[..]), Some(b"")] {
        if let Some(text) = spoil {
            let mut file = File::create(folder.join(".terraform.tfstate.groundstate-fence")).unwrap();
            file.write_all(text).unwrap();
        }
        let grant = store.lock().unwrap();
        assert!(grant.fence > last, "{:?} after {last:?}", grant.fence);
        last = grant.fence;
        store.unlock(&grant).unwrap();
    }
}
