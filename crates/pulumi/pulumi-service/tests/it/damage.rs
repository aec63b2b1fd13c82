//! Damage of what is stored of updates: each flipped bit is an error or changes no answer, and the check names it.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_pulumi_service::blobs::sealed::seal;
use groundstate_pulumi_service::blobs::{
    BlobStore, DeleteOptions, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions,
};
use groundstate_pulumi_service::common::{Clock as _, FixedClock};
use groundstate_pulumi_service::json::RawJson;
use groundstate_pulumi_service::{
    CheckpointUpload, Error, ErrorKind, Event, LeaseToken, NewStack, OldVersion, StackPath, StartOptions,
    UpdateFinding, UpdateRequest, UpdateResult,
};
use serde_json::json;

use crate::support::{ROOT, Service, bytes, entry, path, root, stash, state};

const UPDATES: &str = "pulumi/updates/";

/// All blobs of a store.
type Contents = Vec<(Key, Bytes)>;

/// A service with an update that sent a journal, one that sent checkpoints, a preview and an appended version.
struct Used {
    service: Service,
    journaled: (String, LeaseToken),
    saved: (String, LeaseToken),
    preview: (String, LeaseToken),
    appended: String,
}

fn event(sequence: u64) -> Event {
    Event { sequence, text: RawJson::parse_as_written(&format!("{{\"n\":{sequence}}}")).unwrap() }
}

impl Used {
    /// The updates with the stacks that they are of.
    fn updates(&self) -> [(StackPath, &(String, LeaseToken)); 3] {
        let (dev, other) = (path("dev"), path("other"));
        [(dev, &self.journaled), (other.clone(), &self.saved), (other, &self.preview)]
    }
}

