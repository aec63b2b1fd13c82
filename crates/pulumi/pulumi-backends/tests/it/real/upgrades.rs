//! Our upgrade of what pulumi wrote in the layout before projects.

use std::ops::ControlFlow;

use groundstate_pulumi_backends::pulumi_diy::{
    LockOptions, Options, StackFilter, StackRef, UpgradeOptions, UpgradedStack,
};
use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};
use serde_json::Value;

use super::ours_with;
use crate::support::{holder, reference};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pulumi_goes_on_after_our_upgrade_of_what_it_wrote_without_projects() {
    let folder = tempfile::tempdir().unwrap();
    if !pulumi_takes_part() {
        return;
    }
    let place = PulumiPlace::folder(folder.path());
    let mut project = PulumiProject::new(&place)
        .with("PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "1")
        .with("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "1");
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    project.up("dev");
    assert!(folder.path().join(".pulumi/stacks/dev.json").exists());
    let backend = ours_with(&place, Options::default().allow_legacy()).await;
    assert_eq!(
        backend.stack_names(&StackFilter::default()).await.unwrap(),
        [StackRef::legacy("dev").unwrap()]
    );
    let plan = backend.upgrade(&UpgradeOptions::default()).await.unwrap();
    let before = |_: &StackRef| ControlFlow::Continue(());
    let done = plan.carry_out(&holder(), &LockOptions::default(), before).await.unwrap();
    assert!(matches!(&done.stacks[..], [(_, UpgradedStack::Moved(to, _))] if *to == reference("dev")));
    // Pulumi opens it as any other, without the variables for the layout before.
    project.set("PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "0");
    project.set("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR", "0");
    project.preview_is_clean("dev");
    let history = project.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history).unwrap().len(), 1);
    let upgraded = project.pulumi(&["state", "upgrade", "--yes"]).succeeds();
    assert!(!upgraded.contains("Upgraded 1"), "{upgraded}");
}
