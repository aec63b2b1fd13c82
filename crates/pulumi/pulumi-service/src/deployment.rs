//! States as they are stored: exports whose deployments keep their bytes, and what is counted in them.

use std::fmt;

use bytes::Bytes;
use groundstate_json::RawJson;
use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, Envelope, RawDeployment, decode, encode,
};
use groundstate_pulumi_snapshot::ROOT_STACK_TYPE;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// Takes the deployment out of an export, and checks that it is one that is served.
pub(crate) fn check(op: Op, place: impl fmt::Display, text: &[u8]) -> Result<(RawDeployment, RawJson)> {
    let wrong = |why: String| Error::new(ErrorKind::Invalid, op, &place).because(why);
    let mut raw =
        RawDeployment::read(text).map_err(|error| wrong(format!("the state is no deployment: {error}")))?;
    if !(1..=4).contains(&raw.version) {
        return Err(wrong(format!("deployments have the versions 1 to 4, and this one has {}", raw.version)));
    }
    match raw.deployment.take() {
        Some(inner) if inner.as_str().trim_start().starts_with('{') => Ok((raw, inner)),
        _ => Err(wrong("the export has no deployment".to_owned())),
    }
}

/// An export, compact: white space outside of texts goes, every other byte of its deployment stays.
pub(crate) fn normal(op: Op, place: impl fmt::Display, text: &[u8]) -> Result<Bytes> {
    let (raw, inner) = check(op, place, text)?;
    Ok(assemble(raw.version.unsigned_abs(), &raw.features, &inner))
}

/// What is counted in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) resources: u64,
    pub(crate) pending: u64,
    /// Whether there is anything but a lone root stack.
    pub(crate) in_use: bool,
}

impl Counts {
    /// Counts without building what is counted.
    pub(crate) fn of(op: Op, place: impl fmt::Display, text: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Export {
            deployment: Option<Deployment>,
        }
        #[derive(Deserialize)]
        struct Deployment {
            #[serde(default)]
            resources: Option<Resources>,
            #[serde(default)]
            pending_operations: Option<Vec<IgnoredAny>>,
        }
        let export: Export = serde_json::from_slice(text).map_err(|error| {
            let failure = Error::new(ErrorKind::Invalid, op, place);
            // What the error quotes may be a secret.
            let (line, column) = (error.line(), error.column());
            failure.because(format!("the state is no deployment: a value has another type or is there twice: line {line}, column {column}"))
        })?;
        let Some(deployment) = export.deployment else { return Ok(Self::default()) };
        let resources = deployment.resources.unwrap_or_default();
        let is_lone_root = resources.count == 1 && resources.begins_with_root;
        Ok(Self {
            resources: resources.count,
            pending: deployment.pending_operations.map_or(0, |pending| pending.len() as u64),
            in_use: resources.count > 0 && !is_lone_root,
        })
    }
}

/// Counts of resources: none of them is kept, however many there are.
#[derive(Default)]
struct Resources {
    count: u64,
    begins_with_root: bool,
}

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Resource {
            #[serde(default, rename = "type")]
            kind: Option<String>,
        }
        struct Counting;
        impl<'de> Visitor<'de> for Counting {
            type Value = Resources;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of resources")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Resources, A::Error> {
                let mut found = Resources::default();
                while let Some(resource) = list.next_element::<Resource>()? {
                    if found.count == 0 {
                        found.begins_with_root = resource.kind.as_deref() == Some(ROOT_STACK_TYPE);
                    }
                    found.count += 1;
                }
                Ok(found)
            }
        }
        input.deserialize_seq(Counting)
    }
}

/// Reads a stored state.
pub(crate) fn read(op: Op, place: impl fmt::Display, text: &[u8]) -> Result<DeploymentFile> {
    decode(text, &DecodeOptions::default()).map_err(|error| {
        Error::new(ErrorKind::Corrupt, op, place).because("the state cannot be read").with_source(error)
    })
}

/// Writes a state as it is stored.
pub(crate) fn write(op: Op, place: impl fmt::Display, mut file: DeploymentFile) -> Result<Bytes> {
    file.envelope = Envelope::Deployment;
    let text = encode(&file, &EncodeOptions::default()).map_err(|error| {
        Error::new(ErrorKind::Internal, op, place).because("the state cannot be written").with_source(error)
    })?;
    Ok(text.into())
}

/// A checkpoint upload as an export: the version, the features and the deployment as it was sent.
pub(crate) fn assemble(version: u64, features: &[String], deployment: &RawJson) -> Bytes {
    let mut text = format!("{{\"version\":{version}");
    if !features.is_empty() {
        let names: Vec<String> =
            features.iter().map(|name| serde_json::Value::from(name.as_str()).to_string()).collect();
        text.push_str(&format!(",\"features\":[{}]", names.join(",")));
    }
    text.push_str(",\"deployment\":");
    text.push_str(deployment.as_str());
    text.push('}');
    text.into()
}
