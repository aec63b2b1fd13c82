//! Edges of a resource: their order, and rewriting all of them.

use groundstate_pulumi_snapshot::{DependencyKind, ProviderRef, Urn, UrnField};

use crate::support::{resource, urn};

#[test]
fn edges_come_in_their_order_without_empty_names() {
    let mut all = resource("x(r:r1 w:w1 z:z1 d1 a:a1 d2 ^p @P=1)");
    all.dependencies.insert(1, Urn::default());
    all.property_dependencies.insert("m", None);
    all.property_dependencies.insert("n", Some(vec![Urn::default(), urn("n1")]));
    all.view_of = Some(urn("v"));
    let edges: Vec<_> = all.all_dependencies().map(|d| (d.kind, d.urn.name())).collect();
    assert_eq!(
        edges,
        [
            (DependencyKind::Parent, "p"),
            (DependencyKind::Dependency, "d1"),
            (DependencyKind::Dependency, "d2"),
            (DependencyKind::Property("a"), "a1"),
            (DependencyKind::Property("n"), "n1"),
            (DependencyKind::Property("z"), "z1"),
            (DependencyKind::DeletedWith, "w1"),
            (DependencyKind::ReplaceWith, "r1"),
        ]
    );
}

#[test]
fn every_member_that_names_a_resource_is_rewritten() {
    let mut changed = resource("x(^x x k:x w:x r:x @P=7)");
    changed.aliases.push(urn("x"));
    changed.view_of = Some(urn("x"));
    let mut fields = Vec::new();
    let rewritten = changed.rewrite_urns(|field, urn| {
        fields.push(field);
        Some(urn.with_stack("new"))
    });
    assert_eq!(rewritten, Ok(true));
    assert_eq!(
        fields,
        [
            UrnField::Provider,
            UrnField::Own,
            UrnField::Parent,
            UrnField::Dependency,
            UrnField::PropertyDependency,
            UrnField::DeletedWith,
            UrnField::ReplaceWith,
            UrnField::Alias,
            UrnField::ViewOf,
        ]
    );
    let shown = format!("{changed:?}");
    assert!(!shown.contains("urn:pulumi:s::"), "{shown}");
    assert_eq!(changed.provider.unwrap().as_str(), "urn:pulumi:new::p::pulumi:providers:t::P::7");
}

#[test]
fn nothing_changes_without_an_answer_or_with_the_same() {
    let original = resource("x(^a b k:c @P=7)");
    let mut same = original.clone();
    assert_eq!(same.rewrite_urns(|_, _| None), Ok(false));
    assert_eq!(same.rewrite_urns(|_, urn| Some(urn.clone())), Ok(false));
    assert_eq!(same, original);
}

#[test]
fn a_reference_that_cannot_be_read_leaves_the_resource_as_it_is() {
    let mut broken = resource("x(^a b)");
    broken.provider = Some(ProviderRef::from("nonsense"));
    let original = broken.clone();
    assert!(broken.rewrite_urns(|_, urn| Some(urn.with_stack("new"))).is_err());
    assert_eq!(broken, original);
    // An empty identifier stays empty as long as the provider keeps its name.
    let empty = ProviderRef::from(format!("{}::", urn("P")));
    broken.provider = Some(empty.clone());
    assert_eq!(broken.rewrite_urns(|_, _| None), Ok(false));
    assert_eq!(broken.provider, Some(empty));
}
