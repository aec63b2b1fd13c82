//! Processes on one directory that are killed at any moment: what they acknowledged is there, and the next one goes on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs_fs::FileBlobs;
use groundstate_conformance::block_on;
use groundstate_versioned::blobs::{BlobStore, ListOptions};
use groundstate_versioned::{
    Document, LockOutcome, NewLock, Same, SweepOptions, UnlockOutcome, WriteOptions, WriteOutcome,
};

use crate::chaos::Dice;
use crate::places::{documents, name};
use crate::support::number;

/// How often to kill, and how many processes count: more often in `cargo xtask torture versioned`.
const KILLS: &str = "GROUNDSTATE_VERSIONED_KILLS";
const PROCESSES: &str = "GROUNDSTATE_VERSIONED_PROCESSES";
const STEPS: &str = "GROUNDSTATE_VERSIONED_STEPS";
const SEED: &str = "GROUNDSTATE_VERSIONED_SEED";
/// The role of a process that a test starts, and the directory.
const ROLE: &str = "GROUNDSTATE_VERSIONED_TEST_ROLE";
const FOLDER: &str = "GROUNDSTATE_VERSIONED_TEST_FOLDER";
/// Begins the lines by which a process tells its parent something.
const MARK: &str = "worker: ";

fn open(folder: &Path) -> Document {
    documents(Arc::new(FileBlobs::open(folder).unwrap())).document(&name())
}

/// The `n`th content: small ones, and ones with parts.
fn content(n: u64) -> String {
    format!("{n} {}", "abcdefg".repeat([0, 3, 20, 60][n as usize % 4]))
}

#[track_caller]
fn number_of(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let n = text.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(text, content(n), "it is not whole");
    n
}

fn say(line: std::fmt::Arguments<'_>) {
    // What it did has to be known even if it is killed now, so nothing is kept back.
    let mut out = std::io::stdout();
    writeln!(out, "{MARK}{line}").and_then(|()| out.flush()).unwrap();
}

/// Takes the lock, and breaks the one that a killed process left.
async fn lock_after_kill(document: &Document, id: &str) {
    while let LockOutcome::Held(left) = document.lock(&NewLock::new(id)).await.unwrap() {
        document.break_lock(Some(&left.id), "the next process", "the holder was killed").await.unwrap();
    }
}

/// The role: writes one version after another, each under a lock of its own, and breaks the lock that a killed one left.
async fn write_for_ever(folder: &Path) {
    let document = open(folder);
    let mut n = match document.read().await.unwrap() {
        Some(reader) => number_of(&reader.collect(1 << 20).await.unwrap()),
        None => 0,
    };
    say(format_args!("ready"));
    for id in 0_u64.. {
        let id = format!("{}-{id}", std::process::id());
        lock_after_kill(&document, &id).await;
        for _ in 0..1 + n % 3 {
            n += 1;
            say(format_args!("begins {n}"));
            let options = WriteOptions::default().lock(id.as_str()).same(Same::Never);
            let uploaded = document.content(content(n)).await.unwrap();
            let WriteOutcome::Written(version) = document.write(&uploaded, &options).await.unwrap() else {
                panic!("the lock is lost")
            };
            say(format_args!("done {n} {}", version.number));
        }
        if n % 5 == 0 {
            document.sweep(&SweepOptions::default().grace(Duration::ZERO)).await.unwrap();
        }
        assert!(matches!(document.unlock(&id).await.unwrap(), UnlockOutcome::Unlocked(_)));
    }
}

/// The role: counts up under the lock, beside others that do the same.
async fn count(folder: &Path) {
    let document = open(folder);
    say(format_args!("ready"));
    std::io::stdin().read_line(&mut String::new()).unwrap();
    for step in 0..number(STEPS, 5) {
        let id = format!("{}-{step}", std::process::id());
        while let LockOutcome::Held(_) = document.lock(&NewLock::new(id.as_str())).await.unwrap() {
            std::thread::sleep(Duration::from_millis(2));
        }
        // A file that must not exist: two holders at the same time would both try to make it.
        let witness = folder.join("witness");
        std::fs::File::create_new(&witness).expect("no other process holds the lock");
        let last = match document.read().await.unwrap() {
            Some(reader) => number_of(&reader.collect(1 << 20).await.unwrap()),
            None => 0,
        };
        let uploaded = document.content(content(last + 1)).await.unwrap();
        let outcome = document.write(&uploaded, &WriteOptions::default().lock(id.as_str())).await.unwrap();
        assert!(matches!(outcome, WriteOutcome::Written(_)), "{outcome:?}");
        std::fs::remove_file(&witness).unwrap();
        document.unlock(&id).await.unwrap();
    }
    say(format_args!("counted"));
}

#[test]
fn plays_the_role_it_is_given() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    match std::env::var(ROLE).unwrap().as_str() {
        "write" => block_on(write_for_ever(Path::new(&folder))),
        "count" => block_on(count(Path::new(&folder))),
        role => panic!("there is no role {role}"),
    }
}

