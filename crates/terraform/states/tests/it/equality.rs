//! When states and objects count as equal.

use groundstate_states::{
    AttributePath, Attributes, DeposedKey, ObjectSrc, ObjectStatus, OutputValue, PathStep, State, Type,
    Value, managed_resources_equal,
};

use crate::support::{instance, module, object, provider, provider_instance, raw, resource, state};

pub(crate) type Change = fn(&mut ObjectSrc);

/// One change for each field of an object.
pub(crate) fn changes() -> Vec<(&'static str, Change)> {
    vec![
        ("schema_version", |object| object.schema_version += 1),
        ("attributes", |object| object.attributes = Attributes::Json(raw("[1]"))),
        ("flat attributes", |object| object.attributes = Attributes::Flat([("a".into(), "b".into())].into())),
        ("sensitive_paths", |object| object.sensitive_paths.push(path("x"))),
        ("private", |object| object.private = [1_u8, 2].as_slice().into()),
        ("status", |object| object.status = ObjectStatus::Tainted),
        ("dependencies", |object| object.dependencies.push(resource("vm.dep").to_config())),
        ("depends_on", |object| object.depends_on.push(instance("vm.dep[0]"))),
        ("create_before_destroy", |object| object.create_before_destroy = true),
        ("skip_destroy", |object| object.skip_destroy = true),
        ("identity", |object| object.identity = Some(raw("{\"i\":1}"))),
        ("identity_schema_version", |object| object.identity_schema_version = Some(0)),
        ("extra", |object| object.extra.push("future", raw("true"))),
    ]
}

pub(crate) fn path(name: &str) -> AttributePath {
    [PathStep::attribute(name), PathStep::index(Type::Number, Value::Number(0_u64.into()))]
        .into_iter()
        .collect()
}

#[test]
fn every_field_of_an_object_matters() {
    for (field, change) in changes() {
        let mut changed = ObjectSrc::clone(&object("x"));
        change(&mut changed);
        assert!(!changed.is_equivalent(&object("x")), "{field}");
        assert!(!object("x").is_equivalent(&changed), "{field}");
        assert!(changed.is_equivalent(&changed.clone()), "{field}");
    }
}

#[test]
fn order_and_duplicates_of_sets_do_not_matter() {
    let (a, b) = (resource("vm.a").to_config(), resource("vm.b").to_config());
    let with = |dependencies: Vec<_>, depends_on: Vec<_>, paths: Vec<_>| {
        let mut object = ObjectSrc::clone(&object("x"));
        object.dependencies = dependencies;
        object.depends_on = depends_on;
        object.sensitive_paths = paths;
        object
    };
    let (one, two) = (instance("vm.a"), instance("vm.a[0]"));
    let sorted = with(vec![a.clone(), b.clone()], vec![one.clone(), two.clone()], vec![path("p"), path("q")]);
    let mut other =
        with(vec![b.clone(), a, b], vec![two, one.clone(), one], vec![path("q"), path("p"), path("q")]);
    assert!(sorted.is_equivalent(&other) && sorted != other);
    other.normalize_sets();
    assert_eq!(sorted, other);
}

#[test]
fn white_space_of_attributes_does_not_matter() {
    let parsed = |text: &str| ObjectSrc::new(0, raw(text));
    assert_eq!(parsed("{ \"a\" : \"<\" }"), parsed("{\"a\":\"\\u003c\"}"));
}

#[test]
fn only_managed_resources_are_compared() {
    let left = state(&["vm.web", "module.a.vm.web"]);
    let mut right = left.clone();
    right.set_resource_instance_current(
        &instance("data.vm.x"),
        Some(object("x")),
        &provider_instance("cloud"),
    );
    right.set_output_value(&module(""), "x", OutputValue::new(Value::Null, Type::String));
    right.record_check_results(groundstate_states::CheckResults::default());
    right.ensure_module(&module("module.empty"));
    assert!(managed_resources_equal(Some(&left), Some(&right)));
    assert!(managed_resources_equal(Some(&right), Some(&left)));
    assert_ne!(left, right);
}

#[test]
fn differences_of_managed_resources_are_found_from_both_sides() {
    let base = state(&["vm.web[0]", "vm.web[1]"]);
    let changed = |change: fn(&mut State)| {
        let mut state = base.clone();
        change(&mut state);
        state
    };
    let cases = [
        changed(|state| state.forget_resource_instance_all(&instance("vm.web[1]"))),
        changed(|state| state.set_resource_provider(&resource("vm.web"), &provider("other"))),
        changed(|state| state.set_resource_provider(&resource("vm.husk"), &provider("cloud"))),
        changed(|state| {
            state.set_resource_instance_current(
                &instance("vm.web[0]"),
                Some(object("new")),
                &provider_instance("cloud"),
            );
        }),
        changed(|state| {
            state
                .depose_resource_instance_object_as(&instance("vm.web[0]"), DeposedKey::from_number(1))
                .unwrap();
        }),
        changed(|state| state.move_resource(&resource("vm.web"), &resource("module.a.vm.web")).unwrap()),
    ];
    for (index, other) in cases.iter().enumerate() {
        assert!(!managed_resources_equal(Some(&base), Some(other)), "{index}");
        assert!(!managed_resources_equal(Some(other), Some(&base)), "{index}");
    }
}

#[test]
fn an_absent_state_equals_one_without_managed_objects() {
    let mut husks = state(&["data.vm.x"]);
    husks.set_resource_provider(&resource("vm.husk"), &provider("cloud"));
    assert!(managed_resources_equal(None, Some(&husks)));
    assert!(managed_resources_equal(Some(&husks), None));
    assert!(managed_resources_equal(None, None));
    assert!(!managed_resources_equal(None, Some(&state(&["vm.web"]))));
}
