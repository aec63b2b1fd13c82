//! Pruning of missing references.

use std::sync::Arc;

use groundstate_pulumi_integrity::{Pruned, ReferenceKind, VerifyOptions, prune, verify};
use groundstate_pulumi_snapshot::{
    Operation, OperationType, PropertyMap, PropertyValue, ResourceReference, Snippet,
};

use crate::support::{below, provider_ref, resource, snapshot, urn};

/// A chain of three levels below `top`.
fn chain() -> groundstate_pulumi_snapshot::Snapshot {
    let mut all = snapshot(&["top", "a(^top)", "b", "c(b)"]);
    all.resource_mut(1).expect("it is there").urn = below(1, "a");
    let middle = all.resource_mut(2).expect("it is there");
    (middle.urn, middle.parent) = (below(2, "b"), Some(below(1, "a")));
    let last = all.resource_mut(3).expect("it is there");
    (last.urn, last.parent) = (below(3, "c"), Some(below(2, "b")));
    last.dependencies = vec![below(2, "b")];
    all
}

fn removed(pruned: &Pruned) -> Vec<String> {
    pruned.removed.iter().map(|reference| format!("{} [{}]", reference.urn.name(), reference.kind)).collect()
}

#[test]
fn a_sound_snapshot_stays_as_it_is() {
    let mut snapshot = chain();
    let before = snapshot.clone();
    assert!(prune(&mut snapshot).is_empty());
    assert_eq!(snapshot, before);
}

#[test]
fn children_of_a_missing_parent_move_up() {
    let mut snapshot = chain();
    snapshot.resources.remove(0);
    let results = prune(&mut snapshot);
    let urns: Vec<_> = snapshot.resources.iter().map(|resource| resource.urn.clone()).collect();
    assert_eq!(urns, [urn("a"), below(1, "b"), below(2, "c")]);
    assert_eq!(snapshot.resources[0].parent, None);
    assert_eq!(snapshot.resources[2].parent, Some(below(1, "b")));
    assert_eq!(snapshot.resources[2].dependencies, [below(1, "b")]);
    assert_eq!(
        results.iter().map(removed).collect::<Vec<_>>(),
        [vec!["top [parent]".to_owned()], vec![], vec![]]
    );
    assert!(verify(&snapshot, &VerifyOptions::default()).is_clean());
}

#[test]
fn missing_replace_with_is_pruned() {
    let mut snapshot = snapshot(&["a", "b(r:x r:a)"]);
    let results = prune(&mut snapshot);
    assert_eq!(snapshot.resources[1].replace_with, [urn("a")]);
    assert_eq!(results.len(), 1);
    assert_eq!(removed(&results[0]), ["x [replace with]"]);
}

#[test]
fn a_taken_name_is_not_given_by_pruning() {
    // Below two parents that are gone two children have the same name.
    let mut snapshot = snapshot(&["a", "a"]);
    for (index, token) in ["t:t:U", "t:t:V"].into_iter().enumerate() {
        let child = snapshot.resource_mut(index).unwrap();
        let parent = groundstate_pulumi_snapshot::Urn::build("s", "p", "", token, "gone");
        child.urn = child.urn.below(token);
        child.parent = Some(parent);
    }
    let second = snapshot.resources[1].urn.clone();
    let results = prune(&mut snapshot);
    assert_eq!(snapshot.resources[0].urn, urn("a"));
    assert_eq!(snapshot.resources[1].urn, second, "the name is taken");
    assert_eq!(results[1].clash, Some(urn("a")));
    assert_eq!(snapshot.resources[1].parent, None);
    assert!(verify(&snapshot, &VerifyOptions::default()).is_clean());
}

#[test]
fn every_kind_is_dropped_and_named() {
    let mut snapshot = snapshot(&["a", "b(x a k:y k:a l:z w:x r:y _)"]);
    let results = prune(&mut snapshot);
    let expected = [
        "x [dependency]",
        "y [property dependency: k]",
        "z [property dependency: l]",
        "x [deleted with]",
        "y [replace with]",
    ];
    assert_eq!(removed(&results[0]), expected);
    let pruned = &snapshot.resources[1];
    assert_eq!(pruned.dependencies.len(), 2, "an empty name refers to nothing: {:?}", pruned.dependencies);
    assert_eq!(pruned.property_dependencies.len(), 1);
    assert!(verify(&snapshot, &VerifyOptions::default()).is_valid());
}

#[test]
fn references_to_a_provider_follow_its_name() {
    let mut snapshot = snapshot(&["P(#1 ^x)", "a(@P=1)"]);
    let provider = below(1, "P");
    snapshot.resource_mut(0).unwrap().urn = provider.clone();
    let id = groundstate_pulumi_snapshot::ResourceId::from("1");
    let reference = groundstate_pulumi_snapshot::ProviderRef::build(&provider, &id).unwrap();
    snapshot.resource_mut(1).unwrap().provider = Some(reference);
    prune(&mut snapshot);
    assert_eq!(snapshot.resources[0].urn, urn("P"));
    assert_eq!(snapshot.resources[1].provider, Some(provider_ref("P", "1")));
    assert!(verify(&snapshot, &VerifyOptions::default()).is_clean());
}

