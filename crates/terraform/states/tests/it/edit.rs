//! Changes inside one module: each branch of the rules for what appears and what is left behind.

use groundstate_states::addr::{InstanceKey, ProviderInstance, Resource};
use groundstate_states::{DeposedKey, Module, ObjectSrc, ObjectStatus, Value};

use crate::support::{object, provider, provider_instance, with_current};

fn key(number: u32) -> DeposedKey {
    DeposedKey::from_number(number)
}

fn web() -> Resource {
    Resource::managed("vm", "web")
}

/// A module with `vm.web[0]`, managed by `cloud`.
fn one_instance() -> Module {
    let mut module = Module::default();
    set(&mut module, 0, "a");
    module
}

fn set(module: &mut Module, index: u64, id: &str) {
    let key = InstanceKey::Int(index);
    module.set_resource_instance_current(&web(), &key, Some(object(id)), &provider_instance("cloud"));
}

#[test]
fn clearing_what_is_missing_changes_nothing() {
    let mut module = Module::default();
    module.set_resource_instance_current(&web(), &InstanceKey::None, None, &provider_instance("cloud"));
    assert_eq!(module, Module::default());

    let mut module = one_instance();
    module.set_resource_instance_current(&web(), &InstanceKey::Int(9), None, &provider_instance("other"));
    assert_eq!(module, one_instance());
}

#[test]
fn clearing_removes_a_husk() {
    let mut module = Module::default();
    module.set_resource_provider(&web(), &provider("cloud"));
    assert!(module.resource(&web()).is_some());
    module.set_resource_instance_current(&web(), &InstanceKey::None, None, &provider_instance("cloud"));
    assert!(module.is_empty());
}

#[test]
fn clearing_keeps_an_instance_with_deposed_objects_and_ignores_the_provider() {
    let mut module = one_instance();
    let at = InstanceKey::Int(0);
    module.set_resource_instance_deposed(
        &web(),
        &at,
        key(1),
        Some(object("old")),
        &provider_instance("cloud"),
    );
    module.set_resource_instance_current(&web(), &at, None, &provider_instance("other"));
    let resource = module.resource(&web()).unwrap();
    assert_eq!(resource.provider, provider("cloud"));
    assert!(resource.instances[&at].current.is_none());
    module.forget_resource_instance_deposed(&web(), &at, key(1));
    assert!(module.is_empty());
}

#[test]
fn clearing_one_of_two_instances_keeps_the_other() {
    let mut module = one_instance();
    set(&mut module, 1, "b");
    module.set_resource_instance_current(&web(), &InstanceKey::Int(1), None, &provider_instance("cloud"));
    assert_eq!(module, one_instance());
}

#[test]
fn setting_an_object_sets_the_provider_of_all_instances() {
    let mut module = one_instance();
    let other = ProviderInstance { config: provider("other"), key: InstanceKey::Int(3) };
    module.set_resource_instance_current(&web(), &InstanceKey::Int(1), Some(object("b")), &other);
    let resource = module.resource(&web()).unwrap();
    assert_eq!(resource.provider, provider("other"));
    assert_eq!(resource.instances[&InstanceKey::Int(0)].provider_key, InstanceKey::None);
    assert_eq!(resource.instances[&InstanceKey::Int(1)].provider_key, InstanceKey::Int(3));
}

#[test]
fn keys_of_all_kinds_stand_side_by_side() {
    let mut module = one_instance();
    let keys = [InstanceKey::None, InstanceKey::Int(0), InstanceKey::string("0"), InstanceKey::string("")];
    for at in &keys {
        module.set_resource_instance_current(&web(), at, Some(object("x")), &provider_instance("cloud"));
    }
    assert_eq!(module.resource(&web()).unwrap().instances.len(), 4);
}

#[test]
fn a_deposed_object_sets_the_provider_even_when_it_is_removed() {
    let mut module = one_instance();
    let at = InstanceKey::Int(0);
    module.set_resource_instance_deposed(&web(), &at, key(1), None, &provider_instance("other"));
    assert_eq!(module.resource(&web()).unwrap().provider, provider("other"));

    let mut module = Module::default();
    module.set_resource_instance_deposed(&web(), &at, key(1), None, &provider_instance("other"));
    assert!(module.is_empty());
    module.set_resource_instance_deposed(&web(), &at, key(1), Some(object("x")), &provider_instance("other"));
    assert!(module.resource(&web()).unwrap().instances[&at].deposed.contains_key(&key(1)));
}

