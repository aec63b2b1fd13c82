//! What operations do to states, and what crashes leave behind.

mod metadata;
mod recover;
mod slots;
mod table;

use std::sync::Arc;

use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource, ProviderInstance};
use groundstate_states::{Attributes, DeposedKey, ObjectSrc, ObjectStatus, RawJson, ResourceInstance, State};

pub(crate) const K: u32 = 0xa;

pub(crate) fn key(number: u32) -> DeposedKey {
    DeposedKey::from_number(number)
}

pub(crate) fn addr(text: &str) -> AbsResourceInstance {
    AbsResourceInstance::parse(text).unwrap()
}

pub(crate) fn config(text: &str) -> ConfigResource {
    AbsResource::parse(text).unwrap().to_config()
}

pub(crate) fn provider() -> ProviderInstance {
    ProviderInstance::parse("provider[\"example.org/acme/x\"]", "example.org").unwrap()
}

/// An object whose value is a word.
pub(crate) fn object(id: &str) -> ObjectSrc {
    ObjectSrc::new(0, RawJson::parse(&format!("{{\"id\":\"{id}\"}}")).unwrap())
}

/// A state of one instance `vm.a`, from words such as `a1`, `a1!` for a tainted object, `k:a0` for a deposed one.
///
/// Every object records that it depends on `net.old` and is created before it is destroyed.
pub(crate) fn state(words: &str) -> State {
    let mut instance = ResourceInstance::default();
    for word in words.split_whitespace() {
        let (name, deposed) = word.strip_prefix("k:").map_or((word, false), |name| (name, true));
        let mut object = object(name.trim_end_matches('!'));
        object.create_before_destroy = true;
        object.dependencies = vec![config("net.old")];
        if name.ends_with('!') {
            object.status = ObjectStatus::Tainted;
        }
        if deposed {
            instance.deposed.insert(key(K), Arc::new(object));
        } else {
            instance.current = Some(Arc::new(object));
        }
    }
    let mut state = State::new();
    if instance.has_objects() {
        state.set_resource_instance(&addr("vm.a"), Some(instance), &provider().config);
    }
    state
}

/// The words that a state was made of.
pub(crate) fn show(state: &State) -> String {
    let Some(instance) = state.resource_instance(&addr("vm.a")) else { return String::new() };
    let word = |object: &ObjectSrc| {
        let Attributes::Json(json) = &object.attributes else { return String::new() };
        let id = json.as_str().split('"').nth(3).unwrap_or_default();
        let mark = if object.status == ObjectStatus::Tainted { "!" } else { "" };
        format!("{id}{mark}")
    };
    let current = instance.current.iter().map(|object| word(object));
    let deposed = instance.deposed.values().map(|object| format!("k:{}", word(object)));
    current.chain(deposed).collect::<Vec<_>>().join(" ")
}

/// An operation on `vm.a` that records `net.new`, and no flag.
pub(crate) fn operation(kind: OpKind) -> Operation {
    let meta = Meta { create_before_destroy: false, dependencies: vec![config("net.new")] };
    Operation::new(addr("vm.a"), kind, provider()).recording(meta)
}

pub(crate) fn applying(kind: ApplyKind) -> Operation {
    operation(OpKind::Apply(kind))
}

/// A replacement that deposes the old object first.
pub(crate) fn create_then_delete() -> Operation {
    applying(ApplyKind::ReplaceCreate).deposing(key(K))
}
