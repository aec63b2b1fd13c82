//! Stacks that are in a bucket of the CLI's own backends, with other programs at work in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use groundstate_pulumi_protocol::sha256;
use groundstate_server::PulumiBucket;
use groundstate_server::blobs::{BlobStore, Context, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions};
use groundstate_server::common::{Clock as _, FixedClock, OsIds, Timestamp};
use groundstate_server::pulumi_backends::pulumi_diy::{
    Backend, Compression, Guard, HeldLock, Holder, LockOptions, Options, Stack as DiyStack, StackRef,
    Unguarded,
};
use groundstate_server::pulumi_service::{
    ErrorKind, Lease, NewStack, Result, Stack, StackFilter, StackPath, Stacks, StartOptions, Update,
    UpdateRequest, UpdateResult,
};
use groundstate_server::versioned::{Documents, Settings};
use serde_json::{Value, json};

use super::dying::{Slow, dies_after};

pub(super) const ROOT: &str = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";
const CHECKPOINT: &str = ".pulumi/stacks/p/dev.json";

/// A node of a service, and the bucket that it serves as the stacks of `team`.
pub(super) struct Node {
    pub(super) stacks: Stacks,
    clock: Arc<FixedClock>,
    own: Arc<dyn BlobStore>,
    bucket: Arc<dyn BlobStore>,
    context: Context,
}

pub(super) fn path(stack: &str) -> StackPath {
    StackPath::new("team", "p", stack).unwrap()
}

fn name(stack: &str) -> StackRef {
    StackRef::parse(&format!("organization/p/{stack}"), None).unwrap()
}

pub(super) fn deployment(urns: &[&str]) -> Value {
    let resources: Vec<Value> = urns
        .iter()
        .map(|urn| json!({"urn": urn, "custom": false, "type": urn.split("::").nth(2).unwrap()}))
        .collect();
    json!({
        "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""},
        "secrets_providers": {"type": "passphrase", "state": {"salt": "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="}},
        "resources": resources,
        "metadata": {},
    })
}

pub(super) fn checkpoint(urns: &[&str]) -> Bytes {
    let checkpoint = json!({"stack": "organization/p/dev", "latest": deployment(urns)});
    json!({"version": 3, "checkpoint": checkpoint}).to_string().into()
}

impl Node {
    pub(super) fn new() -> Self {
        Self::on(Arc::new(MemoryBlobs::new("own")), Arc::new(MemoryBlobs::new("bucket")), clock())
    }

    fn on(own: Arc<dyn BlobStore>, bucket: Arc<dyn BlobStore>, clock: Arc<FixedClock>) -> Self {
        let [now, sleeper] = [(); 2].map(|()| Arc::<FixedClock>::clone(&clock));
        let context = Context::new(now, sleeper, Arc::new(OsIds));
        let settings = Settings::default().root("documents");
        let documents = Documents::open(Arc::clone(&own), context.clone(), settings).unwrap();
        let served = PulumiBucket::of_store(Arc::clone(&bucket), "memory:bucket", "node-1", &context);
        let stacks =
            Stacks::new(documents, Arc::clone(&own), context.clone()).with_bucket("team", Arc::new(served));
        Self { stacks, clock, own, bucket, context }
    }

    /// Another node, or the same one after its death.
    pub(super) fn node(&self) -> Self {
        Self::on(Arc::clone(&self.own), Arc::clone(&self.bucket), Arc::clone(&self.clock))
    }

    /// One whose requests can be interrupted.
    fn slow(&self) -> Self {
        let slow = |store: &Arc<dyn BlobStore>| Arc::new(Slow(Arc::clone(store)));
        Self::on(slow(&self.own), slow(&self.bucket), Arc::clone(&self.clock))
    }

    pub(super) fn wait(&self, seconds: u64) {
        self.clock.advance(std::time::Duration::from_secs(seconds));
    }

    /// The stack as another program sees it.
    pub(super) async fn direct(&self, stack: &str) -> DiyStack {
        let backend = Backend::open(Arc::clone(&self.bucket), self.context.clone(), Options::default()).await;
        backend.unwrap().stack(&name(stack))
    }

