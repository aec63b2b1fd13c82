//! What is in a bucket after a kill and its recovery: nothing that has no name here.

use std::collections::BTreeMap;

use groundstate_pulumi_backends::blobs::{BlobStore, ListOptions};
use groundstate_pulumi_backends::pulumi_diy::Backend;

use super::OTHERS;

/// The names of all objects.
pub(super) async fn names(backend: &Backend) -> Vec<String> {
    let mut names = Vec::new();
    let mut options = ListOptions::default();
    loop {
        let page = backend.store().list("", &options).await.unwrap();
        names.extend(page.blobs.into_iter().map(|listed| listed.name));
        match page.next {
            Some(next) => options = options.page(Some(next)),
            None => return names,
        }
    }
}

/// What an object is that may be there while no process runs.
fn kind(name: &str) -> Option<&'static str> {
    let is_stamp = |text: &str| text.len() == 19 && text.bytes().all(|byte| byte.is_ascii_digit());
    if name == ".pulumi/meta.yaml" {
        return Some("marker");
    }
    if let Some(file) = name.strip_prefix(".pulumi/stacks/shop/") {
        let (stack, rest) = file.split_once('.')?;
        if stack != "dev" && !OTHERS.contains(&stack) {
            return None;
        }
        if rest == "pulumi-tags" {
            return Some("tags");
        }
        let rest = rest.strip_prefix("json")?;
        let rest = [".gz", ".zst"].iter().find_map(|ending| rest.strip_prefix(ending)).unwrap_or(rest);
        return match rest {
            "" => Some("checkpoint"),
            ".bak" => Some("previous checkpoint"),
            stamp => is_stamp(stamp.strip_prefix('.')?).then_some("retained checkpoint"),
        };
    }
    if let Some(file) = name.strip_prefix(".pulumi/history/shop/dev/dev-") {
        let (stamp, rest) = file.split_once('.')?;
        return match plain(rest) {
            "history.json" if is_stamp(stamp) => Some("history entry"),
            "checkpoint.json" if is_stamp(stamp) => Some("history checkpoint"),
            _ => None,
        };
    }
    if let Some(file) = name.strip_prefix(".pulumi/backups/shop/dev/dev.") {
        let (stamp, rest) = file.split_once('.')?;
        return (is_stamp(stamp) && plain(rest) == "json").then_some("backup");
    }
    match name {
        ".pulumi/groundstate/locks/organization/shop/dev.json"
        | ".pulumi/groundstate/locks/organization/shop/moved.json"
        | ".pulumi/groundstate/locks/organization/shop/other.json" => Some("free lease"),
        _ if name.starts_with(".pulumi/groundstate/journals/organization/shop/dev/") => {
            Some("end of a journal")
        }
        _ => None,
    }
}

/// A name without the ending of its compression.
fn plain(name: &str) -> &str {
    [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Counts what is there, by kind.
#[track_caller]
pub(super) fn count(names: &[String]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        let kind = kind(name).unwrap_or_else(|| panic!("nothing is called {name}: {names:#?}"));
        *counts.entry(kind).or_insert(0) += 1;
    }
    counts
}
