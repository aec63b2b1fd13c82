//! Lists of projects and stacks, with filters and with damage.

use std::num::NonZeroUsize;
use std::sync::Arc;

use groundstate_conformance::FaultyBlobs;
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::pulumi_snapshot::ProjectName;
use groundstate_pulumi_diy::{Backend, ErrorKind, Options, StackFilter, Unguarded};

use crate::support::{Bucket, document, stack};

async fn names(backend: &Backend, filter: &StackFilter) -> Vec<String> {
    backend.stacks(filter).await.unwrap().iter().map(|summary| summary.reference.to_string()).collect()
}

#[tokio::test]
async fn a_damaged_stack_is_listed_and_flagged() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        for (name, text) in [("a", document("a")), ("b", document("b")[..200].to_owned())] {
            bucket.put(&format!(".pulumi/stacks/p/{name}.json"), text).await;
        }
        bucket.put(".pulumi/stacks/p/c.json", backend.stack(&stack("c")).new_document()).await;
        let found = backend.stacks(&StackFilter::default()).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|one| (one.reference.to_string(), one.details)).collect();
        assert_eq!(found.len(), 3);
        let good = found[0].1.as_ref().unwrap();
        assert_eq!(
            (good.resources, good.last_update.unwrap().to_string()),
            (Some(2), "2026-01-02T03:04:05.6Z".into())
        );
        assert_eq!(found[1].0, "organization/p/b");
        assert_eq!(found[1].1.as_ref().unwrap_err().kind(), ErrorKind::Corrupt);
        let new = found[2].1.as_ref().unwrap();
        assert_eq!(new.last_update, None);
    }
}

#[tokio::test]
async fn each_stack_is_listed_once_and_nothing_else_is() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        for file in [
            "p/s.json",
            "p/s.json.gz",
            "p/s.json.bak",
            "p/s.json.1700000000000000000",
            "p/s.pulumi-tags",
            "p/s.json.17ab.tmp",
            "p/s.json.attrs",
            "p/s.json.json",
            "q/s.json.zst",
            "p/deep/er.json",
            "old.json",
            "p/ü.json",
        ] {
            bucket.put(&format!(".pulumi/stacks/{file}"), document("x")).await;
        }
        let expected = ["organization/p/s", "organization/p/s.json", "organization/q/s"];
        assert_eq!(names(&backend, &StackFilter::default()).await, expected);
        let projects: Vec<String> =
            backend.projects().await.unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(projects, ["p", "q"]);
    }
}

#[tokio::test]
async fn checkpoints_that_no_list_has_are_told() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        for file in [
            "p/s.json",
            "p/s.json.bak",
            "p/\u{fc}.json",
            "a b/s.json.gz",
            "a b/s.pulumi-tags",
            "q/deep/er.json",
        ] {
            bucket.put(&format!(".pulumi/stacks/{file}"), document("x")).await;
        }
        assert_eq!(names(&backend, &StackFilter::default()).await, ["organization/p/s"]);
        let expected = [".pulumi/stacks/a b/s.json.gz", ".pulumi/stacks/p/\u{fc}.json"];
        assert_eq!(backend.unlisted_checkpoints().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn stacks_without_projects_are_listed() {
    for bucket in Bucket::both() {
        for file in ["b.json.gz", "a.json", "a.json.bak", "p/s.json"] {
            bucket.put(&format!(".pulumi/stacks/{file}"), document("x")).await;
        }
        let backend = bucket.open_with(Options::default().allow_legacy()).await.unwrap();
        assert_eq!(names(&backend, &StackFilter::default()).await, ["a", "b"]);
        bucket.put(".pulumi/stacks/a b.json", document("x")).await;
        assert_eq!(backend.unlisted_checkpoints().await.unwrap(), [".pulumi/stacks/a b.json"]);
        assert!(backend.projects().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn filters_go_by_project_and_by_tag() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        for (project, name, tags) in [
            ("p", "a", vec![("env", "prod"), ("team", "red")]),
            ("p", "b", vec![("env", "dev")]),
            ("p", "c", vec![]),
            ("pp", "a", vec![("owner", "prod")]),
        ] {
            bucket.put(&format!(".pulumi/stacks/{project}/{name}.json"), document("x")).await;
            let stack =
                backend.stack(&backend.reference(&format!("organization/{project}/{name}"), None).unwrap());
            let mut all = stack.tags().await.unwrap();
            for (name, value) in tags {
                all.set(name, value).unwrap();
            }
            stack.save_tags(&all, &Unguarded).await.unwrap();
        }
        let all = StackFilter::default();
        let p = || all.clone().project(ProjectName::parse("p").unwrap());
        let text = |text: &str| Some(text.to_owned());
        for (filter, expected) in [
            (all.clone(), vec!["p/a", "p/b", "p/c", "pp/a"]),
            (p(), vec!["p/a", "p/b", "p/c"]),
            (all.clone().tag(text("env"), None), vec!["p/a", "p/b"]),
            (all.clone().tag(None, text("prod")), vec!["p/a", "pp/a"]),
            (all.clone().tag(text("env"), text("prod")), vec!["p/a"]),
            (all.clone().tag(text("env"), text("red")), vec![]),
            (p().tag(None, text("prod")), vec!["p/a"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|name| format!("organization/{name}")).collect();
            assert_eq!(names(&backend, &filter).await, expected, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn any_number_of_workers_gives_the_same_list() {
    let bucket = Bucket::memory();
    for number in 0..200 {
        bucket.put(&format!(".pulumi/stacks/p/s{number:03}.json"), document("x")).await;
    }
    let mut lists = Vec::new();
    for workers in [1, 32] {
        let options = Options::default().workers(NonZeroUsize::new(workers).unwrap());
        lists.push(names(&bucket.open_with(options).await.unwrap(), &StackFilter::default()).await);
    }
    assert_eq!((lists[0].len(), &lists[0]), (200, &lists[1]));
}

#[tokio::test]
async fn names_cost_one_list() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let backend = bucket.open().await;
    bucket.put(".pulumi/stacks/p/s.json", document("x")).await;
    blobs.calls();
    assert_eq!(backend.stack_names(&StackFilter::default()).await.unwrap(), [stack("s")]);
    assert_eq!(blobs.calls(), ["list"]);
}