#[test]
fn new_names_reach_views_properties_operations_and_snippets() {
    let mut snapshot = snapshot(&["a(^x)", "b"]);
    let old = below(1, "a");
    snapshot.resource_mut(0).unwrap().urn = old.clone();
    let user = snapshot.resource_mut(1).unwrap();
    user.view_of = Some(old.clone());
    let reference = ResourceReference {
        urn: old.clone(),
        id: None,
        package_version: "".into(),
        extra: PropertyMap::new(),
    };
    let value = PropertyValue::ResourceReference(Box::new(reference)).into_secret();
    user.inputs = PropertyMap::from_iter([("r", value)]).into();
    let mut pending = resource("c");
    pending.parent = Some(old.clone());
    snapshot.pending_operations.push(Operation::new(pending, OperationType::Creating));
    let references = [("a".into(), old)].into();
    snapshot.snippets.push(Snippet { uuid: "u".into(), references, ..Snippet::default() });
    prune(&mut snapshot);
    let user = &snapshot.resources[1];
    assert_eq!(user.view_of, Some(urn("a")));
    let Some(PropertyValue::Secret(secret)) = user.inputs.as_map().and_then(|map| map.get("r")) else {
        panic!("it is a secret still");
    };
    assert!(matches!(secret.value(), Some(PropertyValue::ResourceReference(r)) if r.urn == urn("a")));
    assert_eq!(snapshot.pending_operations[0].resource.parent, Some(urn("a")));
    assert_eq!(snapshot.snippets[0].references["a"], urn("a"));
}

#[test]
fn copies_of_a_name_keep_their_own_references() {
    // The copy to be deleted loses its parent and its name; who lives goes on to mean the one that lives.
    let mut snapshot = snapshot(&["p", "a(^p)", "a(! ^x)", "b"]);
    for index in [1, 2] {
        snapshot.resource_mut(index).unwrap().urn = below(1, "a");
    }
    snapshot.resource_mut(3).unwrap().dependencies = vec![below(1, "a")];
    let results = prune(&mut snapshot);
    assert_eq!(results.len(), 1);
    assert!(results[0].delete && results[0].new == urn("a"));
    assert_eq!(snapshot.resources[3].dependencies, [below(1, "a")]);
}

#[test]
fn references_that_are_no_dependencies_mean_the_copy_of_their_own_kind() {
    let mut snapshot = snapshot(&["p", "a(^p)", "a(! ^x)", "b", "c(!)"]);
    let old = below(1, "a");
    for index in [1, 2] {
        snapshot.resource_mut(index).unwrap().urn = old.clone();
    }
    for index in [3, 4] {
        snapshot.resource_mut(index).unwrap().view_of = Some(old.clone());
    }
    let references = [("a".into(), old.clone())].into();
    snapshot.snippets.push(Snippet { uuid: "u".into(), references, ..Snippet::default() });
    let live = Arc::clone(&snapshot.resources[3]);
    prune(&mut snapshot);
    assert_eq!(snapshot.resources[3].view_of.as_ref(), Some(&old), "the live copy keeps its name");
    assert!(Arc::ptr_eq(&live, &snapshot.resources[3]), "what stays the same is not copied");
    assert_eq!(snapshot.resources[4].view_of, Some(urn("a")), "the copy to be deleted has lost its parent");
    assert_eq!(snapshot.snippets[0].references["a"], old, "a snippet means what lives");
}

#[test]
fn a_provider_that_is_renamed_is_found_although_its_identifier_holds_the_delimiter() {
    let mut snapshot = snapshot(&["P(#1::2 ^x)", "a"]);
    let old = below(1, "P");
    snapshot.resource_mut(0).unwrap().urn = old.clone();
    let id = groundstate_pulumi_snapshot::ResourceId::from("1::2");
    let reference = groundstate_pulumi_snapshot::ProviderRef::build(&old, &id).unwrap();
    snapshot.resource_mut(1).unwrap().provider = Some(reference);
    prune(&mut snapshot);
    assert_eq!(snapshot.resources[1].provider, Some(provider_ref("P", "1::2")));
}

#[test]
fn all_else_of_a_resource_is_kept_when_one_of_its_references_follows() {
    let mut snapshot = snapshot(&["a(^x)", "b(a:other)"]);
    let old = below(1, "a");
    snapshot.resource_mut(0).unwrap().urn = old.clone();
    let properties = |text: &str| PropertyMap::from_iter([("k", PropertyValue::from(text))]);
    let user = snapshot.resource_mut(1).unwrap();
    user.view_of = Some(old);
    user.inputs = properties("input").into();
    user.outputs = properties("output").into();
    user.replacement_trigger = Some(groundstate_pulumi_snapshot::StoredValue::Value("trigger".into()));
    let mut expected = user.clone();
    expected.view_of = Some(urn("a"));
    prune(&mut snapshot);
    assert_eq!(*snapshot.resources[1], expected);
}

#[test]
fn a_resource_whose_name_is_no_urn_gets_none() {
    let mut broken = snapshot(&["urn:nonsense(^x)", "urn:nothing(x)"]);
    let results = prune(&mut broken);
    assert_eq!(broken.resources[0].urn, urn("urn:nonsense"));
    assert_eq!(broken.resources[0].parent, None);
    assert!(results[0].clash.is_some(), "{results:?}");
    assert_eq!(results[1].clash, None, "no other name was due: {results:?}");
}

#[test]
fn kinds_print_as_pulumi_prints_them() {
    let kinds = [
        (ReferenceKind::Parent, "parent"),
        (ReferenceKind::Provider, "provider"),
        (ReferenceKind::Property("k".into()), "property dependency: k"),
        (ReferenceKind::ViewOf, "view of"),
    ];
    for (kind, text) in kinds {
        assert_eq!(kind.to_string(), text);
    }
}
