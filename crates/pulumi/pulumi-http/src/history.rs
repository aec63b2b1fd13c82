//! The history of a stack: one entry for each version.

use groundstate_pulumi_protocol::{
    AppendVersion, AppendedVersion, DocumentError, JsonText, StackCall, UpdateInfo, encode,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{ErrorKind, Op, Result, ServiceStack};

/// An update in the history of a stack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// What is known of it, or why that cannot be read: a service may have kinds that this release does not know.
    pub update: Result<UpdateInfo, DocumentError>,
    /// The version that it made, if it says so.
    pub version: Option<u64>,
    /// The id of the update, by which its events are found.
    pub update_id: Option<String>,
    /// Who ran it.
    pub author: Option<String>,
    /// The entry as the service sends it.
    pub text: JsonText,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    updates: Option<Vec<JsonText>>,
}

/// What services say beyond what the CLI reads. A member that cannot be read is said by `update`, which has it too.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Beyond {
    version: Given<u64>,
    #[serde(rename = "updateID")]
    update_id: Given<String>,
    requested_by: Given<User>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct User {
    name: Given<String>,
    github_login: Given<String>,
}

/// A member of any type, which hides no other if it is not of its own.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given<T> {
    Read(T),
    Odd(IgnoredAny),
}

impl<T> Default for Given<T> {
    fn default() -> Self {
        Self::Odd(IgnoredAny)
    }
}

impl<T> Given<T> {
    fn ok(self) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Odd(_) => None,
        }
    }
}

impl HistoryEntry {
    fn new(text: JsonText) -> Self {
        let beyond: Beyond = text.read().unwrap_or_default();
        let user = beyond.requested_by.ok().unwrap_or_default();
        let mut names = [user.github_login, user.name].into_iter().filter_map(Given::ok);
        Self {
            update: text.read(),
            version: beyond.version.ok(),
            update_id: beyond.update_id.ok(),
            author: names.find(|name| !name.is_empty()),
            text,
        }
    }
}

impl ServiceStack {
    /// Appends a version of another history, with its own times and state. The key tells it from all others, so a request that arrives twice
    /// appends once, and is repeated.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a service without [`Capability::APPEND_VERSIONS`](groundstate_pulumi_protocol::Capability::APPEND_VERSIONS), `Running` while an update runs, `Invalid` for what is no update that
    /// has ended, and those of every call.
    pub async fn append_version(&self, version: &AppendVersion) -> Result<AppendedVersion> {
        const OP: Op = Op::Append;
        if !self.service.can_append_versions().await? {
            let why = "the service takes no versions of other histories";
            return Err(self.error(ErrorKind::Unsupported, OP).because(why));
        }
        let body = encode(version).map_err(|error| self.error(ErrorKind::Internal, OP).with_source(error))?;
        let call = self.call(OP, StackCall::AppendVersion).body(body).repeated();
        self.service.0.connection.ask(&call).await
    }

    /// A page of the history, the newest entry first; pages count from 1.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of every call.
    pub async fn history(&self, page: usize, page_size: usize) -> Result<Vec<HistoryEntry>> {
        let call = self.call(Op::History, StackCall::Updates).large();
        let call = call.query("pageSize", page_size.to_string()).query("page", page.to_string());
        let found: Page = self.service.0.connection.ask(&call).await?;
        Ok(found.updates.unwrap_or_default().into_iter().map(HistoryEntry::new).collect())
    }
}
