//! Stacks: listing, creating, reading, renaming, tags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lenient::or_default;
use crate::{JsonText, Message, UntypedDeployment, UpdateKind};

/// The tags of a stack, by name. The body of `PATCH …/tags`, which replaces all of them.
pub type Tags = BTreeMap<String, String>;

/// The answer of `GET /api/user/stacks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackList {
    /// The stacks of this page. A name that the CLI does not accept makes it panic.
    #[serde(default, deserialize_with = "or_default")]
    pub stacks: Vec<StackSummary>,
    /// What asks for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation_token: Option<String>,
}

/// A stack in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackSummary {
    /// The opaque id.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The owner.
    #[serde(default, deserialize_with = "or_default")]
    pub org_name: String,
    /// The project.
    #[serde(default, deserialize_with = "or_default")]
    pub project_name: String,
    /// The stack.
    #[serde(default, deserialize_with = "or_default")]
    pub stack_name: String,
    /// When the last update started, in seconds since 1970. The CLI shows 0 as in progress, and absence as `n/a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<i64>,
    /// How many resources the stack has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_count: Option<u64>,
    /// Where the stack is shown.
    #[serde(default, deserialize_with = "or_default")]
    pub links: StackLinks,
}

/// Where a stack is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackLinks {
    /// A URL, or nothing.
    #[serde(default, deserialize_with = "or_default", rename = "self")]
    pub own: String,
}

/// The body of `POST /api/stacks/{owner}/{project}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateStack {
    /// The name of the new stack.
    #[serde(default, deserialize_with = "or_default")]
    pub stack_name: String,
    /// Its first tags.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
    /// The teams that get access.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub teams: Vec<String>,
    /// Its first state, which names the secrets provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<UntypedDeployment>,
    /// Configuration that is kept in the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonText>,
}

/// The answer to [`CreateStack`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedStack {
    /// What the CLI prints.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

/// The answer of `GET /api/stacks/{owner}/{project}/{stack}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The opaque id.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The owner.
    #[serde(default, deserialize_with = "or_default")]
    pub org_name: String,
    /// The project.
    #[serde(default, deserialize_with = "or_default")]
    pub project_name: String,
    /// The stack.
    #[serde(default, deserialize_with = "or_default")]
    pub stack_name: String,
    /// The update that holds the lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_operation: Option<CurrentOperation>,
    /// The id of the last update that is not a preview, running or over; empty if there was none.
    #[serde(default, deserialize_with = "or_default")]
    pub active_update: String,
    /// The tags.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
    /// Configuration that is kept in the service. If it is there, the CLI looks for the configuration nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<JsonText>,
    /// The number of the last version; 0 for a new stack.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
}

/// The update that holds the lease of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentOperation {
    /// What it does.
    pub kind: UpdateKind,
    /// The login name of the user who started it.
    #[serde(default, deserialize_with = "or_default")]
    pub author: String,
    /// When it started, in seconds since 1970.
    #[serde(default, deserialize_with = "or_default")]
    pub started: i64,
}

/// The body of `POST …/rename`. The owner never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenameStack {
    /// The new name; empty if it stays.
    #[serde(default, deserialize_with = "or_default")]
    pub new_name: String,
    /// The new project; empty if it stays.
    #[serde(default, deserialize_with = "or_default")]
    pub new_project: String,
}
