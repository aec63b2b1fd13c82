//! Comparing everything in the store of a server with its checksums, and making heads anew.

use std::fmt;
use std::sync::Arc;

use groundstate_audit::Location;
use groundstate_blobs::{BlobStore, Context};
use groundstate_pulumi_service::{Stacks, UpdateFinding};
use groundstate_versioned::{Document, Documents, Error, Name, Settings};

use crate::AUDIT_PREFIX;
use crate::app::ROOT;
use crate::auth::{TokenError, Tokens};
use crate::edge::LAYOUT;

/// Why a store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreCheckError {
    /// The documents cannot be listed or read.
    #[error("cannot check the states")]
    Documents(#[source] Error),
    /// The updates of Pulumi stacks cannot be listed or read.
    #[error("cannot check the updates of stacks")]
    Updates(#[source] groundstate_pulumi_service::Error),
    /// The audit log cannot be read.
    #[error("cannot check the audit log")]
    Audit(#[source] groundstate_audit::Error),
    /// The tokens cannot be read.
    #[error("cannot check the tokens")]
    Tokens(#[source] TokenError),
}

/// A damage in the store of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreProblem {
    /// The document that it is of; none for updates of stacks, the audit log and tokens.
    pub document: Option<Name>,
    /// The Pulumi stack whose updates it is of: its full name, or its id where that is not known.
    pub stack: Option<String>,
    /// Where it is.
    pub place: String,
    /// Damage, in words.
    pub problem: String,
    /// `true` if [`StoreCheck::document`] can be made whole by a head that is made anew.
    pub is_of_head: bool,
}

impl StoreProblem {
    /// The problem of the mark of a store, as [`OpenedStore::open_damaged`](crate::edge::OpenedStore::open_damaged) tells it.
    pub fn of_mark(problem: impl Into<String>) -> Self {
        let (place, problem) = (LAYOUT.to_owned(), problem.into());
        Self { document: None, stack: None, place, problem, is_of_head: false }
    }
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.document, &self.stack) {
            (Some(name), _) => write!(f, "{name}: {} ({})", self.problem, self.place),
            (None, Some(stack)) => write!(f, "stack {stack}: {} ({})", self.problem, self.place),
            (None, None) => write!(f, "{}: {}", self.place, self.problem),
        }
    }
}

/// Amount that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreChecked {
    /// Number of documents.
    pub documents: u64,
    /// Number of versions that have a content.
    pub versions: u64,
    /// Number of updates of Pulumi stacks.
    pub updates: u64,
    /// Bytes of contents, checkpoints and events that were read.
    pub bytes: u64,
}

/// Takes problems one by one, so that none is kept in memory.
pub type ProblemReport<'a> = dyn FnMut(StoreProblem) + 'a;

/// A look through the store of a server, while servers run or not.
#[derive(Debug)]
pub struct StoreCheck {
    documents: Documents,
    stacks: Stacks,
    store: Arc<dyn BlobStore>,
    context: Context,
}

impl StoreCheck {
    /// Looks through a store, which retries.
    ///
    /// # Errors
    ///
    /// For a store without conditional writes.
    pub fn open(store: Arc<dyn BlobStore>, context: &Context) -> Result<Self, StoreCheckError> {
        let settings = Settings::default().root(ROOT);
        let documents = Documents::open(Arc::clone(&store), context.clone(), settings);
        let documents = documents.map_err(StoreCheckError::Documents)?;
        let stacks = Stacks::new(documents.clone(), Arc::clone(&store), context.clone());
        Ok(Self { documents, stacks, store, context: context.clone() })
    }

    /// A document of the store.
    pub fn document(&self, name: &Name) -> Document {
        self.documents.document(name)
    }

    /// Compares heads, records, what updates of Pulumi stacks stored, tokens and the audit log with their checksums, and with `contents` every
    /// content, checkpoint, journal and event too. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Errors of the store. Damage is reported.
    pub async fn run(
        &self,
        contents: bool,
        report: &mut ProblemReport<'_>,
    ) -> Result<StoreChecked, StoreCheckError> {
        let checked = self
            .documents
            .check(contents, &mut |name, finding| {
                report(StoreProblem {
                    document: Some(name.clone()),
                    stack: None,
                    place: finding.place,
                    problem: finding.problem,
                    is_of_head: finding.is_of_head,
                });
            })
            .await
            .map_err(StoreCheckError::Documents)?;
        let mut of_updates = |finding: UpdateFinding| {
            let (stack, place, problem) = (Some(finding.stack), finding.place, finding.problem);
            report(StoreProblem { document: None, stack, place, problem, is_of_head: false });
        };
        let updates = self.stacks.check(contents, &mut of_updates).await;
        let updates = updates.map_err(StoreCheckError::Updates)?;
        let mut other = |place: String, problem: String| {
            report(StoreProblem { document: None, stack: None, place, problem, is_of_head: false });
        };
        let tokens = Tokens::new(Arc::clone(&self.store), self.context.clone());
        let (_, damaged) = tokens.survey().await.map_err(StoreCheckError::Tokens)?;
        damaged.iter().for_each(|error| other("auth/tokens".to_owned(), error.to_string()));
        let location =
            Location::new(Arc::clone(&self.store), AUDIT_PREFIX).map_err(StoreCheckError::Audit)?;
        let verified = groundstate_audit::verify(&location, None).await.map_err(StoreCheckError::Audit)?;
        verified.findings.iter().for_each(|finding| other(AUDIT_PREFIX.to_owned(), finding.to_string()));
        Ok(StoreChecked {
            documents: checked.documents,
            versions: checked.versions,
            updates: updates.updates,
            bytes: checked.bytes.saturating_add(updates.bytes),
        })
    }
}
