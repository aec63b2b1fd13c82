//! Buckets that the real pulumi wrote: those of the fixtures, and those that it writes now and goes on with.

use std::path::Path;
use std::sync::Arc;

use groundstate_blobs_fs::FileBlobs;
use groundstate_pulumi_diy::pulumi_snapshot::ProjectName;
use groundstate_pulumi_diy::{Compression, Options, Stack, StackFilter, StackRef, Unguarded, Update};
use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};

use crate::support::Bucket;

/// The bucket in a folder, without its time.
fn bucket(folder: &Path) -> Bucket {
    Bucket::memory().through(Arc::new(FileBlobs::open(folder).unwrap()))
}

/// The stack that the tests make.
async fn stack(bucket: &Bucket, options: Options) -> Stack {
    let backend = bucket.open_with(options).await.unwrap();
    let project = ProjectName::parse("shop").unwrap();
    let reference = match backend.layout().version() {
        0 => StackRef::legacy("dev").unwrap(),
        _ => StackRef::parse("dev", Some(&project)).unwrap(),
    };
    backend.stack(&reference)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            let _bytes = std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn what_it_wrote_is_read_and_written_the_same() {
    for (name, compression, updates) in [
        ("plain", Compression::Plain, 3),
        ("gzip", Compression::Gzip, 1),
        ("zstd", Compression::Zstd, 3),
        ("retained", Compression::Plain, 1),
        ("legacy", Compression::Plain, 1),
        ("held", Compression::Plain, 1),
    ] {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/pulumi-diy");
        let folder = tempfile::tempdir().unwrap();
        copy(&fixtures.join(name).join("bucket"), folder.path());
        let bucket = bucket(folder.path());
        let stack = stack(&bucket, Options::default().allow_legacy()).await;
        let checkpoint = stack.read().await.unwrap().unwrap();
        assert_eq!((checkpoint.compression, checkpoint.warnings.len()), (compression, 0), "{name}");
        assert_eq!(stack.document(&checkpoint.decode().unwrap()).unwrap(), checkpoint.bytes, "{name}");
        let history = stack.history(1, 0).await.unwrap();
        assert_eq!((history.entries.len(), history.total), (updates, updates), "{name}");
        for entry in &history.entries {
            assert_eq!(entry.update.as_ref().unwrap().result, "succeeded", "{name}");
        }
        let tags = stack.tags().await.unwrap();
        let tagged = ["plain", "legacy"].contains(&name);
        assert_eq!(tags.get("team:name"), tagged.then_some("shop"), "{name}");
        let stacks = stack.backend().stack_names(&StackFilter::default()).await.unwrap();
        assert_eq!(stacks.len(), if name == "plain" { 2 } else { 1 }, "{name}: {stacks:?}");
    }
}

/// Each of ours after one of its own, in every compression: one variant is active, and pulumi has nothing to do.
#[tokio::test]
async fn it_goes_on_with_what_we_save() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = PulumiProject::applied(&PulumiPlace::folder(folder.path()), "dev");
    let bucket = bucket(folder.path());
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Plain] {
        let before = project.exported("dev");
        let stack = stack(&bucket, Options::default().compression(compression)).await;
        let read = stack.read().await.unwrap().unwrap();
        let document = stack.document(&read.decode().unwrap()).unwrap();
        stack.writer(Arc::new(Unguarded)).save(document).await.unwrap();
        let selection = stack.select().await.unwrap();
        assert_eq!(selection.active.unwrap().compression, compression);
        assert_eq!(selection.others.len(), 0);
        assert_eq!(project.exported("dev"), before);
        project.preview_is_clean("dev");
        project.up("dev");
    }
    let stack = stack(&bucket, Options::default()).await;
    assert_eq!(stack.history(1, 0).await.unwrap().total, 4);
    let listed = project.pulumi(&["stack", "ls", "--json"]).succeeds();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let ours = stack.backend().stacks(&StackFilter::default()).await.unwrap();
    assert_eq!((listed.as_array().unwrap().len(), ours.len()), (1, 1));
    let details = ours[0].details.as_ref().unwrap();
    assert_eq!(listed[0]["resourceCount"], details.resources.unwrap());
}

#[tokio::test]
async fn it_shows_our_history_and_our_tags() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = PulumiProject::applied(&PulumiPlace::folder(folder.path()), "dev");
    let bucket = bucket(folder.path());
    let stack = stack(&bucket, Options::default().compression(Compression::Gzip)).await;
    let text = r#"{"kind":"update","startTime":1800000000,"message":"ours","environment":{"exec.kind":"cli"},"config":{},"version":0,"result":"succeeded","endTime":1800000001,"resourceChanges":{"same":2}}"#;
    let update: Update = serde_json::from_str(text).unwrap();
    stack.record(&update, &Unguarded).await.unwrap();
    let history = project.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!((history.as_array().unwrap().len(), &history[0]["message"]), (2, &"ours".into()), "{history}");
    let mut tags = stack.tags().await.unwrap();
    tags.set("team", "web").unwrap();
    stack.save_tags(&tags, &Unguarded).await.unwrap();
    assert_eq!(project.pulumi(&["stack", "tag", "get", "team", "--stack", "dev"]).succeeds().trim(), "web");
    project.pulumi(&["stack", "tag", "rm", "team", "--stack", "dev"]).succeeds();
    assert_eq!(stack.tags().await.unwrap().all().len(), 0);
}