    /// Another program saves a state.
    pub(super) async fn saves(&self, document: Bytes) {
        self.direct("dev").await.writer(Arc::new(Unguarded)).unchecked().save(document).await.unwrap();
    }

    pub(super) async fn locks_directly(
        &self,
    ) -> groundstate_server::pulumi_backends::pulumi_diy::Result<HeldLock> {
        let holder = Holder { pid: 7, user: "bea".to_owned(), host: "desk".to_owned(), started: None };
        self.direct("dev").await.lock(&holder, &LockOptions::default()).await
    }

    pub(super) async fn stack(&self) -> Stack {
        self.stacks.stack(&path("dev")).await.unwrap()
    }

    pub(super) async fn started(&self) -> Result<(Update, Lease)> {
        let request = UpdateRequest::new("update", "ann", self.clock.now());
        let update = self.stack().await.create_update(&request).await?;
        let lease = update.start(&StartOptions::new(Some(1), "v3.259.0")).await?;
        Ok((update, lease))
    }

    /// The URNs in the bucket.
    pub(super) async fn urns(&self, stack: &str) -> Vec<String> {
        let read = self.direct(stack).await.read().await.unwrap().unwrap();
        let document: Value = serde_json::from_slice(&read.bytes).unwrap();
        let resources = document["checkpoint"]["latest"]["resources"].as_array().cloned().unwrap_or_default();
        let urns = resources.iter().map(|resource| resource["urn"].as_str().unwrap().to_owned());
        // What an update makes stands in front of what was there.
        urns.collect::<std::collections::BTreeSet<String>>().into_iter().rev().collect()
    }

    /// The results of the history in the bucket, the newest first.
    async fn history(&self, stack: &str) -> Vec<String> {
        let history = self.direct(stack).await.history(1, 0).await.unwrap();
        history.entries.into_iter().map(|entry| entry.update.unwrap().result).collect()
    }

    pub(super) async fn locks(&self) -> usize {
        let backend = Backend::open(Arc::clone(&self.bucket), self.context.clone(), Options::default()).await;
        backend.unwrap().locks().await.unwrap().len()
    }

    async fn put(&self, key: &str, bytes: &'static [u8]) {
        let key = Key::parse(key).unwrap();
        self.bucket.put(&key, Bytes::from_static(bytes), &PutOptions::default()).await.unwrap();
    }

    pub(super) async fn keys(&self, prefix: &str) -> Vec<String> {
        let page = self.bucket.list(prefix, &ListOptions::default()).await.unwrap();
        page.blobs.into_iter().map(|blob| blob.name).collect()
    }
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()))
}

/// The entries by which an update makes a resource.
pub(super) fn makes(urn: &str) -> [String; 2] {
    let state = json!({"urn": urn, "custom": false, "type": urn.split("::").nth(2).unwrap()});
    let entry = |kind: u64, sequence: u64, state: Value| {
        json!({"version": 1, "kind": kind, "sequenceID": sequence, "operationID": 1, "removeOld": null,
               "removeNew": null, "state": state})
        .to_string()
    };
    [entry(0, 1, Value::Null), entry(1, 2, state)]
}

async fn appends(update: &Update, lease: &Lease, urn: &str) {
    let entries = makes(urn);
    let entries: Vec<&[u8]> = entries.iter().map(|entry| entry.as_bytes()).collect();
    update.append(&lease.token, &entries).await.unwrap();
}

pub(super) const MADE: &str = "urn:pulumi:dev::p::my:index:Thing::made";

#[tokio::test]
async fn an_update_reads_the_bucket_and_leaves_state_backup_and_history_there() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let (update, lease) = node.started().await.unwrap();
    assert_eq!(lease.version, 1);
    let state = node.stack().await.state().await.unwrap();
    assert_eq!(state.current.unwrap().id, update.id());
    appends(&update, &lease, MADE).await;
    assert_eq!(node.urns("dev").await, [ROOT], "the bucket has it at the end");
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
    assert_eq!((node.history("dev").await, node.locks().await), (vec!["succeeded".to_owned()], 0));
    assert!(node.keys(CHECKPOINT).await.contains(&format!("{CHECKPOINT}.bak")));
    let versions = node.stack().await.versions(None, 10).await.unwrap().versions;
    assert_eq!((versions.len(), versions[0].number, versions[0].by.as_str()), (1, 1, "ann"));
    assert_eq!(versions[0].note.update.as_deref(), Some(update.id()));
    let exported = node.stack().await.export_version(1).await.unwrap().collect(usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&exported).contains(MADE));
}

