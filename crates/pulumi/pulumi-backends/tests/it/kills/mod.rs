//! Writers of stacks that are killed at any moment: nothing that they acknowledged is lost, and pulumi opens what they leave.

mod leftovers;
mod state;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use groundstate_pulumi_backends::pulumi_diy::{
    Backend, ErrorKind, LeftoverKind, Options, RelocateOptions, RemoveOptions, Stack, Warning,
};
use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};
use serde_json::Value;

use crate::support::{backend, in_the_way, pid, reference, store};
use worker::{FROM, MARK, RECOVERS, URL};

/// How often to kill: more often in `cargo xtask torture stacks`.
const KILLS: &str = "GROUNDSTATE_STACKS_KILLS";
const SEED: &str = "GROUNDSTATE_STACKS_SEED";
/// The only store in which writers are killed.
const STORE: &str = "GROUNDSTATE_STACKS_STORE";
/// Pulumi looks at the stack after so many kills.
const LOOKS: u64 = 25;
/// The names of a stack that is made, renamed forth and back, and removed.
const OTHERS: [&str; 2] = ["other", "moved"];
/// How many entries of the history are kept, at least.
const KEPT: usize = 3;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().unwrap())
}

/// A value of which the last change may or may not have happened.
#[derive(Debug)]
struct Known {
    is: String,
    may_be: Option<String>,
}

impl Known {
    fn new(is: &str) -> Self {
        Self { is: is.to_owned(), may_be: None }
    }

    /// A line of the worker about it.
    fn hear(&mut self, what: &str, value: &str) {
        match what {
            "begins" => self.may_be = Some(value.to_owned()),
            "done" => *self = Self::new(value),
            _ => panic!("what is {what}?"),
        }
    }

    /// It was looked at; `true` if it is what was begun and not acknowledged.
    #[track_caller]
    fn settle(&mut self, found: &str) -> bool {
        let is_new = self.may_be.as_deref() == Some(found) && self.is != found;
        assert!(is_new || self.is == found, "found {found:?}, and {self:?} is known");
        *self = Self::new(found);
        is_new
    }
}

/// What the worker said.
struct Story {
    state: Known,
    tags: Known,
    other: Known,
    recorded: Vec<String>,
    records: Option<String>,
    acknowledged: usize,
}

impl Story {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["ready"] => return,
            ["state", what, value] => self.state.hear(what, value),
            ["tags", what, value] => self.tags.hear(what, value),
            ["other", what, value] => self.other.hear(what, value),
            ["record", "begins", value] => self.records = Some(value.to_owned()),
            ["record", "done", value] => {
                self.recorded.push(value.to_owned());
                self.records = None;
            }
            _ => panic!("the worker says: {line}"),
        }
        self.acknowledged += usize::from(words[1] == "done");
    }
}

/// A process that plays a part in a bucket.
struct Player {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Player {
    fn start(place: &PulumiPlace, variable: &str, value: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kills::worker::plays_the_worker_if_it_is_told_to", "--nocapture"]);
        command.envs(place.environment().iter().cloned()).env(URL, place.url()).env(variable, value);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line, unless it has ended.
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

struct Campaign<'a> {
    place: &'a PulumiPlace,
    backend: Backend,
    stack: Stack,
    others: [Stack; 2],
    story: Story,
    project: Option<PulumiProject>,
    counts: BTreeMap<&'static str, usize>,
}

impl<'a> Campaign<'a> {
    async fn new(place: &'a PulumiPlace) -> Self {
        let opened = store(place.url(), place.environment()).await;
        let backend = backend(opened.store, Options::default()).await;
        let stack = backend.stack(&reference("dev"));
        let others = OTHERS.map(|name| backend.stack(&reference(name)));
        let lock = worker::locked(&stack).await.unwrap();
        stack.writer(Arc::clone(&lock) as _).save(state::document(1).into()).await.unwrap();
        lock.release().await.unwrap();
        let story = Story {
            state: Known::new("1:"),
            tags: Known::new("none"),
            other: Known::new("absent"),
            recorded: Vec::new(),
            records: None,
            acknowledged: 0,
        };
        let project = pulumi_takes_part().then(|| PulumiProject::new(place));
        Self { place, backend, stack, others, story, project, counts: BTreeMap::new() }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_insert(0) += 1;
    }

    /// Lets a worker write and kills it after some of its lines, and some time.
    fn kill_a_writer(&mut self, from: u64, random: &mut fastrand::Rng) -> i64 {
        let mut player = Player::start(self.place, FROM, &from.to_string());
        let pid = player.child.id().into();
        for _ in 0..random.usize(..30) {
            match player.line() {
                Some(line) => self.story.hear(&line),
                None => break,
            }
        }
        std::thread::sleep(Duration::from_micros(random.u64(..25_000)));
        for line in player.kill() {
            self.story.hear(&line);
        }
        pid
    }

