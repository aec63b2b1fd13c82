//! What a written list keeps to.

use groundstate_pulumi_ordering::{IntegrityError, Relation, StackError, StackOptions, plan_stack, verify};

use crate::notation::{Script, entries, urn};

#[test]
fn lists_that_are_in_order_are_valid() {
    for text in [
        "",
        "prov; A; B(A, p:A, dw A, rw A)",
        "A; A delete; A delete; B(A)",
        "A delete; B(A)",
        "K component; C parent K",
        // Its object is gone, so its provider is not needed any more.
        "A{Q} pending",
    ] {
        assert_eq!(verify(&entries(text)), Ok(()), "{text}");
    }
}

#[test]
fn every_relation_is_checked() {
    for (reference, relation) in [
        ("B(A)", Relation::Dependency),
        ("B(p:A)", Relation::Property),
        ("B(dw A)", Relation::DeletedWith),
        ("B(rw A)", Relation::ReplaceWith),
        ("B{A}", Relation::Provider),
        ("B parent A", Relation::Parent),
    ] {
        let (at, who, reference_) = (0, urn("B"), urn("A"));
        let missing =
            IntegrityError::Missing { at, urn: who.clone(), relation, reference: reference_.clone() };
        assert_eq!(verify(&entries(reference)), Err(vec![missing]), "{reference}");
        let behind = IntegrityError::Behind { at, urn: who, relation, reference: reference_ };
        assert_eq!(verify(&entries(&format!("{reference}; A"))), Err(vec![behind]), "{reference}");
    }
    let itself = verify(&entries("A(A)")).unwrap_err();
    assert!(matches!(&itself[..], [IntegrityError::Behind { at: 0, .. }]));
}

#[test]
fn all_that_is_wrong_is_reported_in_words() {
    let errors = verify(&entries("A; A; B(X); C(D); D")).unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "A (entry 1) is in the list a second time, and neither is marked for deletion",
            "B (entry 2) refers to X as its dependency, which is not in the list",
            "C (entry 3) refers to D as its dependency, which comes after it",
        ]
    );
}

#[test]
fn damaged_lists_are_not_planned() {
    let base = entries("B(A); A");
    let errors = plan_stack(&base, &[], &mut Script::default(), &StackOptions::default()).unwrap_err();
    assert!(matches!(&errors[..], [StackError::Integrity(IntegrityError::Behind { .. })]));
}