#[tokio::test]
async fn what_other_programs_do_is_seen_at_once() {
    let node = Node::new();
    assert_eq!(node.stacks.stack(&path("dev")).await.unwrap_err().kind(), ErrorKind::NotFound);
    node.saves(checkpoint(&[ROOT])).await;
    let export = async || {
        let export = node.stack().await.export().await.unwrap();
        String::from_utf8(export.collect(usize::MAX).await.unwrap().to_vec()).unwrap()
    };
    assert!(!export().await.contains(MADE));
    node.saves(checkpoint(&[ROOT, MADE])).await;
    assert!(export().await.contains(MADE));
    let listed = node.stacks.list(&StackFilter::default().owner("team")).await.unwrap().stacks;
    assert_eq!((listed.len(), listed[0].resources), (1, Some(2)));
    // The next update goes on from it.
    let (update, lease) = node.started().await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
}

#[tokio::test]
async fn the_compression_of_a_stack_stays() {
    let node = Node::new();
    let backend = node.direct("dev").await.backend().compressed(Compression::Gzip);
    let stack = backend.stack(&name("dev"));
    stack.writer(Arc::new(Unguarded)).unchecked().save(checkpoint(&[ROOT])).await.unwrap();
    let (update, lease) = node.started().await.unwrap();
    appends(&update, &lease, MADE).await;
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let key = Key::parse(".pulumi/stacks/p/dev.json.gz").unwrap();
    let stored = node.bucket.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
    assert_eq!(Compression::of(&stored), Compression::Gzip);
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
    assert!(node.keys(".pulumi/history/").await.iter().all(|key| key.ends_with(".gz")));
}

#[tokio::test]
async fn an_import_that_expects_a_state_notices_a_change_at_the_bucket_itself() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let stack = node.stack().await;
    let export = async || stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    let read = sha256(&export().await);
    let text = json!({"version": 3, "deployment": deployment(&[MADE])}).to_string();
    node.saves(checkpoint(&[ROOT, MADE])).await;
    let refused = stack.import(text.as_bytes(), Some(&read), "ann").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Changed, "{refused}");
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
    let read = sha256(&export().await);
    stack.import(text.as_bytes(), Some(&read), "ann").await.unwrap();
    assert_eq!(node.urns("dev").await, [MADE]);
    let refused = stack.import(text.as_bytes(), Some(&read), "ann").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Changed, "an import changes no count of updates");
}

#[tokio::test]
async fn each_side_refuses_while_the_other_holds_the_lock() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let held = node.locks_directly().await.unwrap();
    let refused = node.started().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    assert!(refused.reason().contains("bea@desk (pid 7)"), "{refused}");
    held.check().await.unwrap();
    let stack = node.stack().await;
    for refused in [
        stack
            .import(
                json!({"version": 3, "deployment": deployment(&[ROOT])}).to_string().as_bytes(),
                None,
                "ann",
            )
            .await
            .map(drop),
        stack.rename(&path("prod"), "ann").await.map(drop),
        stack.remove(true, "ann").await,
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Locked);
    }
    stack.set_tags(&BTreeMap::from([("team".to_owned(), "web".to_owned())]), "ann").await.unwrap();
    held.release().await.unwrap();

    let (update, lease) = node.started().await.unwrap();
    let refused = node.locks_directly().await.unwrap_err().to_string();
    assert!(refused.contains("ann@groundstate-server at node-1"), "{refused}");
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    node.locks_directly().await.unwrap().release().await.unwrap();
    assert_eq!(node.direct("dev").await.tags().await.unwrap().get("team"), Some("web"));
}

