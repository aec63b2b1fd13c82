//! How snapshots relate, and which may replace which.

use groundstate_statemgr::{ImportError, Relation, SnapshotMeta, check_valid_import};
use groundstate_states::State;

use crate::support::{file, state};

#[test]
fn snapshots_relate_by_lineage_first_and_serial_second() {
    let rows = [
        (("a", 1), ("a", 1), Relation::Equal),
        (("a", 2), ("a", 1), Relation::Newer),
        (("a", 1), ("a", 2), Relation::Older),
        (("a", 1), ("b", 1), Relation::Unrelated),
        (("a", 9), ("b", 1), Relation::Unrelated),
        (("", 1), ("a", 1), Relation::Legacy),
        (("a", 1), ("", 1), Relation::Legacy),
        (("", 2), ("", 1), Relation::Legacy),
    ];
    let meta = |(lineage, serial)| SnapshotMeta::of(&file(lineage, serial, &State::new()));
    for (new, existing, expected) in rows {
        assert_eq!(meta(new).compare(&meta(existing)), expected, "{new:?} {existing:?}");
    }
}

#[test]
fn only_a_newer_snapshot_of_the_chain_replaces_another() {
    let (a, b, empty) = (state("a"), state("b"), State::new());
    let lineages = || ImportError::Lineage { new: "y".to_owned(), existing: "x".to_owned() };
    let rows = [
        ("exact match", ("x", 3, &a), Some(("x", 3, &a)), Ok(())),
        ("unrelated over empty", ("y", 3, &a), Some(("x", 3, &empty)), Ok(())),
        ("anything over nothing", ("y", 0, &a), None, Ok(())),
        (
            "same serial, other state",
            ("x", 3, &b),
            Some(("x", 3, &a)),
            Err(ImportError::SameSerial { serial: 3 }),
        ),
        ("newer", ("x", 4, &b), Some(("x", 3, &a)), Ok(())),
        ("older", ("x", 2, &b), Some(("x", 3, &a)), Err(ImportError::Older { new: 2, existing: 3 })),
        ("other lineage, same serial", ("y", 3, &a), Some(("x", 3, &a)), Err(lineages())),
        ("other lineage, newer serial", ("y", 9, &a), Some(("x", 3, &a)), Err(lineages())),
        ("new one without lineage", ("", 1, &b), Some(("x", 3, &a)), Ok(())),
        ("existing one without lineage", ("x", 1, &b), Some(("", 3, &a)), Ok(())),
        ("both without lineage", ("", 1, &b), Some(("", 3, &a)), Ok(())),
    ];
    let make = |(lineage, serial, state): (&str, u64, &State)| file(lineage, serial, state);
    for (name, new, existing, expected) in rows {
        assert_eq!(check_valid_import(&make(new), existing.map(make).as_ref()), expected, "{name}");
    }
}

#[test]
fn refusals_name_lineages_and_serials() {
    let text = |new, existing| check_valid_import(&new, Some(&existing)).unwrap_err().to_string();
    let lineage = text(file("y", 1, &state("a")), file("x", 1, &state("a")));
    assert!(lineage.contains("lineage \"y\"") && lineage.contains("lineage \"x\""), "{lineage}");
    let same = text(file("x", 7, &state("a")), file("x", 7, &state("b")));
    assert!(same.contains("same serial, 7"), "{same}");
    let older = text(file("x", 6, &state("a")), file("x", 7, &state("b")));
    assert!(older.contains("serial 6") && older.contains("serial 7"), "{older}");
}
