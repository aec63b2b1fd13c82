//! Compressions, exports and imports, which both write and read.

use std::sync::Arc;

use groundstate_pulumi_backends::pulumi_diy::{
    Compression, CopySource, ImportOptions, LockOptions, Options, Stack,
};
use groundstate_testkit::{PulumiPlace, PulumiProject};
use serde_json::Value;

use super::{in_each_place, ours, ours_with, protect, protected};
use crate::support::{holder, reference};

in_each_place! {
    each_reads_what_the_other_compresses
    exports_of_one_are_imports_of_the_other
}

/// Ours and pulumi's write by turns, each in another compression than the one before.
async fn each_reads_what_the_other_compresses(place: &PulumiPlace) {
    use Compression::{Gzip, Plain, Zstd};
    let mut project = PulumiProject::applied(place, "dev");
    for (turn, (own, theirs)) in [(Gzip, Zstd), (Plain, Gzip), (Zstd, Plain)].into_iter().enumerate() {
        let stack = ours_with(place, Options::default().compression(own)).await.stack(&reference("dev"));
        protect(&stack, "first", true).await;
        let before = only(&stack, own).await;
        assert_eq!(protected(&stack).await, ["first"]);
        set(&mut project, theirs);
        project.preview_is_clean("dev");
        project.pulumi(&["config", "set", "n", &(turn + 7).to_string(), "--stack", "dev"]).succeeds();
        project.up("dev");
        let after = only(&stack, theirs).await;
        assert_eq!(protected(&stack).await, [""; 0]);
        // What either replaced is beside the other variant.
        let copies = stack.copies().await.unwrap();
        let previous: Vec<&str> = copies
            .iter()
            .filter(|copy| copy.source == CopySource::Previous)
            .map(|copy| copy.key.as_str())
            .collect();
        assert!(previous.contains(&format!("{before}.bak").as_str()), "{previous:?} {after}");
    }
    let stack = ours(place).await.stack(&reference("dev"));
    let history = stack.history(1, 0).await.unwrap();
    assert_eq!(history.total, 4, "whatever compresses them");
    for entry in &history.entries {
        assert!(entry.update.is_ok(), "{entry:?}");
        assert!(stack.history_checkpoint(entry).await.unwrap().unwrap().decode().is_ok());
    }
}

fn set(project: &mut PulumiProject, compression: Compression) {
    let flag = |wanted| if compression == wanted { "1" } else { "0" };
    project.set("PULUMI_DIY_BACKEND_GZIP", flag(Compression::Gzip));
    project.set("PULUMI_DIY_BACKEND_ZSTD", flag(Compression::Zstd));
}

/// The key of the checkpoint, which is the only one and compressed like this.
async fn only(stack: &Stack, compression: Compression) -> String {
    let selection = stack.select().await.unwrap();
    assert_eq!((selection.others.len(), selection.warnings.len()), (0, 0));
    let read = stack.read().await.unwrap().unwrap();
    assert_eq!((selection.active.unwrap().compression, read.compression), (compression, compression));
    read.key.to_string()
}

async fn exports_of_one_are_imports_of_the_other(place: &PulumiPlace) {
    let project = PulumiProject::applied(place, "dev");
    let stack = ours(place).await.stack(&reference("dev"));
    let export = || project.pulumi(&["stack", "export", "--stack", "dev"]).succeeds();
    // What we export, pulumi imports with a change.
    let mut deployment: Value = serde_json::from_slice(&stack.export().await.unwrap()).unwrap();
    deployment["deployment"]["resources"][2]["protect"] = true.into();
    project.write("edited.json", &deployment.to_string());
    project.pulumi(&["stack", "import", "--file", "edited.json", "--stack", "dev"]).succeeds();
    assert_eq!(String::from_utf8(stack.export().await.unwrap()).unwrap(), export());
    assert_eq!(protected(&stack).await, ["first"]);
    // What pulumi exports, we import with a change and an operation whose outcome is not known.
    let mut deployment: Value = serde_json::from_str(&export()).unwrap();
    deployment["deployment"]["resources"][2]["protect"] = false.into();
    let resource = deployment["deployment"]["resources"][3].clone();
    deployment["deployment"]["pending_operations"] =
        serde_json::json!([{ "resource": resource, "type": "updating" }]);
    let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
    let text = deployment.to_string();
    let imported =
        stack.import(text.as_bytes(), &ImportOptions::default(), Arc::clone(&lock) as _).await.unwrap();
    lock.release().await.unwrap();
    assert_eq!(imported.warnings.len(), 1, "{imported:?}");
    assert_eq!(protected(&stack).await, [""; 0]);
    project.preview_is_clean("dev");
    assert_eq!(String::from_utf8(stack.export().await.unwrap()).unwrap(), export());
}
