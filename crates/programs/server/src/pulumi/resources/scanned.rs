//! What is read of a state: everything but values of resources.

use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A state without the values of its resources.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) engine: String,
    pub(super) secrets_provider: String,
    pub(super) resources: Vec<ScannedResource>,
    pub(super) pending: Vec<ScannedOperation>,
}

/// A resource. A member of another type counts as one that is not there: the page shows odd states too.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ScannedResource {
    #[serde(deserialize_with = "text")]
    pub(super) urn: String,
    #[serde(deserialize_with = "text", rename = "type")]
    pub(super) kind: String,
    #[serde(deserialize_with = "text")]
    pub(super) parent: String,
    #[serde(deserialize_with = "flag")]
    pub(super) custom: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) delete: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) protect: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) external: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) taint: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) pending_replacement: bool,
    #[serde(deserialize_with = "flag")]
    pub(super) retain_on_delete: bool,
    #[serde(deserialize_with = "length")]
    pub(super) init_errors: u64,
    #[serde(deserialize_with = "text")]
    pub(super) created: String,
    #[serde(deserialize_with = "text")]
    pub(super) modified: String,
}

/// An operation that was under way.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScannedOperation {
    #[serde(deserialize_with = "text", rename = "type")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) resource: ScannedResource,
}

#[derive(Default, Deserialize)]
struct Export {
    #[serde(default, deserialize_with = "or_default")]
    deployment: Deployment,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Deployment {
    #[serde(deserialize_with = "or_default")]
    manifest: Manifest,
    #[serde(deserialize_with = "or_default")]
    secrets_providers: Provider,
    #[serde(deserialize_with = "or_default")]
    resources: Vec<ScannedResource>,
    #[serde(deserialize_with = "or_default")]
    pending_operations: Vec<ScannedOperation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    #[serde(deserialize_with = "text")]
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Provider {
    #[serde(deserialize_with = "text", rename = "type")]
    kind: String,
}

impl Scanned {
    pub(super) fn read(input: &mut dyn Read) -> Result<Self, serde_json::Error> {
        let Deployment { manifest, secrets_providers, resources, pending_operations } =
            serde_json::from_reader::<_, Export>(BufReader::new(input))?.deployment;
        Ok(Self {
            engine: manifest.version,
            secrets_provider: secrets_providers.kind,
            resources,
            pending: pending_operations,
        })
    }
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(input: D) -> Result<T, D::Error> {
    Option::deserialize(input).map(Option::unwrap_or_default)
}

fn text<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    Ok(match Scalar::deserialize(input)? {
        Scalar::Text(text) => text,
        _ => String::new(),
    })
}

fn flag<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    Ok(matches!(Scalar::deserialize(input)?, Scalar::Flag(true)))
}

fn length<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    Ok(match Scalar::deserialize(input)? {
        Scalar::List(length) => length,
        _ => 0,
    })
}

/// A value of which nothing is kept where it is not the one that is wanted.
enum Scalar {
    Text(String),
    Flag(bool),
    List(u64),
    Other,
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar::Flag(flag))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
                let mut length = 0;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(Scalar::List(length))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }
        input.deserialize_any(Any)
    }
}
