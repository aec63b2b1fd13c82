//! Writers that are killed in the middle of appends: nothing that they acknowledged is lost.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use groundstate_conformance::block_on;
use groundstate_wal::fs::{FsJournal, FsJournalOptions};
use groundstate_wal::{JournalStore, OpenOptions, Record, Result};

use super::support::{Folder, number};

/// How often to kill: more often in `cargo xtask torture journal`.
const KILLS: &str = "GROUNDSTATE_JOURNAL_KILLS";
const SEED: &str = "GROUNDSTATE_JOURNAL_SEED";
const FOLDER: &str = "GROUNDSTATE_JOURNAL_TEST_FOLDER";

/// After so many batches the writer begins another epoch, whose base says which batch comes next.
const EPOCH: u64 = 300;

fn options() -> FsJournalOptions {
    FsJournalOptions::default().segment_bytes(20_000)
}

/// The records of batch `n`: one to four, of lengths that jump.
fn batch(n: u64) -> Vec<Record> {
    let len = [0, 5, 60, 700, 9_000][usize::try_from(n % 5).unwrap()];
    (0..1 + n % 4).map(|at| Record::from(format!("{n}.{at} {}", "x".repeat(len)).into_bytes())).collect()
}

/// Which batch comes next in what is stored; fails unless all before are whole.
#[track_caller]
fn stored(journal: &FsJournal) -> u64 {
    let Some(contents) = block_on(groundstate_wal::read_all(journal)).unwrap() else { return 0 };
    let base = std::str::from_utf8(contents.head.base.as_bytes()).unwrap();
    let mut n: u64 = base.parse().unwrap();
    let mut rest = &contents.records[..];
    while !rest.is_empty() {
        let expected = batch(n);
        assert!(rest.len() >= expected.len(), "batch {n} is not whole");
        assert!(rest[..expected.len()] == expected, "batch {n} is not what was written");
        (rest, n) = (&rest[expected.len()..], n + 1);
    }
    n
}

/// Appends for ever, and says each batch that was acknowledged.
async fn append_for_ever(folder: &Path) -> Result<()> {
    let journal = FsJournal::with_options(folder, options());
    let mut n = stored(&journal);
    let writer = journal.open(&OpenOptions::new("a writer that will be killed").take_over(true)).await?;
    let mut out = std::io::stdout().lock();
    if writer.position().is_none() {
        writer.begin(&Record::from(n.to_string().into_bytes())).await?;
    }
    loop {
        if n % EPOCH == EPOCH - 1 {
            writer.begin(&Record::from(n.to_string().into_bytes())).await?;
        }
        writer.append(&batch(n)).await?;
        n += 1;
        writeln!(out, "acknowledged {n}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn plays_the_writer_if_it_is_told_to() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        block_on(append_for_ever(Path::new(&folder))).unwrap();
    }
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "fs::kills::plays_the_writer_if_it_is_told_to",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The last batch that the process said was acknowledged.
fn last_said(child: &mut Child) -> u64 {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.map_while(std::result::Result::ok).filter_map(|line| {
        let rest = line.split_once("acknowledged ")?.1.to_owned();
        rest.parse().ok()
    });
    said.last().unwrap_or(0)
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_acknowledged() {
    let kills = number(KILLS, 25);
    let mut random = fastrand::Rng::with_seed(number(SEED, 1));
    let folder = Folder::with(options());
    let (mut acknowledged, mut torn, mut at_all) = (0, 0, 0);
    // Where processes take long to start, later ones live longer, until one appends.
    for kill in 0..kills * 20 {
        if kill >= kills && at_all > 0 {
            break;
        }
        let mut child = start(&folder.path());
        thread::sleep(Duration::from_micros(4_000 + random.u64(..60_000 * (1 + kill / kills))));
        child.kill().unwrap();
        let said = last_said(&mut child);
        child.wait().unwrap();
        acknowledged = said.max(acknowledged);
        at_all += u64::from(said > 0);
        let found = stored(&folder.journal());
        assert!(
            found >= acknowledged,
            "kill {kill}: batch {acknowledged} was acknowledged, and {found} are there"
        );
        torn += u64::from(folder.contents().unwrap().is_some_and(|contents| contents.torn.is_some()));
    }
    println!(
        "{kills} kills: {acknowledged} batches acknowledged, {at_all} kills amid appends, {torn} torn ends"
    );
    assert!(at_all > 0, "no writer came to append anything");
}
