//! Names that are alike, or that a store could take for something else.

use groundstate_pulumi_backends::pulumi_diy::{ErrorKind, Guard, Options, RemoveOptions, Stack, StackFilter};
use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};
use serde_json::Value;

use super::locks::{conflict, lock};
use super::{in_each_place, names, ours, protect, protected};
use crate::support::{self, reference};

in_each_place! { names_that_are_alike_are_stacks_of_their_own }

async fn names_that_are_alike_are_stacks_of_their_own(place: &PulumiPlace) {
    if place.kind() == "postgres" {
        return names_that_are_alike_to_postgresql(place).await;
    }
    let project = PulumiProject::new(place);
    let backend = ours(place).await;
    let [underscore, dash, letter] = ["a_b", "a-b", "aXb"].map(|name| backend.stack(&reference(name)));
    for name in ["a_b", "a-b", "aXb"] {
        project.pulumi(&["stack", "init", name]).succeeds();
    }
    // Pulumi holds one of them, ours another, and the third is free for both.
    let held = project.holds("a_b");
    assert_eq!(conflict(lock(&underscore).await).len(), 1);
    let ours = lock(&dash).await.unwrap();
    project.up("aXb");
    assert!(up(&project, "a-b").contains("created by ann@build-7"));
    held.release().succeeds();
    ours.release().await.unwrap();
    assert_eq!(names(&underscore).await.len(), 4);
    assert_eq!(names(&letter).await.len(), 4);
    protect(&underscore, "first", true).await;
    assert_eq!(names(&dash).await, [""; 0]);
    // What belongs to one is renamed, the rest stays.
    project.pulumi(&["stack", "rename", "a.b", "--stack", "a_b"]).succeeds();
    let renamed = backend.stack(&reference("a.b"));
    assert_eq!(protected(&renamed).await, ["first"]);
    for (stack, updates) in [(&renamed, 1), (&underscore, 0), (&letter, 1), (&dash, 0)] {
        assert_eq!(stack.history(1, 0).await.unwrap().total, updates, "{stack}");
    }
    let theirs: Vec<Value> =
        serde_json::from_str(&project.pulumi(&["stack", "ls", "--json"]).succeeds()).unwrap();
    let listed = backend.stack_names(&StackFilter::default()).await.unwrap();
    let mut theirs: Vec<&str> = theirs.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let mut listed: Vec<&str> = listed.iter().map(|name| name.stack().as_str()).collect();
    theirs.sort_unstable();
    listed.sort_unstable();
    let expected = vec!["a-b", "a.b", "aXb"];
    assert_eq!((theirs, listed), (expected.clone(), expected));
}

/// There `_` stands for any character of a pattern, and Pulumi 3.259 panics on `a_b` while one of the others exists.
async fn names_that_are_alike_to_postgresql(place: &PulumiPlace) {
    let project = PulumiProject::applied(place, "a_b");
    let backend = ours(place).await;
    let [underscore, dash, letter] = ["a_b", "a-b", "aXb"].map(|name| backend.stack(&reference(name)));
    for name in ["a-b", "aXb"] {
        project.pulumi(&["stack", "init", name]).succeeds();
    }
    let held = project.holds("aXb");
    assert_eq!(conflict(lock(&letter).await).len(), 1);
    let [first, second] = [lock(&underscore).await.unwrap(), lock(&dash).await.unwrap()];
    assert!(up(&project, "a-b").contains("created by ann@build-7"));
    held.release().succeeds();
    let _cancelled = dash.cancel().await.unwrap();
    first.check().await.unwrap();
    assert_eq!(second.check().await.unwrap_err().kind(), ErrorKind::LockLost);
    first.release().await.unwrap();
    protect(&underscore, "first", true).await;
    assert_eq!(
        (names(&underscore).await.len(), names(&dash).await.len(), names(&letter).await.len()),
        (4, 0, 4)
    );
    for (stack, updates) in [(&underscore, 1), (&letter, 1), (&dash, 0)] {
        assert_eq!(stack.history(1, 0).await.unwrap().total, updates, "{stack}");
        assert_eq!(stack.select().await.unwrap().others.len(), 0);
    }
    let listed = backend.stack_names(&StackFilter::default()).await.unwrap();
    assert_eq!(listed.iter().map(|name| name.stack().as_str()).collect::<Vec<_>>(), ["a-b", "aXb", "a_b"]);
    for stack in [&dash, &letter] {
        let lock = lock(stack).await.unwrap();
        stack.remove(&lock, &RemoveOptions::default().force().backups()).await.unwrap();
        lock.release().await.unwrap();
    }
    // What belongs to it was not touched.
    project.preview_is_clean("a_b");
    assert_eq!(
        (protected(&underscore).await, underscore.history(1, 0).await.unwrap().total),
        (vec!["first".to_owned()], 1)
    );
}

fn up(project: &PulumiProject, stack: &str) -> String {
    project.pulumi(&["up", "--yes", "--skip-preview", "--stack", stack]).fails()
}

/// A `+` in the source of a copy means a space to S3 unless it is escaped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_in_s3_keep_plus_signs_and_dots() {
    if !pulumi_takes_part() {
        return;
    }
    let place = PulumiPlace::s3();
    let url = place.url().replace("/team/one?", "/te+am/v1.+2/%7Bx?");
    assert_ne!(url, place.url());
    let mut project = PulumiProject::new(&place);
    project.set("PULUMI_BACKEND_URL", &url);
    let opened = support::store(&url, place.environment()).await;
    let backend = support::backend(opened.store, Options::default()).await;
    let stack: Stack = backend.stack(&reference("v1.2.3"));
    project.pulumi(&["stack", "init", "v1.2.3"]).succeeds();
    project.up("v1.2.3");
    assert_eq!(names(&stack).await.len(), 4);
    protect(&stack, "first", true).await;
    project.preview_is_clean("v1.2.3");
    project.pulumi(&["stack", "rename", "v1..4", "--stack", "v1.2.3"]).succeeds();
    let renamed = backend.stack(&reference("v1..4"));
    assert_eq!(protected(&renamed).await, ["first"]);
    assert_eq!(stack.copies().await.unwrap().len(), 2, "the previous checkpoint and a backup");
    assert_eq!(renamed.history(1, 0).await.unwrap().total, 1);
}
