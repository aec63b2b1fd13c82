//! Pending operations.

use groundstate_pulumi_integrity::{PendingError, PendingRule, clear_pending, resolve_pending};
use groundstate_pulumi_snapshot::{Operation, OperationType, Snapshot};

use crate::support::{resource, snapshot, urn};

fn pending() -> Snapshot {
    let mut snapshot = snapshot(&["a"]);
    let operation = |text: &str, kind| Operation::new(resource(text), kind);
    snapshot.pending_operations = vec![
        operation("x", OperationType::Creating),
        operation("a", OperationType::Updating),
        operation("y(~)", OperationType::Creating),
    ];
    snapshot
}

#[test]
fn operations_are_cleared_by_index_and_given_back() {
    let mut snapshot = pending();
    let cleared = clear_pending(&mut snapshot, [2, 0, 0, 9]);
    let urns: Vec<_> = cleared.iter().map(|operation| operation.resource.urn.clone()).collect();
    assert_eq!(urns, [urn("x"), urn("y")]);
    assert_eq!(snapshot.pending_operations.len(), 1);
    assert_eq!(snapshot.pending_operations[0].kind, OperationType::Updating);
}

#[test]
fn a_creation_that_succeeded_is_imported_next() {
    let mut snapshot = pending();
    resolve_pending(&mut snapshot, 0, "i-1".into()).unwrap();
    let operation = &snapshot.pending_operations[0];
    assert_eq!(operation.kind, OperationType::Importing);
    assert_eq!(operation.resource.id().unwrap().as_str(), "i-1");
    assert_eq!(snapshot.resources.len(), 1, "it is a resource only when it has been read");
}

#[test]
fn what_cannot_be_resolved_says_what_to_do_instead() {
    let mut snapshot = pending();
    let before = snapshot.clone();
    let mut refused = |index, id: &str| resolve_pending(&mut snapshot, index, id.into()).unwrap_err();
    assert_eq!(refused(9, "i"), PendingError::NoOperation(9));
    assert!(matches!(refused(1, "i"), PendingError::NotCreating { index: 1, .. }));
    assert_eq!(refused(2, "i"), PendingError::Component(2));
    assert_eq!(refused(0, ""), PendingError::NoId);
    assert!(refused(1, "i").to_string().ends_with("clear it instead"));
    assert_eq!(snapshot, before);
}

#[test]
fn rules_tell_creations_from_the_rest() {
    let snapshot = pending();
    let cleared = |rule: PendingRule| {
        snapshot.pending_operations.iter().map(|operation| rule.clears(operation)).collect::<Vec<_>>()
    };
    assert_eq!(cleared(PendingRule::Keep), [false, false, false]);
    assert_eq!(cleared(PendingRule::ClearForgotten), [false, true, false]);
    assert_eq!(cleared(PendingRule::ClearAll), [true, true, true]);
}
