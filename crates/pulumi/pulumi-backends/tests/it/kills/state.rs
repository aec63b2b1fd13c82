//! States of the stack that the campaigns write, and the words by which they are told apart.

use groundstate_pulumi_backends::pulumi_diy::{Checkpoint, Stack};
use groundstate_pulumi_integrity::{IntegrityError, IntegrityOperation};
use serde_json::Value;

/// The checkpoint of `organization/shop/dev` with the stack's own resource, which says `note`, and a component below it.
pub(super) fn document(note: u64) -> String {
    let urn = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
    // The sizes jump, so that some writes take longer.
    let filler = "x".repeat([0, 40, 3_000, 120_000][usize::try_from(note % 4).unwrap()]);
    let root = format!(
        r#"{{"urn":"{urn}","custom":false,"type":"pulumi:pulumi:Stack","outputs":{{"filler":"{filler}","note":"{note}"}}}}"#
    );
    let child = "urn:pulumi:dev::shop::pulumi:pulumi:Stack$a:b:C::c";
    let child = format!(r#"{{"urn":"{child}","custom":false,"type":"a:b:C","parent":"{urn}"}}"#);
    let manifest = r#"{"time":"2026-01-02T03:04:05.6Z","magic":"","version":""}"#;
    format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/shop/dev","latest":{{"manifest":{manifest},"resources":[{root},{child}],"metadata":{{}}}}}}}}"#
    )
}

/// What a checkpoint says: the note, and the names of the resources that updates made.
pub(super) fn said_by(checkpoint: &Checkpoint) -> String {
    let document: Value = serde_json::from_slice(&checkpoint.bytes).unwrap();
    let resources = document["checkpoint"]["latest"]["resources"].as_array().cloned().unwrap_or_default();
    let note = resources.iter().find_map(|resource| resource["outputs"]["note"].as_str()).unwrap_or("none");
    let names = resources.iter().filter_map(|resource| resource["urn"].as_str()?.rsplit("::").next());
    let mut names: Vec<&str> = names.filter(|name| name.starts_with('r')).collect();
    names.sort_unstable();
    format!("{note}:{}", names.join(","))
}

/// The state of the stack, which has to be one that pulumi opens.
#[track_caller]
pub(super) fn checked(checkpoint: &Checkpoint) -> String {
    let snapshot = checkpoint.decode().unwrap().snapshot.unwrap();
    IntegrityError::check(&snapshot, IntegrityOperation::Read).unwrap();
    said_by(checkpoint)
}

/// The state that the next update begins with.
pub(super) async fn said_now(stack: &Stack) -> String {
    said_by(&stack.read().await.unwrap().unwrap())
}
