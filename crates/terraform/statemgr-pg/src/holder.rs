//! Who holds the lock of a workspace, by what the server shows of its sessions and by the documents that they left.

use groundstate_common::one_line;
use groundstate_statemgr::{LockHolder, LockId, LockInfo};

/// A session that holds one of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) key: i64,
    /// The number of its process on the server.
    pub(crate) process: i32,
    pub(crate) role: Option<String>,
    pub(crate) application: Option<String>,
    pub(crate) address: Option<String>,
}

/// A document that a session left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) workspace: String,
    pub(crate) process: i32,
    pub(crate) info: LockInfo,
}

/// The session that keeps others from locking a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocker {
    /// It has the workspace locked.
    Of(LockHolder, i32),
    /// It creates another workspace, which keeps others from being created, and Terraform's from being locked.
    Elsewhere(Document),
}

/// Which session has a workspace locked: the one with the key of its row, or one that creates the workspace, which it says in its document. A
/// creator without a document may be at work on any workspace.
pub(crate) fn judge(
    workspace: &str,
    row: Option<i64>,
    sessions: &[Session],
    documents: &[Document],
) -> Option<Blocker> {
    let document_of = |session: &Session| {
        let mut of_process = documents.iter().filter(|document| document.process == session.process);
        of_process.clone().find(|document| document.workspace == workspace).or(of_process.next())
    };
    let of_row = sessions.iter().find(|session| Some(session.key) == row);
    let session = of_row.or_else(|| sessions.iter().find(|session| Some(session.key) != row))?;
    let known = document_of(session);
    match known {
        Some(document) if document.workspace == workspace => {
            Some(Blocker::Of(documented(&document.info), session.process))
        }
        Some(document) if of_row.is_none() => Some(Blocker::Elsewhere(document.clone())),
        _ => Some(Blocker::Of(undocumented(session, of_row.is_none()), session.process)),
    }
}

fn documented(info: &LockInfo) -> LockHolder {
    // The session is there, and with it what opened it, as far as the server can tell.
    LockHolder::of(info.clone()).with_process(None, Some(true))
}

/// The id under which a session without a document is ended.
pub(crate) fn id_of(process: i32) -> LockId {
    LockId::new(&format!("process-{process}"))
}

/// What the server shows of a session, such as Terraform's.
fn undocumented(session: &Session, creates: bool) -> LockHolder {
    let part = |text: &Option<String>| text.as_deref().map(one_line).unwrap_or_default().into_owned();
    let (role, application, address) =
        (part(&session.role), part(&session.application), part(&session.address));
    let what = if creates {
        "creates a workspace, maybe another one"
    } else {
        "has the row of the workspace locked"
    };
    let mut text = format!("process {} of the server {what}", session.process);
    if !application.is_empty() {
        text.push_str(&format!(" for the application {application}"));
    }
    let who = if role.is_empty() && address.is_empty() { String::new() } else { format!("{role}@{address}") };
    let info = LockInfo { who, info: text, path: session.key.to_string(), ..LockInfo::default() };
    LockHolder::of(info).with_id(id_of(session.process)).with_process(None, Some(true))
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::{LockId, LockInfo};

    use super::{Blocker, Document, Session, judge};

    fn session(key: i64, process: i32) -> Session {
        Session {
            key,
            process,
            role: Some("tf".to_owned()),
            application: Some("a\nb".to_owned()),
            address: None,
        }
    }

    fn document(workspace: &str, process: i32) -> Document {
        let info = LockInfo { id: LockId::new(workspace), ..LockInfo::default() };
        Document { workspace: workspace.to_owned(), process, info }
    }

    /// The id of the holder, or the workspace that is created elsewhere.
    fn judged(row: Option<i64>, sessions: &[Session], documents: &[Document]) -> Option<String> {
        judge("w", row, sessions, documents).map(|blocker| match blocker {
            Blocker::Of(holder, process) => format!("{} {process}", holder.id),
            Blocker::Elsewhere(document) => format!("elsewhere {}", document.workspace),
        })
    }

    #[test]
    fn the_holder_is_the_session_with_the_row_or_the_one_that_creates_this_workspace() {
        let (row, terraform, opentofu) = (Some(7), session(-1, 2), session(-3_797_183_428, 3));
        for (row, sessions, documents, expected) in [
            (row, vec![], vec![], None),
            (row, vec![session(7, 1)], vec![document("w", 1)], Some("w 1")),
            (row, vec![session(7, 1)], vec![], Some("process-1 1")),
            // The row counts before what else is going on.
            (row, vec![terraform.clone(), session(7, 1)], vec![document("w", 1)], Some("w 1")),
            // A stale document of a process whose number another session has now.
            (row, vec![session(7, 1)], vec![document("other", 1)], Some("process-1 1")),
            (None, vec![terraform.clone()], vec![document("w", 2)], Some("w 2")),
            (row, vec![terraform.clone()], vec![document("w", 2)], Some("w 2")),
            (None, vec![terraform.clone()], vec![document("x", 2)], Some("elsewhere x")),
            (None, vec![terraform], vec![], Some("process-2 2")),
            (None, vec![opentofu], vec![], Some("process-3 3")),
        ] {
            assert_eq!(judged(row, &sessions, &documents).as_deref(), expected, "{sessions:?} {documents:?}");
        }
    }

    #[test]
    fn a_session_without_a_document_is_described_in_one_line() {
        let Some(Blocker::Of(holder, 1)) = judge("w", Some(7), &[session(7, 1)], &[]) else {
            panic!("it is locked")
        };
        let shown = format!("{holder} {}", holder.info.info);
        assert_eq!(
            shown,
            "tf@ (lock id process-1) process 1 of the server has the row of the workspace locked for the application a\\nb"
        );
    }
}
