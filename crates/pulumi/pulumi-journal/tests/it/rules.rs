//! Entries that contradict each other, the base, or themselves.

use groundstate_pulumi_journal::{Applied, Entry, EntryKind, Replayer};
use groundstate_pulumi_snapshot::Manifest;

use crate::notation::{entry, on};

#[track_caller]
fn refused(base: &str, entries: &str) -> String {
    let mut journal = on(base);
    for line in entries.lines() {
        if let Err(error) = journal.0.apply(entry(line)) {
            return error.to_string();
        }
    }
    journal.replayed().map(|_| ()).unwrap_err().to_string()
}

#[test]
fn entries_without_what_their_kind_is_about_are_refused() {
    let cases = [
        (
            Entry::new(EntryKind::Begin, 0, 1),
            "a journal entry of kind begin has no sequence ID, so its place among the others is not known",
        ),
        (Entry::new(EntryKind::Begin, 2, 0), "journal entry 2 of kind begin has no operation ID"),
        (Entry::new(EntryKind::Write, 2, 0), "journal entry 2 of kind write has no snapshot"),
        (
            Entry::new(EntryKind::SecretsManager, 2, 0),
            "journal entry 2 of kind secrets-manager has no secrets provider",
        ),
        (
            Entry::new(EntryKind::ExtensionParameterize, 2, 1),
            "journal entry 2 of kind extension-parameterize has no reference to an extension",
        ),
        (
            entry("2 1 outputs A"),
            "journal entry 2 of kind outputs has no state that its own takes the place of",
        ),
        (
            entry("2 1 refresh-success A"),
            "journal entry 2 of kind refresh-success has no state that its own takes the place of",
        ),
        (
            Entry::new(EntryKind::Unknown(12), 2, 0),
            "journal entry 2 has the unknown kind 12; replay it with a newer version",
        ),
    ];
    for (entry, message) in cases {
        let mut replayer = Replayer::default();
        assert_eq!(replayer.apply(entry).unwrap_err().to_string(), message);
        assert_eq!(replayer.entries().len(), 0);
    }
}

#[test]
fn an_entry_counts_once_and_another_of_its_number_is_refused() {
    let mut replayer = Replayer::default();
    assert_eq!(replayer.apply(entry("2 1 begin +creating A")).unwrap(), Applied::New);
    assert_eq!(replayer.apply(entry("2 1 begin +creating A")).unwrap(), Applied::Duplicate);
    let error = replayer.apply(entry("2 1 begin +creating B")).unwrap_err().to_string();
    assert!(error.starts_with("there are two different journal entries 2"), "{error}");
    assert_eq!(replayer.snapshot(Manifest::default()).unwrap().snapshot.pending_operations.len(), 1);
}

#[test]
fn an_operation_begins_once_and_ends_once() {
    assert_eq!(
        refused("", "2 1 begin\n3 1 begin"),
        "journal entry 3 begins operation 1, which entry 2 has begun already"
    );
    for second in ["success B", "failure", "refresh-success"] {
        assert_eq!(
            refused("", &format!("2 1 begin\n3 1 success A\n4 1 {second}")),
            "journal entry 4 ends operation 1, which entry 3 has ended already"
        );
    }
}

#[test]
fn another_base_comes_before_everything_that_speaks_of_one() {
    for entries in [
        "2 1 begin\n3 0 write [A]",
        "3 0 write [A]\n2 0 rebuilt-base-state",
        "3 0 write [B]\n2 1 outputs removeOld0 A",
    ] {
        let error = refused("A", entries);
        assert_eq!(
            error,
            "journal entry 3 writes another base, but entry 2 before it speaks of the base there was"
        );
    }
    let mut journal = on("A");
    journal.take("2 0 write [B]").take("3 0 write [C]").take("4 1 begin").take("5 1 success removeOld0 C'");
    assert_eq!(journal.to_string(), "C'");
}

#[test]
fn a_rebuilt_base_with_new_resources_ends_the_journal() {
    let ends = "2 1 begin\n3 1 success B\n4 0 rebuilt-base-state";
    assert_eq!(on("A").take(ends).to_string(), "B A");
    let error = refused("A", &format!("{ends}\n5 2 begin"));
    assert_eq!(
        error,
        "journal entry 4 rebuilds the base with 1 new resources, so it has to be the last one, but entry 5 follows"
    );
    assert_eq!(refused("A", "5 2 begin\n4 0 rebuilt-base-state\n3 1 success B"), error);
    // What was recorded and is gone is no new resource.
    let gone = "2 1 begin\n3 1 success B\n4 2 begin\n5 2 success removeNew1\n6 0 rebuilt-base-state\n7 3 begin\n8 3 success removeOld0";
    assert_eq!(on("A").take(gone).to_string(), "");
}

#[test]
fn an_index_that_the_base_does_not_have_shows_that_it_is_another_base() {
    assert_eq!(
        refused("A B", "2 1 begin\n3 1 success removeOld2"),
        "journal entry 3 speaks of resource 2 of the base, which has 2; the journal belongs to another base"
    );
    // The base may still come.
    let mut journal = on("A");
    journal.take("4 1 begin").take("5 1 success removeOld1");
    assert!(journal.to_string().starts_with("error: journal entry 5"));
    journal.take("2 0 write [A B]");
    assert_eq!(journal.to_string(), "A");
}

#[test]
fn what_an_operation_says_before_the_state_is_there_does_not_count() {
    let mut journal = on("");
    journal.take("2 1 begin").take("3 1 success removeNew2").take("4 2 begin").take("5 2 success A");
    assert_eq!(journal.to_string(), "A");
}