#[tokio::test]
async fn what_another_program_saved_under_a_lock_that_was_cancelled_stays_and_the_update_is_in_the_history() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let (update, lease) = node.started().await.unwrap();
    appends(&update, &lease, MADE).await;
    assert!(node.direct("dev").await.cancel().await.unwrap().failed.is_empty());
    let other = "urn:pulumi:dev::p::my:index:Thing::other";
    node.saves(checkpoint(&[ROOT, other])).await;
    let refused = update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.reason().contains("in the history only"), "{refused}");
    assert_eq!(node.urns("dev").await, [ROOT, other]);
    assert_eq!((node.history("dev").await, node.locks().await), (vec!["failed".to_owned()], 0));
    let kept = node.stack().await.export_version(1).await.unwrap().collect(usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&kept).contains(MADE));
}

#[tokio::test]
async fn a_lock_that_was_cancelled_ends_the_update_at_its_renewal_and_what_it_did_is_saved() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let (update, lease) = node.started().await.unwrap();
    appends(&update, &lease, MADE).await;
    update.renew(&lease.token, None).await.unwrap();
    assert!(node.direct("dev").await.cancel().await.unwrap().failed.is_empty());
    assert_eq!(update.renew(&lease.token, None).await.unwrap_err().kind(), ErrorKind::LeaseLost);
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
    assert_eq!((node.history("dev").await, node.locks().await), (vec!["failed".to_owned()], 0));
    assert_eq!(update.renew(&lease.token, None).await.unwrap_err().kind(), ErrorKind::LeaseLost);
}

#[tokio::test]
async fn wherever_a_node_dies_while_an_update_starts_another_one_frees_the_stack() {
    for polls in 0.. {
        let node = Node::new();
        node.saves(checkpoint(&[ROOT])).await;
        let request = UpdateRequest::new("update", "ann", node.clock.now());
        let update = node.stack().await.create_update(&request).await.unwrap();
        let dying = node.slow();
        let stack = node.stack().await;
        let same = dying.stacks.stack(&path("dev")).await.unwrap().update(update.id());
        let is_over = dies_after(polls, same.start(&StartOptions::new(Some(1), ""))).await;
        // Until the lease is over, no other client gets in.
        node.wait(301);
        node.node().stacks.settle_all().await.unwrap();
        assert_eq!(node.locks().await, 0, "{polls}");
        node.locks_directly().await.unwrap().release().await.unwrap();
        assert!(stack.state().await.unwrap().current.is_none());
        let (update, lease) = node.started().await.unwrap();
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
        if is_over {
            assert!(polls > 10, "{polls}");
            return;
        }
    }
}

#[tokio::test]
async fn wherever_a_node_dies_while_an_update_ends_another_one_ends_it_once() {
    for polls in 0.. {
        let node = Node::new();
        node.saves(checkpoint(&[ROOT])).await;
        let (update, lease) = node.started().await.unwrap();
        appends(&update, &lease, MADE).await;
        let dying = node.slow();
        let same = dying.stacks.stack(&path("dev")).await.unwrap().update(update.id());
        let is_over = dies_after(polls, same.complete(&lease.token, UpdateResult::Succeeded)).await;
        node.wait(301);
        node.node().stacks.settle_all().await.unwrap();
        assert_eq!(node.urns("dev").await, [ROOT, MADE], "{polls}");
        assert_eq!((node.history("dev").await.len(), node.locks().await), (1, 0), "{polls}");
        assert_eq!(node.stack().await.state().await.unwrap().version, 1, "{polls}");
        node.locks_directly().await.unwrap().release().await.unwrap();
        if is_over {
            assert!(polls > 20, "{polls}");
            return;
        }
    }
}

#[tokio::test]
async fn wherever_a_node_dies_that_ends_what_a_client_left_the_next_one_goes_on() {
    for polls in 0.. {
        let node = Node::new();
        node.saves(checkpoint(&[ROOT])).await;
        let (update, lease) = node.started().await.unwrap();
        appends(&update, &lease, MADE).await;
        node.wait(301);
        let dying = node.slow();
        let is_over = dies_after(polls, dying.stacks.settle_all()).await;
        node.wait(61);
        node.node().stacks.settle_all().await.unwrap();
        assert_eq!(node.urns("dev").await, [ROOT, MADE], "{polls}");
        assert_eq!(
            (node.history("dev").await, node.locks().await),
            (vec!["failed".to_owned()], 0),
            "{polls}"
        );
        if is_over {
            return;
        }
    }
}

