//! The models for serde: the feature `serde`.
//!
//! Addresses, keys and numbers are strings, and are read as strictly as the models read them elsewhere. An address that no
//! text can hold, such as that of a resource without a name, is refused when it is written and not when it is too late.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::addr::{
    self, AbsResource, AbsResourceInstance, AddrError, Checkable, CheckableKind, ConfigCheckable,
    ConfigResource, InstanceKey, ModuleInstance, ProviderConfig, ProviderInstance, ProviderSource,
    TERRAFORM_REGISTRY, Target,
};
use crate::{
    CheckResults, CheckStatus, DeposedKey, Extra, Module, Number, Resource, ResourceInstance, State,
};

/// Writes the text if it reads as the same value.
fn write<S: Serializer, T: PartialEq, E>(
    value: &T,
    text: &str,
    read: Result<T, E>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match read {
        Ok(again) if again == *value => serializer.serialize_str(text),
        _ => Err(S::Error::custom(format!("{text:?} would not be read as the same address"))),
    }
}

macro_rules! as_text {
    ($($type:ty: $parse:expr;)+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = self.to_string();
                let read = ($parse)(text.as_str());
                write(self, &text, read, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ($parse)(String::deserialize(deserializer)?.as_str()).map_err(D::Error::custom)
            }
        }
    )+};
}

as_text! {
    AbsResource: AbsResource::parse;
    AbsResourceInstance: AbsResourceInstance::parse;
    ConfigResource: ConfigResource::parse;
    Target: Target::parse;
    ModuleInstance: |text: &str| if text.is_empty() { Ok(Self::root()) } else { Self::parse(text) };
    addr::Module: |text: &str| if text.is_empty() { Ok(Self::root()) } else { Self::parse(text) };
    addr::Resource: in_root_module;
    InstanceKey: key;
    ProviderSource: |text: &str| Self::parse(text, TERRAFORM_REGISTRY);
    ProviderConfig: |text: &str| Self::parse(text, TERRAFORM_REGISTRY);
    ProviderInstance: |text: &str| Self::parse(text, TERRAFORM_REGISTRY);
    DeposedKey: DeposedKey::parse;
    Number: Number::parse;
}

fn in_root_module(text: &str) -> Result<addr::Resource, String> {
    let AbsResource { module, resource } = AbsResource::parse(text).map_err(|error| error.to_string())?;
    if module.is_root() { Ok(resource) } else { Err(format!("{text:?} is not a resource inside its module")) }
}

fn key(text: &str) -> Result<InstanceKey, String> {
    if !(text.is_empty() || text.starts_with('[')) {
        return Err(format!("{text:?} is no instance key, write [0], [\"key\"] or nothing"));
    }
    let instance = AbsResourceInstance::parse(&format!("a.b{text}")).map_err(|error| error.to_string())?;
    Ok(instance.key)
}

impl Serialize for CheckStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CheckStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = [Self::Unknown, Self::Pass, Self::Fail, Self::Error];
        let known = known.into_iter().find(|status| status.as_str() == text);
        Ok(known.unwrap_or_else(|| Self::Unrecognized(text.into())))
    }
}

/// An address that says only together with its kind what it means.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfKind {
    kind: CheckableKind,
    address: String,
}

fn write_of_kind<S: Serializer, T: PartialEq + Display>(
    value: &T,
    kind: CheckableKind,
    parse: impl Fn(CheckableKind, &str) -> Result<T, AddrError>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let address = value.to_string();
    match parse(kind, &address) {
        Ok(again) if again == *value => OfKind { kind, address }.serialize(serializer),
        _ => Err(S::Error::custom(format!("{address:?} would not be read as the same address"))),
    }
}

macro_rules! of_kind {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write_of_kind(self, self.kind(), Self::parse, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let OfKind { kind, address } = OfKind::deserialize(deserializer)?;
                Self::parse(kind, &address).map_err(D::Error::custom)
            }
        }
    )+};
}

of_kind!(Checkable, ConfigCheckable);

fn is_false(value: &bool) -> bool {
    !value
}

/// [`Resource`] to be written.
#[derive(Serialize)]
struct ResourceOut<'r> {
    provider: &'r ProviderConfig,
    /// The address of the provider left its registry out.
    #[serde(skip_serializing_if = "is_false")]
    registry_omitted: bool,
    instances: &'r BTreeMap<InstanceKey, ResourceInstance>,
    extra: &'r Extra,
}

/// [`Resource`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResourceIn {
    provider: ProviderConfig,
    #[serde(default)]
    registry_omitted: bool,
    instances: BTreeMap<InstanceKey, ResourceInstance>,
    extra: Extra,
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { provider, instances, extra } = self;
        let registry_omitted = provider.source.is_short();
        ResourceOut { provider, registry_omitted, instances, extra }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Resource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ResourceIn { mut provider, registry_omitted, instances, extra } =
            ResourceIn::deserialize(deserializer)?;
        provider.source = provider.source.spelled_short(registry_omitted);
        Ok(Self { provider, instances, extra })
    }
}

/// [`State`] to be written.
#[derive(Serialize)]
struct StateOut<'s> {
    modules: BTreeMap<&'s ModuleInstance, &'s Module>,
    check_results: &'s Option<CheckResults>,
}

/// [`State`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateIn {
    modules: BTreeMap<ModuleInstance, Module>,
    check_results: Option<CheckResults>,
}

/// The modules by their addresses; the root's is empty.
impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StateOut { modules: self.modules().collect(), check_results: &self.check_results }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StateIn { modules, check_results } = StateIn::deserialize(deserializer)?;
        let mut state = Self::new();
        state.check_results = check_results;
        for (address, module) in modules {
            *state.ensure_module(&address) = module;
        }
        Ok(state)
    }
}
