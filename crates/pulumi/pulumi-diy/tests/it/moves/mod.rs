//! Moving stacks: to another name, another bucket, the other layout; also when it is killed at any request.

mod migrations;
mod renames;
mod upgrades;

use groundstate_pulumi_diy::{Backend, Guard, RelocateOptions, Relocated, Result, StackRef, Unguarded};

use crate::support::{Bucket, document};

pub(super) const RECORDS: &str = ".pulumi/groundstate/moves/";

/// What a stack `s` of project `p` has.
pub(super) const BELONGINGS: [(&str, &str); 8] = [
    (".pulumi/stacks/p/s.pulumi-tags", r#"{"version":1,"tags":{"a":"b"}}"#),
    (".pulumi/history/p/s/s-1700000000000000001.history.json", "{}"),
    (".pulumi/history/p/s/s-1700000000000000001.checkpoint.json", "old"),
    (".pulumi/history/p/s/before-1600000000000000001.history.json", "{}"),
    (".pulumi/backups/p/s/s.1700000000000000002.json.gz", "backup"),
    (".pulumi/stacks/p/s.json.1700000000000000003", "retained"),
    (".pulumi/stacks/p/s.json.bak", "bak"),
    (".pulumi/stacks/p/s.json.gz.bak", "older bak"),
];

/// What is none of it, though it is called similarly.
pub(super) const OTHERS: [&str; 5] = [
    ".pulumi/stacks/p/s-2.json",
    ".pulumi/stacks/p/s.json.json",
    ".pulumi/history/p/s-2/s-2-1700000000000000001.history.json",
    ".pulumi/backups/p/s2/s2.1700000000000000001.json",
    ".pulumi/stacks/q/s.json",
];

pub(super) async fn fill(bucket: &Bucket) {
    bucket.put(".pulumi/stacks/p/s.json", document("1")).await;
    for (key, text) in BELONGINGS {
        bucket.put(key, text).await;
    }
    for key in OTHERS {
        bucket.put(key, "other").await;
    }
}

/// Everything in the bucket but the records of this library.
pub(super) async fn contents(bucket: &Bucket) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for name in bucket.names().await {
        if !name.ends_with("meta.yaml") {
            let text = bucket.text(&name).await.unwrap();
            all.push((name, text));
        }
    }
    all
}

/// Moves a stack from one name to another.
pub(super) async fn rename(backend: &Backend, from: &StackRef, to: &StackRef) -> Result<Relocated> {
    rename_under(backend, from, to, &Unguarded).await
}

pub(super) async fn rename_under(
    backend: &Backend,
    from: &StackRef,
    to: &StackRef,
    guard: &dyn Guard,
) -> Result<Relocated> {
    let plan = backend.stack(from).relocation(&backend.stack(to), RelocateOptions::default()).await?;
    plan.carry_out(guard).await
}
