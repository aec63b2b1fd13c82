//! Stacks that are renamed and moved to another bucket by this library: pulumi goes on with them there.

use groundstate_pulumi_backends::pulumi_diy::{RelocateOptions, Relocated, Stack, Unguarded};
use groundstate_testkit::{PulumiPlace, PulumiProject};
use serde_json::Value;

use super::locks::lock;
use super::{in_each_place, names, ours, protect, protected};
use crate::support::reference;

in_each_place! { pulumi_goes_on_with_what_ours_renames_and_moves }

async fn pulumi_goes_on_with_what_ours_renames_and_moves(place: &PulumiPlace) {
    let mut project = PulumiProject::applied(place, "dev");
    let backend = ours(place).await;
    let [dev, prod] = ["dev", "prod"].map(|name| backend.stack(&reference(name)));
    let mut tags = dev.tags().await.unwrap();
    tags.set("team", "web").unwrap();
    dev.save_tags(&tags, &Unguarded).await.unwrap();

    let renamed = relocate(&dev, &prod).await;
    assert_eq!((renamed.changed, renamed.warnings.len()), (4, 0), "{renamed:?}");
    assert!(!dev.exists().await.unwrap());
    // The settings of a stack are a file of the project, which is its author's.
    let settings = std::fs::read_to_string(project.path().join("Pulumi.dev.yaml")).unwrap();
    project.write("Pulumi.prod.yaml", &settings);
    goes_on(&project, "prod", 1);
    project.pulumi(&["config", "set", "n", "2", "--stack", "prod"]).succeeds();
    project.up("prod");

    let folder = tempfile::tempdir().unwrap();
    let other_place = PulumiPlace::folder(folder.path());
    let moved = ours(&other_place).await.stack(&reference("prod"));
    protect(&prod, "first", true).await;
    relocate(&prod, &moved).await;
    project.set("PULUMI_BACKEND_URL", other_place.url());
    goes_on(&project, "prod", 2);
    assert_eq!(protected(&moved).await, ["first"]);
    project.up("prod");
    assert_eq!(names(&moved).await, ["shop-prod", "default", "first", "second"]);
    assert!(!prod.exists().await.unwrap());
}

async fn relocate(source: &Stack, target: &Stack) -> Relocated {
    let locks = [lock(source).await.unwrap(), lock(target).await.unwrap()];
    let relocation = source.relocation(target, RelocateOptions::default()).await.unwrap();
    let relocated = relocation.carry_out(&locks[0]).await.unwrap();
    for lock in locks {
        lock.release().await.unwrap();
    }
    relocated
}

/// Pulumi has nothing to do, and finds so many updates and our tag.
fn goes_on(project: &PulumiProject, stack: &str, updates: usize) {
    project.preview_is_clean(stack);
    let history = project.pulumi(&["stack", "history", "--json", "--stack", stack]).succeeds();
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history).unwrap().len(), updates, "{history}");
    assert_eq!(project.pulumi(&["stack", "tag", "get", "team", "--stack", stack]).succeeds().trim(), "web");
}
