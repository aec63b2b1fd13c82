//! What is read of a state: everything but values of resources.

use std::io::{BufReader, Read};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

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
    Ok(match Value::deserialize(input)? {
        Value::String(text) => text,
        _ => String::new(),
    })
}

fn flag<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(input)? == Value::Bool(true))
}

fn length<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(input)?.as_array().map_or(0, |list| list.len() as u64))
}
