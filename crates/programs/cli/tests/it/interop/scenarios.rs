//! What has to hold in every backend alike.

use std::fs;

use groundstate_testkit::TestBackend;

use super::workdir::Workdir;

/// Makes a test of each scenario for each place, skipped where the place is not to be had.
macro_rules! scenarios {
    ($($scenario:ident: $($place:ident)*;)*) => {
        $(
            mod $scenario {
                $(
                    #[test]
                    fn $place() {
                        if let Some(place) = crate::interop::places::$place() {
                            super::$scenario(&place);
                        }
                    }
                )*
            }
        )*
    };
}

scenarios! {
    terraform_excludes_terraform: local s3_lockfile s3_dynamodb s3_both gcs azurerm;
    terraform_blocks_us: local s3_lockfile s3_dynamodb s3_both gcs azurerm http;
    we_block_terraform: local s3_lockfile s3_dynamodb s3_both gcs azurerm http;
    terraform_frees_our_lock: s3_lockfile s3_dynamodb s3_both gcs azurerm;
    we_free_terraforms_lock: s3_lockfile s3_dynamodb s3_both gcs azurerm;
    terraform_goes_on_after_our_changes: local s3_lockfile s3_dynamodb s3_both gcs azurerm http pg;
    workspaces_are_seen_both_ways: local s3_lockfile s3_dynamodb s3_both gcs azurerm pg;
    migration_keeps_lineage_and_serial: local s3_lockfile s3_dynamodb s3_both gcs azurerm http pg;
}

/// The configuration after the moves and removals of the tests.
const CHANGED: &str = r#"
resource "terraform_data" "renamed" {
  input = "one"
}

resource "terraform_data" "many" {
  for_each = toset(["a"])
  input    = terraform_data.renamed.output
}

output "first" {
  value = terraform_data.renamed.output
}
"#;

/// Another user's working directory of the same place. Files are shared only by those who work in the same one.
struct Colleague<'a>(Result<Workdir, &'a Workdir>);

impl<'a> Colleague<'a> {
    fn of(first: &'a Workdir, place: &TestBackend) -> Self {
        Self(if place.kind() == "local" { Err(first) } else { Ok(Workdir::new(place)) })
    }

    fn dir(&self) -> &Workdir {
        self.0.as_ref().unwrap_or_else(|first| first)
    }
}

/// The id by which our command knows the holder of the lock.
pub(super) fn id_of_holder(dir: &Workdir) -> String {
    let locks = dir.groundstate(&["locks", ".", "--json"]).succeeds();
    let locks: serde_json::Value = serde_json::from_str(&locks).unwrap();
    locks["locks"][0]["holder"]["id"].as_str().unwrap_or_else(|| panic!("no holder in {locks}")).to_owned()
}

