//! Normalizing names by aliases.

use std::sync::Arc;

use groundstate_pulumi_integrity::{NormalizeError, VerifyOptions, normalize, verify};
use groundstate_pulumi_snapshot::{ProviderRef, Resource, Snapshot, Snippet, Urn};

use crate::support::{below, names, provider_ref, snapshot, urn};

#[test]
fn normalizing_without_aliases_changes_nothing() {
    let mut snapshot = snapshot(&["P(#1)", "a(@P=1)", "b(a ^a)"]);
    let before = snapshot.clone();
    assert_eq!(normalize(&mut snapshot), Ok(false));
    assert!(before.resources.iter().zip(&snapshot.resources).all(|(old, new)| Arc::ptr_eq(old, new)));
}

#[test]
fn children_follow_the_alias_of_their_parent() {
    let token = "t:t:New";
    let parent = Urn::build("s", "p", "", token, "a");
    let mut new = Resource::new(parent.clone(), token);
    new.aliases = vec![urn("a")];
    let mut snapshot = snapshot(&["c(^a)", "d(c)"]);
    snapshot.resource_mut(0).unwrap().urn = below(1, "c");
    snapshot.resource_mut(1).unwrap().dependencies = vec![below(1, "c")];
    snapshot.resources.insert(0, Arc::new(new));
    assert_eq!(normalize(&mut snapshot), Ok(true));
    let child = &snapshot.resources[1];
    assert_eq!(child.parent, Some(parent));
    assert_eq!(child.urn.qualified_type(), "t:t:New$t:t:T");
    assert_eq!(snapshot.resources[2].dependencies, std::slice::from_ref(&child.urn));
    assert!(snapshot.resources.iter().all(|resource| resource.aliases.is_empty()));
    assert!(verify(&snapshot, &VerifyOptions::default()).is_clean());
}

#[test]
fn one_alias_of_two_resources_is_refused() {
    let mut snapshot = snapshot(&["a(a:x)", "b(a:x)"]);
    let before = snapshot.clone();
    let error = normalize(&mut snapshot).unwrap_err();
    let text =
        format!("Two resources ('{}' and '{}') aliased to the same: '{}'", urn("a"), urn("b"), urn("x"));
    assert_eq!(error.to_string(), text);
    assert_eq!(snapshot, before);
}

#[test]
fn aliases_are_followed_one_level() {
    let mut snapshot = snapshot(&["b(a:a)", "c(a:b)", "d(a)"]);
    assert_eq!(normalize(&mut snapshot), Ok(true));
    assert_eq!(snapshot.resources[2].dependencies, [urn("b")]);
    assert_eq!(names(&snapshot), ["b", "c", "d"], "two resources that live stay two");
}

#[test]
fn a_live_resource_keeps_its_name_when_its_references_follow() {
    let mut snapshot = snapshot(&["z(a:y)", "b(a:a y)", "c(a:b)"]);
    assert_eq!(normalize(&mut snapshot), Ok(true));
    assert_eq!(names(&snapshot), ["z", "b", "c"]);
    assert_eq!(snapshot.resources[1].dependencies, [urn("z")]);
}

#[test]
fn every_kind_of_reference_follows_an_alias() {
    let mut snapshot = snapshot(&["b(a:a)", "c(r:a v:a k:a w:a)"]);
    let original = Arc::clone(&snapshot.resources[1]);
    assert_eq!(normalize(&mut snapshot), Ok(true));
    let changed = &snapshot.resources[1];
    assert_eq!(changed.replace_with, [urn("b")]);
    assert_eq!(changed.view_of, Some(urn("b")));
    assert_eq!(changed.deleted_with, Some(urn("b")));
    assert_eq!(changed.property_dependencies.get("k"), Some(&[urn("b")][..]));
    assert_eq!(original.replace_with, [urn("a")], "what others share is not changed");
}

#[test]
fn an_alias_leads_to_the_name_that_the_resource_ends_with() {
    // `c` was `old`, and it moves because its parent has another type: who refers to `old` means the moved one.
    let parent = Urn::build("s", "p", "", "t:t:New", "a");
    let mut new = Resource::new(parent, "t:t:New");
    new.aliases = vec![urn("a")];
    let mut snapshot = snapshot(&["c(^a a:old)", "d(old c)"]);
    snapshot.resources.insert(0, Arc::new(new));
    assert_eq!(normalize(&mut snapshot), Ok(true));
    let moved = snapshot.resources[1].urn.clone();
    assert_eq!(moved.qualified_type(), "t:t:New$t:t:T");
    assert_eq!(snapshot.resources[2].dependencies, [moved.clone(), moved]);
}

#[test]
fn copies_to_be_deleted_follow_and_so_do_providers_and_snippets() {
    let mut snapshot = snapshot(&["P2(#1 a:P1)", "a(@P1=1)", "b(a:c)", "c(!)"]);
    let references = [("c".into(), urn("c"))].into();
    snapshot.snippets.push(Snippet { uuid: "u".into(), references, ..Snippet::default() });
    assert_eq!(normalize(&mut snapshot), Ok(true));
    assert_eq!(snapshot.resources[1].provider, Some(provider_ref("P2", "1")));
    assert_eq!(names(&snapshot), ["P2", "a", "b", "b'1!"]);
    assert_eq!(snapshot.snippets[0].references["c"], urn("b"));
}

#[test]
fn an_alias_may_stand_twice_and_the_root_adds_nothing() {
    let root = Urn::root_stack("s", "p");
    let mut snapshot = snapshot(&["b(a:a a:a)", "c(^a)"]);
    let mut new_root = Resource::new(root.clone(), "pulumi:pulumi:Stack");
    new_root.aliases = vec![Urn::root_stack("old", "p")];
    snapshot.resource_mut(1).unwrap().parent = Some(Urn::root_stack("old", "p"));
    snapshot.resources.insert(0, Arc::new(new_root));
    assert_eq!(normalize(&mut snapshot), Ok(true));
    assert_eq!(snapshot.resources[2].parent, Some(root));
    assert_eq!(snapshot.resources[2].urn, urn("c"));
}

#[test]
fn a_child_of_the_root_keeps_the_name_that_it_was_written_with() {
    let old = Urn::root_stack("old", "p");
    let mut snapshot = snapshot(&["c"]);
    let child = snapshot.resource_mut(0).unwrap();
    (child.urn, child.parent) = (below(1, "c"), Some(old.clone()));
    let mut root = Resource::new(Urn::root_stack("s", "p"), "pulumi:pulumi:Stack");
    root.aliases = vec![old];
    snapshot.resources.insert(0, Arc::new(root));
    assert_eq!(normalize(&mut snapshot), Ok(true));
    assert_eq!(snapshot.resources[1].urn, below(1, "c"), "Pulumi gives names only below other parents");
}

#[test]
fn a_reference_that_cannot_be_read_is_an_error() {
    let mut snapshot: Snapshot = snapshot(&["b(a:a)", "c"]);
    snapshot.resource_mut(1).unwrap().provider = Some(ProviderRef::from("nonsense"));
    let error = normalize(&mut snapshot).unwrap_err();
    assert!(matches!(&error, NormalizeError::Provider { urn: named, .. } if *named == urn("c")), "{error}");
    assert_eq!(snapshot.resources[0].aliases, [urn("a")]);
}
