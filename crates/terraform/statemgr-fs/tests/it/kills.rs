//! Writers that are killed at any moment: the old state or the new one is left, whole.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use groundstate_statemgr_fs::{Backup, FsOptions, Publish};

use crate::child::{Player, say_ready};
use crate::support::{Calls, Folder, number, open, shown};

/// How often to kill: more often in `cargo xtask torture fs`.
const KILLS: &str = "GROUNDSTATE_FS_KILLS";
const SEED: &str = "GROUNDSTATE_FS_SEED";

/// The `n`th state: of a length that jumps between some bytes and half a megabyte, and known from its number.
fn state(n: u64) -> Vec<u8> {
    let len = [3, 300, 700, 5_000, 70_000, 500_000][(n % 6) as usize] + (n % 97) as usize;
    let letters = "abcdefghijklmnopqrstuvwxyz".repeat(len / 26 + 2);
    let from = (n % 26) as usize;
    format!("{{\"serial\":{n},\"fill\":\"{}\"}}\n", &letters[from..from + len]).into_bytes()
}

/// The number of a state that is whole.
#[track_caller]
fn number_of(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).expect("a text");
    let digits = text.strip_prefix("{\"serial\":").and_then(|rest| rest.split(',').next());
    let n = digits.and_then(|digits| digits.parse().ok());
    let n = n.unwrap_or_else(|| panic!("no state: {:?}", &text[..text.len().min(80)]));
    assert!(bytes == state(n), "state {n} is not whole: {} bytes of {}", bytes.len(), state(n).len());
    n
}

/// The role: writes one state after another, with and without holding a lock.
pub(crate) fn write_for_ever(path: &Path, publish: Publish) -> Result<(), String> {
    let store = Calls(open(path, FsOptions::new().backup(Backup::None).publish(publish)));
    let mut n = match store.read().map_err(|error| shown(&error))? {
        Some(bytes) => number_of(&bytes),
        None => 0,
    };
    say_ready();
    loop {
        let grant = (n % 4 < 2).then(|| store.lock_at_last());
        for _ in 0..2 {
            n += 1;
            store.write(&state(n)).map_err(|error| shown(&error))?;
        }
        if let Some(grant) = grant {
            store.unlock(&grant).map_err(|error| shown(&error))?;
        }
    }
}

/// The role: the same with a backup of every state that is replaced, also of a client that holds no lock.
pub(crate) fn back_up_for_ever(path: &Path) -> Result<(), String> {
    let mut n = match Calls(open(path, FsOptions::new())).read().map_err(|error| shown(&error))? {
        Some(bytes) => number_of(&bytes),
        None => 0,
    };
    say_ready();
    loop {
        n += 1;
        let store = Calls(open(path, FsOptions::new()));
        let grant = (n % 3 != 0).then(|| store.lock_at_last());
        store.write(&state(n)).map_err(|error| shown(&error))?;
        if let Some(grant) = grant {
            store.unlock(&grant).map_err(|error| shown(&error))?;
        }
    }
}

/// The role: writes a large state, and says how that failed.
pub(crate) fn write_once(path: &Path) -> Result<(), String> {
    let store = Calls(open(path, FsOptions::new()));
    store.write(&state(5)).map_err(|error| format!("{:?} {}", error.kind(), shown(&error)))
}

/// What lies at the path without any help: a whole state, or a file that no program takes for one.
#[track_caller]
fn check_raw(path: &Path, least: u64) {
    match fs::read(path) {
        Ok(bytes) if bytes.first() == Some(&0) => {}
        Ok(bytes) if bytes.is_empty() => assert_eq!(least, 0, "an empty file where a state was"),
        Ok(bytes) => assert!(number_of(&bytes) >= least),
        Err(error) => assert_eq!((error.kind(), least), (std::io::ErrorKind::NotFound, 0)),
    }
}

#[test]
fn a_writer_that_is_killed_leaves_the_old_state_or_the_new_one() {
    let (kills, seed) = (number(KILLS, 60), number(SEED, 20_261_121));
    println!("{kills} kills, {SEED}={seed}");
    let mut random = fastrand::Rng::with_seed(seed as u64);
    // On a disk most kills meet a writer that waits for it, in memory one that works.
    let folders = [Some(Folder::new()), Folder::in_memory()];
    let folders: Vec<Folder> = folders.into_iter().flatten().collect();
    for folder in &folders {
        killed("write for ever", folder, kills / folders.len(), &mut random);
    }
}

