//! The history of a stack.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lenient::or_default;
use crate::{ConfigValue, JsonText, UpdateKind, UpdateResult};

/// One update in the history of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateInfo {
    /// What it did.
    pub kind: UpdateKind,
    /// When it started, in seconds since 1970.
    #[serde(default, deserialize_with = "or_default")]
    pub start_time: i64,
    /// The message it was created with.
    #[serde(default, deserialize_with = "or_default")]
    pub message: String,
    /// Facts on the machine, the repository and the job.
    #[serde(default, deserialize_with = "or_default")]
    pub environment: BTreeMap<String, String>,
    /// The configuration it was created with.
    #[serde(default, deserialize_with = "or_default")]
    pub config: BTreeMap<String, ConfigValue>,
    /// How it ended.
    pub result: UpdateResult,
    /// When it ended, in seconds since 1970.
    #[serde(default, deserialize_with = "or_default")]
    pub end_time: i64,
    /// The version that it made.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// The state after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<JsonText>,
    /// How many resources it created, updated and so on, by the engine's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_changes: Option<BTreeMap<String, u64>>,
    /// How many resources there were after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_count: Option<u64>,
    /// The id of the update, by which its events are found.
    #[serde(default, rename = "updateID", skip_serializing_if = "Option::is_none")]
    pub update_id: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<RequestedBy>,
    /// What it was before it was appended to this history. Only servers of this project say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<VersionSource>,
}

/// Who made an update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestedBy {
    /// How the user is shown.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The login name, where that is another one.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub github_login: String,
}

/// What a version was where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionSource {
    /// Its number there.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// Who made it, by what the client that appended it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<RequestedBy>,
}

/// The body of `POST …/versions`, a call of servers of this project: a version of another history, to become the next of this one.
///
/// A server that has the capability [`APPEND_VERSIONS`](crate::Capability::APPEND_VERSIONS) takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendVersion {
    /// What tells the version from all others, 1 to 256 bytes, such as a digest of what it is at its source. A version whose key is known is not
    /// appended again.
    #[serde(default, deserialize_with = "or_default")]
    pub key: String,
    /// What it was. Its `version` is the number at the source, its `deployment` an [`UntypedDeployment`](crate::UntypedDeployment), or nothing for
    /// an update that left no state. The counts of resources and the id of the update are not taken from it.
    pub info: UpdateInfo,
}

/// The answer to [`AppendVersion`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendedVersion {
    /// The number that it has here.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// The id of its update here.
    #[serde(default, deserialize_with = "or_default", rename = "updateID")]
    pub update_id: String,
    /// Whether this request has appended it, and not an earlier one with its key.
    #[serde(default, deserialize_with = "or_default")]
    pub appended: bool,
}

/// The answer of `GET …/updates`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateList {
    /// The updates of this page.
    #[serde(default, deserialize_with = "or_default")]
    pub updates: Vec<UpdateInfo>,
}

/// The answer of `GET …/updates/latest` and of `GET …/updates/{version}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestUpdate {
    /// The update.
    pub info: UpdateInfo,
}

/// The answer of `GET …/updates/latest/previews`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previews {
    /// The previews since the last update.
    #[serde(default, deserialize_with = "or_default")]
    pub updates: Vec<Preview>,
}

/// A preview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The id of the update.
    #[serde(default, deserialize_with = "or_default", rename = "updateID")]
    pub update_id: String,
}
