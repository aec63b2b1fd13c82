//! Changes of a state: modules come and go with their content; deposing and restoring.

use std::sync::Arc;

use groundstate_states::addr::ModuleInstance;
use groundstate_states::{
    CheckResults, DeposedKey, EditError, Generation, ObjectSrc, ObjectStatus, OutputValue, State, Type, Value,
};

use crate::support::{
    instance, listed, module, module_names, object, provider, provider_instance, resource, state,
};

fn output() -> OutputValue {
    OutputValue::new(Value::Bool(true), Type::Bool)
}

#[test]
fn clearing_in_an_unknown_module_leaves_no_module_behind() {
    let mut state = State::new();
    let addr = instance("module.a.vm.web");
    state.set_resource_instance_current(&addr, None, &provider_instance("cloud"));
    state.set_resource_instance_deposed(&addr, DeposedKey::from_number(1), None, &provider_instance("cloud"));
    state.forget_resource_instance_all(&addr);
    state.forget_resource_instance_current(&addr);
    assert!(!state.remove_resource(&addr.resource));
    assert!(state.remove_resource_if_empty(&addr.resource));
    assert!(!state.remove_output_value(addr.module(), "x"));
    assert!(!state.remove_local_value(addr.module(), "x"));
    assert_eq!(state, State::new());
}

#[test]
fn the_last_object_takes_instance_resource_and_module_with_it() {
    let addr = instance("module.a[0].vm.web[\"k\"]");
    let key = DeposedKey::from_number(1);
    let mut state = State::new();
    state.set_resource_instance_deposed(&addr, key, Some(object("old")), &provider_instance("cloud"));
    assert_eq!(module_names(&state), ["", "module.a[0]"]);
    state.forget_resource_instance_deposed(&addr, DeposedKey::from_number(2));
    assert_eq!(listed(&state), [addr.to_string()]);
    state.forget_resource_instance_deposed(&addr, key);
    assert_eq!(state, State::new());
}

#[test]
fn the_root_module_stays_when_it_is_emptied() {
    let mut state = state(&["vm.web"]);
    state.forget_resource_instance_current(&instance("vm.web"));
    assert_eq!(state, State::new());
    assert_eq!(module_names(&state), [""]);
}

#[test]
fn removing_a_module_keeps_those_below_and_refuses_the_root() {
    let mut state = state(&["vm.web", "module.a.vm.web", "module.a.module.b.vm.web"]);
    assert_eq!(state.remove_module(&module("module.a")), Ok(true));
    assert_eq!(state.remove_module(&module("module.a")), Ok(false));
    assert_eq!(listed(&state), ["vm.web", "module.a.module.b.vm.web"]);
    assert_eq!(state.remove_module(&ModuleInstance::root()), Err(EditError::RootModule));
}

#[test]
fn pruning_husks_keeps_the_root_and_removes_modules_without_resources() {
    let mut state = state(&["module.full.vm.web"]);
    state.set_resource_provider(&resource("vm.husk"), &provider("cloud"));
    state.set_resource_provider(&resource("module.husks.vm.husk"), &provider("cloud"));
    state.set_resource_provider(&resource("module.full.vm.husk"), &provider("cloud"));
    state.set_output_value(&module("module.values"), "x", output());
    state.set_local_value(&module("module.values"), "x", Value::Null);
    state.set_output_value(&ModuleInstance::root(), "x", output());
    state.prune_resource_husks();
    assert_eq!(module_names(&state), ["", "module.full"]);
    assert_eq!(state.all_resources().count(), 1);
    assert!(state.output_value(&ModuleInstance::root(), "x").is_some());
}

#[test]
fn removing_values_prunes_their_module() {
    let mut state = State::new();
    let a = module("module.a");
    state.set_output_value(&a, "x", output());
    state.set_local_value(&a, "x", Value::Null);
    assert!(state.remove_output_value(&a, "x"));
    assert_eq!(module_names(&state), ["", "module.a"]);
    assert!(state.remove_local_value(&a, "x"));
    assert_eq!(state, State::new());
}

