//! Calls on stacks and on updates: methods, ends of paths, authorization.

use crate::CreateKind;

/// What a request brings in its header `Authorization`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authorization {
    /// It needs no credentials.
    Anonymous,
    /// `token <access token>`
    Token,
    /// `update-token <lease token>`
    UpdateToken,
}

/// A call on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StackCall {
    /// `GET …`
    Get,
    /// `DELETE …`
    Delete,
    /// `POST …/rename`
    Rename,
    /// `PATCH …/tags`
    SetTags,
    /// `PUT …/config`: configuration in the service.
    SetConfig,
    /// `POST …/update`, `…/preview`, `…/refresh`, `…/destroy`
    CreateUpdate(CreateKind),
    /// `GET …/export`
    Export,
    /// `GET …/export/{version}`
    ExportVersion(u64),
    /// `POST …/import`
    Import,
    /// `GET …/updates`
    Updates,
    /// `GET …/updates/latest`
    LatestUpdate,
    /// `GET …/updates/{version}`
    UpdateVersion(u64),
    /// `GET …/updates/latest/previews`
    Previews,
    /// `POST …/versions`, of servers of this project: appends a version of another history.
    AppendVersion,
    /// `POST …/lock`, of servers of this project: takes the lock of the stack without an update.
    Lock,
    /// `PATCH …/lock`, of servers of this project: renews the lock.
    RenewLock,
    /// `DELETE …/lock`, of servers of this project: releases the lock.
    Unlock,
    /// `GET …/resources`, of servers of this project: a page of the resources.
    Resources,
    /// `GET …/outputs`, of servers of this project: the outputs without secrets.
    Outputs,
    /// `POST …/encrypt`
    Encrypt,
    /// `POST …/decrypt`
    Decrypt,
    /// `POST …/batch-encrypt`
    BatchEncrypt,
    /// `POST …/batch-decrypt`
    BatchDecrypt,
    /// `POST …/decrypt/log-decryption`
    LogDecryption,
    /// `POST …/decrypt/log-batch-decryption`
    LogBatchDecryption,
}

/// A call on an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpdateCall {
    /// `GET …/update/{id}`
    Status,
    /// `POST …/update/{id}`
    Start,
    /// `PATCH …/journalentries`
    JournalEntries,
    /// `PATCH …/checkpoint`
    Checkpoint,
    /// `PATCH …/checkpointverbatim`
    CheckpointVerbatim,
    /// `PATCH …/checkpointdelta`
    CheckpointDelta,
    /// `POST …/events/batch`
    RecordEvents,
    /// `GET …/events`
    Events,
    /// `GET …/journal`, of servers of this project: the entries of the journal.
    Journal,
    /// `POST …/renew_lease`
    RenewLease,
    /// `POST …/complete`
    Complete,
    /// `POST …/cancel`
    Cancel,
}

impl StackCall {
    /// Calls whose path is fixed, with method and end of the path.
    const FIXED: [(Self, &'static str, &'static str); 22] = [
        (Self::Get, "GET", ""),
        (Self::Delete, "DELETE", ""),
        (Self::Rename, "POST", "/rename"),
        (Self::SetTags, "PATCH", "/tags"),
        (Self::SetConfig, "PUT", "/config"),
        (Self::Export, "GET", "/export"),
        (Self::Import, "POST", "/import"),
        (Self::Updates, "GET", "/updates"),
        (Self::LatestUpdate, "GET", "/updates/latest"),
        (Self::Previews, "GET", "/updates/latest/previews"),
        (Self::AppendVersion, "POST", "/versions"),
        (Self::Lock, "POST", "/lock"),
        (Self::RenewLock, "PATCH", "/lock"),
        (Self::Unlock, "DELETE", "/lock"),
        (Self::Resources, "GET", "/resources"),
        (Self::Outputs, "GET", "/outputs"),
        (Self::Encrypt, "POST", "/encrypt"),
        (Self::Decrypt, "POST", "/decrypt"),
        (Self::BatchEncrypt, "POST", "/batch-encrypt"),
        (Self::BatchDecrypt, "POST", "/batch-decrypt"),
        (Self::LogDecryption, "POST", "/decrypt/log-decryption"),
        (Self::LogBatchDecryption, "POST", "/decrypt/log-batch-decryption"),
    ];

