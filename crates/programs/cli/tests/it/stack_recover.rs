//! Journals of updates of stacks that were killed: recovered, exported or discarded where the stack lives.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_pulumi_backends::{BackendChoice, BackendUrl, OpenContext};
use groundstate_pulumi_diy::blobs::Context;
use groundstate_pulumi_diy::pulumi_snapshot::{Resource, Urn};
use groundstate_pulumi_diy::stackmgr::pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_diy::stackmgr::{self, JournalManager, SnapshotManager};
use groundstate_pulumi_diy::{Backend, JournalOptions, Options, StackRef, Unguarded};
use groundstate_statemgr::TokioSleeper;
use serde_json::Value;

use super::stack_project::Project;

const MADE: &str = "urn:pulumi:dev::shop::a:b:C::made";

/// An update that made a resource and was killed before it saved the checkpoint, beside the stack of a fixture.
fn interrupted() -> Project {
    let project = Project::of("plain");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(update(project.path()));
    project
}

async fn update(folder: &Path) {
    let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    let url = BackendUrl::parse(&format!("file://{}/bucket", folder.display())).unwrap();
    let choice = BackendChoice::of_user(url);
    let opened =
        choice.open(OpenContext { context: &context, variable: &|_| None, directory: folder }).unwrap();
    let backend = Backend::open_existing(opened.store, context, Options::default()).await.unwrap();
    let stack = backend.stack(&StackRef::parse("organization/shop/dev", None).unwrap());
    let options = JournalOptions::new("ann@host", "v3.259.0", "mytool up");
    let journal = stack.journal(Arc::new(Unguarded), options).await.unwrap();
    let base = Base::new(journal.base().snapshot.clone().unwrap());
    let settings = stackmgr::Options::new(Arc::new(SystemClock), "v3.259.0", "mytool up");
    let manager = JournalManager::new(&base, journal, settings);
    let made = State::new(Resource::new(Urn::build("dev", "shop", "", "a:b:C", "made"), "a:b:C"));
    let running = manager.begin(Step::new(StepKind::Create, None, Some(&made))).await.unwrap();
    manager.end(running, true).await.unwrap();
    // It is never closed.
}

fn journal(project: &Project) -> bool {
    let folder = project.path().join("bucket/.pulumi/groundstate/journals/organization/shop/dev");
    fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
}

#[test]
fn recover_saves_what_a_killed_update_did() {
    let project = interrupted();
    let before = project.stored("dev.json");
    for look in [&["list", "."][..], &["show", "."], &["check", "."], &["outputs", "."]] {
        let looked = project.run(look);
        assert!(!looked.stdout.contains(MADE), "{look:?}");
        let warned =
            looked.stderr.matches("lacks the changes of a killed update; `groundstate recover .`").count();
        assert_eq!(warned, 1, "{look:?}: {}", looked.stderr);
    }
    let pulled = project.run(&["pull", "."]);
    assert!(
        pulled.code == 0 && pulled.stderr.contains("`groundstate recover .` stores them"),
        "{}",
        pulled.stderr
    );
    for args in [&["rollback", ".", "--to", "bak"][..], &["undo", "."], &["protect", ".", "shop-dev"]] {
        let refused = project.run(args).failed(9);
        assert!(refused.contains("killed") && refused.contains("recover"), "{args:?}: {refused}");
    }
    assert_eq!(project.stored("dev.json"), before);

    let exported = project.run(&["recover", ".", "--export", "-"]).clean();
    assert!(
        exported.contains(MADE) && exported.starts_with("{\n    \"version\": 3,\n    \"deployment\""),
        "{exported}"
    );
    assert_eq!(project.stored("dev.json"), before);

    let run = project.run(&["recover", ".", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(said["outcome"], "recovered");
    assert!(said["changes"].as_u64().unwrap() > 1, "{said}");
    assert!(project.run(&["list", "."]).clean().contains(MADE));
    assert_eq!(project.stored("dev.json.bak"), before);
    let again = project.run(&["recover", "."]).clean();
    assert!(again.starts_with("There is nothing to recover of stack dev"), "{again}");
    assert_eq!(project.run(&["protect", ".", MADE]).code, 0);
}

#[test]
fn a_stack_that_was_saved_since_is_left_alone() {
    let project = interrupted();
    let file = project.path().join("bucket/.pulumi/stacks/shop/dev.json");
    let theirs = fs::read_to_string(&file).unwrap().replacen("\"manifest\"", " \"manifest\"", 1);
    fs::write(&file, &theirs).unwrap();
    let refused = project.run(&["recover", "."]).failed(9);
    assert!(refused.contains("--export FILE") && refused.contains("--discard"), "{refused}");
    assert_eq!(project.stored("dev.json"), theirs.as_bytes());
    assert!(project.run(&["recover", ".", "--export", "-"]).clean().contains(MADE));
    let discarded = project.run(&["recover", ".", "--discard"]).clean();
    assert!(discarded.starts_with("Discarded the journal of stack dev"), "{discarded}");
    assert_eq!(project.stored("dev.json"), theirs.as_bytes());
    assert!(project.run(&["recover", "."]).clean().contains("nothing to recover"));
    assert_eq!(project.run(&["undo", ".", "--dry-run"]).code, 0);
    assert!(project.run(&["recover", ".", "--export", "-"]).failed(7).contains("there is no journal"));
}

#[test]
fn a_damaged_journal_is_named_and_can_be_discarded() {
    let project = interrupted();
    assert!(journal(&project));
    let folder = project.path().join("bucket/.pulumi/groundstate/journals/organization/shop/dev");
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            let bytes = fs::read(entry.path()).unwrap();
            fs::write(entry.path(), bytes.iter().map(|byte| byte ^ 0x55).collect::<Vec<_>>()).unwrap();
        }
    }
    let refused = project.run(&["recover", "."]).failed(9);
    assert!(refused.contains("journal") && refused.contains("--discard"), "{refused}");
    let run = project.run(&["recover", ".", "--discard"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(project.run(&["undo", ".", "--dry-run"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_state_is_shown_with_a_warning_where_it_is_not_known_whether_a_journal_belongs_to_it() {
    let project = Project::of("plain");
    let own = project.bucket().join("groundstate");
    if own.exists() {
        fs::remove_dir_all(&own).unwrap();
    }
    assert_eq!(project.run(&["pull", "."]).stderr, "");
    // A link to itself cannot be followed, by anyone.
    std::os::unix::fs::symlink(&own, &own).unwrap();
    let pulled = project.run(&["pull", "."]);
    assert_eq!(pulled.code, 0, "{}", pulled.stderr);
    assert!(pulled.stderr.contains("may lack the changes of a killed update"), "{}", pulled.stderr);
}
