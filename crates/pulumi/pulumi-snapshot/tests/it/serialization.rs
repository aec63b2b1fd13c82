//! The models through serde and back.

use std::fmt::Debug;
use std::sync::Arc;

use groundstate_json::{Extra, RawJson};
use groundstate_pulumi_snapshot::{
    Archive, ArchiveContent, Asset, Ciphertext, Extension, ExtensionRef, Feature, HookType,
    IntegrityErrorMetadata, Manifest, Number, Operation, OperationType, Output, Plugin, ProjectName,
    PropertyMap, PropertyValue, ProviderRef, Resource, ResourceId, ResourceReference, Secret,
    SecretsProvider, Snapshot, Snippet, SnippetDescriptor, SnippetId, StackFrame, StackName, StoredValue,
    Time, Timeouts, TypeToken, Urn,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::support::urn;

#[track_caller]
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[track_caller]
fn is_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(again(value), *value);
}

fn extra() -> Extra {
    let mut extra = Extra::new();
    extra.push("later", RawJson::parse("[1.0]").unwrap());
    extra.push("later", RawJson::parse("\"a<b\"").unwrap());
    extra
}

fn time(text: &str) -> Time {
    Time::parse(text).unwrap()
}

fn sealed(text: &str) -> PropertyValue {
    Secret::sealed(Ciphertext::new(text)).into()
}

/// Properties with one value of every kind.
fn properties() -> PropertyMap {
    let text = PropertyValue::Asset(Box::new(Asset { extra: names(), ..Asset::from_text("hello") }));
    let content = ArchiveContent::Assets([(Arc::from("a.txt"), text)].into());
    let archives =
        [ArchiveContent::Unknown, ArchiveContent::Path("a".into()), ArchiveContent::Uri("u".into()), content]
            .map(|content| Archive { hash: Some("00".into()), content, extra: names() })
            .map(|archive| PropertyValue::Archive(Box::new(archive)));
    let reference = ResourceReference {
        urn: urn("a"),
        id: Some(ResourceId::default()),
        package_version: "1.2.3".into(),
        extra: names(),
    };
    let output = Output { element: "known".into(), known: true, secret: false, dependencies: vec![urn("b")] };
    PropertyMap::from_iter([
        ("null", PropertyValue::Null),
        ("bool", true.into()),
        ("number", PropertyValue::Number(Number::parse("9007199254740993").unwrap())),
        ("string", "é\u{0}".into()),
        ("bytes", PropertyValue::bytes(b"\xff\x00")),
        ("array", vec![PropertyValue::unknown(), 1.5.into()].into()),
        ("object", PropertyValue::Object(names())),
        ("output", PropertyValue::Output(Box::new(output))),
        ("archives", archives.to_vec().into()),
        ("reference", PropertyValue::ResourceReference(Box::new(reference))),
        ("secret", sealed("v1:abc:def")),
    ])
}

fn names() -> PropertyMap {
    PropertyMap::from_iter([("", "empty"), ("b", "c")])
}