    pub(super) fn parse(method: &str, tail: &[&str]) -> Option<Self> {
        let mut fixed = Self::FIXED.into_iter();
        if let Some((call, ..)) = fixed.find(|(_, called, path)| *called == method && is_tail(path, tail)) {
            return Some(call);
        }
        match (method, tail) {
            ("POST", [kind]) => CreateKind::parse(kind).map(Self::CreateUpdate),
            ("GET", ["export", version]) => number(version).map(Self::ExportVersion),
            ("GET", ["updates", version]) => number(version).map(Self::UpdateVersion),
            _ => None,
        }
    }

    fn fixed(self) -> Option<(&'static str, &'static str)> {
        let found = Self::FIXED.into_iter().find(|(call, ..)| *call == self);
        found.map(|(_, method, path)| (method, path))
    }

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::CreateUpdate(_) => "POST",
            _ => self.fixed().map_or("GET", |(method, _)| method),
        }
    }
}

pub(super) fn stack_tail(call: StackCall) -> String {
    match call {
        StackCall::CreateUpdate(kind) => format!("/{kind}"),
        StackCall::ExportVersion(version) => format!("/export/{version}"),
        StackCall::UpdateVersion(version) => format!("/updates/{version}"),
        _ => call.fixed().map_or_else(String::new, |(_, path)| path.to_owned()),
    }
}

impl UpdateCall {
    fn fixed(self) -> (&'static str, &'static str) {
        match self {
            Self::Status => ("GET", ""),
            Self::Start => ("POST", ""),
            Self::JournalEntries => ("PATCH", "/journalentries"),
            Self::Checkpoint => ("PATCH", "/checkpoint"),
            Self::CheckpointVerbatim => ("PATCH", "/checkpointverbatim"),
            Self::CheckpointDelta => ("PATCH", "/checkpointdelta"),
            Self::RecordEvents => ("POST", "/events/batch"),
            Self::Events => ("GET", "/events"),
            Self::Journal => ("GET", "/journal"),
            Self::RenewLease => ("POST", "/renew_lease"),
            Self::Complete => ("POST", "/complete"),
            Self::Cancel => ("POST", "/cancel"),
        }
    }

    const ALL: [Self; 12] = [
        Self::Status,
        Self::Start,
        Self::JournalEntries,
        Self::Checkpoint,
        Self::CheckpointVerbatim,
        Self::CheckpointDelta,
        Self::RecordEvents,
        Self::Events,
        Self::Journal,
        Self::RenewLease,
        Self::Complete,
        Self::Cancel,
    ];

    pub(super) fn parse(method: &str, tail: &[&str]) -> Option<Self> {
        Self::ALL.into_iter().find(|call| {
            let (called, path) = call.fixed();
            called == method && is_tail(path, tail)
        })
    }

    /// The method of the request.
    pub fn method(self) -> &'static str {
        self.fixed().0
    }

    /// Calls of the client that holds the lease bring its token, all others that of a user.
    pub fn authorization(self) -> Authorization {
        match self {
            Self::Status | Self::Start | Self::Events | Self::Journal | Self::Cancel => Authorization::Token,
            Self::JournalEntries
            | Self::Checkpoint
            | Self::CheckpointVerbatim
            | Self::CheckpointDelta
            | Self::RecordEvents
            | Self::RenewLease
            | Self::Complete => Authorization::UpdateToken,
        }
    }
}

pub(super) fn update_tail(call: UpdateCall) -> &'static str {
    call.fixed().1
}

fn is_tail(path: &str, tail: &[&str]) -> bool {
    path.split('/').skip(1).eq(tail.iter().copied())
}

/// Digits alone; signs are no part of versions.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
