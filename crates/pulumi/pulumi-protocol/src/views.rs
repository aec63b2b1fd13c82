//! What servers of this project show of stacks beside the protocol of Pulumi: journals, resources and outputs, without values that may be secret.

use serde::{Deserialize, Serialize};

use crate::JsonText;
use crate::lenient::or_default;

/// The answer of `GET …/update/{id}/journal`, a call of servers of this project: entries in the order in which they were stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalView {
    /// The entries of this page.
    #[serde(default, deserialize_with = "or_default")]
    pub entries: Vec<EntryView>,
    /// The position behind them, by which later ones are asked for.
    #[serde(default, deserialize_with = "or_default")]
    pub next: u64,
    /// Whether more are stored already.
    #[serde(default, deserialize_with = "or_default")]
    pub more: bool,
}

/// An entry of a journal, without inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// Its number in the journal, from 1.
    #[serde(default, deserialize_with = "or_default", rename = "sequenceID")]
    pub sequence_id: u64,
    /// What it tells, such as `begin` and `success`.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: String,
    /// The operation that it belongs to; 0 for none.
    #[serde(default, deserialize_with = "or_default", rename = "operationID")]
    pub operation_id: u64,
    /// What is being done, such as `creating`, for an operation that begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The resource that it is about, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urn: Option<String>,
    /// The type of that resource.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// Whether it has a state of the resource.
    #[serde(default, deserialize_with = "or_default")]
    pub state: bool,
    /// The state that is not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<EntryTarget>,
    /// The state that is deleted and waits for its replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_replacement: Option<EntryTarget>,
    /// The state that is replaced and waits for its deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<EntryTarget>,
    /// How many resources the base has that it brings, for one that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<u64>,
    /// The secrets provider from there on, for an entry that sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets_provider: Option<String>,
}

/// The state that an entry speaks of: a resource of the base, or what an operation recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryTarget {
    /// The resource at this place of the base, from 0.
    Base(u64),
    /// What this operation recorded.
    Operation(u64),
}

/// The answer of `GET …/resources`, a call of servers of this project: a page of the resources of a version, as a tree of parents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesView {
    /// The version that they are of.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// How many resources it has.
    #[serde(default, deserialize_with = "or_default")]
    pub count: u64,
    /// How many of them have the text that was searched for in their URN.
    #[serde(default, deserialize_with = "or_default")]
    pub found: u64,
    /// The version of the engine that wrote it; may be empty.
    #[serde(default, deserialize_with = "or_default")]
    pub engine: String,
    /// The kind of its secrets provider; may be empty.
    #[serde(default, deserialize_with = "or_default")]
    pub secrets_provider: String,
    /// Its pending operations, a thousand at most.
    #[serde(default, deserialize_with = "or_default")]
    pub pending: Vec<PendingView>,
    /// The resources of this page, each behind its parent.
    #[serde(default, deserialize_with = "or_default")]
    pub resources: Vec<ResourceView>,
}

/// An operation that was under way when an update ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingView {
    /// What was being done, such as `creating`.
    #[serde(default, deserialize_with = "or_default")]
    pub operation: String,
    /// The URN of the resource.
    #[serde(default, deserialize_with = "or_default")]
    pub urn: String,
    /// Its type.
    #[serde(default, deserialize_with = "or_default", rename = "type")]
    pub resource_type: String,
}

/// A resource without inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceView {
    /// The URN.
    #[serde(default, deserialize_with = "or_default")]
    pub urn: String,
    /// The type.
    #[serde(default, deserialize_with = "or_default", rename = "type")]
    pub resource_type: String,
    /// How deep it is in the tree; 0 for one without a parent.
    #[serde(default, deserialize_with = "or_default")]
    pub depth: u64,
    /// What is wrong with its place in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd: Option<String>,
    /// The flags that are set: `custom`, `delete`, `protect`, `external`, `taint`, `pendingReplacement`, `retainOnDelete`.
    #[serde(default, deserialize_with = "or_default")]
    pub flags: Vec<String>,
    /// How many errors there were when it was made.
    #[serde(default, deserialize_with = "or_default")]
    pub init_errors: u64,
    /// When it was changed last, or made; may be empty.
    #[serde(default, deserialize_with = "or_default")]
    pub changed: String,
}

/// The answer of `GET …/outputs`, a call of servers of this project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputsView {
    /// The version that they are of.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// The outputs of the stack, in their order.
    #[serde(default, deserialize_with = "or_default")]
    pub outputs: Vec<OutputView>,
}

/// An output of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputView {
    /// The name of the output.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The value. Of secrets in it, and of files and references to resources, only the member is there that says what they are.
    pub value: JsonText,
}
