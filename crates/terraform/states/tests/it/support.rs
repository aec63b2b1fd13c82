//! Short ways to write addresses and objects.

use std::sync::Arc;

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ProviderConfig, ProviderInstance,
};
use groundstate_states::{ObjectSrc, RawJson, ResourceInstance, State};

pub(crate) fn module(text: &str) -> ModuleInstance {
    if text.is_empty() { ModuleInstance::root() } else { ModuleInstance::parse(text).expect(text) }
}

pub(crate) fn resource(text: &str) -> AbsResource {
    AbsResource::parse(text).expect(text)
}

pub(crate) fn instance(text: &str) -> AbsResourceInstance {
    AbsResourceInstance::parse(text).expect(text)
}

/// The configuration of a provider of the namespace `acme`.
pub(crate) fn provider(type_name: &str) -> ProviderConfig {
    let text = format!("provider[\"example.com/acme/{type_name}\"]");
    ProviderConfig::parse(&text, "example.com").expect(&text)
}

pub(crate) fn provider_instance(type_name: &str) -> ProviderInstance {
    ProviderInstance { config: provider(type_name), key: InstanceKey::None }
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect(text)
}

/// An object that differs from objects of other ids.
pub(crate) fn object(id: &str) -> Arc<ObjectSrc> {
    Arc::new(ObjectSrc::new(0, raw(&format!("{{\"id\":{id:?}}}"))))
}

/// A state whose instances have current objects, each with the address as id.
pub(crate) fn state(addrs: &[&str]) -> State {
    let mut state = State::new();
    for addr in addrs {
        state.set_resource_instance_current(&instance(addr), Some(object(addr)), &provider_instance("cloud"));
    }
    state
}

/// The addresses of all instances.
pub(crate) fn listed(state: &State) -> Vec<String> {
    state.resource_instances().map(|(addr, _)| addr.to_string()).collect()
}

pub(crate) fn module_names(state: &State) -> Vec<String> {
    state.modules().map(|(addr, _)| addr.to_string()).collect()
}

pub(crate) fn with_current(id: &str) -> ResourceInstance {
    ResourceInstance::with_current(object(id))
}
