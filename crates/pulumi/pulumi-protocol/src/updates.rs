//! The life of an update: create, start, renew the lease, complete, status.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::lenient::or_default;
use crate::{CreateKind, JsonText, Message, Tags, UpdateState};

/// The body of `POST …/{update|preview|refresh|destroy}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateUpdate {
    /// The name of the project.
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    /// The runtime of the program.
    #[serde(default, deserialize_with = "or_default")]
    pub runtime: String,
    /// Where the program is in its directory.
    #[serde(default, deserialize_with = "or_default")]
    pub main: String,
    /// The description of the project.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// The options of the command.
    #[serde(default, deserialize_with = "or_default")]
    pub options: UpdateOptions,
    /// The configuration, by `namespace:key`.
    #[serde(default, deserialize_with = "or_default")]
    pub config: BTreeMap<String, ConfigValue>,
    /// What the history keeps.
    #[serde(default, deserialize_with = "or_default")]
    pub metadata: UpdateMetadata,
}

impl CreateUpdate {
    /// Whether the update only previews: it is created as one, or is a dry run. Such an update makes no version, is in no history
    /// and takes no lease.
    pub fn is_preview(&self, kind: CreateKind) -> bool {
        kind == CreateKind::Preview || self.options.dry_run
    }
}

/// The options of the command that creates an update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateOptions {
    /// Directories of policies. `None` is `null`.
    #[serde(default)]
    pub local_policy_pack_paths: Option<Vec<String>>,
    /// How colours are written: `raw`.
    #[serde(default, deserialize_with = "or_default")]
    pub color: String,
    /// Whether nothing is changed.
    #[serde(default, deserialize_with = "or_default")]
    pub dry_run: bool,
    /// How many operations run at once.
    #[serde(default, deserialize_with = "or_default")]
    pub parallel: i64,
    /// Whether the configuration is shown.
    #[serde(default, deserialize_with = "or_default")]
    pub show_config: bool,
    /// Whether the steps of replacements are shown.
    #[serde(default, deserialize_with = "or_default")]
    pub show_replacement_steps: bool,
    /// Whether names are shown.
    #[serde(default, deserialize_with = "or_default")]
    pub show_names: bool,
    /// Whether only a summary is shown.
    #[serde(default, deserialize_with = "or_default")]
    pub summary: bool,
    /// Whether more is shown.
    #[serde(default, deserialize_with = "or_default")]
    pub debug: bool,
}

/// A value of the configuration. Its `Debug` does not show the text.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigValue {
    /// The text; of a secret the ciphertext; of an object its JSON, in which secrets are `{"secure": "<ciphertext>"}`.
    #[serde(default, deserialize_with = "or_default")]
    pub string: String,
    /// Whether the text is a ciphertext.
    #[serde(default, deserialize_with = "or_default")]
    pub secret: bool,
    /// Whether the text is JSON.
    #[serde(default, deserialize_with = "or_default")]
    pub object: bool,
}

impl fmt::Debug for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ConfigValue");
        shown.field("string", &format_args!("{} bytes", self.string.len()));
        shown.field("secret", &self.secret).field("object", &self.object).finish()
    }
}

/// What the history keeps of the circumstances of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateMetadata {
    /// The message of the user, or of the last commit.
    #[serde(default, deserialize_with = "or_default")]
    pub message: String,
    /// Facts on the machine, the repository and the job.
    #[serde(default, deserialize_with = "or_default")]
    pub environment: BTreeMap<String, String>,
}

/// The answer to [`CreateUpdate`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedUpdate {
    /// The id of the update.
    #[serde(default, deserialize_with = "or_default", rename = "updateID")]
    pub update_id: String,
    /// The policies that have to be met.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub required_policies: Vec<JsonText>,
    /// What the CLI prints.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Whether the CLI offers explanations of a model.
    #[serde(default, deserialize_with = "or_default")]
    pub ai_settings: AiSettings,
}

impl CreatedUpdate {
    /// An update without policies and messages.
    pub fn new(update_id: impl Into<String>) -> Self {
        Self { update_id: update_id.into(), ..Self::default() }
    }
}

/// Whether the CLI offers explanations of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AiSettings {
    /// Whether it does.
    #[serde(default, deserialize_with = "or_default")]
    pub copilot_is_enabled: bool,
}

/// The body of `POST …/update/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartUpdate {
    /// The tags that replace those of the stack; `None` leaves them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// The newest version of journals that the client writes; absent if it writes checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_version: Option<u64>,
}

/// The answer to [`StartUpdate`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartedUpdate {
    /// The version that the update makes; of a preview, the last one.
    #[serde(default, deserialize_with = "or_default")]
    pub version: u64,
    /// The token of the lease. The CLI refuses an empty one, also for previews.
    #[serde(default, deserialize_with = "or_default")]
    pub token: LeaseToken,
    /// When the token expires, in seconds since 1970. The CLI ignores it, and assumes 300 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_expiration: Option<i64>,
    /// The version of journals that the service takes; absent if the client has to write checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_version: Option<u64>,
}

/// The body of `POST …/renew_lease`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewLease {
    /// Always empty: the token is in the header.
    #[serde(default, deserialize_with = "or_default")]
    pub token: LeaseToken,
    /// For how many seconds the lease is wanted.
    #[serde(default, deserialize_with = "or_default")]
    pub duration: i64,
}

/// The answer to [`RenewLease`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenewedLease {
    /// The token of the lease, new or the same.
    #[serde(default, deserialize_with = "or_default")]
    pub token: LeaseToken,
    /// When the token expires, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_expiration: Option<i64>,
}

/// The response to calls that take or renew the lock of a stack without an update, of servers of this project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackLock {
    /// The end of the lease, in seconds since 1970.
    #[serde(default, deserialize_with = "or_default")]
    pub expires: i64,
}

/// The token of a lease: who has it may write the state. Its `Debug` is redacted.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseToken(String);

impl LeaseToken {
    /// A token of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the header of a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LeaseToken({})", groundstate_pulumi_secrets::REDACTED)
    }
}

/// The body of `POST …/complete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteUpdate {
    /// How the update ended: the CLI says succeeded or failed.
    pub status: UpdateState,
}

/// The answer of `GET …/update/{id}`. The CLI polls it after an import, without delay while there is a continuation token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStatus {
    /// Where the update is.
    pub status: UpdateState,
    /// What the CLI prints.
    #[serde(default, deserialize_with = "or_default")]
    pub events: Vec<UpdateProgress>,
    /// `None`, which is written as `null`, if nothing follows.
    #[serde(default)]
    pub continuation_token: Option<String>,
}

impl UpdateStatus {
    /// A status after which nothing follows.
    pub fn last(status: UpdateState) -> Self {
        Self { status, events: Vec::new(), continuation_token: None }
    }
}

/// A line of the output of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateProgress {
    /// Its place in the output.
    #[serde(default, deserialize_with = "or_default")]
    pub index: String,
    /// `stdout` or `stderr`.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: String,
    /// The text and other members.
    #[serde(default, deserialize_with = "or_default")]
    pub fields: ProgressFields,
}

/// What a line of output says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressFields {
    /// The line, with its line break if it has one.
    #[serde(default, deserialize_with = "or_default")]
    pub text: String,
}
