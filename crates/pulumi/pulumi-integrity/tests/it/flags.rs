//! Protection and taint.

use std::sync::Arc;

use groundstate_pulumi_integrity::{Flag, set_flag, set_flag_everywhere};

use crate::support::{snapshot, urn};

#[test]
fn a_resource_to_be_deleted_cannot_be_tainted() {
    let mut snapshot = snapshot(&["a", "b(!)"]);
    let before = snapshot.clone();
    let error = set_flag(&mut snapshot, [&urn("a"), &urn("b")], Flag::Taint(true)).unwrap_err();
    assert_eq!(error.names[0].0, urn("b"));
    let text = format!("No such resource {:?} exists in the current state", urn("b").as_str());
    assert_eq!(error.to_string(), text);
    assert_eq!(snapshot, before);
}

#[test]
fn the_last_live_copy_is_meant() {
    let mut snapshot = snapshot(&["a(#1)", "a(#2)", "a(! #3)"]);
    assert_eq!(set_flag(&mut snapshot, [&urn("a"), &urn("a")], Flag::Protect(true)), Ok(1));
    let protected: Vec<bool> = snapshot.resources.iter().map(|resource| resource.protect).collect();
    assert_eq!(protected, [false, true, false]);
}

#[test]
fn all_means_all_that_live_and_marks_that_are_set_count() {
    let mut snapshot = snapshot(&["a(*)", "b", "c(!)"]);
    let first = Arc::clone(&snapshot.resources[0]);
    assert_eq!(set_flag_everywhere(&mut snapshot, Flag::Protect(true)), 2);
    assert!(Arc::ptr_eq(&first, &snapshot.resources[0]), "it is not copied for nothing");
    assert!(snapshot.resources[1].protect && !snapshot.resources[2].protect);
    assert_eq!(set_flag_everywhere(&mut snapshot, Flag::Protect(false)), 2);
    assert_eq!(set_flag(&mut snapshot, [&urn("b")], Flag::Taint(true)), Ok(1));
    assert!(!snapshot.resources[0].taint && snapshot.resources[1].taint);
    assert_eq!(set_flag_everywhere(&mut snapshot, Flag::Taint(false)), 2);
    assert!(snapshot.resources.iter().all(|resource| !resource.protect && !resource.taint));
}

#[test]
fn names_like_a_wrong_one_are_proposed() {
    let mut snapshot = snapshot(&["database"]);
    let error = set_flag(&mut snapshot, [&urn("databaes")], Flag::Protect(true)).unwrap_err();
    assert_eq!(error.names, [(urn("databaes"), vec![urn("database")])]);
}
