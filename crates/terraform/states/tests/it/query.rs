//! Questions to a state.

use groundstate_states::addr::{ConfigResource, Module, ModuleInstance, ProviderConfig};
use groundstate_states::{CheckResults, DeposedKey, Generation, OutputValue, State, Type, Value};

use crate::support::{instance, listed, module, object, provider, provider_instance, resource, state};

fn output(value: bool) -> OutputValue {
    OutputValue::new(Value::Bool(value), Type::Bool)
}

#[test]
fn empty_means_neither_resources_nor_outputs() {
    let mut empty = State::new();
    empty.check_results = Some(CheckResults::default());
    empty.set_local_value(&module("module.a"), "x", Value::Null);
    assert!(empty.is_empty());
    empty.set_output_value(&module("module.a"), "x", output(true));
    assert!(!empty.is_empty());
    assert!(!state(&["vm.web"]).is_empty());
}

#[test]
fn things_are_found_by_address() {
    let state = state(&["vm.web[0]", "module.a.vm.web"]);
    assert!(state.resource(&resource("vm.web")).is_some());
    assert!(state.resource(&resource("data.vm.web")).is_none());
    assert!(state.resource_instance(&instance("vm.web")).is_none());
    assert_eq!(state.object(&instance("vm.web[0]"), Generation::Current), Some(&*object("vm.web[0]")));
    let none = Generation::Deposed(DeposedKey::from_number(1));
    assert_eq!(state.object(&instance("vm.web[0]"), none), None);
    assert!(state.module(&module("module.a")).is_some() && state.module(&module("module.b")).is_none());
}

#[test]
fn lists_are_in_the_order_of_addresses() {
    let ordered = [
        "data.vm.z",
        "disk.a",
        "vm.web",
        "vm.web[2]",
        "vm.web[10]",
        "vm.web[\"a\"]",
        "module.a.vm.web",
        "module.a[2].vm.web",
        "module.a[10].vm.web",
        "module.b.vm.web",
        "module.a.module.z.vm.web",
    ];
    let mut shuffled = ordered;
    shuffled.reverse();
    assert_eq!(listed(&state(&shuffled)), ordered);
}

#[test]
fn configuration_addresses_match_every_instance() {
    let state = state(&["module.a[0].vm.web[0]", "module.a[1].vm.web", "module.a.module.a.vm.web", "vm.web"]);
    let path = Module::root().child("a");
    let found: Vec<_> = state.module_instances(&path).map(|(addr, _)| addr.to_string()).collect();
    assert_eq!(found, ["module.a[0]", "module.a[1]"]);
    let config = ConfigResource { module: path, resource: resource("vm.web").resource };
    let found: Vec<_> = state.resources(&config).map(|(addr, _)| addr.to_string()).collect();
    assert_eq!(found, ["module.a[0].vm.web", "module.a[1].vm.web"]);
}

#[test]
fn instances_of_a_configured_resource_need_a_current_object() {
    let mut state = state(&["vm.web[0]", "vm.web[1]"]);
    state.depose_resource_instance_object(&instance("vm.web[0]"), || 1);
    let found = state.instances_matching_config_resource(&resource("vm.web").to_config());
    assert_eq!(found, [instance("vm.web[1]")]);
}

#[test]
fn outputs_of_a_call_are_those_of_its_direct_instances() {
    let mut state = State::new();
    for (addr, name) in
        [("", "root"), ("module.a[0]", "x"), ("module.a[1]", "x"), ("module.a[0].module.a", "y")]
    {
        state.set_output_value(&module(addr), name, output(true));
    }
    let of = |parent: &ModuleInstance| -> Vec<String> {
        let outputs = state.module_outputs(parent, "a");
        outputs.map(|(addr, name, _)| format!("{addr}.{name}")).collect()
    };
    assert_eq!(of(&ModuleInstance::root()), ["module.a[0].x", "module.a[1].x"]);
    assert_eq!(of(&module("module.a[0]")), ["module.a[0].module.a.y"]);
    assert_eq!(state.outputs().keys().map(|name| &**name).collect::<Vec<_>>(), ["root"]);
}

#[test]
fn only_objects_of_managed_resources_count_as_managed() {
    let mut state = state(&["data.vm.web"]);
    state.set_resource_provider(&resource("vm.husk"), &provider("cloud"));
    assert!(!state.has_managed_resource_instance_objects());
    let key = DeposedKey::from_number(1);
    state.set_resource_instance_deposed(
        &instance("vm.old"),
        key,
        Some(object("x")),
        &provider_instance("cloud"),
    );
    assert!(state.has_managed_resource_instance_objects());
    let addrs = state.managed_resource_instance_object_addrs();
    assert_eq!(addrs, [(instance("vm.old"), Generation::Deposed(key))]);
    let addrs = state.resource_instance_object_addrs();
    assert_eq!(addrs[0], (instance("data.vm.web"), Generation::Current));
    assert_eq!(addrs.len(), 2);
}

#[test]
fn providers_are_listed_once_by_their_printed_form() {
    let mut state = state(&["vm.a", "vm.b"]);
    assert_eq!(State::new().provider_addrs(), Vec::<&ProviderConfig>::new());
    let texts = [
        "provider[\"example.com/acme/cloud\"].west",
        "module.z.provider[\"example.com/acme/cloud\"]",
        "provider[\"example.com/acme/aaa\"]",
    ];
    for (index, text) in texts.iter().enumerate() {
        let config = ProviderConfig::parse(text, "example.com").unwrap();
        state.set_resource_provider(&resource(&format!("vm.n{index}")), &config);
    }
    let listed: Vec<_> = state.provider_addrs().iter().map(ToString::to_string).collect();
    let expected = [texts[1], texts[2], "provider[\"example.com/acme/cloud\"]", texts[0]];
    assert_eq!(listed, expected);
    let sources: Vec<_> = state.provider_requirements().iter().map(ToString::to_string).collect();
    assert_eq!(sources, ["example.com/acme/aaa", "example.com/acme/cloud"]);
}
