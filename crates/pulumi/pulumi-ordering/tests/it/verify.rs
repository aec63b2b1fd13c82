//! Which lists are planned at all.

use groundstate_pulumi_integrity::Rule;
use groundstate_pulumi_ordering::{StackError, StackOptions, plan_stack};

use crate::notation::{Script, damage, entries};

#[test]
fn lists_that_are_in_order_are_planned() {
    for text in [
        "",
        "prov; A; B(A, p:A, dw A, rw A)",
        "A; A delete; A delete; B(A)",
        "A delete; B(A)",
        "K component; C parent K",
        // Its object is gone, so its provider is not asked for any more.
        "A{Q} pending",
    ] {
        assert_eq!(damage(&entries(text)), [], "{text}");
        assert!(plan_stack(&entries(text), &[], &mut Script::default(), &StackOptions::default()).is_ok());
    }
}

#[test]
fn damaged_lists_are_not_planned() {
    for (text, rule) in [
        ("B(A)", Rule::DependencyMissing),
        ("B(A); A", Rule::DependencyAfter),
        ("B(p:A)", Rule::PropertyDependencyMissing),
        ("B(dw A); A", Rule::DeletedWithAfter),
        ("B(rw A)", Rule::ReplaceWithMissing),
        ("B{A}; A", Rule::UnknownProvider),
        ("B parent A", Rule::ParentMissing),
        ("A(A)", Rule::DependencyMissing),
        ("A; A", Rule::Duplicate),
    ] {
        let errors = plan_stack(&entries(text), &[], &mut Script::default(), &StackOptions::default());
        let errors = errors.unwrap_err();
        assert!(matches!(&errors[..], [StackError::Integrity(found)] if found.rule == rule), "{errors:?}");
        let message = errors[0].to_string();
        assert!(message.starts_with("the list of the stack is damaged, repair it first: GS06"), "{message}");
    }
}
