//! What must hold for any input: the fuzz targets call it, and so do ordinary tests with the corpus.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_pulumi_service::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_pulumi_service::common::{FixedClock, SequenceIds, Timestamp};
use groundstate_pulumi_service::pulumi_journal::{DecodeOptions, decode_entry};
use groundstate_pulumi_service::pulumi_protocol::{
    CheckpointDelta, CheckpointVerbatim, JournalEntries, decode, sha256,
};
use groundstate_pulumi_service::versioned::{Documents, Settings};
use groundstate_pulumi_service::{
    CheckpointUpload, ErrorKind, Lease, NewStack, Stack, StackPath, Stacks, StartOptions, Update,
    UpdateRequest, UpdateResult,
};

/// The state that both stacks begin with.
const BASE: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"resources":[{"urn":"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev","custom":false,"type":"pulumi:pulumi:Stack"},{"urn":"urn:pulumi:dev::p::t:t:t::a","custom":true,"id":"a","type":"t:t:t"},{"urn":"urn:pulumi:dev::p::t:t:t::b","custom":true,"id":"b","type":"t:t:t","dependencies":["urn:pulumi:dev::p::t:t:t::a"]}],"metadata":{}}}"#;

/// A service with two nodes, and an update of one of its two stacks.
struct Case {
    nodes: [Stacks; 2],
    update: Update,
    lease: Lease,
}

fn path(stack: &str) -> StackPath {
    StackPath::new("acme", "p", stack).expect("it is a name")
}

fn node(blobs: &Arc<dyn BlobStore>, ids: u64) -> Stacks {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(&clock));
    let context = Context::new(time, timer, Arc::new(SequenceIds::starting_at(ids)));
    let documents = Documents::open(Arc::clone(blobs), context.clone(), Settings::default());
    Stacks::new(documents.expect("memory has conditional writes"), Arc::clone(blobs), context)
}

impl Case {
    async fn start(journal: Option<u32>) -> Self {
        let blobs: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("fuzz"));
        let nodes = [node(&blobs, 1), node(&blobs, 1_000_000)];
        for name in ["dev", "other"] {
            let new = NewStack::default().state(BASE);
            nodes[0].create(&path(name), "fuzz", new).await.expect("the state is one");
        }
        let stack = nodes[0].stack(&path("dev")).await.expect("it was just made");
        let request = UpdateRequest::new("update", "fuzz", Timestamp::UNIX_EPOCH);
        let update = stack.create_update(&request).await.expect("memory does not fail");
        let lease = update.start(&StartOptions::new(journal, "v3.259.0")).await.expect("no update runs");
        Self { nodes, update, lease }
    }

    /// The update as a node sees it, each in its turn.
    async fn update(&self, turn: usize) -> Update {
        let node = &self.nodes[turn % 2];
        let found = node.leased_update(&path("dev"), self.update.id(), &self.lease.token).await;
        found.expect("the lease does not end")
    }

    /// Ends the update, and gives the state of its stack. The other stack is as it was.
    async fn end(&self) -> Vec<u8> {
        self.update
            .complete(&self.lease.token, UpdateResult::Succeeded)
            .await
            .expect("what is acknowledged can end");
        let stack = self.nodes[1].stack(&path("dev")).await.expect("it is there");
        assert_eq!(stack.state().await.expect("it can be read").version, 1);
        let other = self.nodes[1].stack(&path("other")).await.expect("it is there");
        assert_eq!(other.state().await.expect("it can be read").version, 0);
        assert_eq!(state(&other).await, BASE.as_bytes());
        state(&stack).await
    }
}

async fn state(stack: &Stack) -> Vec<u8> {
    let reader = stack.export().await.expect("it can be read");
    reader.collect(usize::MAX).await.expect("it can be read").to_vec()
}