#[tokio::test]
async fn wherever_a_node_dies_in_an_edit_its_lock_is_released_and_the_stack_is_whole() {
    let state = json!({"version": 3, "deployment": deployment(&[ROOT, MADE])}).to_string();
    for edit in ["create", "import", "rename", "remove"] {
        for polls in 0.. {
            let node = Node::new();
            if edit != "create" {
                node.saves(checkpoint(&[ROOT])).await;
                node.stack().await;
            }
            let dying = node.slow();
            let at_once = async {
                if edit == "create" {
                    let new = NewStack::default().state(state.clone());
                    return dying.stacks.create(&path("dev"), "ann", new).await.map(drop);
                }
                let stack = dying.stacks.stack(&path("dev")).await?;
                match edit {
                    "import" => stack.import(state.as_bytes(), None, "ann").await.map(drop),
                    "rename" => stack.rename(&path("prod"), "ann").await.map(drop),
                    _ => stack.remove(true, "ann").await,
                }
            };
            let is_over = dies_after(polls, at_once).await;
            node.wait(301);
            let next = node.node();
            next.stacks.settle_all().await.unwrap();
            // What is interrupted between two steps ends by the next request.
            let found = [next.stacks.stack(&path("dev")).await, next.stacks.stack(&path("prod")).await];
            let mut states = Vec::new();
            for stack in found.iter().flatten() {
                states.push(stack.state().await.map(drop));
            }
            assert_eq!(node.locks().await, 0, "{edit} {polls}: {states:?}");
            let there = async |stack: &str| node.direct(stack).await.exists().await.unwrap();
            match (edit, there("dev").await, there("prod").await) {
                ("create" | "remove", false, false) => {
                    let new = NewStack::default();
                    next.stacks.create(&path("dev"), "ann", new).await.unwrap();
                }
                ("rename", false, true) => {
                    let renamed = node.urns("prod").await;
                    assert_eq!(renamed, [ROOT.replace("dev", "prod")], "{polls}");
                    next.stacks.stack(&path("prod")).await.unwrap();
                }
                (_, true, false) => {
                    let urns = node.urns("dev").await;
                    assert!(urns == [ROOT] || urns == [ROOT, MADE], "{edit} {polls}: {urns:?}");
                    next.stack().await.state().await.unwrap();
                }
                other => panic!("{polls}: {other:?}"),
            }
            if is_over {
                assert!(polls > 10, "{edit} {polls}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_by_name_and_nothing_is_written() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    for (broken, word) in [
        (b"{\"version\":3,\"checkpoint\":{\"latest\":{".as_slice(), "dev.json"),
        (b"", "dev.json"),
        (b"{\"version\":9,\"checkpoint\":{\"latest\":{}}}", "dev.json"),
        (b"{\"version\":4,\"features\":[\"telepathy\"],\"checkpoint\":{\"stack\":\"organization/p/dev\",\"latest\":{\"manifest\":{\"time\":\"2026-01-02T03:04:05Z\",\"magic\":\"\",\"version\":\"\"}}}}", "cannot be read"),
    ] {
        node.put(CHECKPOINT, broken).await;
        let refused = node.started().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt);
        assert!(refused.to_string().contains(word), "{refused}");
        assert_eq!(node.locks().await, 0);
        let listed = node.stacks.list(&StackFilter::default().owner("team")).await.unwrap().stacks;
        assert_eq!(listed.len(), 1);
        let key = Key::parse(CHECKPOINT).unwrap();
        let stored = node.bucket.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        assert_eq!(stored, broken);
    }
    assert!(node.history("dev").await.is_empty());
}

#[tokio::test]
async fn a_lock_that_cannot_be_read_locks_and_stays() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let lock = ".pulumi/locks/organization/p/dev/x.json";
    for garbage in [b"".as_slice(), b"{", b"\x1b[31m\xff"] {
        node.put(lock, garbage).await;
        let refused = node.started().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Locked);
        assert!(refused.reason().contains("x.json") && !refused.reason().contains('\u{1b}'), "{refused}");
        assert_eq!(node.keys(lock).await, [lock]);
    }
}

