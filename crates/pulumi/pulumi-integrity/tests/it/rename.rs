//! Renaming resources and stacks.

use std::sync::Arc;

use groundstate_pulumi_integrity::{
    MoveOptions, RenameError, RenameStack, RenameStackError, VerifyOptions, move_resources, rename,
    rename_stack, verify,
};
use groundstate_pulumi_snapshot::{
    Archive, ArchiveContent, Operation, OperationType, Output, Properties, PropertyMap, PropertyValue,
    ProviderRef, RawJson, Resource, ResourceReference, Secret, Snapshot, Snippet, StoredValue, Urn,
};

use crate::support::{names, provider_ref, resource, snapshot, urn};

const REFERENCE: &str = r#"{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"URN","packageVersion":""}"#;

fn raw(text: &str) -> RawJson {
    RawJson::parse_as_written(text).expect("it is there")
}

/// A snapshot in which every kind of member names `old`.
fn mentioned_everywhere(old: &Urn) -> Snapshot {
    let mut snapshot = snapshot(&["a", "b(a ^a k:a w:a r:a v:a a:a)", "c"]);
    let text = format!(r#"{{"r":{},"plain":"{old}"}}"#, REFERENCE.replace("URN", old.as_str()));
    let user = snapshot.resource_mut(1).expect("it is there");
    user.inputs = raw(&text).into();
    user.outputs = raw(&text).into();
    user.replacement_trigger = Some(StoredValue::Raw(raw(&text)));
    let pending = Operation::new(resource("a(b)"), OperationType::Updating);
    snapshot.pending_operations.push(pending);
    let references = [("a".into(), old.clone())].into();
    snapshot.snippets.push(Snippet { uuid: "u".into(), references, ..Snippet::default() });
    snapshot
}

/// How often a text stands in what the snapshot holds of resources, besides plain strings.
fn mentions(snapshot: &Snapshot, urn: &Urn) -> usize {
    let of = |resource: &Resource| {
        let trigger = match &resource.replacement_trigger {
            Some(StoredValue::Raw(raw)) => Some(raw),
            _ => None,
        };
        let texts = [resource.inputs.as_raw(), resource.outputs.as_raw(), trigger];
        let needle = format!(r#""urn":"{urn}""#);
        let inside = texts.into_iter().flatten().filter(|raw| raw.as_str().contains(&needle)).count();
        let others = resource.aliases.iter().chain(&resource.view_of).filter(|other| *other == urn).count();
        let edges = resource.all_dependencies().filter(|edge| edge.urn == urn).count();
        inside + others + edges + usize::from(resource.urn == *urn)
    };
    let pending = snapshot.pending_operations.iter().map(|operation| of(&operation.resource));
    let snippets = snapshot.snippets.iter().flat_map(|snippet| snippet.references.values());
    snapshot.resources.iter().map(|resource| of(resource)).chain(pending).sum::<usize>()
        + snippets.filter(|other| *other == urn).count()
}

#[test]
fn a_name_is_changed_wherever_it_stands() {
    let mut snapshot = mentioned_everywhere(&urn("a"));
    let before = mentions(&snapshot, &urn("a"));
    assert_eq!(before, 13);
    let untouched = Arc::clone(&snapshot.resources[2]);
    let renamed = rename(&mut snapshot, &urn("a"), "new").unwrap();
    assert_eq!((renamed.urn, renamed.changed), (urn("new"), 2));
    assert_eq!(mentions(&snapshot, &urn("a")), 0);
    assert_eq!(mentions(&snapshot, &urn("new")), before);
    assert!(
        snapshot.resources[1]
            .inputs
            .as_raw()
            .unwrap()
            .as_str()
            .contains(&format!(r#""plain":"{}""#, urn("a")))
    );
    assert!(Arc::ptr_eq(&untouched, &snapshot.resources[2]));
    assert!(verify(&snapshot, &VerifyOptions::default()).is_valid());
}

#[test]
fn a_name_in_one_kind_of_value_alone_is_changed() {
    let text = |name: &str| raw(&format!(r#"{{"r":{}}}"#, REFERENCE.replace("URN", urn(name).as_str())));
    let put: [fn(&mut Resource, RawJson); 3] = [
        |user, value| user.inputs = value.into(),
        |user, value| user.outputs = value.into(),
        |user, value| user.replacement_trigger = Some(StoredValue::Raw(value)),
    ];
    for put in put {
        let mut snapshot = snapshot(&["a", "b"]);
        put(snapshot.resource_mut(1).unwrap(), text("a"));
        let mut expected = resource("b");
        put(&mut expected, text("new"));
        assert_eq!(rename(&mut snapshot, &urn("a"), "new").unwrap().changed, 2);
        assert_eq!(*snapshot.resources[1], expected);
    }
}

#[test]
fn references_to_a_provider_keep_its_identifier() {
    let mut snapshot = snapshot(&["P1(#1::2)", "a(@P1=1::2)", "P(#1)", "b(@P=1)"]);
    rename(&mut snapshot, &urn("P1"), "P9").unwrap();
    assert_eq!(snapshot.resources[1].provider, Some(provider_ref("P9", "1::2")));
    assert_eq!(snapshot.resources[3].provider, Some(provider_ref("P", "1")));
}

#[test]
fn names_that_cannot_be_given_are_refused() {
    let mut snapshot = snapshot(&["a", "b", "c", "c(!)"]);
    let before = snapshot.clone();
    assert_eq!(rename(&mut snapshot, &urn("a"), "b"), Err(RenameError::Taken(urn("b"))));
    assert_eq!(rename(&mut snapshot, &urn("x"), "b"), Err(RenameError::Missing(urn("x"))));
    assert_eq!(rename(&mut snapshot, &urn("c"), "d"), Err(RenameError::Ambiguous(urn("c"))));
    assert_eq!(rename(&mut snapshot, &Urn::from("x"), "d"), Err(RenameError::Invalid(Urn::from("x"))));
    assert_eq!(rename(&mut snapshot, &urn("a"), "a").unwrap().changed, 0);
    assert_eq!(snapshot, before);
}

#[test]
fn a_parent_can_be_renamed_though_a_child_exists_twice() {
    let mut snapshot = snapshot(&["a", "b(^a)", "b(! ^a)"]);
    rename(&mut snapshot, &urn("a"), "c").unwrap();
    assert_eq!(names(&snapshot), ["c", "b", "b'1!"]);
    assert!(snapshot.resources[1..].iter().all(|resource| resource.parent == Some(urn("c"))));
}

#[test]
fn renaming_a_stack_renames_its_root_resource() {
    let root = Urn::root_stack("s", "p");
    let mut snapshot = snapshot(&["a"]);
    snapshot.resource_mut(0).unwrap().parent = Some(root.clone());
    snapshot.resources.insert(0, Arc::new(Resource::new(root, "pulumi:pulumi:Stack")));
    let to = RenameStack::new("s", "prod").old_project("p").new_project("q");
    assert_eq!(rename_stack(&mut snapshot, &to).unwrap().changed, 2);
    assert_eq!(snapshot.resources[0].urn.as_str(), "urn:pulumi:prod::q::pulumi:pulumi:Stack::q-prod");
    assert_eq!(snapshot.resources[1].parent, Some(snapshot.resources[0].urn.clone()));
    assert_eq!(snapshot.resources[1].urn.as_str(), "urn:pulumi:prod::q::t:t:T::a");
}

#[test]
fn urns_of_other_stacks_and_projects_are_not_renamed() {
    let foreign = Urn::build("s", "other", "", "t:t:T", "x");
    let elsewhere = Urn::build("t", "p", "", "t:t:T", "x");
    let mut snapshot = snapshot(&["a"]);
    let mut user = resource("b(a)");
    user.dependencies.extend([foreign.clone(), elsewhere.clone()]);
    snapshot.resources.push(Arc::new(user));
    rename_stack(&mut snapshot, &RenameStack::new("s", "n").old_project("p")).unwrap();
    let expected = [Urn::build("n", "p", "", "t:t:T", "a"), foreign, elsewhere];
    assert_eq!(snapshot.resources[1].dependencies, expected);
}

#[test]
fn references_inside_plain_secrets_are_renamed() {
    let inside = REFERENCE.replace("URN", urn("a").as_str());
    let secret = |text: &str| {
        let mut literal = String::new();
        groundstate_json::push_json_string(&mut literal, text);
        format!(
            r#"{{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":{literal}}}"#
        )
    };
    let text = format!(r#"{{"json":{},"not":{}}}"#, secret(&inside), secret("not-json"));
    let mut snapshot = snapshot(&["a"]);
    snapshot.resource_mut(0).unwrap().inputs = raw(&text).into();
    rename_stack(&mut snapshot, &RenameStack::new("s", "n")).unwrap();
    let new = Urn::build("n", "p", "", "t:t:T", "a");
    let expected = text.replace(urn("a").as_str(), new.as_str());
    assert_eq!(snapshot.resources[0].inputs.as_raw().unwrap().as_str(), expected);
}

#[test]
fn a_stack_is_renamed_wherever_its_name_stands() {
    let mut snapshot = mentioned_everywhere(&urn("a"));
    rename_stack(&mut snapshot, &RenameStack::new("s", "n")).unwrap();
    let new = Urn::build("n", "p", "", "t:t:T", "a");
    assert_eq!((mentions(&snapshot, &urn("a")), mentions(&snapshot, &new)), (0, 13));
}

#[test]
fn providers_that_cannot_be_read_stop_a_rename_unless_forced() {
    let mut snapshot = snapshot(&["a", "b"]);
    snapshot.resource_mut(0).unwrap().provider = Some(ProviderRef::from("nonsense"));
    let before = snapshot.clone();
    let to = RenameStack::new("s", "n");
    let error = rename_stack(&mut snapshot, &to).unwrap_err();
    let RenameStackError::Provider { urn: named, .. } = &error else { panic!("{error}") };
    assert_eq!(named.stack(), "n");
    assert!(error.to_string().starts_with("parsing provider reference for \"urn:pulumi:n::"));
    assert_eq!(snapshot, before);
    let done = rename_stack(&mut snapshot, &to.force(true)).unwrap();
    assert_eq!((done.changed, done.warnings.len()), (2, 1));
    assert_eq!(snapshot.resources[0].provider, Some(ProviderRef::from("nonsense")));
}

#[test]
fn a_reference_without_an_identifier_stays_without_one_if_its_name_stays() {
    let text = format!("{}::", urn("P"));
    let mut snapshot = snapshot(&["a"]);
    snapshot.resource_mut(0).unwrap().provider = Some(ProviderRef::from(text.as_str()));
    rename_stack(&mut snapshot, &RenameStack::new("other", "n")).unwrap();
    assert_eq!(snapshot.resources[0].provider, Some(ProviderRef::from(text)));
}

/// A property that is encrypted, so that no name in it can be followed.
const SEALED: &str = r#"{"k":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:AAAA"}]}"#;

#[test]
fn encrypted_values_that_may_name_the_old_name_are_counted() {
    let mut snapshot = snapshot(&["a", "b"]);
    assert_eq!(rename(&mut snapshot, &urn("a"), "c").unwrap().sealed, 0);
    snapshot.resource_mut(1).unwrap().inputs = raw(SEALED).into();
    let mut pending = resource("d");
    (pending.outputs, pending.replacement_trigger) =
        (raw(SEALED).into(), Some(StoredValue::Raw(raw(SEALED))));
    snapshot.pending_operations.push(Operation::new(pending, OperationType::Updating));
    assert_eq!(rename(&mut snapshot, &urn("c"), "a").unwrap().sealed, 3);
    assert_eq!(rename_stack(&mut snapshot, &RenameStack::new("s", "n")).unwrap().sealed, 3);
    let moved = urn("b").with_stack("n");
    snapshot.pending_operations.clear();
    let root = Urn::root_stack("n", "p");
    snapshot.resources.insert(0, Arc::new(Resource::new(root, "pulumi:pulumi:Stack")));
    let options = MoveOptions::new("dest", "q");
    let moved = move_resources(&snapshot, &Snapshot::default(), &[moved], &options).unwrap();
    assert_eq!(moved.sealed, 1);
}

/// Values of every shape that can hold a name, and a text.
fn shapes(name: &Urn) -> Vec<PropertyValue> {
    let reference = || {
        PropertyValue::ResourceReference(Box::new(ResourceReference {
            urn: name.clone(),
            id: None,
            package_version: "".into(),
            extra: PropertyMap::default(),
        }))
    };
    let output =
        Output { element: reference(), known: true, secret: false, dependencies: vec![name.clone()] };
    let bare = Output { element: PropertyValue::Null, ..output.clone() };
    let archive = Archive {
        content: ArchiveContent::Assets([("inside".into(), reference())].into()),
        ..Archive::default()
    };
    let mut map = PropertyMap::default();
    map.insert("nested", PropertyValue::Array(vec![PropertyValue::Bool(true), reference()]));
    vec![
        PropertyValue::Object(map),
        PropertyValue::Computed(Box::new(reference())),
        PropertyValue::Output(Box::new(output)),
        PropertyValue::Output(Box::new(bare)),
        PropertyValue::Archive(Box::new(archive)),
        PropertyValue::Secret(Secret::new(reference())),
        PropertyValue::String(name.as_str().into()),
    ]
}

#[test]
fn a_name_is_changed_in_every_shape_of_a_value() {
    let (old, mut new) = (shapes(&urn("a")), shapes(&urn("new")));
    // What a text means only the program knows.
    *new.last_mut().unwrap() = old.last().unwrap().clone();
    for (shape, expected) in old.into_iter().zip(new) {
        let mut snapshot = snapshot(&["a", "b"]);
        let mut map = PropertyMap::default();
        map.insert("k", shape.clone());
        let stays = shape == expected;
        let user = snapshot.resource_mut(1).unwrap();
        user.inputs = Properties::Map(map);
        user.replacement_trigger = Some(StoredValue::Value(shape));
        let changed = rename(&mut snapshot, &urn("a"), "new").unwrap().changed;
        assert_eq!(changed, if stays { 1 } else { 2 });
        let user = &snapshot.resources[1];
        let Properties::Map(map) = &user.inputs else { panic!("it is a map") };
        assert!(map.get("k") == Some(&expected), "{expected:?}");
        assert!(user.replacement_trigger == Some(StoredValue::Value(expected)));
    }
}