#[test]
fn storing_an_instance_keeps_the_provider_and_the_resource() {
    let mut module = one_instance();
    let at = InstanceKey::Int(0);
    module.set_resource_instance(&web(), &at, Some(with_current("new")), &provider("other"));
    assert_eq!(module.resource(&web()).unwrap().provider, provider("cloud"));
    module.set_resource_instance(&web(), &at, None, &provider("other"));
    assert!(module.resource(&web()).unwrap().instances.is_empty());

    let data = Resource::data("vm", "web");
    module.set_resource_instance(&data, &at, Some(with_current("new")), &provider("other"));
    assert_eq!(module.resource(&data).unwrap().provider, provider("other"));
}

#[test]
fn forgetting_all_drops_an_emptied_resource_and_a_husk() {
    let mut module = one_instance();
    set(&mut module, 1, "b");
    module.forget_resource_instance_all(&web(), &InstanceKey::Int(0));
    assert_eq!(module.resource(&web()).unwrap().instances.len(), 1);
    module.forget_resource_instance_all(&web(), &InstanceKey::Int(1));
    assert!(module.is_empty());
    module.forget_resource_instance_all(&web(), &InstanceKey::Int(1));

    module.set_resource_provider(&web(), &provider("cloud"));
    module.forget_resource_instance_all(&web(), &InstanceKey::Int(5));
    assert!(module.is_empty());
}

#[test]
fn forgetting_a_deposed_object_of_another_instance_changes_nothing() {
    let mut module = one_instance();
    module.forget_resource_instance_deposed(&web(), &InstanceKey::Int(7), key(1));
    module.forget_resource_instance_deposed(&web(), &InstanceKey::Int(0), key(1));
    module.forget_resource_instance_deposed(&Resource::data("a", "b"), &InstanceKey::Int(0), key(1));
    assert_eq!(module, one_instance());
}

#[test]
fn husks_are_removed_one_by_one_or_together() {
    let mut module = one_instance();
    let husk = Resource::data("vm", "gone");
    module.set_resource_provider(&husk, &provider("cloud"));
    assert!(!module.remove_resource_if_empty(&web()));
    assert!(module.remove_resource_if_empty(&husk));
    assert!(module.remove_resource_if_empty(&husk), "it was never there");
    module.set_resource_provider(&husk, &provider("cloud"));
    module.prune_resource_husks();
    assert_eq!(module, one_instance());
    assert!(module.remove_resource(&web()).is_some());
    assert!(module.remove_resource(&web()).is_none());
}

#[test]
fn placeholders_of_a_plan_are_removed_with_what_they_leave_empty() {
    let planned = || {
        let mut object = ObjectSrc::clone(&object("planned"));
        object.status = ObjectStatus::Planned;
        Some(object.into())
    };
    let mut module = one_instance();
    let at = InstanceKey::Int(0);
    let cloud = provider_instance("cloud");
    module.set_resource_instance_deposed(&web(), &at, key(1), planned(), &cloud);
    module.set_resource_instance_current(&web(), &InstanceKey::Int(1), planned(), &cloud);
    module.set_resource_instance_current(&Resource::data("a", "b"), &InstanceKey::None, planned(), &cloud);
    assert!(module.has_planned_objects());
    module.remove_planned_resource_instance_objects();
    assert!(!module.has_planned_objects());
    assert_eq!(module, one_instance());
}

#[test]
fn values_are_replaced_and_removed() {
    let mut module = Module::default();
    module.set_local_value("x", Value::Bool(true));
    module.set_local_value("x", Value::Bool(false));
    assert_eq!(module.remove_local_value("x"), Some(Value::Bool(false)));
    assert_eq!(module.remove_local_value("x"), None);
    assert_eq!(module.remove_output_value("x"), None);
    assert!(module.is_empty());
}
