//! Copies are equal to the original and never see its changes; `Debug` shows no secrets.

use std::sync::Arc;

use groundstate_states::addr::ModuleInstance;
use groundstate_states::{Attributes, ObjectSrc, OutputValue, RawJson, State, SyncState, Type, Value};
use proptest::prelude::*;

use crate::equality::changes;
use crate::support::{instance, module, object, provider_instance, resource, state};

#[test]
fn a_copy_of_an_object_has_every_field() {
    let mut full = ObjectSrc::clone(&object("x"));
    for (_, change) in changes() {
        change(&mut full);
    }
    assert_eq!(full.clone(), full);
    let tainted = ObjectSrc::clone(&object("x")).as_tainted();
    assert_ne!(tainted, *object("x"));
    assert_eq!(ObjectSrc { status: object("x").status, ..tainted }, *object("x"));
}

#[test]
fn an_upgrade_replaces_attributes_and_version_only() {
    let mut old = ObjectSrc::clone(&object("x"));
    for (_, change) in changes() {
        change(&mut old);
    }
    old.attributes = Attributes::Flat([("id".into(), "x".into())].into());
    let raw = RawJson::parse("{\"id\":\"x\"}").unwrap();
    let new = old.complete_upgrade(raw.clone(), 7);
    assert_eq!((&new.attributes, new.schema_version), (&Attributes::Json(raw), 7));
    assert_eq!(
        ObjectSrc { attributes: old.attributes.clone(), schema_version: old.schema_version, ..new },
        old
    );
}

#[test]
fn changing_one_copy_leaves_the_other_alone() {
    let addr = instance("module.a.vm.web");
    for (field, change) in changes() {
        let original = state(&["module.a.vm.web", "vm.other"]);
        let (mut copy, before) = (original.clone(), original.clone());
        let inside = copy
            .module_mut(addr.module())
            .and_then(|module| module.instance_mut(&addr.resource.resource, &addr.key));
        change(Arc::make_mut(inside.unwrap().current.as_mut().unwrap()));
        assert_ne!(copy, original, "{field}");
        assert_eq!(original, before, "{field}");
    }
}

#[test]
fn copies_share_what_no_change_reached() {
    let original = state(&["vm.web", "vm.other", "module.a.vm.web"]);
    let mut copy = original.clone();
    copy.set_resource_instance_current(&instance("vm.web"), Some(object("new")), &provider_instance("cloud"));
    let shared = |left: &State, right: &State, addr: &str| {
        let addr = resource(addr);
        std::ptr::eq(left.resource(&addr).unwrap(), right.resource(&addr).unwrap())
    };
    assert!(shared(&original, &copy, "vm.other") && shared(&original, &copy, "module.a.vm.web"));
    assert!(!shared(&original, &copy, "vm.web"));
    // Asking for what is not there copies nothing.
    let before = original.clone();
    copy = original.clone();
    copy.forget_resource_instance_all(&instance("module.a.vm.none"));
    assert!(shared(&before, &copy, "module.a.vm.web"));
}

#[test]
fn what_getters_return_is_isolated() {
    let root = ModuleInstance::root();
    let mut filled = state(&["vm.web", "module.a.vm.web"]);
    filled.set_output_value(&root, "out", OutputValue::new(Value::Null, Type::String));
    filled.set_output_value(&module("module.a"), "out", OutputValue::new(Value::Null, Type::String));
    filled.set_local_value(&root, "local", Value::Sequence(vec![Value::Null]));
    let shared = SyncState::new(filled.clone());
    let addr = instance("vm.web");

    shared.module(&root).unwrap().resources.clear();
    shared.resource(&addr.resource).unwrap().instances.clear();
    shared.resource_instance(&addr).unwrap().current = None;
    shared.resource_instance_object(&addr, groundstate_states::Generation::Current).unwrap().schema_version =
        9;
    shared.resource_provider(&addr.resource).unwrap().alias = Some("other".into());
    shared.output_value(&root, "out").unwrap().sensitive = true;
    shared.module_outputs(&root, "a").clear();
    assert_eq!(shared.local_value(&root, "local"), Some(Value::Sequence(vec![Value::Null])));
    shared.snapshot().root_mut().resources.clear();
    assert_eq!(shared.close(), filled);
}

#[test]
fn debug_shows_no_secrets() {
    let secret = "hunter2";
    let mut full = ObjectSrc::clone(&object(secret));
    full.private = secret.as_bytes().into();
    full.identity = Some(RawJson::parse(&format!("\"{secret}\"")).unwrap());
    full.extra.push("more", RawJson::parse(&format!("\"{secret}\"")).unwrap());
    let step = groundstate_states::PathStep::index(Type::String, Value::string(secret));
    full.sensitive_paths.push([step].into_iter().collect());
    let mut flat = full.clone();
    flat.attributes = Attributes::Flat([("password".into(), secret.into())].into());

    let mut state = State::new();
    for (addr, object) in [("vm.json", full), ("vm.flat", flat)] {
        state.set_resource_instance_current(
            &instance(addr),
            Some(object.into()),
            &provider_instance("cloud"),
        );
    }
    state.set_local_value(&ModuleInstance::root(), "local", Value::string(secret));
    let mut output = OutputValue::new(Value::string(secret), Type::String);
    output.sensitive = true;
    state.set_output_value(&ModuleInstance::root(), "out", output);
    let shown = format!("{state:?} {state:#?} {:?}", SyncState::new(state.clone()));
    assert!(!shown.contains(secret) && !shown.contains("104, 117, 110"), "{shown}");
}

proptest! {
    /// Any mixture of changes to a copy, and the original is as it was.
    #[test]
    fn no_change_of_a_copy_reaches_the_original(steps in prop::collection::vec((0_u8..8, 0_usize..4, 0_usize..4), 0..20)) {
        let addrs = ["vm.web", "vm.web[0]", "module.a.vm.web", "module.a[\"k\"].module.b.vm.app"];
        let original = state(&addrs[..3]);
        let untouched = state(&addrs[..3]);
        let mut copy = original.clone();
        for (operation, at, to) in steps {
            let (from, to) = (instance(addrs[at]), instance(addrs[to]));
            match operation {
                0 => copy.set_resource_instance_current(&from, Some(object("new")), &provider_instance("other")),
                1 => drop(copy.depose_resource_instance_object(&from, || 1)),
                2 => drop(copy.maybe_restore_resource_instance_deposed(&from, groundstate_states::DeposedKey::from_number(1))),
                3 => copy.forget_resource_instance_all(&from),
                4 => drop(copy.move_resource_instance(&from, &to)),
                5 => drop(copy.move_resource(&from.resource, &to.resource)),
                6 => drop(copy.move_module_instance(from.module(), to.module())),
                _ => copy.prune_resource_husks(),
            }
            prop_assert!(copy.modules().skip(1).all(|(_, module)| !module.is_empty()));
            prop_assert!(copy.resource_instances().all(|(_, instance)| instance.has_objects()));
        }
        prop_assert_eq!(&original, &untouched);
        prop_assert_eq!(&original.clone(), &original);
    }
}
