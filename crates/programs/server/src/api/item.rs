//! What answers show of states, versions and locks.

use groundstate_common::{Timestamp, one_line};
use groundstate_statemgr::LockInfo;
use groundstate_versioned::{Head, Lock, Version};
use serde::Serialize;
use utoipa::ToSchema;

use crate::content::{StateNote, shown_note};
use crate::names::StatePath;
use crate::terraform::PREFIX;

/// A state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = State)]
pub(crate) struct StateItem {
    /// The project.
    pub(crate) project: String,
    /// The name in the project.
    pub(crate) state: String,
    /// The workspace.
    pub(crate) workspace: String,
    /// The path of the URL that `terraform` uses.
    #[schema(example = "/tf/shop/network")]
    pub(crate) url: String,
    /// The present version. Absent if the state was deleted, or was only locked so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<VersionItem>,
    /// The number of the last version, which may be a deletion; 0 before the first.
    pub(crate) last_version: u64,
    /// The number of the oldest version that is retained, apart from pinned ones.
    pub(crate) oldest_version: u64,
    /// The numbers of the versions that retention does not remove.
    pub(crate) pinned_versions: Vec<u64>,
    /// The lock that is in force. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lock: Option<LockItem>,
}

/// A version of a state: a content, or a deletion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Version)]
pub(crate) struct VersionItem {
    /// The number: 1 for the first version of the state, and so on.
    pub(crate) number: u64,
    /// The id, which no other version has. It is the entity tag of the content.
    pub(crate) id: String,
    /// When it was written.
    #[schema(format = DateTime)]
    pub(crate) time: String,
    /// The principal that wrote it.
    pub(crate) by: String,
    /// Whether it is a deletion, which has no content.
    pub(crate) deleted: bool,
    /// The size of the content in bytes.
    pub(crate) size: u64,
    /// The SHA-256 of the content, in hexadecimal.
    pub(crate) sha256: String,
    /// The MD5 of the content, in hexadecimal.
    pub(crate) md5: String,
    /// The serial. Absent if the content tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) serial: Option<u64>,
    /// The lineage. Absent if the content tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lineage: Option<String>,
    /// The release of Terraform or OpenTofu that wrote the content. Absent if the content does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) terraform_version: Option<String>,
    /// How many resources it has. Absent if the content does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<u64>,
    /// How many outputs it has. Absent if the content does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outputs: Option<u64>,
    /// Whether OpenTofu has encrypted it; then serial and lineage are what the envelope tells.
    pub(crate) encrypted: bool,
    /// The id of the lock under which it was written. Absent if it was written without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lock_id: Option<String>,
    /// The number of the version that was rolled back to. Absent for other versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rolled_back_to: Option<u64>,
    /// What was odd about it, and was accepted. Absent if nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
}

/// A lock.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lock)]
pub(crate) struct LockItem {
    /// The id.
    pub(crate) id: String,
    /// The principal that took it.
    pub(crate) by: String,
    /// When it was taken.
    #[schema(format = DateTime)]
    pub(crate) taken: String,
    /// How old it is, in seconds.
    pub(crate) age_seconds: u64,
    /// When it ends by itself. Absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub(crate) expires: Option<String>,
    /// The fencing token: each lock of the state has a larger one than all before.
    pub(crate) token: u64,
    /// What it is for, as its holder says, such as `OperationTypeApply`.
    pub(crate) operation: String,
    /// The user and host of the holder, as it says.
    pub(crate) who: String,
    /// The release of the holder, as it says.
    pub(crate) program_version: String,
    /// What else the holder says.
    pub(crate) info: String,
}

impl StateItem {
    pub(crate) fn new(path: &StatePath, head: &Head) -> Self {
        Self {
            project: path.project().to_string(),
            state: path.state().to_string(),
            workspace: path.workspace().to_string(),
            url: format!("{PREFIX}/{path}"),
            version: head.current().map(VersionItem::new),
            last_version: head.number(),
            oldest_version: head.oldest(),
            pinned_versions: head.pins().collect(),
            lock: head.lock().map(|lock| LockItem::new(lock, head.time())),
        }
    }
}

impl VersionItem {
    pub(crate) fn new(version: &Version) -> Self {
        let StateNote {
            serial,
            lineage,
            terraform_version,
            resources,
            outputs,
            encrypted,
            rolled_back_to,
            remarks,
            ..
        } = shown_note(version);
        let told = |text: String| (!text.is_empty()).then(|| one_line(&text).into_owned());
        Self {
            number: version.number,
            id: version.id.to_string(),
            time: version.time.to_string(),
            by: one_line(&version.by).into_owned(),
            deleted: version.deleted,
            size: version.size,
            sha256: version.sha256.to_string(),
            md5: version.md5.to_string(),
            serial,
            lineage: told(lineage),
            terraform_version: told(terraform_version),
            resources,
            outputs,
            encrypted,
            lock_id: version.lock.as_deref().map(|id| one_line(id).into_owned()),
            rolled_back_to: rolled_back_to.or(version.restored),
            remarks: remarks.iter().map(|remark| one_line(remark).into_owned()).collect(),
        }
    }
}

impl LockItem {
    pub(crate) fn new(lock: &Lock, now: Timestamp) -> Self {
        // It was read when the lock was taken, unless another program took it.
        let info = LockInfo::parse(&lock.document).unwrap_or_default();
        let shown = |text: &str| one_line(text).into_owned();
        Self {
            id: shown(&lock.id),
            by: shown(&lock.by),
            taken: lock.taken.to_string(),
            age_seconds: now.duration_since(lock.taken).map_or(0, |age| age.as_secs()),
            expires: lock.expires.map(|end| end.to_string()),
            token: lock.token,
            operation: shown(&info.operation),
            who: shown(&info.who),
            program_version: shown(&info.version),
            info: shown(&info.info),
        }
    }
}