#[tokio::test]
async fn a_stack_that_is_removed_under_an_update_is_not_made_again() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let (update, lease) = node.started().await.unwrap();
    appends(&update, &lease, MADE).await;
    let key = Key::parse(CHECKPOINT).unwrap();
    node.bucket.delete(&key, &Default::default()).await.unwrap();
    let refused = update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap_err();
    assert!(refused.reason().contains("removed the stack"), "{refused}");
    assert!(!node.direct("dev").await.exists().await.unwrap());
    assert_eq!((node.history("dev").await, node.locks().await), (vec!["failed".to_owned()], 0));
    assert_eq!(node.stacks.stack(&path("dev")).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn names_that_are_not_served_and_the_old_layout_hide_no_other_stack() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    node.put(".pulumi/stacks/p/.odd.json", b"{\"version\":0,\"checkpoint\":{}}").await;
    node.put(".pulumi/stacks/p/odd..json", b"{\"version\":0,\"checkpoint\":{}}").await;
    let filter = StackFilter::default().owner("team").limit(1);
    let page = node.stacks.list(&filter).await.unwrap();
    assert_eq!((page.stacks.len(), page.next.is_none()), (1, true));

    let old = Node::new();
    old.put(".pulumi/stacks/dev.json", b"{\"version\":3,\"checkpoint\":{\"latest\":{}}}").await;
    let refused = old.stacks.stack(&path("dev")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoBucket);
    assert!(refused.reason().contains("upgrade"), "{refused}");
    assert!(old.keys(".pulumi/meta.yaml").await.is_empty());
}

#[tokio::test]
async fn lists_go_on_from_the_stacks_of_the_service_to_those_of_buckets() {
    let node = Node::new();
    for stack in ["a", "b", "c"] {
        node.stacks.create(&path(stack), "ann", NewStack::default()).await.unwrap();
    }
    let own = StackPath::new("ann", "p", "own").unwrap();
    node.stacks.create(&own, "ann", NewStack::default()).await.unwrap();
    let (mut found, mut page) = (Vec::new(), None);
    loop {
        let listed = node.stacks.list(&StackFilter::default().limit(2).page(page)).await.unwrap();
        found.extend(listed.stacks.iter().map(|stack| stack.path.to_string()));
        page = listed.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(found, ["ann/p/own", "team/p/a", "team/p/b", "team/p/c"]);
    let again = node.stacks.create(&path("a"), "ann", NewStack::default()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists);
}

#[tokio::test]
async fn a_node_without_the_bucket_neither_serves_nor_ends_what_is_in_it() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let (update, lease) = node.started().await.unwrap();
    appends(&update, &lease, MADE).await;
    let settings = Settings::default().root("documents");
    let documents = Documents::open(Arc::clone(&node.own), node.context.clone(), settings).unwrap();
    let other = Stacks::new(documents, Arc::clone(&node.own), node.context.clone());
    assert_eq!(other.stack(&path("dev")).await.unwrap_err().kind(), ErrorKind::NoBucket);
    assert!(other.list(&StackFilter::default()).await.unwrap().stacks.is_empty());
    node.wait(301);
    assert_eq!(other.settle_all().await.unwrap(), 0);
    assert_eq!(node.node().stacks.settle_all().await.unwrap(), 1);
    assert_eq!(node.urns("dev").await, [ROOT, MADE]);
}

#[tokio::test]
async fn a_stack_whose_resources_cannot_be_counted_is_listed_without_their_number() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let listed = async || {
        let page = node.stacks.list(&StackFilter::default().owner("team")).await.unwrap();
        page.stacks.into_iter().map(|stack| stack.resources).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [Some(1)]);
    let twice = br#"{"version":3,"checkpoint":{"stack":"organization/p/dev","latest":{"resources":[],"resources":[]}}}"#;
    node.put(CHECKPOINT, twice).await;
    assert_eq!(listed().await, [None]);
}