/// The server itself is good for the other scenarios: its conditions are kept.
fn terraform_excludes_terraform(place: &TestBackend) {
    let first = Workdir::applied(place);
    let second = Colleague::of(&first, place);
    let held = first.terraform_holds();
    let refused = second.dir().terraform(&["plan", "-no-color"]).fails();
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    assert!(refused.contains("OperationTypeApply"), "{refused}");
    let locks = place.locks();
    assert_eq!(locks.len(), place.locks_of_a_holder());
    assert!(locks.iter().all(|lock| lock.contains(r#""Operation":"OperationTypeApply""#)), "{locks:?}");
    held.release().succeeds();
    assert_eq!(place.locks().len(), 0);
    first.plan_is_clean();
    let seen = second.dir().terraform(&["state", "list"]).succeeds();
    assert!(seen.lines().any(|address| address == "terraform_data.hold"), "{seen}");
}

fn terraform_blocks_us(place: &TestBackend) {
    let first = Workdir::applied(place);
    let second = Colleague::of(&first, place);
    let before = first.pulled();
    let held = first.terraform_holds();
    let remove = ["rm", ".", "terraform_data.many[\"b\"]"];
    let refused = second.dir().groundstate(&remove).fails_with(8);
    assert!(refused.contains("OperationTypeApply"), "{refused}");
    let id = id_of_holder(second.dir());
    assert!(refused.contains(&id), "{id} is not in {refused}");
    // Reading takes no lock.
    let listed = second.dir().groundstate(&["list", "."]).succeeds();
    assert!(listed.contains("terraform_data.many[\"b\"]"), "{listed}");
    held.release().succeeds();
    second.dir().groundstate(&remove).succeeds();
    let after = first.pulled();
    assert_eq!(after["lineage"], before["lineage"]);
    assert!(after["serial"].as_u64() > before["serial"].as_u64());
    let listed = first.terraform(&["state", "list"]).succeeds();
    assert!(!listed.contains("many[\"b\"]") && listed.contains("many[\"a\"]"), "{listed}");
}

fn we_block_terraform(place: &TestBackend) {
    let first = Workdir::applied(place);
    let second = Colleague::of(&first, place);
    let held = first.groundstate_holds();
    let id = id_of_holder(second.dir());
    let refused = second.dir().terraform(&["plan", "-no-color"]).fails();
    assert!(refused.contains("Error acquiring the state lock"), "{refused}");
    assert!(refused.contains(&id), "{id} is not in {refused}");
    held.release().succeeds();
    assert_eq!(place.locks().len(), 0);
    second.dir().plan_is_clean();
}

fn terraform_goes_on_after_our_changes(place: &TestBackend) {
    let dir = Workdir::applied(place);
    let before = dir.pulled();
    dir.groundstate(&["mv", ".", "terraform_data.first", "terraform_data.renamed"]).succeeds();
    dir.groundstate(&["rm", ".", "terraform_data.many[\"b\"]"]).succeeds();
    dir.write("main.tf", CHANGED);
    dir.plan_is_clean();
    let after = dir.pulled();
    assert_eq!(after["lineage"], before["lineage"]);
    assert_eq!(after["serial"].as_u64().unwrap(), before["serial"].as_u64().unwrap() + 2);
    // What is pulled can be pushed by either.
    let pulled = dir.groundstate(&["pull", "."]).succeeds();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&pulled).unwrap(), after);
    let mut next = after;
    next["serial"] = (next["serial"].as_u64().unwrap() + 5).into();
    fs::write(dir.path().join("pushed.json"), next.to_string()).unwrap();
    dir.groundstate(&["push", ".", "pushed.json"]).succeeds();
    // It gets a serial above both.
    assert_eq!(dir.pulled()["serial"].as_u64().unwrap(), next["serial"].as_u64().unwrap() + 1);
    dir.plan_is_clean();
    dir.terraform(&["apply", "-auto-approve"]).succeeds();
}

/// The names that Terraform and the command list, which have to be the same.
#[track_caller]
fn workspaces(dir: &Workdir) -> Vec<String> {
    let theirs = dir.terraform(&["workspace", "list"]).succeeds();
    let ours = dir.groundstate(&["workspaces", "list", "."]).succeeds();
    let names = |text: &str| -> Vec<String> {
        let names = text.lines().map(|line| line.trim_start_matches(['*', ' ']).to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    assert_eq!(names(&theirs), names(&ours));
    names(&ours)
}

fn workspaces_are_seen_both_ways(place: &TestBackend) {
    let dir = Workdir::applied(place);
    assert_eq!(workspaces(&dir), ["default"]);
    dir.terraform(&["workspace", "new", "theirs"]).succeeds();
    dir.terraform(&["apply", "-auto-approve"]).succeeds();
    dir.groundstate(&["workspaces", "new", ".", "ours"]).succeeds();
    assert_eq!(workspaces(&dir), ["default", "ours", "theirs"]);
    // What Terraform has selected is what the command reads and changes.
    dir.groundstate(&["rm", ".", "terraform_data.many"]).succeeds();
    assert!(!dir.terraform(&["state", "list"]).succeeds().contains("many"));
    dir.terraform(&["workspace", "select", "ours"]).succeeds();
    assert_eq!(dir.groundstate(&["list", "."]).stdout, "");
    dir.terraform(&["apply", "-auto-approve"]).succeeds();
    dir.terraform(&["workspace", "select", "default"]).succeeds();
    dir.plan_is_clean();
    // Resources protect a workspace from both; without them either deletes it.
    dir.groundstate(&["workspaces", "delete", ".", "ours"]).fails();
    dir.terraform(&["workspace", "delete", "theirs"]).fails();
    dir.groundstate(&["workspaces", "delete", "--force", ".", "theirs"]).succeeds();
    dir.terraform(&["workspace", "delete", "-force", "ours"]).succeeds();
    assert_eq!(workspaces(&dir), ["default"]);
}

fn migration_keeps_lineage_and_serial(place: &TestBackend) {
    let from = Workdir::applied(&TestBackend::local());
    let before = from.pulled();
    let to = Workdir::new(place);
    // Run where the environment leads to the place.
    let directory = from.path().to_str().unwrap();
    to.groundstate(&["migrate", directory, "."]).succeeds();
    assert_eq!(to.pulled(), before);
    to.plan_is_clean();
    assert_eq!(place.locks().len(), 0);
    // And back, over a state of the same lineage that is older by then.
    to.write("more.tf", "resource \"terraform_data\" \"more\" {}\n");
    to.terraform(&["apply", "-auto-approve"]).succeeds();
    to.groundstate(&["migrate", "--receipt", "back.json", ".", directory]).succeeds();
    assert_eq!(from.pulled(), to.pulled());
    from.write("more.tf", "resource \"terraform_data\" \"more\" {}\n");
    from.plan_is_clean();
}

/// An id of the right form that no lock has.
pub(super) const NO_LOCK: &str = "00000000-0000-0000-0000-000000000000";

fn terraform_frees_our_lock(place: &TestBackend) {
    let first = Workdir::applied(place);
    let second = Workdir::new(place);
    first.groundstate_holds().kill();
    assert_eq!(place.locks().len(), place.locks_of_a_holder());
    let refused = second.terraform(&["plan", "-no-color"]).fails();
    // By the id that Terraform itself shows, which is the one that the command shows.
    let id = id_of_holder(&second);
    assert!(refused.contains(&format!("ID: {id}")), "{id} is not in {refused}");
    second.terraform(&["force-unlock", "-force", &id]).succeeds();
    assert_eq!(place.locks().len(), 0);
    second.plan_is_clean();
    first.groundstate(&["rm", ".", "terraform_data.many"]).succeeds();
}

fn we_free_terraforms_lock(place: &TestBackend) {
    let first = Workdir::applied(place);
    let second = Workdir::new(place);
    first.terraform_holds().kill();
    let refused = second.terraform(&["plan", "-no-color"]).fails();
    let id = id_of_holder(&second);
    assert!(refused.contains(&format!("ID: {id}")), "{id} is not in {refused}");
    second.groundstate(&["unlock", ".", NO_LOCK]).fails();
    assert_eq!(place.locks().len(), place.locks_of_a_holder());
    second.groundstate(&["unlock", ".", &id]).succeeds();
    assert_eq!(place.locks().len(), 0);
    second.groundstate(&["unlock", ".", &id]).fails_with(7);
    // What it was about to add when it was killed is not stored.
    second.plan_is_clean();
}

#[test]
fn what_migrate_advises_works_without_input() {
    if !groundstate_testkit::terraform_takes_part() {
        return;
    }
    let from = Workdir::applied(&TestBackend::local());
    from.terraform(&["workspace", "new", "dev"]).succeeds();
    from.terraform(&["apply", "-auto-approve"]).succeeds();
    let before = from.pulled();
    let place = TestBackend::s3_here(groundstate_testkit::S3Locks::File);
    let to = Workdir::new(&place);
    let (there, here) = (to.path().to_str().unwrap(), from.path());
    let migrated = from.groundstate(&["migrate", "--all-workspaces", ".", there]);
    assert_eq!(migrated.code, Some(0), "{migrated}");
    let advice = "move ./terraform.tfstate and ./terraform.tfstate.d away, change the backend of the configuration and run \
                  `terraform init -reconfigure`";
    assert!(migrated.stderr.contains(advice), "{migrated}");
    from.write("backend.tf", &place.block());
    // What Terraform asks for as long as the files are there.
    from.terraform(&["init", "-input=false", "-reconfigure"]).fails();
    for name in ["terraform.tfstate", "terraform.tfstate.d"] {
        fs::rename(here.join(name), here.join(format!("{name}.old"))).unwrap();
    }
    from.terraform(&["init", "-input=false", "-reconfigure"]).succeeds();
    assert_eq!(from.pulled(), before);
    from.plan_is_clean();
}
