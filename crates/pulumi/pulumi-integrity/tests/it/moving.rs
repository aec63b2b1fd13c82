//! Moving resources between stacks.

use std::sync::Arc;

use groundstate_pulumi_integrity::{
    Broken, MoveError, MoveOptions, MovedResources, VerifyOptions, move_again, move_resources, verify,
};
use groundstate_pulumi_snapshot::{Extension, PropertyMap, Resource, Snapshot, Urn};

use crate::support::{below, names, snapshot, urn};

fn options() -> MoveOptions {
    MoveOptions::new("dest", "q")
}

/// The name of a resource of the tests in the destination.
fn there(name: &str) -> Urn {
    urn(name).with_stack("dest").with_project("q")
}

/// A stack with its root, which is the parent of everything that has none.
fn stack(resources: &[&str]) -> Snapshot {
    let root = Urn::root_stack("s", "p");
    let mut snapshot = snapshot(resources);
    for index in 0..snapshot.resources.len() {
        snapshot.resource_mut(index).expect("it is there").parent.get_or_insert_with(|| root.clone());
    }
    snapshot.resources.insert(0, Arc::new(Resource::new(root, "pulumi:pulumi:Stack")));
    snapshot
}

#[track_caller]
fn moved(source: &Snapshot, destination: &Snapshot, urns: &[Urn], options: &MoveOptions) -> MovedResources {
    let moved = move_resources(source, destination, urns, options).expect("it can be moved");
    for snapshot in [&moved.source, &moved.destination] {
        let report = verify(snapshot, &VerifyOptions::default());
        assert!(report.is_clean(), "{report:?}");
    }
    moved
}

fn broken(broken: &[Broken]) -> Vec<String> {
    let one = |broken: &Broken| {
        format!("{} {} {}", broken.urn.name(), broken.reference.kind, broken.reference.urn.name())
    };
    broken.iter().map(one).collect()
}

#[test]
fn a_resource_moves_with_its_provider_and_without_its_ties() {
    let source = stack(&["P(#1)", "a(@P=1)", "b(a k:c w:a @P=1 c)", "c(@P=1)"]);
    let mut source = source;
    source.resources.swap(3, 4);
    let moved = moved(&source, &Snapshot::default(), &[urn("b"), urn("x")], &options());
    assert_eq!(names(&moved.destination), ["q-dest", "P", "b"]);
    let arrived = &moved.destination.resources[2];
    assert_eq!(arrived.urn, there("b"));
    assert_eq!(arrived.parent, Some(Urn::root_stack("dest", "q")));
    assert_eq!(arrived.provider, moved.destination.resources[1].provider_ref().ok());
    assert!(arrived.dependencies.is_empty() && arrived.property_dependencies.is_empty());
    assert_eq!(names(&moved.source), ["p-s", "P", "a", "c"]);
    let expected = ["b dependency a", "b dependency c", "b property dependency: k c", "b deleted with a"];
    assert_eq!(broken(&moved.broken_in_destination), expected);
    assert_eq!(moved.broken_in_source, []);
    assert_eq!(moved.unmatched, [urn("x")]);
    assert_eq!(moved.arrived, [1, 2]);
    assert_eq!(moved.resources, [(urn("b"), there("b"))]);
    assert_eq!(moved.providers, [(urn("P"), there("P"))]);
}

#[test]
fn what_stays_loses_its_references_to_what_moves() {
    let source = stack(&["a", "b(a k:a r:a v:a)"]);
    let moved = moved(&source, &Snapshot::default(), &[urn("a")], &options());
    let expected = ["b view of a", "b dependency a", "b property dependency: k a", "b replace with a"];
    assert_eq!(broken(&moved.broken_in_source), expected);
    let stays = &moved.source.resources[1];
    assert!(stays.replace_with.is_empty() && stays.view_of.is_none());
}

