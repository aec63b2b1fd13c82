//! Writers that are paused at any moment, for as long as it takes others to take over any number of times.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, MemoryBlobs, Page, PutOptions, Result,
};
use groundstate_common::SequenceIds;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::{ErrorKind, JournalStore, OpenOptions, Record, read_all};
use tokio::sync::Notify;

/// What happens between the requests of one writer.
trait Pause: Send + Sync + 'static {
    fn pause(&self) -> impl Future<Output = ()> + Send;
}

/// A client of a container that pauses before and after each request.
struct Paused<P> {
    blobs: Arc<MemoryBlobs>,
    pause: Arc<P>,
}

impl<P> fmt::Debug for Paused<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

impl<P> fmt::Display for Paused<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

impl<P: Pause> Paused<P> {
    async fn around<T>(&self, request: impl Future<Output = T>) -> T {
        self.pause.pause().await;
        let answer = request.await;
        self.pause.pause().await;
        answer
    }
}

#[async_trait]
impl<P: Pause> BlobStore for Paused<P> {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.around(self.blobs.get(key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.around(self.blobs.head(key)).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.around(self.blobs.put(key, bytes, options)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.around(self.blobs.delete(key, options)).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.around(self.blobs.list(prefix, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.blobs.leases()
    }
}

/// Stops at one of the moments until it is told to go on.
#[derive(Default)]
struct Gate {
    /// The moments until it stops.
    left: Mutex<Option<u32>>,
    reached: Notify,
    go_on: Notify,
}

impl Pause for Gate {
    async fn pause(&self) {
        let stops = {
            let mut left = self.left.lock().unwrap();
            *left = left.and_then(|left| left.checked_sub(1));
            *left == Some(0)
        };
        if stops {
            self.reached.notify_one();
            self.go_on.notified().await;
        }
    }
}

fn record(text: &str) -> Record {
    Record::from(text.as_bytes())
}

fn texts(records: &[Record]) -> BTreeSet<String> {
    records.iter().map(|record| String::from_utf8(record.as_bytes().to_vec()).unwrap()).collect()
}

fn journal<P: Pause>(blobs: &Arc<MemoryBlobs>, pause: &Arc<P>, ids: &Arc<SequenceIds>) -> BlobJournal {
    let store = Paused { blobs: Arc::clone(blobs), pause: Arc::clone(pause) };
    BlobJournal::new(Arc::new(store), "j/", Arc::<SequenceIds>::clone(ids)).unwrap()
}

async fn contents(journal: &BlobJournal) -> BTreeSet<String> {
    read_all(journal).await.unwrap().map(|contents| texts(&contents.records)).unwrap_or_default()
}

#[tokio::test]
async fn a_writer_that_sleeps_through_any_number_of_takeovers_is_never_told_that_its_batch_is_stored() {
    for takeovers in [1, 2, 8, 9, 20, 600] {
        // Before and after the object is created, and before and after it is asked whether that counts.
        for moment in [1, 2, 3, 4] {
            for clears in if takeovers < 500 { &[false, true][..] } else { &[true] } {
                let (blobs, ids) = (Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()));
                let gate = Arc::new(Gate::default());
                let others = BlobJournal::new(
                    Arc::<MemoryBlobs>::clone(&blobs),
                    "j/",
                    Arc::<SequenceIds>::clone(&ids),
                );
                let others = others.unwrap();
                let sleeper = journal(&blobs, &gate, &ids).open(&OpenOptions::new("ann")).await.unwrap();
                sleeper.begin(&record("base")).await.unwrap();
                *gate.left.lock().unwrap() = Some(moment);
                let (late, other) = ([record("late")], async {
                    gate.reached.notified().await;
                    let mut recovered = BTreeSet::new();
                    for round in 0..takeovers {
                        let writer = others.open(&OpenOptions::new("bob")).await.unwrap();
                        recovered.extend(contents(&others).await);
                        writer.begin(&record(&format!("base {round}"))).await.unwrap();
                        writer.append(&[record(&format!("{round}"))]).await.unwrap();
                        if *clears {
                            writer.clear().await.unwrap();
                        }
                    }
                    gate.go_on.notify_one();
                    recovered
                });
                let (outcome, recovered) = tokio::join!(sleeper.append(&late), other);
                let is_stored = recovered.contains("late");
                assert_eq!(is_stored, moment > 1, "the pause is where it was meant to be");
                let what = format!("{takeovers} takeovers, moment {moment}: {outcome:?}");
                match &outcome {
                    Ok(_) => assert!(is_stored, "{what}"),
                    Err(error) if error.kind() == ErrorKind::Fenced => assert!(!is_stored, "{what}"),
                    // Only who slept through more takeovers than are remembered gets no answer.
                    Err(error) => {
                        assert!(error.kind() == ErrorKind::Ambiguous && takeovers > 500, "{what}");
                    }
                }
                assert!(!contents(&others).await.contains("late"));
                let again = sleeper.append(&[record("later")]).await.unwrap_err();
                assert!(again.kind() == ErrorKind::Fenced || takeovers > 500, "{what}: {again}");
            }
        }
    }
}

#[tokio::test]
async fn a_reader_that_sleeps_while_epochs_end_and_begin_reads_one_of_them_as_it_was() {
    let mut seen = BTreeSet::new();
    // Before and after each of its requests.
    for moment in 1..=14 {
        for clears in [false, true] {
            let (blobs, ids) = (Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()));
            let gate = Arc::new(Gate::default());
            let plain = || {
                BlobJournal::new(Arc::<MemoryBlobs>::clone(&blobs), "j/", Arc::<SequenceIds>::clone(&ids))
                    .unwrap()
            };
            let writer = plain().open(&OpenOptions::new("ann")).await.unwrap();
            writer.begin(&record("base")).await.unwrap();
            writer.append(&[record("old 1")]).await.unwrap();
            writer.append(&[record("old 2")]).await.unwrap();
            *gate.left.lock().unwrap() = Some(moment);
            let sleeper = journal(&blobs, &gate, &ids);
            let other = async {
                gate.reached.notified().await;
                if clears {
                    writer.clear().await.unwrap();
                }
                writer.begin(&record("another base")).await.unwrap();
                writer.append(&[record("new")]).await.unwrap();
                gate.go_on.notify_one();
            };
            let (found, ()) = tokio::join!(read_all(&sleeper), other);
            let found = found.unwrap_or_else(|error| panic!("moment {moment}: {error}")).unwrap();
            let (base, found) = (found.head.base, texts(&found.records));
            if base == record("base") {
                assert_eq!(found, BTreeSet::from(["old 1".to_owned(), "old 2".to_owned()]), "{moment}");
            } else {
                assert_eq!((base, &found), (record("another base"), &BTreeSet::from(["new".to_owned()])));
            }
            seen.insert(found);
        }
    }
    assert_eq!(seen.len(), 2, "the pauses are before and after the requests that matter");
}

#[tokio::test]
async fn of_two_writers_one_of_which_sleeps_while_it_opens_one_is_fenced_and_the_other_goes_on() {
    let mut newest_are_sleepers = BTreeSet::new();
    // Moments of its requests, and then of those that follow.
    for (moment, then) in (1..=6).flat_map(|moment| (1..=4).map(move |then| (moment, then))) {
        let (blobs, ids) = (Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()));
        let gate = Arc::new(Gate::default());
        let others =
            BlobJournal::new(Arc::<MemoryBlobs>::clone(&blobs), "j/", Arc::<SequenceIds>::clone(&ids))
                .unwrap();
        *gate.left.lock().unwrap() = Some(moment);
        let sleeper = journal(&blobs, &gate, &ids);
        let (bob, what) = (OpenOptions::new("bob"), format!("moments {moment} and {then}"));
        let other = async {
            gate.reached.notified().await;
            let writer = others.open(&bob).await.unwrap();
            *gate.left.lock().unwrap() = Some(then);
            gate.go_on.notify_one();
            gate.reached.notified().await;
            // Removes what was made before, unless the one that sleeps has taken over.
            let begun = writer.begin(&record("base")).await.is_ok();
            if begun {
                writer.append(&[record("of another")]).await.unwrap();
            }
            gate.go_on.notify_one();
            (writer, begun)
        };
        let opened = async {
            let opened = sleeper.open(&OpenOptions::new("ann")).await.unwrap();
            // So that both pauses happen.
            *gate.left.lock().unwrap() = None;
            gate.reached.notify_one();
            opened
        };
        let (opened, (writer, begun)) = tokio::join!(opened, other);
        let found = opened.position();
        let (newest, other) = match opened.begin(&record("base of the one that slept")).await {
            Ok(_) => {
                assert_eq!(found.is_some(), begun, "{what}: it goes on where the other one ended");
                (&opened, &writer)
            }
            Err(error) => {
                assert!(begun && error.kind() == ErrorKind::Fenced, "{what}: {error}");
                (&writer, &opened)
            }
        };
        newest.append(&[record("of the newest")]).await.unwrap();
        assert_eq!(other.begin(&record("late")).await.unwrap_err().kind(), ErrorKind::Fenced, "{what}");
        assert!(contents(&others).await.contains("of the newest"), "{what}");
        newest_are_sleepers.insert(std::ptr::eq(newest, &opened));
    }
    assert_eq!(newest_are_sleepers.len(), 2, "the pauses are around the request that decides");
}

/// Random pauses, some of them long, from a seed.
struct Dice(AtomicU64);

impl Dice {
    fn next(&self, below: u64) -> u64 {
        let mixed = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    }
}

impl Pause for Dice {
    async fn pause(&self) {
        let turns = if self.next(30) == 0 { 800 } else { self.next(3) };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

/// What the writers of a run saw.
#[derive(Default)]
struct Log {
    recovered: BTreeSet<String>,
    fenced: BTreeSet<String>,
    acknowledged: usize,
}

async fn write(name: usize, journal: BlobJournal, plain: BlobJournal, log: Arc<Mutex<Log>>) {
    for round in 0..16 {
        let writer = journal.open(&OpenOptions::new("ann")).await.unwrap();
        let Ok(found) = read_all(&journal).await else { continue };
        // Another writer may have ended that epoch while it was read; then it has read it.
        let found = found.map(|contents| texts(&contents.records)).unwrap_or_default();
        log.lock().unwrap().recovered.extend(found);
        if writer.begin(&record("base")).await.is_err() {
            continue;
        }
        for batch in 0..3 {
            let text = format!("{name} {round} {batch}");
            match writer.append(&[record(&text)]).await {
                Ok(_) => {
                    let now = contents(&plain).await;
                    let mut log = log.lock().unwrap();
                    log.acknowledged += 1;
                    assert!(now.contains(&text) || log.recovered.contains(&text), "{text} is lost");
                }
                Err(error) => {
                    if error.kind() == ErrorKind::Fenced {
                        log.lock().unwrap().fenced.insert(text);
                    }
                    break;
                }
            }
        }
        if round % 5 == 0 {
            drop(writer.clear().await);
        }
    }
}

#[tokio::test]
async fn in_random_schedules_what_is_acknowledged_is_read_and_what_is_fenced_is_not() {
    let mut acknowledged = 0;
    for seed in 0..80 {
        let (blobs, ids) = (Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()));
        let dice = Arc::new(Dice(AtomicU64::new(seed * 7919)));
        let log = Arc::new(Mutex::new(Log::default()));
        let mut writers = tokio::task::JoinSet::new();
        for name in 0..3 {
            let plain =
                BlobJournal::new(Arc::<MemoryBlobs>::clone(&blobs), "j/", Arc::<SequenceIds>::clone(&ids));
            writers.spawn(write(name, journal(&blobs, &dice, &ids), plain.unwrap(), Arc::clone(&log)));
        }
        while let Some(ended) = writers.join_next().await {
            ended.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        let log = log.lock().unwrap();
        let seen: Vec<&String> = log.fenced.intersection(&log.recovered).collect();
        assert!(seen.is_empty(), "seed {seed}: {seen:?} were refused and read");
        acknowledged += log.acknowledged;
    }
    assert!(acknowledged > 500, "{acknowledged}");
}

async fn write_one_epoch(name: usize, journal: BlobJournal, plain: BlobJournal, log: Arc<Mutex<Log>>) {
    for round in 0..12 {
        let writer = journal.open(&OpenOptions::new("ann").single_epoch(true)).await.unwrap();
        let Ok(head) = journal.head().await else { continue };
        if head.is_none() && writer.begin(&record("base")).await.is_err() {
            continue;
        }
        for batch in 0..3 {
            let text = format!("{name} {round} {batch}");
            match writer.append(&[record(&text)]).await {
                Ok(_) => {
                    assert!(contents(&plain).await.contains(&text), "{text} is lost");
                    let mut log = log.lock().unwrap();
                    log.acknowledged += 1;
                    log.recovered.insert(text);
                }
                Err(error) => {
                    if error.kind() == ErrorKind::Fenced {
                        log.lock().unwrap().fenced.insert(text);
                    }
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn in_a_journal_that_is_begun_once_nothing_is_lost_although_no_batch_asks_whether_it_counts() {
    let mut acknowledged = 0;
    for seed in 0..80 {
        let (blobs, ids) = (Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()));
        let dice = Arc::new(Dice(AtomicU64::new(seed * 7919)));
        let log = Arc::new(Mutex::new(Log::default()));
        let plain = || {
            BlobJournal::new(Arc::<MemoryBlobs>::clone(&blobs), "j/", Arc::<SequenceIds>::clone(&ids))
                .unwrap()
        };
        let mut writers = tokio::task::JoinSet::new();
        for name in 0..3 {
            writers.spawn(write_one_epoch(name, journal(&blobs, &dice, &ids), plain(), Arc::clone(&log)));
        }
        while let Some(ended) = writers.join_next().await {
            ended.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        let (stored, log) = (contents(&plain()).await, log.lock().unwrap());
        assert!(
            log.recovered.is_subset(&stored),
            "seed {seed}: {:?} are lost",
            log.recovered.difference(&stored)
        );
        let seen: Vec<&String> = log.fenced.intersection(&stored).collect();
        assert!(seen.is_empty(), "seed {seed}: {seen:?} were refused and read");
        acknowledged += log.acknowledged;
    }
    assert!(acknowledged > 500, "{acknowledged}");
}
