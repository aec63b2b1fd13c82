//! The models through serde and back.

use std::fmt::Debug;
use std::sync::Arc;

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, CheckableKind, ConfigCheckable, ConfigResource, InstanceKey, Module,
    ModuleInstance, OPENTOFU_REGISTRY, ProviderConfig, Resource as Name, Target,
};
use groundstate_states::{
    Attributes, CheckAggregate, CheckResults, CheckStatus, DeposedKey, Number, ObjectSrc, ObjectStatus,
    OutputValue, PathStep, RawJson, Resource, Serial, State, Type, Value,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[track_caller]
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[track_caller]
fn is_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(again(value), *value);
}

fn provider(text: &str) -> ProviderConfig {
    ProviderConfig::parse(text, OPENTOFU_REGISTRY).unwrap()
}

/// One object with every member that an object can have.
fn object() -> ObjectSrc {
    let mut object = ObjectSrc::new(3, RawJson::parse(r#"{"size":1.50,"id":"a<b"}"#).unwrap());
    object.sensitive_paths.push(
        [PathStep::attribute("password"), PathStep::index(Type::String, Value::string("k"))]
            .into_iter()
            .collect(),
    );
    object.private = Arc::from(&b"\x00secret"[..]);
    object.status = ObjectStatus::Tainted;
    object.dependencies.push(ConfigResource::parse("module.m.t.n").unwrap());
    object.depends_on.push(AbsResourceInstance::parse(r#"module.m["x"].t.n[3]"#).unwrap());
    object.identity = Some(RawJson::parse("{\"id\":1e3}").unwrap());
    object.extra.push("later", RawJson::parse("[1.0]").unwrap());
    object
}

fn state() -> State {
    let mut resource = Resource::new(provider(r#"provider["acme/test"].west"#));
    let instance = resource.instances.entry(InstanceKey::string("a\"b")).or_default();
    instance.current = Some(Arc::new(object()));
    let attributes = Attributes::Flat([(Arc::from("id"), Arc::from("i-1"))].into());
    instance.deposed.insert(DeposedKey::from_number(7), Arc::new(ObjectSrc { attributes, ..object() }));
    instance.provider_key = InstanceKey::Int(2);
    let mut state = State::new();
    let module = state.ensure_module(&ModuleInstance::parse(r#"module.m["é"].module.n[1]"#).unwrap());
    module.resources.insert(Name::data("t", "n"), Arc::new(resource));
    let value_type = Type::List(Box::new(Type::Number));
    let output =
        OutputValue::new(Value::Sequence(vec![Value::Number(Number::parse("1e30").unwrap())]), value_type);
    state.root_mut().outputs.insert("list".into(), Arc::new(output));
    let addr = ConfigCheckable::parse(CheckableKind::Output, "module.m.output.id").unwrap();
    let status = CheckStatus::Unrecognized("perhaps".into());
    let aggregate = CheckAggregate { addr, status, objects: Vec::new(), extra: Default::default() };
    state.check_results = Some(CheckResults { aggregates: vec![aggregate], opaque: Vec::new() });
    state
}

#[test]
fn a_state_is_the_same_after_it() {
    is_kept(&state());
    is_kept(&State::new());
    is_kept(&Serial::new(u64::MAX));
}

#[test]
fn the_spelling_of_a_provider_is_kept() {
    for text in [r#"provider["acme/test"]"#, r#"provider["registry.opentofu.org/acme/test"]"#] {
        let resource = Resource::new(provider(text));
        assert_eq!(again(&resource).provider.spelled(), resource.provider.spelled(), "{text}");
    }
}

#[test]
fn addresses_are_strings() {
    let text =
        serde_json::to_string(&AbsResourceInstance::parse(r#"module.a[0].t.n["k"]"#).unwrap()).unwrap();
    assert_eq!(text, r#""module.a[0].t.n[\"k\"]""#);
    assert_eq!(serde_json::to_string(&Target::parse("module.a").unwrap()).unwrap(), r#""module.a""#);
    assert_eq!(serde_json::to_string(&Module::root()).unwrap(), r#""""#);
}

#[test]
fn what_is_no_address_is_refused() {
    fn refused<T: DeserializeOwned + Debug>(texts: &[&str]) {
        for text in texts {
            let text = serde_json::to_string(text).unwrap();
            serde_json::from_str::<T>(&text).unwrap_err();
        }
    }
    refused::<AbsResource>(&["", "t", "t.n[0]", "module.a", "t.n.x"]);
    refused::<AbsResourceInstance>(&["", "t.n[", "t.n[-1]", "module.a.t"]);
    refused::<ConfigResource>(&["t.n[0]"]);
    refused::<ModuleInstance>(&["module", "t.n", "module.a."]);
    refused::<Name>(&["module.a.t.n", "t"]);
    refused::<InstanceKey>(&["0", "x", "[x]", "[0][1]", ".c"]);
    refused::<ProviderConfig>(&["aws", "provider.aws", "provider[\"a/b/c/d\"]"]);
    refused::<DeposedKey>(&["1", "123456789"]);
    refused::<Number>(&["", "NaN", "1x"]);
    let text = serde_json::to_string(&state()).unwrap();
    serde_json::from_str::<State>(&text.replace("module.m[", "modul.m[")).unwrap_err();
    serde_json::from_str::<State>(&text.replacen("{", r#"{"more":1,"#, 1)).unwrap_err();
}

#[test]
fn an_address_that_no_text_can_hold_is_not_written() {
    for name in ["", "a b", "n.x"] {
        serde_json::to_string(&Name::managed("t", name)).unwrap_err();
    }
}

proptest! {
    #[test]
    fn keys_of_any_text_are_kept(text in any::<String>(), index in 0..=i64::MAX.unsigned_abs()) {
        is_kept(&InstanceKey::string(&text));
        is_kept(&InstanceKey::Int(index));
    }

    #[test]
    fn addresses_are_kept(
        module in prop::collection::vec(("[a-z][a-z0-9_-]{0,6}", any::<Option<String>>()), 0..3),
        (type_name, name) in ("[a-z][a-z0-9_]{0,8}", "[a-z_][a-z0-9_-]{0,8}"),
        data in any::<bool>(),
    ) {
        let key = |key: &Option<String>| key.as_deref().map_or(InstanceKey::None, InstanceKey::string);
        let steps: String = module.iter().map(|(name, text)| format!("module.{name}{}.", key(text))).collect();
        let text = format!("{steps}{}{type_name}.{name}[3]", if data { "data." } else { "" });
        if let Ok(instance) = AbsResourceInstance::parse(&text) {
            is_kept(&instance);
            is_kept(&instance.resource.module);
            is_kept(&instance.resource.to_config());
            is_kept(&instance.resource.resource);
        }
    }
}