    /// Begins to recover and is killed, too.
    fn kill_a_recovery(&mut self, random: &mut fastrand::Rng) -> i64 {
        let player = Player::start(self.place, RECOVERS, "1");
        let pid = player.child.id().into();
        std::thread::sleep(Duration::from_micros(random.u64(5_000..60_000)));
        let said = player.kill();
        assert!(said.is_empty(), "{said:?}");
        self.count("recoveries killed");
        pid
    }

    async fn check(&mut self, dead: &[i64]) {
        // Without any help there is a checkpoint that pulumi opens.
        let raw = self.stack.read().await.unwrap().unwrap();
        let _lags_behind_a_journal = state::checked(&raw);
        for warning in &raw.warnings {
            assert!(matches!(warning, Warning::Variants { .. }), "{warning}");
            self.count("two variants");
        }
        for lock in self.backend.locks().await.unwrap() {
            assert!(dead.contains(&pid(&lock)), "{lock}");
            self.count("locks of the dead");
        }
        for stack in self.others.iter().chain([&self.stack]) {
            let cancelled = stack.cancel().await.unwrap();
            assert!(cancelled.failed.is_empty(), "{cancelled:?}");
        }
        let named = self.named().await;
        let has_journal = self.stack.has_journal().await.unwrap();
        assert_eq!(named.contains(&LeftoverKind::UnrecoveredUpdate), has_journal, "{named:?}");
        assert_eq!(named.contains(&LeftoverKind::SecondVariant), !raw.warnings.is_empty(), "{named:?}");
        if has_journal {
            self.count("journals");
        }
        let lock = loop {
            match worker::locked(&self.stack).await {
                Ok(lock) => break lock,
                // What a killed process had sent can arrive behind the look for its locks.
                Err(error) if in_the_way(&error).iter().any(|lock| dead.contains(&pid(lock))) => {
                    assert!(self.stack.cancel().await.unwrap().failed.is_empty());
                    self.count("locks that came late");
                }
                Err(error) => panic!("{error}"),
            }
        };
        let options = worker::journal_options();
        if let Some(recovered) = self.stack.recover(Arc::clone(&lock) as _, &options).await.unwrap() {
            *self.counts.entry("entries recovered").or_insert(0) += recovered.entries;
        }
        let found = state::checked(&self.stack.read().await.unwrap().unwrap());
        if self.story.state.settle(&found) {
            self.count("states that were not acknowledged");
        }
        let tags = self.stack.tags().await.unwrap();
        self.story.tags.settle(tags.get("number").unwrap_or("none"));
        lock.release().await.unwrap();
        self.check_history().await;
        self.check_others().await;
        let names = leftovers::names(&self.backend).await;
        leftovers::count(&names);
        // What is left now is no obstacle.
        for kind in self.named().await {
            use LeftoverKind::{SecondVariant, StateWithoutEntry};
            assert!([SecondVariant, StateWithoutEntry].contains(&kind), "{kind}");
            if kind == StateWithoutEntry {
                self.count("checks with half an entry of the history");
            }
        }
    }

    /// What `check` names of the stack.
    async fn named(&self) -> BTreeSet<LeftoverKind> {
        let leftovers = self.stack.leftovers().await.unwrap();
        assert!(leftovers.failed.is_empty(), "{leftovers:?}");
        leftovers.found.into_iter().map(|left| left.kind).collect()
    }

    async fn check_history(&mut self) {
        let entries = self.stack.history(1, 0).await.unwrap().entries;
        let mut found = Vec::new();
        for entry in entries.iter().rev() {
            found.push(entry.update.as_ref().unwrap().message.clone());
            state::checked(&self.stack.history_checkpoint(entry).await.unwrap().unwrap());
        }
        let begun = self.story.records.take();
        self.story.recorded.extend(begun.filter(|begun| found.contains(begun)));
        let recorded = &self.story.recorded;
        assert!(recorded.ends_with(&found), "{found:?} of {recorded:?}");
        assert!(found.len() >= recorded.len().min(KEPT), "{found:?} of {recorded:?}");
    }

