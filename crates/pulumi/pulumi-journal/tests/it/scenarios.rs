//! Entries and snapshots, one situation a test.

use std::sync::Arc;

use groundstate_pulumi_integrity::{VerifyOptions, verify};
use groundstate_pulumi_journal::{Entry, EntryKind, Remark, Replayer, SequenceId};
use groundstate_pulumi_snapshot::{
    Extension, Manifest, RawJson, Resource, SecretsProvider, Snapshot, Snippet,
};

use crate::notation::{entry, on, snapshot, urn};

fn replayed(base: Snapshot, entries: impl IntoIterator<Item = Entry>) -> Snapshot {
    groundstate_pulumi_journal::replay(base, entries, Manifest::default()).unwrap().snapshot
}

#[test]
fn a_failed_update_leaves_the_old_resource() {
    let mut journal = on("P A");
    journal.take("2 1 begin").take("3 1 success removeOld0 P'");
    journal.take("4 2 begin +updating A'").take("5 2 failure removeOld1 A'");
    assert_eq!(journal.to_string(), "P' A");
}

#[test]
fn every_prefix_replays_to_a_valid_snapshot() {
    let examples = [
        ("", "2 1 begin +creating A\n3 1 success A"),
        ("P A", "2 1 begin\n3 1 success removeOld0 P'\n4 2 begin +updating A'\n5 2 success removeOld1 A'"),
        (
            "P A B(A)",
            "2 1 begin\n3 1 success removeOld0 P'\n4 2 begin +creating A'\n5 2 success deleteOld1 A'\n\
             6 4 begin +updating B'(A)\n7 4 success removeOld2 B'(A)\n8 5 begin +deleting A~d\n9 5 success removeOld1",
        ),
        (
            "P A",
            "2 1 begin\n3 1 success removeOld0 P'\n4 2 begin +deleting A\n5 2 success pendingReplacementOld1\n\
             6 4 begin +creating A'\n7 4 success removeOld1 A'",
        ),
        (
            "P A B(A)",
            "2 1 begin\n3 1 refresh-success isRefresh removeOld0 P\n4 2 begin\n5 2 refresh-success isRefresh removeOld1\n\
             6 3 begin\n7 3 refresh-success isRefresh removeOld2 B'\n8 0 rebuilt-base-state",
        ),
        ("A", "2 0 write [D A(D)]\n3 1 begin +deleting A(D)\n4 1 success removeOld1"),
        (
            "A B(A) C(A,B) D(C) E(C)",
            "2 1 begin\n3 1 success removeOld1 B'\n4 2 begin +creating C'(B)\n5 2 success deleteOld2 C'(B)\n\
             6 4 begin +updating D'(C)\n7 4 success removeOld3 D'(C)",
        ),
    ];
    for (base, entries) in examples {
        let mut journal = on(base);
        for line in entries.lines() {
            journal.take(line);
            let snapshot = journal.replayed().unwrap().snapshot;
            let report = verify(&snapshot, &VerifyOptions::default());
            assert!(report.is_valid(), "{base} after {line}: {report:?}");
            let again = groundstate_pulumi_journal::replay(
                journal.0.base().clone(),
                journal.0.entries().map(Arc::clone),
                Manifest::default(),
            );
            assert_eq!(again.unwrap().snapshot, snapshot, "{base} after {line}");
        }
    }
}

#[test]
fn interrupted_operations_stay_pending_in_the_next_run() {
    let mut journal = on("A B");
    journal.take("2 1 begin +updating A'").take("3 2 begin +creating C");
    assert_eq!(journal.to_string(), "A B +updating A' +creating C");
    let mut next = on(&journal.to_string());
    next.take("2 1 begin").take("3 1 success removeOld1 B'");
    assert_eq!(next.to_string(), "B' A +creating C");
}