#[test]
fn children_come_along_and_parents_if_they_are_asked_to() {
    let mut source = stack(&["a", "b(^a)", "c"]);
    source.resource_mut(2).unwrap().urn = below(1, "b");
    let child = source.resource_mut(3).unwrap();
    (child.urn, child.parent) = (below(2, "c"), Some(below(1, "b")));
    child.dependencies = vec![below(1, "b")];

    let without = moved(&source, &Snapshot::default(), &[below(1, "b")], &options());
    assert_eq!(names(&without.destination), ["q-dest", "b", "c"]);
    let urns: Vec<&Urn> = without.destination.resources.iter().map(|resource| &resource.urn).collect();
    assert_eq!(urns[1..], [&there("b"), &below(1, "c").with_stack("dest").with_project("q")]);
    assert_eq!(without.destination.resources[2].dependencies, [there("b")]);
    assert_eq!(names(&without.source), ["p-s", "a"]);

    let with = moved(&source, &Snapshot::default(), &[below(1, "b")], &options().include_parents(true));
    assert_eq!(names(&with.destination), ["q-dest", "a", "b", "c"]);
    assert_eq!(names(&with.source), ["p-s"]);
    for done in [without, with] {
        assert_eq!(done.broken_in_source, [], "what moves along loses nothing where it was");
    }
}

#[test]
fn providers_of_the_destination_are_used_if_they_are_the_same() {
    let source = stack(&["P(#1)", "a(@P=1)"]);
    let provider = |id: &str, region: &str| {
        let mut provider = Resource::new(there("P"), "pulumi:providers:t");
        (provider.custom, provider.id) = (true, Some(id.into()));
        provider.inputs = PropertyMap::from_iter([("region", region)]).into();
        Snapshot::new([Resource::new(Urn::root_stack("dest", "q"), "pulumi:pulumi:Stack"), provider])
    };
    let mut same_inputs = provider("9", "eu");
    same_inputs.resource_mut(1).unwrap().inputs = groundstate_pulumi_snapshot::Properties::Absent;
    for (destination, id) in [(provider("1", "eu"), "1"), (same_inputs, "9")] {
        let moved = moved(&source, &destination, &[urn("a")], &options());
        assert_eq!(names(&moved.destination), ["q-dest", "P", "a"]);
        assert!(moved.providers.is_empty());
        let reference = moved.destination.resources[2].provider().unwrap().as_str().to_owned();
        assert!(reference.ends_with(&format!("::{id}")), "{reference}");
    }
    let error = move_resources(&source, &provider("9", "eu"), &[urn("a")], &options()).unwrap_err();
    assert_eq!(error, MoveError::ProviderTaken(there("P")));
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let source = stack(&["P(#1)", "a(@P=1)"]);
    let empty = Snapshot::default();
    let refused = |source: &Snapshot, destination: &Snapshot, urn: Urn| {
        move_resources(source, destination, &[urn], &options()).unwrap_err()
    };
    assert_eq!(refused(&empty, &empty, urn("a")), MoveError::NothingThere);
    assert_eq!(refused(&source, &empty, urn("x")), MoveError::NothingToMove);
    assert_eq!(refused(&source, &empty, Urn::root_stack("s", "p")), MoveError::NothingToMove);
    assert_eq!(refused(&source, &empty, urn("P")), MoveError::Provider(urn("P")));
    let taken = Snapshot::new([Resource::new(there("a"), "t:t:T")]);
    assert_eq!(refused(&source, &taken, urn("a")), MoveError::Taken(there("a")));
    let damaged = snapshot(&["a(x)"]);
    assert!(matches!(refused(&damaged, &empty, urn("a")), MoveError::Source(_)));
    assert!(matches!(refused(&source, &damaged, urn("a")), MoveError::Destination(_)));
}

#[test]
fn a_provider_whose_parent_moves_goes_to_the_root() {
    let mut source = stack(&["a", "P(#1 ^a)", "b"]);
    let provider = below(1, "P");
    source.resource_mut(2).unwrap().urn = provider.clone();
    let reference = source.resources[2].provider_ref().unwrap();
    source.resource_mut(3).unwrap().provider = Some(reference);
    let moved = moved(&source, &Snapshot::default(), &[urn("a")], &options());
    assert_eq!(names(&moved.source), ["p-s", "P", "b"]);
    assert_eq!(moved.source.resources[1].urn, urn("P"));
    assert_eq!(moved.source.resources[2].provider, moved.source.resources[1].provider_ref().ok());
    assert_eq!(broken(&moved.broken_in_source), ["P parent a"]);
}

