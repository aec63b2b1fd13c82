//! Deleting.

use groundstate_pulumi_integrity::{
    DeleteError, DeleteOptions, Deleted, FindError, VerifyOptions, closest, delete, delete_all, find, verify,
};
use groundstate_pulumi_snapshot::Snapshot;

use crate::support::{names, snapshot, urn};

fn plain() -> DeleteOptions {
    DeleteOptions::default()
}

#[track_caller]
fn deleted(snapshot: &mut Snapshot, indexes: &[usize], options: DeleteOptions) -> Deleted {
    let deleted = delete(snapshot, indexes.iter().copied(), options).expect("it can be deleted");
    assert!(verify(snapshot, &VerifyOptions::default()).is_valid());
    deleted
}

#[test]
fn only_dependents_of_the_chosen_copy_are_deleted() {
    let mut snapshot = snapshot(&["PA(#0)", "PA(#1)", "b(#0 @PA=0)", "b(#1 @PA=1)", "c(b)"]);
    snapshot.resource_mut(0).unwrap().delete = true;
    snapshot.resource_mut(2).unwrap().delete = true;
    let result = deleted(&mut snapshot, &[0], plain().dependents(true));
    assert_eq!(result.dependents, [urn("b")]);
    assert_eq!(names(&snapshot), ["PA", "b", "c"]);
    assert_eq!(snapshot.resources[1].id().unwrap().as_str(), "1");
}

#[test]
fn protected_dependents_keep_a_resource_from_deletion() {
    let mut snapshot = snapshot(&["a", "b(a *)"]);
    let before = snapshot.clone();
    let error = delete(&mut snapshot, [0], plain().dependents(true)).unwrap_err();
    assert_eq!(error, DeleteError::Protected { urn: urn("b") });
    assert_eq!(error.to_string(), format!("Can't delete protected resource {:?}", urn("b").as_str()));
    assert_eq!(snapshot, before);
    let result = deleted(&mut snapshot, &[0], plain().dependents(true).force(true));
    assert_eq!(result.protected, [urn("b")]);
    assert!(snapshot.resources.is_empty());
}

#[test]
fn many_resources_are_deleted_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let mut snapshot = snapshot(&["a", "b(a)"]);
        let result = deleted(&mut snapshot, &order, plain());
        assert_eq!((result.targets.len(), result.dependents.len()), (2, 0));
        assert!(snapshot.resources.is_empty());
    }
}

#[test]
fn who_needs_it_is_named() {
    let mut snapshot = snapshot(&["a", "b(a)", "c(^b)", "d"]);
    let error = delete(&mut snapshot, [0, 3], plain()).unwrap_err();
    let dependents = vec![urn("b"), urn("c")];
    assert_eq!(error, DeleteError::Dependents { urn: urn("a"), dependents });
    assert_eq!(
        error.to_string(),
        format!("Can't delete resource {:?} due to dependent resources", urn("a").as_str())
    );
    assert_eq!(snapshot.resources.len(), 4);
    assert_eq!(delete(&mut snapshot, [9], plain()), Err(DeleteError::NoResource(9)));
}

#[test]
fn protection_is_asked_before_dependents() {
    let mut snapshot = snapshot(&["a(*)", "b(a)"]);
    assert_eq!(delete(&mut snapshot, [0], plain()), Err(DeleteError::Protected { urn: urn("a") }));
}

#[test]
fn one_of_two_copies_leaves_those_who_need_the_name() {
    let mut snapshot = snapshot(&["a(#1)", "a(! #2)", "b(a)"]);
    deleted(&mut snapshot, &[0], plain());
    assert_eq!(names(&snapshot), ["a!", "b"]);
}

#[test]
fn both_of_two_copies_do_not() {
    let mut snapshot = snapshot(&["a(#1)", "a(! #2)", "b(a)"]);
    let error = delete(&mut snapshot, [0, 1], plain()).unwrap_err();
    assert!(matches!(error, DeleteError::Dependents { dependents, .. } if dependents == [urn("b")]));
}

#[test]
fn everything_goes_unless_something_is_protected() {
    let mut snapshot = snapshot(&["a", "b(a *)", "c(*)", "d(c)"]);
    assert_eq!(delete_all(&mut snapshot, false), Err(DeleteError::Protected { urn: urn("c") }));
    let result = delete_all(&mut snapshot, true).unwrap();
    assert_eq!(result.targets.len(), 4);
    assert_eq!(result.protected, [urn("b"), urn("c")]);
    assert!(snapshot.resources.is_empty());
}

#[test]
fn names_are_found_and_others_proposed() {
    let snapshot = snapshot(&["network", "netwrok", "database", "twin(#1)", "twin(! #2)"]);
    assert_eq!(find(&snapshot, urn("database").as_str()), Ok(2));
    let error = find(&snapshot, urn("NETWORK2").as_str()).unwrap_err();
    let expected = [urn("network"), urn("netwrok"), urn("twin")];
    assert!(matches!(&error, FindError::Missing { closest, .. } if *closest == expected), "{error:?}");
    assert!(matches!(find(&snapshot, "twin"), Err(FindError::Invalid(_))));
    let error = find(&snapshot, urn("twin").as_str()).unwrap_err();
    assert!(matches!(error, FindError::Ambiguous { candidates, .. } if candidates.len() == 2));
    assert!(closest(&snapshot, "nothing like it at all").is_empty());
}