#[test]
fn unknown_operations_are_remarks() {
    let mut journal = on("A");
    journal
        .take("2 1 begin")
        .take("3 1 success B")
        .take("4 2 begin")
        .take("5 2 success removeNew77 deleteNew78");
    let replayed = journal.replayed().unwrap();
    assert_eq!(crate::notation::show_all(&replayed.snapshot), "B A");
    let unknown = |sequence: u64, operation: u64| Remark::UnknownOperation {
        sequence: sequence.into(),
        operation: operation.into(),
    };
    assert_eq!(replayed.remarks, [unknown(5, 77), unknown(5, 78)]);
}

#[test]
fn numbers_follow_the_base_that_was_rebuilt_last() {
    let mut journal = on("A B(A) C");
    journal.take("2 1 begin").take("3 1 refresh-success isRefresh removeOld0").take("4 0 rebuilt-base-state");
    journal
        .take("5 2 begin")
        .take("6 2 refresh-success isRefresh removeOld1 C'")
        .take("7 0 rebuilt-base-state");
    journal.take("8 3 begin +creating D").take("9 3 success D").take("10 4 begin").take("11 4 success E");
    journal.take("12 5 outputs removeNew3 D'").take("13 6 outputs removeOld1 C''");
    assert_eq!(journal.to_string(), "D' E B C''");
}

#[test]
fn marks_on_old_resources_stand_on_what_a_refresh_made_of_them() {
    let mut journal = on("A");
    journal.take("2 1 begin").take("3 1 refresh-success removeOld0 A'");
    journal.take("4 2 begin +creating A''").take("5 2 success deleteOld0 A''");
    assert_eq!(journal.to_string(), "A'' A'~d");

    let mut journal = on("A");
    journal.take("2 1 begin").take("3 1 refresh-success removeOld0 A'");
    journal.take("4 2 begin +deleting A'").take("5 2 success pendingReplacementOld0");
    assert_eq!(journal.to_string(), "A'~p");
}

#[test]
fn pending_operations_are_in_the_order_of_their_numbers() {
    let mut journal = on("+creating Z");
    journal.take("4 7 begin +creating C").take("3 9 begin +updating B").take("2 8 begin +creating A");
    assert_eq!(journal.to_string(), "+creating C +creating A +updating B +creating Z");
    let open: Vec<String> = journal.0.open().map(|(entry, _)| entry.to_string()).collect();
    assert_eq!(
        open,
        [
            "(4, 7): begin, operation(creating)",
            "(2, 8): begin, operation(creating)",
            "(3, 9): begin, operation(updating)"
        ]
    );
}

#[test]
fn the_last_entry_of_snippets_counts_also_if_it_has_none() {
    let base = Snapshot { snippets: vec![Snippet::default()], ..Snapshot::default() };
    let mut set = Entry::new(EntryKind::Snippets, 2, 0);
    set.snippets = vec![Snippet::default(), Snippet::default()];
    assert_eq!(replayed(base.clone(), []).snippets.len(), 1);
    assert_eq!(replayed(base.clone(), [set.clone()]).snippets.len(), 2);
    assert_eq!(replayed(base, [Entry::new(EntryKind::Snippets, 3, 0), set]).snippets.len(), 0);
}

#[test]
fn extensions_of_the_base_come_before_those_of_entries() {
    let extension = |name: &str| Extension { name: name.into(), ..Extension::default() };
    let mut base = Snapshot::default();
    base.extensions.insert("old".into(), extension("base"));
    let entry = |sequence: u64, reference: &str| {
        let mut entry = Entry::new(EntryKind::ExtensionParameterize, sequence, sequence);
        entry.extension_ref = Some(reference.into());
        entry.extension = Some(Box::new(extension("journal")));
        entry
    };
    let snapshot = replayed(base, [entry(2, "old"), entry(3, "new")]);
    let names: Vec<_> = snapshot.extensions.iter().map(|(key, found)| (key.as_str(), &*found.name)).collect();
    assert_eq!(names, [("new", "journal"), ("old", "base")]);
}