#[test]
fn extensions_come_along_unless_another_has_the_name() {
    let mut source = stack(&["a"]);
    source.resource_mut(1).unwrap().extension_ref = Some("e".into());
    source.extensions.insert("e".into(), Extension { name: "one".into(), ..Extension::default() });
    let done = moved(&source, &Snapshot::default(), &[urn("a")], &options());
    assert_eq!(done.destination.extensions, source.extensions);
    let mut other = Snapshot::default();
    other.extensions.insert("e".into(), Extension { name: "two".into(), ..Extension::default() });
    let error = move_resources(&source, &other, &[urn("a")], &options()).unwrap_err();
    assert_eq!(error, MoveError::Extension("e".into()));
}

#[test]
fn two_that_would_get_one_name_without_their_parents_are_refused() {
    let mut source = stack(&["c", "c"]);
    for (index, parent) in [(1, "t:t:U"), (2, "t:t:V")] {
        let child = source.resource_mut(index).unwrap();
        child.urn = Urn::build("s", "p", parent, "t:t:T", "c");
    }
    let urns = [1, 2].map(|index| source.resources[index].urn.clone());
    let error = move_resources(&source, &Snapshot::default(), &urns, &options()).unwrap_err();
    assert_eq!(error, MoveError::Taken(there("c")));
}

#[test]
fn dependencies_of_properties_hold_among_what_moves() {
    let mut source = stack(&["a", "b(k:a)"]);
    source.resource_mut(2).unwrap().property_dependencies.insert("none", Some(Vec::new()));
    let moved = moved(&source, &Snapshot::default(), &[urn("a"), urn("b")], &options());
    let arrived = &moved.destination.resources[2].property_dependencies;
    assert_eq!(arrived.get("k"), Some(&[there("a")][..]));
    assert_eq!(arrived.get("none"), Some(&[][..]));
}

#[test]
fn all_copies_of_a_name_move_together() {
    let source = stack(&["a(! #1)", "a(#2)"]);
    assert_eq!(
        names(&moved(&source, &Snapshot::default(), &[urn("a")], &options()).destination),
        ["q-dest", "a!", "a'1"]
    );
    let source = stack(&["a(#1)", "a(! #2)", "b"]);
    let moved = moved(&source, &Snapshot::default(), &[urn("a")], &options());
    assert_eq!(names(&moved.destination), ["q-dest", "a", "a'1!"]);
    assert_eq!(names(&moved.source), ["p-s", "b"]);
}

#[test]
fn a_move_that_was_stored_in_the_destination_alone_is_found_there() {
    let source = stack(&["P(#1)", "a(@P=1)", "b(a @P=1)", "c"]);
    let before = stack(&["d"]);
    let mut before = before;
    for index in 0..before.resources.len() {
        let resource = before.resource_mut(index).unwrap();
        resource.urn = resource.urn.with_stack("dest").with_project("q");
        resource.parent = resource.parent.take().map(|urn| urn.with_stack("dest").with_project("q"));
    }
    let urns = [urn("a"), urn("b")];
    let first = moved(&source, &before, &urns, &options());
    let error = move_resources(&source, &first.destination, &urns, &options()).unwrap_err();
    assert_eq!(error, MoveError::Taken(there("a")));

    let again = move_again(&source, &first.destination, &urns, &options()).unwrap();
    assert_eq!(again.source, first.source);
    for (_, new) in &again.resources {
        let of = |snapshot: &Snapshot| snapshot.resources.iter().find(|found| found.urn == *new).cloned();
        assert_eq!(of(&again.destination), of(&first.destination), "{new}");
    }
    // The provider came with the first attempt, and is used now.
    assert!(again.providers.is_empty());

    let error = move_again(&source, &before, &urns, &options()).unwrap_err();
    assert_eq!(error, MoveError::NothingToMove);
}