#[test]
fn placeholders_are_removed_in_every_module() {
    let mut state = state(&["vm.web"]);
    let mut planned = ObjectSrc::clone(&object("planned"));
    planned.status = ObjectStatus::Planned;
    let planned = Arc::new(planned);
    for addr in ["vm.new", "module.a.vm.new"] {
        state.set_resource_instance_current(
            &instance(addr),
            Some(Arc::clone(&planned)),
            &provider_instance("cloud"),
        );
    }
    state.ensure_module(&module("module.empty"));
    state.remove_planned_resource_instance_objects();
    assert_eq!((listed(&state), module_names(&state)), (vec!["vm.web".to_owned()], vec![String::new()]));
}

#[test]
fn check_results_are_replaced_and_discarded() {
    let mut state = State::new();
    state.record_check_results(CheckResults::default());
    assert_eq!(state.check_results, Some(CheckResults::default()), "present but empty is not absent");
    assert_ne!(state, State::new());
    state.discard_check_results();
    assert_eq!(state, State::new());
}

#[test]
fn deposing_moves_the_current_object_under_a_fresh_key_once() {
    let addr = instance("module.a.vm.web");
    let mut state = state(&["module.a.vm.web"]);
    let key = state.depose_resource_instance_object(&addr, || 0xab).unwrap();
    assert_eq!(key.as_str(), "000000ab");
    assert!(state.object(&addr, Generation::Current).is_none());
    assert_eq!(state.object(&addr, Generation::Deposed(key)), Some(&*object("module.a.vm.web")));
    assert_eq!(state.depose_resource_instance_object(&addr, || 0xab), None);

    state.set_resource_instance_current(&addr, Some(object("second")), &provider_instance("cloud"));
    let mut numbers = [0xab, 0xcd].into_iter();
    let second = state.depose_resource_instance_object(&addr, || numbers.next().unwrap());
    assert_eq!(second, Some(DeposedKey::from_number(0xcd)));
}

#[test]
fn deposing_what_is_missing_leaves_the_state_untouched() {
    let mut state = state(&["vm.web"]);
    let before = state.clone();
    for addr in ["vm.web[0]", "vm.other", "module.a.vm.web"] {
        assert_eq!(state.depose_resource_instance_object(&instance(addr), || 1), None, "{addr}");
        let forced = state.depose_resource_instance_object_as(&instance(addr), DeposedKey::from_number(1));
        assert_eq!(forced, Ok(false), "{addr}");
    }
    assert_eq!(state, before);
}

#[test]
fn deposing_under_a_key_in_use_is_an_error() {
    let addr = instance("vm.web");
    let key = DeposedKey::from_number(1);
    let mut state = state(&["vm.web"]);
    assert_eq!(state.depose_resource_instance_object_as(&addr, key), Ok(true));
    assert_eq!(state.depose_resource_instance_object_as(&addr, key), Ok(false), "there is nothing to depose");
    state.set_resource_instance_current(&addr, Some(object("second")), &provider_instance("cloud"));
    let before = state.clone();
    let error = state.depose_resource_instance_object_as(&addr, key).unwrap_err();
    assert_eq!(error.to_string(), "vm.web already has a deposed object 00000001; choose another key");
    assert_eq!(state, before);
}

#[test]
fn restoring_needs_the_very_key_and_no_current_object() {
    let addr = instance("vm.web");
    let (key, other) = (DeposedKey::from_number(1), DeposedKey::from_number(2));
    let mut state = state(&["vm.web"]);
    let original = state.clone();
    assert!(!state.maybe_restore_resource_instance_deposed(&addr, key), "nothing is deposed");
    assert_eq!(state.depose_resource_instance_object_as(&addr, key), Ok(true));
    let deposed = state.clone();
    assert!(!state.maybe_restore_resource_instance_deposed(&addr, other), "another object is deposed");
    assert!(!state.maybe_restore_resource_instance_deposed(&instance("vm.none"), key));
    assert_eq!(state, deposed);
    assert!(state.maybe_restore_resource_instance_deposed(&addr, key));
    assert_eq!(state, original);

    state.set_resource_instance_deposed(&addr, other, Some(object("old")), &provider_instance("cloud"));
    assert!(!state.maybe_restore_resource_instance_deposed(&addr, other), "there is a current object");
}