struct Player {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Player {
    fn start(role: &str, folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kills::plays_the_role_it_is_given", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env(FOLDER, folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that it says, unless it has ended.
    fn line(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some((_, said)) = line.split_once(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    /// Kills it and gives what it had said until then.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let said = std::iter::from_fn(|| self.line()).collect();
        self.child.wait().unwrap();
        said
    }
}

/// What the killed processes acknowledged: which content each version has.
#[derive(Default)]
struct Story {
    accepted: BTreeMap<u64, u64>,
    last: u64,
    begun: u64,
}

impl Story {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["ready"] => {}
            ["begins", n] => self.begun = n.parse().unwrap(),
            ["done", n, number] => {
                self.last = n.parse().unwrap();
                let other = self.accepted.insert(number.parse().unwrap(), self.last);
                assert_eq!(other, None, "version {number} was accepted twice");
            }
            _ => panic!("a process says: {line}"),
        }
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged_and_nothing_is_left_for_good() {
    let (kills, seed) = (number(KILLS, 12), number(SEED, 20_261_124));
    println!("{kills} kills, {SEED}={seed}");
    let dice = Dice::new(seed);
    // On a disk most kills meet a process that waits for it, in memory one that works.
    let folders = [tempfile::tempdir().ok(), tempfile::tempdir_in("/dev/shm").ok()];
    for folder in folders.into_iter().flatten() {
        killed(&dice, folder.path(), kills / 2);
    }
}

#[expect(clippy::print_stdout, reason = "a campaign says how far it came")]
fn killed(dice: &Dice, folder: &Path, kills: u64) {
    let document = open(folder);
    let mut story = Story::default();
    for kill in 0..kills {
        let mut player = Player::start("write", folder);
        // Some are killed while they start, the others somewhere behind one of their first lines.
        for _ in 0..dice.below(12) * (kill % 4).min(1) {
            let line = player.line().expect("the process goes on");
            story.hear(&line);
        }
        std::thread::sleep(Duration::from_micros(dice.below(20_000)));
        player.kill().iter().for_each(|line| story.hear(line));
        block_on(async {
            let head = document.head().await.unwrap();
            let found = match document.read().await.unwrap() {
                Some(reader) => number_of(&reader.collect(1 << 20).await.unwrap()),
                None => 0,
            };
            assert!(found == story.last || found == story.begun, "{found} is there after {}", story.last);
            if found > story.last {
                story.accepted.insert(head.number(), found);
            }
            (story.last, story.begun) = (found, found);
        });
    }
    let mut versions = block_on(async {
        let (mut found, mut before) = (BTreeMap::new(), None);
        loop {
            let page = document.versions(before, 500).await.unwrap();
            assert!(page.missing.is_empty(), "{:?}", page.missing);
            for version in &page.versions {
                let bytes = document.open(version).await.unwrap().collect(1 << 20).await.unwrap();
                found.insert(version.number, number_of(&bytes));
            }
            before = page.next;
            if before.is_none() {
                break found;
            }
        }
    });
    assert!(versions.len() as u64 > kills / 4, "hardly anything was written");
    assert_eq!(versions, story.accepted, "the history is not what was acknowledged");

    // A killed write may have left a record beyond the last version, which a sweep leaves alone until the next version is there.
    let last = story.last + 1;
    let version = block_on(async {
        lock_after_kill(&document, "last").await;
        let uploaded = document.content(content(last)).await.unwrap();
        document.write(&uploaded, &WriteOptions::default().lock("last").same(Same::Never)).await.unwrap()
    });
    let WriteOutcome::Written(version) = version else { panic!("the lock is lost") };
    versions.insert(version.number, last);
    // Whatever they left: a sweep leaves a record for each version, and the parts of those that have any.
    for _ in 0..3 {
        block_on(document.sweep(&SweepOptions::default().grace(Duration::ZERO))).unwrap();
    }
    let parts = |n: &u64| content(*n).len().div_ceil(100) * usize::from(content(*n).len() > 64);
    let expected = versions.len() + versions.values().map(parts).sum::<usize>();
    let store = FileBlobs::open(folder).unwrap();
    let (mut left, mut page) = (0, None);
    loop {
        let listed = block_on(store.list("states/data/", &ListOptions::default().page(page))).unwrap();
        left += listed.blobs.len();
        page = listed.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(left, expected);
    println!("{kills} kills: {} versions", versions.len());
}

#[test]
fn processes_that_count_under_the_lock_lose_no_step() {
    let (processes, steps) = (number(PROCESSES, 4), number(STEPS, 5));
    let folder = tempfile::tempdir().unwrap();
    let mut players: Vec<Player> = (0..processes).map(|_| Player::start("count", folder.path())).collect();
    for player in &mut players {
        assert_eq!(player.line().as_deref(), Some("ready"));
    }
    for player in &mut players {
        player.child.stdin.take().unwrap().write_all(b"\n").unwrap();
    }
    for mut player in players {
        assert_eq!(player.line().as_deref(), Some("counted"));
        assert!(player.child.wait().unwrap().success());
    }
    let document = open(folder.path());
    let bytes = block_on(async { document.read().await.unwrap().unwrap().collect(1 << 20).await.unwrap() });
    assert_eq!(number_of(&bytes), processes * steps);
    let head = block_on(document.head()).unwrap();
    assert_eq!(
        (head.number(), head.token(), head.lock().is_none()),
        (processes * steps, processes * steps, true)
    );
}