/// The numbers of the entries that are stored.
async fn stored(update: &Update) -> Vec<u64> {
    let (mut numbers, mut from) = (Vec::new(), 0);
    loop {
        let page = update.journal(from).await.expect("what was stored can be read");
        numbers.extend(page.entries.iter().map(|entry| entry.sequence.get()));
        from = page.next;
        if page.is_last {
            return numbers;
        }
    }
}

fn run(case: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(case);
}

fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::TooLarge)
}

/// Each line is a batch of entries as clients send it, or else one entry. What is acknowledged is stored once, what is refused not at all, and the
/// update ends in a state that can be read, whatever the entries say. No other stack changes.
pub(crate) fn service_entries(data: &[u8]) {
    run(async {
        let case = Case::start(Some(1)).await;
        let mut acknowledged = BTreeSet::new();
        for (turn, line) in data.split(|byte| *byte == b'\n').enumerate() {
            let batch = decode::<JournalEntries>(line).ok().filter(|batch| !batch.entries.is_empty());
            let entries: Vec<&[u8]> = match &batch {
                Some(batch) => batch.entries.iter().map(|entry| entry.as_bytes()).collect(),
                None => vec![line],
            };
            let sent = case.update(turn).await.append(&case.lease.token, &entries).await;
            match sent {
                Ok(()) => acknowledged.extend(entries.iter().map(|entry| {
                    let entry = decode_entry(entry, &DecodeOptions::default());
                    entry.expect("what is acknowledged is an entry").sequence.get()
                })),
                Err(error) => assert!(is_refusal(error.kind()), "{error}"),
            }
            let numbers = stored(&case.update).await;
            assert_eq!(numbers.iter().copied().collect::<BTreeSet<_>>(), acknowledged);
            assert_eq!(numbers.len(), acknowledged.len(), "an entry is stored twice");
        }
        case.end().await;
    });
}

/// Each line is a checkpoint, verbatim or as a difference to the one before. The state that the update leaves is the last one that was acknowledged and
/// not overtaken, byte for byte. No other stack changes.
pub(crate) fn service_checkpoints(data: &[u8]) {
    run(async {
        let case = Case::start(None).await;
        let (mut text, mut last) = (None::<Vec<u8>>, 0);
        for (turn, line) in data.split(|byte| *byte == b'\n').enumerate() {
            let update = case.update(turn).await;
            let (saved, next) = if let Ok(sent) = decode::<CheckpointVerbatim>(line) {
                let next = sent.untyped_deployment.as_bytes().to_vec();
                let upload = CheckpointUpload::Verbatim { sequence: sent.sequence_number, text: &next };
                let saved = update.save(&case.lease.token, upload).await;
                (saved, (sent.sequence_number >= last).then_some((sent.sequence_number, next)))
            } else if let Ok(sent) = decode::<CheckpointDelta>(line) {
                let (sequence, edits, sha256_of) =
                    (sent.sequence_number, &sent.deployment_delta, &*sent.checkpoint_hash);
                let upload = CheckpointUpload::Delta { sequence, edits, sha256: sha256_of };
                let saved = update.save(&case.lease.token, upload).await;
                let new = text.as_ref().filter(|_| Some(sequence) == last.checked_add(1));
                let new = new.and_then(|old| sent.apply(old, usize::MAX).ok());
                if saved.is_ok() && new.is_none() {
                    let is_again = text.as_ref().is_some_and(|text| sha256(text) == sha256_of);
                    assert!(sequence == last && is_again, "a difference fits nothing, and is acknowledged");
                }
                (saved, new.map(|new| (sequence, new)))
            } else {
                continue;
            };
            match saved {
                Ok(()) => {
                    if let Some((sequence, new)) = next {
                        (last, text) = (sequence, Some(new));
                    }
                }
                Err(error) => assert!(is_refusal(error.kind()), "{error}"),
            }
        }
        let expected = text.unwrap_or_else(|| BASE.as_bytes().to_vec());
        assert_eq!(case.end().await, expected);
    });
}
