//! The history of a stack: one entry for each version.

use groundstate_pulumi_protocol::{
    AppendVersion, AppendedVersion, DocumentError, JsonText, StackCall, UpdateInfo, encode,
};
use serde::Deserialize;

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

/// What services say beyond what the CLI reads.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Beyond {
    version: Option<u64>,
    #[serde(rename = "updateID")]
    update_id: Option<String>,
    requested_by: Option<User>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    #[serde(default)]
    name: String,
    #[serde(default)]
    github_login: String,
}

impl HistoryEntry {
    fn new(text: JsonText) -> Self {
        let beyond: Beyond = text.read().unwrap_or_default();
        let author = beyond.requested_by.map(|user| match user.github_login.is_empty() {
            true => user.name,
            false => user.github_login,
        });
        Self {
            update: text.read(),
            version: beyond.version,
            update_id: beyond.update_id,
            author: author.filter(|author| !author.is_empty()),
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
