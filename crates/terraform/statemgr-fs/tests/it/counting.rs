//! Many processes count in one state, each step under the lock: none is lost, and never do two hold it.

use std::fs::{self, OpenOptions};
use std::path::Path;

use bytes::Bytes;
use groundstate_conformance::block_on;
use groundstate_statemgr::{Expect, StateStore, WriteOptions};
use groundstate_statemgr_fs::{Backup, FsOptions};

use crate::child::{Player, say_ready, wait_for_the_end};
use crate::support::{Calls, Folder, number, open, shown};

/// How many processes, and how many steps each: more of them in `cargo xtask torture fs`.
const PROCESSES: &str = "GROUNDSTATE_FS_PROCESSES";
const STEPS: &str = "GROUNDSTATE_FS_STEPS";

#[test]
fn locked_increments_of_many_processes_are_all_counted() {
    let folder = Folder::new();
    let (processes, steps) = (number(PROCESSES, 16), number(STEPS, 10));
    let players: Vec<Player> =
        (0..processes).map(|_| Player::start("count up", &folder.state()).ready()).collect();
    players.into_iter().for_each(Player::finish);
    let counted = folder.store().read().unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(counted, Some((processes * steps).to_string()));
    println!("{processes} processes counted {steps} steps each");
}

/// The role: begins when the parent says so, and counts to the end.
pub(crate) fn count_up(path: &Path) -> Result<(), String> {
    let store = Calls(open(path, FsOptions::new().backup(Backup::None)));
    say_ready();
    wait_for_the_end();
    (0..number(STEPS, 10)).try_for_each(|_| step(&store, path))
}

fn step(store: &Calls, path: &Path) -> Result<(), String> {
    let grant = store.lock_at_last();
    // A file that must not exist: two holders at the same time would both try to make it.
    let witness = path.with_extension("witness");
    let made = OpenOptions::new().write(true).create_new(true).open(&witness);
    made.map_err(|error| format!("another client holds the lock too: {error}"))?;
    let stored = block_on(store.0.read()).map_err(|error| shown(&error))?;
    let (next, expect) = match stored {
        Some(stored) => {
            let text = String::from_utf8(stored.bytes).map_err(|error| error.to_string())?;
            let count: u64 = text.parse().map_err(|_| format!("{text:?} is no count"))?;
            (count + 1, Expect::Version(stored.version))
        }
        None => (1, Expect::Absent),
    };
    let options = WriteOptions::expecting(expect).fence(grant.fence);
    block_on(store.0.write(Bytes::copy_from_slice(next.to_string().as_bytes()), &options))
        .map_err(|error| shown(&error))?;
    fs::remove_file(&witness).map_err(|error| error.to_string())?;
    store.unlock(&grant).map_err(|error| shown(&error))
}
