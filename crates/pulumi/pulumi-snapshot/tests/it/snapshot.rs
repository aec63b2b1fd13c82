//! Snapshots: sharing, lookups, features.

use std::sync::Arc;

use groundstate_pulumi_snapshot::{
    Feature, HookType, Manifest, Operation, OperationType, Properties, PropertyMap, PropertyValue, Resource,
    Snapshot, Snippet, StoredValue, Time, Timeouts,
};

use crate::support::{resource, snapshot, urn};

#[test]
fn copies_share_resources_until_one_changes_them() {
    let mut changed = snapshot(&["a", "b"]);
    let kept = changed.clone();
    changed.resource_mut(0).unwrap().replace_with.push(urn("x"));
    assert!(kept.resources[0].replace_with.is_empty());
    assert!(Arc::ptr_eq(&kept.resources[1], &changed.resources[1]));
    assert_eq!(changed.resource(2), None);
    assert_eq!(changed.resource_mut(2), None);
}

#[test]
fn names_are_found_with_all_their_copies() {
    let found = snapshot(&["a(!)", "b", "a", "a(!)", "c(!)", "a"]);
    let index = found.urn_index();
    assert_eq!(found.locate(&urn("a")).map(|(at, _)| at).collect::<Vec<_>>(), [0, 2, 3, 5]);
    assert_eq!(index.all(&urn("a")).collect::<Vec<_>>(), [0, 2, 3, 5]);
    assert_eq!((index.live(&urn("a")), index.deleted(&urn("a"))), (Some(5), Some(3)));
    assert_eq!((index.resolve(&urn("a"), true), index.resolve(&urn("a"), false)), (Some(3), Some(5)));
    assert_eq!((index.resolve(&urn("b"), true), index.resolve(&urn("c"), false)), (Some(1), Some(4)));
    assert_eq!((index.resolve(&urn("d"), false), index.contains(&urn("d"))), (None, false));
    assert_eq!(index.repeated().collect::<Vec<_>>(), [&urn("a")]);
}

#[test]
fn needs_are_found_provider_first() {
    let found = snapshot(&["P(#1)", "a", "a(!)", "x(a @P=1 ^a missing)", "y(! a @P=2)"]);
    let index = found.urn_index();
    assert_eq!(index.successors(3).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(index.successors(4).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(index.successors(9).count(), 0);
}

#[test]
fn providers_are_found_although_their_identifiers_hold_delimiters() {
    let found = snapshot(&["P(#a::b)", "x(@P=a::b)"]);
    assert_eq!(found.urn_index().provider(&found.resources[1]), Some(0));
}

#[test]
fn the_root_stack_has_no_parent() {
    let root = Resource::new(urn("x"), "pulumi:pulumi:Stack");
    let mut child = root.clone();
    child.parent = Some(urn("y"));
    let found = Snapshot::new([child, root]);
    assert_eq!(found.root_stack().map(|(at, _)| at), Some(1));
    assert_eq!(Snapshot::default().root_stack(), None);
    let made = Resource::root_stack("dev", "shop");
    assert!(made.is_root_stack() && !made.custom);
    assert_eq!(made.urn.name(), "shop-dev");
    assert_eq!((made.inputs.as_map().is_some(), made.outputs.as_map().is_none()), (true, true));
}

#[test]
fn the_magic_belongs_to_the_version() {
    for (version, magic) in [
        ("", ""),
        ("v3.259.0", "ab35920a3077459b09dd1a3f7ddc28df4e3efc81b3240013bb6906688abc684d"),
        ("v3.100.0", "3ff53efef69f38d19e364655131bbb113e416d3bf64bfb819065fa12acb29250"),
    ] {
        let mut manifest = Manifest::new(Time::ZERO, version);
        assert_eq!((&*manifest.magic, manifest.magic_is_right()), (magic, true));
        manifest.version = "v0".into();
        assert!(!manifest.magic_is_right());
    }
}

#[test]
fn each_feature_has_its_condition() {
    let bytes = || PropertyMap::from_iter([("k", PropertyValue::bytes(b"\xff").into_secret())]);
    let with = |change: fn(&mut Resource)| {
        let mut resource = resource("a");
        change(&mut resource);
        resource
    };
    let mut of_bytes = resource("a");
    of_bytes.outputs = Properties::Map(bytes());
    let mut trigger = resource("a");
    trigger.replacement_trigger = Some(StoredValue::Value(PropertyValue::Object(bytes())));
    for (resource, expected) in [
        (resource("a"), None),
        (of_bytes, Some(Feature::ByteString)),
        (trigger, Some(Feature::ByteString)),
        (with(|r| r.extension_ref = Some("e".into())), Some(Feature::ExtensionParameterization)),
        (with(|r| r.extension_ref = Some("".into())), None),
        (with(|r| drop(r.resource_hooks.insert(HookType::ON_ERROR.into(), vec![]))), Some(Feature::Hooks)),
        (with(|r| r.refresh_before_update = true), Some(Feature::RefreshBeforeUpdate)),
        (with(|r| r.replace_with.push(urn("b"))), Some(Feature::ReplaceWith)),
        (with(|r| r.snippet_id = Some("s".into())), Some(Feature::SnippetsPrototype)),
        (with(|r| r.taint = true), Some(Feature::Taint)),
        (with(|r| r.view_of = Some(urn("b"))), Some(Feature::Views)),
    ] {
        let found: Vec<Feature> = resource.features().into_iter().collect();
        assert_eq!(found, Vec::from_iter(expected));
        let mut pending = Snapshot::default();
        pending.pending_operations.push(Operation::new(resource, OperationType::Creating));
        assert_eq!(pending.features().into_iter().collect::<Vec<_>>(), found, "pending operations count");
    }
    let snippets = Snapshot { snippets: vec![Snippet::default()], ..Snapshot::default() };
    assert_eq!(snippets.features().into_iter().collect::<Vec<_>>(), [Feature::SnippetsPrototype]);
}

#[test]
fn features_are_ordered_and_found_by_their_names() {
    let names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert!(Feature::ALL.is_sorted());
    assert!(Feature::ALL.iter().all(|feature| Feature::from_name(feature.as_str()) == Some(*feature)));
    assert_eq!(Feature::from_name("zzz"), None);
}

#[test]
fn small_parts_know_what_they_are() {
    for word in ["creating", "updating", "deleting", "reading", "importing", "later"] {
        assert_eq!(OperationType::from(word).to_string(), word);
    }
    assert_eq!(OperationType::from("importing"), OperationType::Importing);
    let none: groundstate_pulumi_snapshot::CustomTimeouts = Timeouts::default().into();
    assert!(none.get().is_none());
    assert!(Properties::Map(PropertyMap::new()).is_empty() && Properties::Absent.is_empty());
    assert!(StoredValue::Value(PropertyValue::Null).is_null());
}