async fn used() -> Used {
    let service = Service::new();
    let stack = service.stack().await;
    let old = OldVersion::new("key", "update", UpdateResult::Succeeded);
    let appended = stack.append(&old, "ann").await.unwrap().update;
    let (update, lease) = service.started(&stack, "update").await;
    let entries = [
        entry(1, 0, 1, json!({"operation": {"resource": root(), "type": "creating"}})),
        entry(2, 1, 1, json!({"state": root()})),
        entry(3, 0, 2, json!({"operation": {"resource": stash("a"), "type": "creating"}})),
    ];
    for batch in [&entries[..2], &entries[2..]] {
        update.append(&lease.token, &bytes(batch)).await.unwrap();
    }
    let changes = [("create".to_owned(), 1)].into();
    update.store_events(&lease.token, &[event(0), event(1)], Some(&changes)).await.unwrap();
    update.store_events(&lease.token, &[event(2)], None).await.unwrap();

    let other = service.stacks.create(&path("other"), "ann", NewStack::default()).await.unwrap();
    let (saved, saved_lease) = service.started(&other, "update").await;
    let text = format!(r#"{{"version":3,"deployment":{{"resources":[{}]}}}}"#, root());
    let upload = CheckpointUpload::Verbatim { sequence: 1, text: text.as_bytes() };
    saved.save(&saved_lease.token, upload).await.unwrap();

    let request = UpdateRequest::new("preview", "ann", service.clock.now());
    let preview = other.create_update(&request).await.unwrap();
    let preview_lease = preview.start(&StartOptions::new(Some(1), "v3.259.0")).await.unwrap();
    Used {
        journaled: (update.id().to_owned(), lease.token),
        saved: (saved.id().to_owned(), saved_lease.token),
        preview: (preview.id().to_owned(), preview_lease.token),
        appended,
        service,
    }
}

async fn contents(service: &Service) -> Contents {
    let listed = service.blobs.list("", &ListOptions::default()).await.unwrap();
    assert!(listed.next.is_none());
    let mut contents = Vec::new();
    for blob in listed.blobs {
        let key = Key::parse(&blob.name).unwrap();
        let bytes = service.blobs.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        contents.push((key, bytes));
    }
    contents
}

/// The service some seconds later.
fn later(used: &Used, blobs: Arc<dyn BlobStore>, seconds: u64) -> Service {
    let clock = Arc::new(FixedClock::new(used.service.clock.now()));
    clock.advance(std::time::Duration::from_secs(seconds));
    Service::on(blobs, clock)
}

/// The service some seconds later, on a copy of its blobs.
async fn copy(contents: &Contents, used: &Used, seconds: u64) -> Service {
    let blobs = MemoryBlobs::new("stacks");
    for (key, bytes) in contents {
        blobs.put(key, bytes.clone(), &PutOptions::default()).await.unwrap();
    }
    later(used, Arc::new(blobs), seconds)
}

/// Everything that the store answers of the updates of a stack: while their leases last, and when the leases are over.
async fn answers(contents: &Contents, used: &Used, path: &StackPath) -> Vec<Result<String, Error>> {
    let now = copy(contents, used, 1).await;
    let stack = now.stacks.stack(path).await.unwrap();
    let mut all = Vec::new();
    for (_, (id, token)) in used.updates().iter().filter(|(of, _)| of == path) {
        let update = stack.update(id);
        all.push(update.request().await.map(|request| format!("{request:?}")));
        all.push(update.events(0, 9).await.map(|page| format!("{page:?}")));
        all.push(update.journal(0).await.map(|page| format!("{:?}", page.entries)));
        all.push(now.stacks.leased_update(path, id, token).await.map(|_| "leased".to_owned()));
        all.push(update.status().await.map(|status| format!("{status:?}")));
    }
    all.push(stack.state().await.map(|state| format!("{state:?}")));
    if *path == used.updates()[0].0 {
        let appended = stack.update(&used.appended).request().await;
        all.push(appended.map(|request| format!("{request:?}")));
    }
    all.push(ended(&later(used, Arc::clone(&now.blobs), 900), path).await);
    all
}

async fn ended(service: &Service, path: &StackPath) -> Result<String, Error> {
    let stack = service.stacks.stack(path).await?;
    let now = stack.state().await?;
    let note = stack.version(now.version).await?;
    Ok(format!("{note:?} {}", state(&stack).await))
}

fn is_of_updates(key: &Key) -> bool {
    key.as_str().starts_with(UPDATES)
}

#[tokio::test]
async fn flipped_bit_of_an_update_is_an_error_or_changes_no_answer() {
    let used = used().await;
    let whole = contents(&used.service).await;
    let kinds = ["/request", "/preview", "/summary", "/appended", "/checkpoint", "/events/", "/journal/"];
    for kind in kinds {
        let count = whole.iter().filter(|(key, _)| is_of_updates(key) && key.as_str().contains(kind)).count();
        assert!(count > 0, "{kind}");
    }
    let mut errors = 0;
    for path in [path("dev"), path("other")] {
        let folder = format!("{UPDATES}{}/", used.service.stacks.stack(&path).await.unwrap().id());
        let expected = answers(&whole, &used, &path).await;
        let expected: Vec<String> =
            expected.into_iter().map(|answer| answer.unwrap_or_else(|error| error.to_string())).collect();
        for (at, (key, bytes)) in whole.iter().enumerate() {
            if !key.as_str().starts_with(&folder) {
                continue;
            }
            for byte in 0..bytes.len() {
                // Each byte loses one bit, another one than the byte before.
                let mut flipped = bytes.to_vec();
                flipped[byte] ^= 1 << ((byte + at) % 8);
                let mut damaged = whole.clone();
                damaged[at].1 = flipped.into();
                for (answer, expected) in answers(&damaged, &used, &path).await.into_iter().zip(&expected) {
                    match answer {
                        Ok(answer) => assert_eq!(&answer, expected, "{key} byte {byte}"),
                        Err(error) if error.to_string() == *expected => {}
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::Corrupt, "{key} byte {byte}: {error}");
                            errors += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(errors > 0);
}

/// The key of the only blob of a kind.
fn only<'c>(contents: &'c Contents, kind: &str) -> &'c (Key, Bytes) {
    let mut found = contents.iter().filter(|(key, _)| is_of_updates(key) && key.as_str().contains(kind));
    let only = found.next().unwrap();
    assert!(found.next().is_none(), "{kind}");
    only
}

#[tokio::test]
async fn checkpoint_of_an_earlier_release_is_read_and_a_later_one_is_refused() {
    let used = used().await;
    let whole = contents(&used.service).await;
    let (key, bytes) = only(&whole, "/checkpoint").clone();
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let line: serde_json::Value = serde_json::from_slice(&bytes[..end]).unwrap();
    assert_eq!(line["format"], 2);
    let header = json!({"sequence": line["sequence"], "sha256": line["sha256"]});
    let with = |line: String| {
        let text = [line.trim_end().as_bytes(), b"\n", &bytes[end + 1..]].concat();
        let mut contents = whole.clone();
        contents.iter_mut().find(|(other, _)| *other == key).unwrap().1 = text.into();
        contents
    };
    let later = copy(&whole, &used, 900).await;
    let expected = ended(&later, &path("other")).await.unwrap();
    let old = copy(&with(header.to_string()), &used, 900).await;
    assert_eq!(ended(&old, &path("other")).await.unwrap(), expected);
    let mut marked = header.clone();
    marked["format"] = 2.into();
    let mut newer = header.clone();
    newer["format"] = 3.into();
    for line in [marked.to_string(), seal(&newer.to_string()), seal(&header.to_string())] {
        let service = copy(&with(line.clone()), &used, 900).await;
        let error = ended(&service, &path("other")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{line}");
        assert_eq!(problems(&service, true).await.len(), 1, "{line}");
    }
}

async fn problems(service: &Service, contents: bool) -> Vec<UpdateFinding> {
    let mut found = Vec::new();
    service.stacks.check(contents, &mut |finding| found.push(finding)).await.unwrap();
    found
}

#[tokio::test]
async fn check_names_each_damaged_blob_of_an_update() {
    let used = used().await;
    let whole = contents(&used.service).await;
    let service = copy(&whole, &used, 1).await;
    let checked = service.stacks.check(true, &mut |finding| panic!("{finding:?}")).await.unwrap();
    assert_eq!(checked.updates, 4);
    assert!(checked.bytes > 100);
    for (at, (key, bytes)) in whole.iter().enumerate().filter(|(_, (key, _))| is_of_updates(key)) {
        let mut damaged = whole.clone();
        let mut flipped = bytes.to_vec();
        flipped[bytes.len() / 2] ^= 1;
        damaged[at].1 = flipped.into();
        let service = copy(&damaged, &used, 1).await;
        let found = problems(&service, true).await;
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        let place = found[0].place.trim_end_matches('/');
        assert!(key.as_str().starts_with(place), "{key}: {found:?}");
        assert!(found[0].stack.starts_with("acme/p/"), "{found:?}");
        let is_quick =
            ["/request", "/preview", "/summary", "/appended"].iter().any(|kind| key.as_str().ends_with(kind));
        assert!(!is_quick || problems(&service, false).await == found, "{key}");
    }
}

#[tokio::test]
async fn check_names_what_is_missing_of_an_update() {
    let used = used().await;
    let whole = contents(&used.service).await;
    let mut events: Vec<&Key> = Vec::new();
    let mut journal: Vec<&Key> = Vec::new();
    for (key, _) in &whole {
        if key.as_str().contains("/events/") {
            events.push(key);
        }
        if key.as_str().contains("/journal/") {
            journal.push(key);
        }
    }
    // A batch without its end looks like one of an earlier release.
    let (at, (key, bytes)) = whole.iter().enumerate().find(|(_, (key, _))| key == events[0]).unwrap();
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let mut cut = whole.clone();
    cut[at].1 = bytes.slice(..=line);
    let service = copy(&cut, &used, 1).await;
    let found = problems(&service, true).await;
    assert_eq!(found[0].problem, "it has the events 0 to 0, and its name says 0 to 1", "{key}");
    let stack = service.stacks.stack(&path("dev")).await.unwrap();
    let read = stack.update(&used.journaled.0).events(0, 9).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupt);

    let mut gap = whole.clone();
    gap.retain(|(key, _)| key != journal[journal.len() - 3]);
    let found = problems(&copy(&gap, &used, 1).await, true).await;
    assert!(found.len() == 1 && found[0].problem.contains("an object is missing"), "{found:?}");
}

#[tokio::test]
async fn check_names_stacks_and_names_that_do_not_lead_to_each_other() {
    let used = used().await;
    let whole = contents(&used.service).await;
    let without = |what: &str| {
        let mut contents = whole.clone();
        contents.retain(|(key, _)| !key.as_str().contains(what));
        contents
    };
    let found = problems(&copy(&without("pulumi/names/acme/p/dev!"), &used, 1).await, false).await;
    let [UpdateFinding { stack, problem, .. }] = &found[..] else { panic!("{found:?}") };
    assert!(
        stack == "acme/p/dev" && problem.starts_with("its name does not lead to the stack "),
        "{found:?}"
    );

    let id = used.service.stacks.stack(&path("dev")).await.unwrap().id().to_owned();
    let found = problems(&copy(&without(&format!("pulumi/records/{id}!")), &used, 1).await, false).await;
    let [UpdateFinding { stack, problem, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (&**stack, problem),
        ("acme/p/dev", &format!("it is the name of the stack {id}, which is not there"))
    );

    let found = problems(&copy(&without(&format!("pulumi/stacks/{id}!")), &used, 1).await, false).await;
    let [UpdateFinding { problem, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(problem, "there are updates of the stack, and the stack is not there");
}

#[tokio::test]
async fn removed_stack_leaves_no_blob_of_its_updates() {
    let used = used().await;
    let later = copy(&contents(&used.service).await, &used, 900).await;
    let dev = later.stacks.stack(&path("dev")).await.unwrap();
    let folder = format!("{UPDATES}{}/", dev.id());
    let prefix = folder.clone();
    let left = async || later.blobs.list(&prefix, &ListOptions::default()).await.unwrap().blobs.len();
    assert!(left().await > 5);
    assert!(urns_of(&state(&dev).await).contains(&ROOT.to_owned()));
    dev.remove(true, "ann").await.unwrap();
    assert_eq!(left().await, 0);
    assert!(problems(&later, true).await.is_empty());

    // Maintenance removes what a client stored meanwhile, or a crash left.
    let key = Key::parse(&format!("{folder}11111111-1111-1111-1111-111111111111/request")).unwrap();
    later.blobs.put(&key, Bytes::from("{}"), &PutOptions::default()).await.unwrap();
    let report = later.stacks.prune(&groundstate_pulumi_service::PruneOptions::default()).await.unwrap();
    assert_eq!((report.blobs, left().await), (1, 0));
    later.blobs.delete(&key, &DeleteOptions::default()).await.unwrap();
    assert!(later.stacks.stack(&path("other")).await.is_ok());
}

fn urns_of(state: &serde_json::Value) -> Vec<String> {
    crate::support::urns(state).into_iter().map(str::to_owned).collect()
}