/// A resource with every member that one can have.
fn resource() -> Resource {
    let mut resource = crate::support::resource("a(b ^c #i-1 @P=42 w:d r:e k:f !)");
    resource.inputs = properties().into();
    resource.outputs = RawJson::parse(r#"{"size":1.50,"id":"a<b"}"#).unwrap().into();
    resource.protect = true;
    resource.init_errors.push("failed".into());
    resource.property_dependencies.insert("none", None);
    resource.additional_secret_outputs.push("password".into());
    resource.aliases.push(urn("z"));
    let timeouts =
        Timeouts { create: Some(Number::parse("60.0").unwrap()), extra: extra(), ..Timeouts::default() };
    resource.custom_timeouts = timeouts.into();
    resource.import_id = Some("i-0".into());
    resource.created = Some(time("2024-05-06T07:08:09.12+02:00"));
    resource.modified = Some(Time::ZERO);
    resource.source_position = Some("project:///a.ts#1,2".into());
    resource.stack_trace.push(StackFrame { source_position: None, extra: extra() });
    resource.replacement_trigger = Some(StoredValue::Value(sealed("v1:g:h")));
    resource.view_of = Some(urn("v"));
    resource.resource_hooks.insert(HookType::from(HookType::BEFORE_CREATE), vec!["hook".into()]);
    resource.extension_ref = Some(ExtensionRef::from("x"));
    resource.snippet_id = Some(SnippetId::from("s"));
    resource.extra = extra();
    resource
}

fn snapshot() -> Snapshot {
    let extension =
        Extension { name: "n".into(), version: "1".into(), value: Arc::from(&b"\xff"[..]), extra: extra() };
    let trigger = Some(StoredValue::Raw(RawJson::parse("[1.0]").unwrap()));
    let raw = Resource { replacement_trigger: trigger, ..Resource::root_stack("dev", "shop") };
    let mut snapshot = Snapshot::new([raw, resource()]);
    snapshot.manifest = Manifest {
        plugins: vec![Plugin { name: "aws".into(), ..Plugin::default() }],
        extra: extra(),
        ..Manifest::new(time("2024-05-06T07:08:09Z"), "v3.259.0")
    };
    let state = Some(RawJson::parse(r#"{"salt":"v1:x"}"#).unwrap());
    snapshot.secrets_provider = Some(SecretsProvider { kind: "passphrase".into(), state, extra: extra() });
    for kind in [OperationType::Creating, OperationType::from("later")] {
        snapshot.pending_operations.push(Operation { extra: extra(), ..Operation::new(resource(), kind) });
    }
    snapshot.metadata.integrity_error = Some(IntegrityErrorMetadata {
        env_vars: [(Arc::from("A"), Arc::from("\"b\""))].into(),
        ..IntegrityErrorMetadata::default()
    });
    snapshot.snippets.push(Snippet {
        uuid: "s".into(),
        code: "let a".into(),
        descriptor: SnippetDescriptor {
            parameterization: Some(extension.clone()),
            ..SnippetDescriptor::default()
        },
        references: [(Arc::from("r"), urn("a"))].into(),
        ..Snippet::default()
    });
    snapshot.extensions.insert("x".into(), extension);
    snapshot.extra = extra();
    snapshot
}

#[test]
fn a_snapshot_is_the_same_after_it() {
    is_kept(&snapshot());
    is_kept(&Snapshot::default());
}

#[test]
fn names_times_and_numbers_are_strings() {
    for (text, written) in [
        (serde_json::to_string(&urn("a")), r#""urn:pulumi:s::p::t:t:T::a""#),
        (serde_json::to_string(&Urn::default()), r#""""#),
        (serde_json::to_string(&TypeToken::from("a:b:c")), r#""a:b:c""#),
        (serde_json::to_string(&ProviderRef::from("x")), r#""x""#),
        (serde_json::to_string(&time("2024-05-06T07:08:09.120+02:00")), r#""2024-05-06T07:08:09.12+02:00""#),
        (serde_json::to_string(&Number::parse("1.0").unwrap()), r#""1.0""#),
        (serde_json::to_string(&Feature::SnippetsPrototype), r#""snippets-prototype""#),
        (serde_json::to_string(&OperationType::Importing), r#""importing""#),
        (serde_json::to_string(&StackName::parse("dev").unwrap()), r#""dev""#),
    ] {
        assert_eq!(text.unwrap(), written);
    }
}

#[test]
fn what_is_no_name_is_refused() {
    fn refused<T: DeserializeOwned + Debug>(texts: &[&str]) {
        for text in texts {
            let text = serde_json::to_string(text).unwrap();
            serde_json::from_str::<T>(&text).unwrap_err();
        }
    }
    refused::<Urn>(&["urn:pulumi:", "urn:pulumi:a::b::c", "a::b::c::d"]);
    refused::<Time>(&["", "2024-01-01"]);
    refused::<Number>(&["", "NaN", "+Inf", "01"]);
    refused::<Feature>(&["", "later"]);
    refused::<StackName>(&["", "a/b"]);
    refused::<ProjectName>(&["a b"]);
    let text = serde_json::to_string(&snapshot()).unwrap();
    serde_json::from_str::<Snapshot>(&text.replacen("{", r#"{"more":1,"#, 1)).unwrap_err();
    serde_json::from_str::<Snapshot>(&text.replacen("urn:pulumi:s::p::t:t:T::a", "urn:pulumi:s", 1))
        .unwrap_err();
}

#[test]
fn a_broken_urn_is_not_written() {
    serde_json::to_string(&Resource::new("a::b", "t:t:T")).unwrap_err();
    serde_json::to_string(&Number::new(f64::NAN)).unwrap_err();
}

#[test]
fn plain_secrets_are_not_written() {
    let mut opened = Secret::sealed(Ciphertext::new("v1:abc:def"));
    opened.open("swordfish".into());
    assert_eq!(serde_json::to_string(&opened).unwrap(), r#""v1:abc:def""#);
    assert_eq!(again(&opened).value(), None);

    let fresh = PropertyValue::from("swordfish").into_secret();
    let output = Output { element: "swordfish".into(), known: true, secret: true, dependencies: Vec::new() };
    for value in [fresh, PropertyValue::Output(Box::new(output))] {
        let mut resource = Resource::new(urn("a"), "t:t:T");
        resource.outputs = PropertyMap::from_iter([("password", value)]).into();
        let error = serde_json::to_string(&resource).unwrap_err().to_string();
        assert!(error.contains("encrypted") && !error.contains("swordfish"), "{error}");
    }
}

proptest! {
    #[test]
    fn urns_of_any_parts_are_kept(stack in any::<String>(), types in any::<String>(), name in any::<String>()) {
        is_kept(&Urn::build(&stack, "p", "", &types, &name));
        is_kept(&ResourceId::from(name));
    }

    #[test]
    fn numbers_are_kept(value in any::<f64>().prop_filter("JSON has no other", |value| value.is_finite())) {
        is_kept(&Number::new(value));
    }
}
