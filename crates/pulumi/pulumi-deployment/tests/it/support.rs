//! Short ways to read and write.

use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, ReadError, decode, encode,
};

/// The namespace of fixtures in the repository.
pub(crate) const FIXTURES: &str = "../../../tests/fixtures/pulumi";

pub(crate) fn read(text: &str) -> DeploymentFile {
    decode(text.as_bytes(), &DecodeOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn refused(text: &str) -> ReadError {
    decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err()
}

pub(crate) fn written(file: &DeploymentFile) -> String {
    String::from_utf8(encode(file, &EncodeOptions::default()).unwrap()).unwrap()
}

/// What is read is written again byte for byte.
#[track_caller]
pub(crate) fn round_trip(text: &str) {
    assert_eq!(written(&read(text)), text);
}

/// An export of version 3 with these resources, as compact JSON.
pub(crate) fn export(resources: &str) -> String {
    let manifest = r#"{"time":"0001-01-01T00:00:00Z","magic":"","version":""}"#;
    format!(
        r#"{{"version":3,"deployment":{{"manifest":{manifest},"resources":[{resources}],"metadata":{{}}}}}}"#
    )
}

/// An export of the latest version with these features and resources.
pub(crate) fn export_with(features: &str, resources: &str) -> String {
    export(resources).replacen("\"version\":3", &format!("\"version\":4,\"features\":{features}"), 1)
}

/// A resource with further members.
pub(crate) fn resource(members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"urn":"urn:pulumi:s::p::t:t:T::n","custom":false,"type":"t:t:T"{comma}{members}}}"#)
}
