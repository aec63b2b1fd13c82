//! Numbers, limits, leftovers of kills, and the order in which undo goes back.

use std::fs;
use std::path::Path;

use super::{Generation, Generations, candidate};

fn generations(dir: &Path) -> Generations {
    let state = dir.join("shop.tfstate");
    fs::write(&state, "now").unwrap();
    Generations::beside(&state)
}

/// A write that replaces this content.
fn write(generations: &Generations, before: &str, restored: Option<u64>) -> u64 {
    let mut pending = generations.clone().begin("state-mv", restored);
    pending.prepare().unwrap();
    fs::write(pending.path(), before).unwrap();
    pending.promote("0123").unwrap().unwrap().0
}

#[test]
fn a_backup_gets_its_number_when_the_write_has_succeeded() {
    let dir = tempfile::tempdir().unwrap();
    let generations = generations(dir.path());
    let pending = generations.clone().begin("state-mv", None);
    pending.prepare().unwrap();
    fs::write(pending.path(), "refused").unwrap();
    drop(pending);
    assert_eq!(generations.list().unwrap(), []);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a refused write leaves the state alone");
    assert_eq!(write(&generations, "one", None), 1);
    assert_eq!(write(&generations, "two", None), 2);
    let found = generations.list().unwrap();
    let contents: Vec<String> = found.iter().map(|each| fs::read_to_string(&each.path).unwrap()).collect();
    assert_eq!(contents, ["two", "one"]);
}

#[test]
fn ten_backups_are_kept_and_older_ones_are_compressed() {
    let dir = tempfile::tempdir().unwrap();
    let generations = generations(dir.path());
    let large = "x".repeat(10_000);
    for _ in 0..12 {
        write(&generations, &large, None);
    }
    let found = generations.list().unwrap();
    assert_eq!(found.iter().map(|each| each.number).collect::<Vec<_>>(), (3..=12).rev().collect::<Vec<_>>());
    assert_eq!(found[0].bytes, 10_000);
    assert!(found[1..].iter().all(|each| each.is_packed() && each.bytes < 200));
}

#[test]
fn a_backup_of_a_killed_process_counts_if_its_write_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let generations = generations(dir.path());
    for (before, stored, expected) in [("same", "same", 0), ("before", "after", 1)] {
        let mut pending = generations.clone().begin("state-rm", None);
        pending.prepare().unwrap();
        pending.leave();
        // No process has the number 0 of its own.
        pending.what.process = u32::MAX;
        let path = generations.directory.join(pending.what.name("id"));
        fs::write(path, before).unwrap();
        generations.settle(stored.as_bytes());
        assert_eq!(generations.list().unwrap().len(), expected, "{before}");
    }
}

#[test]
fn undo_goes_further_back_each_time() {
    let at = |number: u64, restored: Option<u64>| Generation {
        number,
        time: groundstate_common::Timestamp::UNIX_EPOCH,
        operation: String::new(),
        restored,
        after: String::new(),
        bytes: 0,
        path: Default::default(),
    };
    let next = |all: &[(u64, Option<u64>)]| {
        let all: Vec<Generation> =
            all.iter().rev().map(|(number, restored)| at(*number, *restored)).collect();
        candidate(&all).map(|found| found.number)
    };
    assert_eq!(next(&[]), None);
    let changes = [(1, None), (2, None)];
    assert_eq!(next(&changes), Some(2));
    assert_eq!(next(&[(1, None), (2, None), (3, Some(2))]), Some(1));
    assert_eq!(next(&[(1, None), (2, None), (3, Some(2)), (4, Some(1))]), None);
    // A change after an undo is undone first; behind it is what the undo had restored.
    assert_eq!(next(&[(1, None), (2, None), (3, Some(2)), (4, None)]), Some(4));
    assert_eq!(next(&[(1, None), (2, None), (3, Some(2)), (4, None), (5, Some(4))]), Some(1));
    // Those beyond the limit are gone.
    assert_eq!(next(&[(7, None), (8, Some(6))]), None);
}