    /// A move or a removal that was killed is ended by the same one.
    async fn check_others(&mut self) {
        let [here, there] = self.others.clone();
        let locks = [worker::locked(&here).await.unwrap(), worker::locked(&there).await.unwrap()];
        let moved = match (self.story.other.is.as_str(), self.story.other.may_be.as_deref()) {
            ("present", Some("moved")) => Some([&here, &there]),
            ("moved", Some("present")) => Some([&there, &here]),
            _ => None,
        };
        if let Some([source, target]) = moved {
            match source.relocation(target, RelocateOptions::default()).await {
                Ok(relocation) => {
                    let relocated = relocation.carry_out(&locks[0]).await.unwrap();
                    if relocated.is_resumed {
                        self.count("moves resumed");
                    }
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{error}"),
            }
        }
        let found = match (here.exists().await.unwrap(), there.exists().await.unwrap()) {
            (true, false) => "present",
            (false, true) => "moved",
            (false, false) => "absent",
            (true, true) => panic!("the other stack is there twice"),
        };
        self.story.other.settle(found);
        if found == "absent" {
            let options = RemoveOptions::default().force().backups();
            for (stack, lock) in self.others.iter().zip(&locks) {
                let _nothing_was_left = stack.remove(lock, &options).await;
            }
            let names = leftovers::names(&self.backend).await;
            let left = names.iter().find(|name| {
                OTHERS.iter().any(|stack| name.contains(&format!("/shop/{stack}.json")))
                    && !name.contains("/locks/")
            });
            assert_eq!(left, None);
        }
        for lock in locks {
            lock.release().await.unwrap();
        }
    }

    /// What pulumi makes of it.
    fn look(&mut self, exported: &[u8]) {
        if let Some(project) = &self.project {
            let theirs = project.pulumi(&["stack", "export", "--stack", "organization/shop/dev"]).succeeds();
            // What was imported keeps its order here, and gets Pulumi's there.
            let [theirs, ours]: [Value; 2] =
                [theirs.as_bytes(), exported].map(|text| serde_json::from_slice(text).unwrap());
            assert_eq!(theirs, ours);
            self.count("looks of pulumi");
        }
    }

    /// After a save there is one checkpoint, and after a prune few copies.
    async fn check_end(&self) {
        let lock = worker::locked(&self.stack).await.unwrap();
        self.stack.writer(Arc::clone(&lock) as _).save(state::document(2).into()).await.unwrap();
        lock.release().await.unwrap();
        assert_eq!(self.stack.select().await.unwrap().others.len(), 0);
        assert_eq!(self.backend.locks().await.unwrap(), []);
        let counts = leftovers::count(&leftovers::names(&self.backend).await);
        assert_eq!((counts["marker"], counts["free lease"]), (1, 3), "{counts:?}");
        println!("left at the end: {counts:?}");
    }
}

/// How many writers are to be killed in a store; none if another one was asked for.
fn kills_in(store: &str, few: u64) -> u64 {
    let only = std::env::var(STORE).ok().filter(|only| !only.is_empty());
    if only.is_some_and(|only| only != store) { 0 } else { number(KILLS, few) }
}

async fn kill_writers(name: &str, place: &PulumiPlace, kills: u64) {
    let seed = number(SEED, 20_261_123);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut campaign = Campaign::new(place).await;
    for kill in 0..kills {
        // The numbers of a worker are its own.
        let from = 10 + kill * 1_000;
        let mut dead = vec![campaign.kill_a_writer(from, &mut random)];
        if random.u8(..4) == 0 {
            dead.push(campaign.kill_a_recovery(&mut random));
        }
        campaign.check(&dead).await;
        if (kill + 1).is_multiple_of(LOOKS) || kill + 1 == kills {
            campaign.look(&campaign.stack.export().await.unwrap());
            println!("{name}: {} of {kills} kills", kill + 1);
        }
    }
    campaign.check_end().await;
    let Campaign { story, counts, .. } = campaign;
    println!(
        "{name}, {SEED}={seed}: {kills} kills, {} changes acknowledged and kept, {counts:?}",
        story.acknowledged
    );
    assert!(story.acknowledged > 0, "no writer came to write anything");
}

/// On a disk most kills meet a writer that waits for it, in memory one that works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_in_a_directory_loses_nothing() {
    let disk = tempfile::tempdir().unwrap();
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    let kills = kills_in("directory", 12);
    let here = memory.as_ref().map_or(0, |_| kills / 2);
    if kills > here {
        kill_writers("directory on a disk", &PulumiPlace::folder(disk.path()), kills - here).await;
    }
    if let Some(memory) = memory.filter(|_| here > 0) {
        kill_writers("directory in memory", &PulumiPlace::folder(memory.path()), here).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_in_s3_loses_nothing() {
    let kills = kills_in("s3", 6);
    if kills > 0 {
        kill_writers("s3", &PulumiPlace::s3(), kills).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_in_google_cloud_storage_loses_nothing() {
    let kills = kills_in("gcs", 6);
    if kills > 0 {
        kill_writers("gcs", &PulumiPlace::gs(), kills).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_in_azure_loses_nothing() {
    let kills = kills_in("azure", 6);
    if kills > 0 {
        kill_writers("azure", &PulumiPlace::azblob(), kills).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_in_postgresql_loses_nothing() {
    let kills = kills_in("postgres", 6);
    if kills > 0
        && let Some(place) = PulumiPlace::postgres()
    {
        kill_writers("postgres", &place, kills).await;
    }
}
