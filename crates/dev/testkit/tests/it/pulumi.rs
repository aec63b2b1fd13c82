//! The real pulumi on the servers of this crate and of others: they are good for the tests of what reads its stacks.

use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};

/// What the CLI does with a stack in its life, with the lock and copies of objects in between.
fn a_stack_lives(place: &PulumiPlace) {
    let project = PulumiProject::applied(place, "dev");
    project.preview_is_clean("dev");
    let held = project.holds("dev");
    let refused = project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]).fails();
    assert!(refused.contains("the stack is currently locked by 1 lock(s)"), "{refused}");
    assert!(refused.contains(&format!("(pid {})", held.id())), "{refused}");
    held.release().succeeds();
    project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    project.up("dev");
    // The history and the previous checkpoint are copies.
    project.pulumi(&["stack", "rename", "prod", "--stack", "dev"]).succeeds();
    let history = project.pulumi(&["stack", "history", "--json", "--stack", "prod"]).succeeds();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history.as_array().unwrap().len(), 3, "{history}");
    project.preview_is_clean("prod");
    project.holds("prod").kill();
    project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).fails();
    project.pulumi(&["cancel", "--yes", "prod"]).succeeds();
    project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).succeeds();
    project.pulumi(&["stack", "rm", "--yes", "--stack", "prod"]).succeeds();
    assert_eq!(project.pulumi(&["stack", "ls", "--json"]).succeeds().trim(), "[]");
}

macro_rules! places {
    ($($name:ident: $place:expr;)*) => {
        $(
            #[test]
            fn $name() {
                if pulumi_takes_part()
                    && let Some(place) = $place
                {
                    a_stack_lives(&place);
                }
            }
        )*
    };
}

places! {
    a_stack_lives_in_s3: Some(PulumiPlace::s3());
    a_stack_lives_in_s3_here: Some(PulumiPlace::s3_here());
    a_stack_lives_in_gs: Some(PulumiPlace::gs());
    a_stack_lives_in_gs_here: Some(PulumiPlace::gs_here());
    a_stack_lives_in_azblob: Some(PulumiPlace::azblob());
    a_stack_lives_in_azblob_here: Some(PulumiPlace::azblob_here());
    a_stack_lives_in_postgres: PulumiPlace::postgres();
}

#[test]
fn a_stack_lives_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    if pulumi_takes_part() {
        a_stack_lives(&PulumiPlace::folder(folder.path()));
    }
}
