//! Comparing everything in the store of a server with its checksums, and making heads anew.

use std::fmt;
use std::sync::Arc;

use groundstate_audit::Location;
use groundstate_blobs::{BlobStore, Context};
use groundstate_versioned::{Checked, Document, Documents, Error, Name, Settings};

use crate::AUDIT_PREFIX;
use crate::app::ROOT;
use crate::auth::{TokenError, Tokens};

/// Why a store cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreCheckError {
    /// The documents cannot be listed or read.
    #[error("cannot check the states")]
    Documents(#[source] Error),
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
    /// The document that it is of; none for the audit log and tokens.
    pub document: Option<Name>,
    /// Where it is.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
    /// Whether [`StoreCheck::document`] can be made whole by a head that is made anew.
    pub is_of_head: bool,
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.document {
            Some(name) => write!(f, "{name}: {} ({})", self.problem, self.place),
            None => write!(f, "{}: {}", self.place, self.problem),
        }
    }
}

/// Takes problems one by one, so that none is kept in memory.
pub type ProblemReport<'a> = dyn FnMut(StoreProblem) + 'a;

/// A look through the store of a server, while servers run or not.
#[derive(Debug)]
pub struct StoreCheck {
    documents: Documents,
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
        Ok(Self { documents, store, context: context.clone() })
    }

    /// A document of the store.
    pub fn document(&self, name: &Name) -> Document {
        self.documents.document(name)
    }

    /// Compares heads, records, tokens and the audit log with their checksums, and with `contents` every content too. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Those of the store. Damage is reported.
    pub async fn run(
        &self,
        contents: bool,
        report: &mut ProblemReport<'_>,
    ) -> Result<Checked, StoreCheckError> {
        let checked = self
            .documents
            .check(contents, &mut |name, finding| {
                report(StoreProblem {
                    document: Some(name.clone()),
                    place: finding.place,
                    problem: finding.problem,
                    is_of_head: finding.is_of_head,
                });
            })
            .await
            .map_err(StoreCheckError::Documents)?;
        let mut other = |place: String, problem: String| {
            report(StoreProblem { document: None, place, problem, is_of_head: false });
        };
        let tokens = Tokens::new(Arc::clone(&self.store), self.context.clone());
        let (_, damaged) = tokens.survey().await.map_err(StoreCheckError::Tokens)?;
        damaged.iter().for_each(|error| other("auth/tokens".to_owned(), error.to_string()));
        let location =
            Location::new(Arc::clone(&self.store), AUDIT_PREFIX).map_err(StoreCheckError::Audit)?;
        let verified = groundstate_audit::verify(&location, None).await.map_err(StoreCheckError::Audit)?;
        verified.findings.iter().for_each(|finding| other(AUDIT_PREFIX.to_owned(), finding.to_string()));
        Ok(checked)
    }
}
