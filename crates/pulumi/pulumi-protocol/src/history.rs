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