#[test]
fn the_same_manager_keeps_its_unknown_members() {
    let provider = |kind: &str, state: &str| SecretsProvider {
        kind: kind.into(),
        state: Some(RawJson::parse_as_written(state).unwrap()),
        ..SecretsProvider::default()
    };
    let mut known = provider("passphrase", r#"{"salt":"x"}"#);
    known.extra.push("since", RawJson::parse("1").unwrap());
    let base = Snapshot { secrets_provider: Some(known.clone()), ..Snapshot::default() };
    let with = |provider: SecretsProvider| {
        let mut entry = Entry::new(EntryKind::SecretsManager, 1, 0);
        entry.secrets_provider = Some(Box::new(provider));
        replayed(base.clone(), [entry]).secrets_provider.unwrap()
    };
    assert_eq!(with(provider("passphrase", r#"{"salt":"x"}"#)), known);
    for other in [provider("cloud", r#"{"salt":"x"}"#), provider("passphrase", r#"{"salt":"y"}"#)] {
        assert_eq!(with(other.clone()), other);
    }
}

#[test]
fn a_child_of_a_removed_copy_has_no_parent() {
    let mut journal = on("A C@A A'~d");
    journal.take("2 1 begin").take("3 1 refresh-success isRefresh removeOld0");
    assert_eq!(journal.to_string(), "C A'~d");
    assert!(verify(&journal.replayed().unwrap().snapshot, &VerifyOptions::default()).is_valid());
}

#[test]
fn features_of_a_pending_operation_alone_make_version_4() {
    let mut replayer = Replayer::new(Snapshot::default());
    let mut begin = entry("2 1 begin +creating A");
    let mut resource = Resource::new(urn("A"), "t:t:t");
    resource.resource_hooks.insert("BeforeCreate".into(), vec!["hook".into()]);
    begin.operation = begin
        .operation
        .map(|operation| groundstate_pulumi_snapshot::Operation { resource: resource.into(), ..operation });
    replayer.apply(begin).unwrap();
    let file = replayer.snapshot(Manifest::default()).unwrap();
    let file = file.into_file(groundstate_pulumi_deployment::Envelope::Deployment);
    let text = groundstate_pulumi_deployment::encode(&file, &Default::default()).unwrap();
    assert!(
        String::from_utf8(text).unwrap().contains("\"version\": 4,\n    \"features\": [\n        \"hooks\"")
    );
}

#[test]
fn names_are_brought_up_to_date() {
    let mut journal = on("A B(A) C@A");
    let mut renamed = entry("3 1 success removeOld0 N");
    Arc::make_mut(renamed.state.as_mut().unwrap()).aliases = vec![urn("A")];
    journal.take("2 1 begin");
    journal.0.apply(renamed).unwrap();
    let replayed = journal.replayed().unwrap();
    assert_eq!(replayed.snapshot.resources[1].dependencies, [urn("N")]);
    assert_eq!(replayed.snapshot.resources[2].parent, Some(urn("N")));
    assert_eq!(replayed.through, Some(SequenceId::new(3)));
}

#[test]
fn the_error_of_a_broken_snapshot_is_recorded_until_it_is_whole() {
    let mut journal = on("A B(A)");
    journal.take("2 1 begin +deleting A").take("3 1 success removeOld0");
    let mut replayed = journal.replayed().unwrap();
    assert!(replayed.record_integrity("tool journal replay"));
    let error = replayed.snapshot.metadata.integrity_error.as_ref().unwrap();
    assert!(error.error.ends_with("refers to missing resource"), "{}", error.error);
    assert_eq!((&*error.version, &*error.command), ("3", "tool journal replay"));
    journal.take("4 2 begin").take("5 2 success removeOld1 B'");
    let mut replayed = journal.replayed().unwrap();
    assert!(!replayed.record_integrity("tool") && replayed.snapshot.metadata.integrity_error.is_none());
    assert_eq!(replayed.snapshot, snapshot("B'"));
}