/// The backup is the journal then.
#[test]
fn a_writer_that_is_killed_while_it_makes_backups_leaves_the_old_state_or_the_new_one() {
    let (kills, seed) = (number(KILLS, 60), number(SEED, 20_261_122));
    let mut random = fastrand::Rng::with_seed(seed as u64);
    for folder in [Some(Folder::new()), Folder::in_memory()].into_iter().flatten() {
        killed("back up for ever", &folder, kills / 2, &mut random);
        let backup = folder.join("terraform.tfstate.backup");
        assert!(fs::metadata(&backup).is_ok(), "no backup was ever made");
    }
}

#[test]
fn a_writer_that_is_killed_while_it_replaces_files_leaves_the_old_state_or_the_new_one() {
    killed(
        "replace for ever",
        &Folder::new(),
        number(KILLS, 60) / 4,
        &mut fastrand::Rng::with_seed(number(SEED, 1) as u64),
    );
}

/// A backup is whole at any time.
#[track_caller]
fn check_backup(folder: &Folder) {
    if let Ok(bytes) = fs::read(folder.join("terraform.tfstate.backup")) {
        number_of(&bytes);
    }
}

/// Once a write is settled, the backup is its owner's alone and has no other name.
#[track_caller]
fn check_settled(folder: &Folder) {
    #[cfg(unix)]
    if let Ok(backup) = fs::metadata(folder.join("terraform.tfstate.backup")) {
        use std::os::unix::fs::MetadataExt;
        assert_eq!((backup.mode() & 0o777, backup.nlink()), (0o600, 1));
    }
}

fn killed(role: &str, folder: &Folder, kills: usize, random: &mut fastrand::Rng) {
    let path = folder.state();
    // As Terraform makes states: others may read them.
    fs::write(&path, b"").unwrap();
    let (mut last, mut interrupted) = (0, std::collections::BTreeMap::new());
    for kill in 0..kills {
        let mut player = Player::start(role, &path);
        // A third of them are killed while they start, and so while they finish what the one before left.
        if kill % 3 != 0 {
            player = player.ready();
        }
        thread::sleep(Duration::from_micros(random.u64(..40_000)));
        player.kill();
        check_raw(&path, last);
        check_backup(folder);
        if let Some(mark) = fs::read(&path).ok().filter(|bytes| bytes.first() == Some(&0)) {
            let form = String::from_utf8_lossy(&mark[1..mark.len().min(22)]).into_owned();
            *interrupted.entry(form).or_insert(0) += 1;
        }
        let store = Calls(open(&path, FsOptions::new().backup(Backup::None)));
        if kill % 2 == 0 {
            // What a lock finds, and what it leaves for programs that know of no journal.
            let grant = store.lock_at_last();
            if fs::metadata(&path).unwrap().len() > 0 {
                assert!(number_of(&fs::read(&path).unwrap()) >= last);
            }
            store.unlock(&grant).unwrap();
        }
        let n = store.read().unwrap().map_or(0, |bytes| number_of(&bytes));
        assert!(n >= last, "state {n} after state {last} was seen");
        last = n;
        check_settled(folder);
    }
    println!("{kills} kills: {last} states were written, {interrupted:?} kills came half way");
    assert!(last > 0, "no state was ever written");
    folder.store().write(&state(last + 1)).unwrap();
    let rest = [".terraform.tfstate.groundstate-journal", ".terraform.tfstate.lock.info"];
    assert!(folder.names().iter().all(|name| !rest.contains(&name.as_str())), "{:?}", folder.names());
}

#[test]
fn readers_see_whole_states_that_never_go_back_while_writers_write_and_are_killed() {
    let folder = Folder::new();
    let path = folder.state();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let store = Calls(open(&path, FsOptions::new()));
                    let (mut last, mut reads) = (0, 0_u64);
                    while !over.load(Ordering::Relaxed) {
                        let n = store.read().unwrap().map_or(0, |bytes| number_of(&bytes));
                        assert!(n >= last, "state {n} after state {last}");
                        (last, reads) = (n, reads + 1);
                    }
                    (last, reads)
                })
            })
            .collect();
        for _ in 0..12 {
            let player = Player::start("write for ever", &path).ready();
            thread::sleep(Duration::from_millis(40));
            player.kill();
        }
        over.store(true, Ordering::Relaxed);
        for reader in readers {
            let (last, reads) = reader.join().unwrap();
            assert!(last > 0 && reads > 10, "{reads} reads up to state {last}");
        }
    });
}
