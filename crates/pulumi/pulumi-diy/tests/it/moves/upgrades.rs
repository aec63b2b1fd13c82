//! From the layout without projects to the one with them.

use std::ops::ControlFlow;
use std::sync::Arc;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::pulumi_snapshot::ProjectName;
use groundstate_pulumi_diy::{
    Backend, ErrorKind, Holder, Layout, LockOptions, Options, Result, StackRef, UpgradeOptions, Upgraded,
    UpgradedStack,
};

use super::RECORDS;
use crate::support::{Bucket, document};

const EMPTY: &str = r#"{"version":0,"checkpoint":{"stack":"empty"}}"#;

fn legacy(name: &str) -> String {
    document("1").replace("urn:pulumi:s::", &format!("urn:pulumi:{name}::")).replace("organization/p/s", name)
}

async fn fill(bucket: &Bucket) {
    for name in ["a", "s"] {
        bucket.put(&format!(".pulumi/stacks/{name}.json"), legacy(name)).await;
        bucket.put(&format!(".pulumi/history/{name}/{name}-1700000000000000001.history.json"), "{}").await;
        bucket.put(&format!(".pulumi/backups/{name}/{name}.1700000000000000001.json"), "{}").await;
        bucket.put(&format!(".pulumi/stacks/{name}.pulumi-tags"), r#"{"version":1,"tags":{"a":"b"}}"#).await;
    }
    bucket.put(".pulumi/stacks/empty.json", EMPTY).await;
}

fn holder() -> Holder {
    Holder { pid: 7, user: "bo".into(), host: "here".into(), started: None }
}

async fn open(bucket: &Bucket) -> Result<Backend> {
    bucket.open_with(Options::default().allow_legacy()).await
}

async fn upgrade(bucket: &Bucket, options: &UpgradeOptions) -> Result<Upgraded> {
    let plan = open(bucket).await?.upgrade(options).await?;
    plan.carry_out(&holder(), &LockOptions::default(), |_| ControlFlow::Continue(())).await
}

fn outcome(upgraded: &Upgraded, name: &str) -> String {
    let found = upgraded.stacks.iter().find(|(stack, _)| stack.to_string() == name);
    match found.map(|(_, outcome)| outcome) {
        Some(UpgradedStack::Moved(to, _)) => to.to_string(),
        Some(UpgradedStack::NoProject) => "no project".to_owned(),
        Some(UpgradedStack::Failed(error)) => format!("{:?}", error.kind()),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn stacks_go_into_the_projects_of_their_resources_and_again_finds_what_is_left() {
    for bucket in Bucket::both() {
        fill(&bucket).await;
        let upgraded = upgrade(&bucket, &UpgradeOptions::default()).await.unwrap();
        assert_eq!(
            ["a", "empty", "s"].map(|name| outcome(&upgraded, name)),
            ["organization/p/a", "no project", "organization/p/s"]
        );
        assert_eq!(bucket.text(".pulumi/meta.yaml").await.as_deref(), Some("version: 1\n"));
        assert_eq!(upgraded.backend.layout(), Layout::Projects);
        assert_eq!(bucket.text(".pulumi/stacks/p/s.json").await, Some(document("1")));
        for key in [
            ".pulumi/stacks/p/s.pulumi-tags",
            ".pulumi/history/p/s/s-1700000000000000001.history.json",
            ".pulumi/backups/p/s/s.1700000000000000001.json",
        ] {
            assert!(bucket.text(key).await.is_some(), "{key}");
            assert!(bucket.text(&key.replace("/p/", "/")).await.is_none(), "{key}");
        }
        let shop = ProjectName::parse("shop").unwrap();
        let again = upgrade(&bucket, &UpgradeOptions::default().project("empty", shop)).await.unwrap();
        assert_eq!((again.stacks.len(), &*outcome(&again, "empty")), (1, "organization/shop/empty"));
        let last = upgrade(&bucket, &UpgradeOptions::default()).await.unwrap();
        assert!(last.stacks.is_empty());
    }
}

#[tokio::test]
async fn one_that_cannot_be_read_stops_everything_unless_it_is_skipped() {
    let bucket = Bucket::memory();
    fill(&bucket).await;
    bucket.put(".pulumi/stacks/broken.json", "{").await;
    let before = bucket.names().await;
    let error = upgrade(&bucket, &UpgradeOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(bucket.names().await, before);
    let upgraded = upgrade(&bucket, &UpgradeOptions::default().skip_unreadable()).await.unwrap();
    assert_eq!(outcome(&upgraded, "broken"), "Corrupt");
    assert_eq!(outcome(&upgraded, "s"), "organization/p/s");
    assert_eq!(bucket.text(".pulumi/stacks/broken.json").await.as_deref(), Some("{"));
}

#[tokio::test]
async fn a_stack_that_is_locked_stays_and_the_others_go() {
    let bucket = Bucket::memory();
    fill(&bucket).await;
    let held = open(&bucket).await.unwrap().stack(&StackRef::legacy("s").unwrap());
    let held = held.lock(&holder(), &LockOptions::default()).await.unwrap();
    let upgraded = upgrade(&bucket, &UpgradeOptions::default()).await.unwrap();
    assert_eq!((&*outcome(&upgraded, "s"), &*outcome(&upgraded, "a")), ("Locked", "organization/p/a"));
    held.release().await.unwrap();
    let upgraded = upgrade(&bucket, &UpgradeOptions::default()).await.unwrap();
    assert_eq!(outcome(&upgraded, "s"), "organization/p/s");
    assert!(!bucket.names().await.iter().any(|name| name.starts_with(".pulumi/locks/")));
}

#[tokio::test]
async fn an_upgrade_that_is_killed_at_any_request_is_ended_by_another_one() {
    for at in 0.. {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
        let plain = Bucket::memory().through(Arc::new(blobs.inner().clone()));
        fill(&plain).await;
        let killed = open(&Bucket::memory().through(Arc::new(blobs.clone()))).await.unwrap();
        blobs.fail_at(at, Fault::Down);
        let done = match killed.upgrade(&UpgradeOptions::default()).await {
            Ok(plan) => {
                let done =
                    plan.carry_out(&holder(), &LockOptions::default(), |_| ControlFlow::Continue(())).await;
                done.is_ok_and(|done| {
                    done.stacks.iter().all(|(_, outcome)| !matches!(outcome, UpgradedStack::Failed(_)))
                })
            }
            Err(_) => false,
        };
        // The locks of the dead are cancelled by a person.
        let backend = open(&plain).await.unwrap();
        for name in ["a", "s", "organization/p/a", "organization/p/s"] {
            let stack = StackRef::parse(name, None).or_else(|_| StackRef::legacy(name)).unwrap();
            let layout = if stack.project().is_some() { Layout::Projects } else { Layout::Legacy };
            if backend.layout() == layout {
                drop(backend.stack(&stack).cancel().await.unwrap());
            }
        }
        for name in plain.names().await {
            if name.starts_with(".pulumi/locks/") || name.starts_with(Layout::LEASES) {
                let key = groundstate_pulumi_diy::blobs::Key::parse(&name).unwrap();
                plain
                    .store
                    .delete(&key, &groundstate_pulumi_diy::blobs::DeleteOptions::default())
                    .await
                    .unwrap();
            }
        }
        upgrade(&plain, &UpgradeOptions::default()).await.unwrap();
        let names: Vec<String> =
            plain.names().await.into_iter().filter(|name| !name.starts_with(Layout::LEASES)).collect();
        for name in ["a", "s"] {
            let count = |part: &str| names.iter().filter(|key| key.contains(part)).count();
            assert_eq!(
                (count(&format!("/p/{name}.")), count(&format!("/p/{name}/"))),
                (3, 2),
                "{at}: {names:?}"
            );
            assert_eq!(count(&format!("stacks/{name}.")), 0, "{at}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.starts_with(RECORDS)), "{at}: {names:?}");
        if done {
            assert!(at > 30);
            break;
        }
    }
}
