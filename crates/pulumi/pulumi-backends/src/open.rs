//! From a backend URL to an open store.

use std::path::PathBuf;
use std::sync::Arc;

use groundstate_blobs::{BlobStore, Context, Error, Op, Result};
#[cfg(any(feature = "azblob", feature = "gcs", feature = "s3"))]
use groundstate_common::Origin;

use crate::choice::BackendChoice;

/// What stores are opened with beside their URL.
#[expect(missing_debug_implementations, reason = "the variables are a function, and they are secrets")]
#[derive(Clone, Copy)]
pub struct OpenContext<'a> {
    /// Clock, sleeper and ids.
    pub context: &'a Context,
    /// Looks up variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What relative paths of `file://` begin at; absolute.
    pub directory: &'a std::path::Path,
}

/// An open store, whose keys are those of the layout.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenedStore {
    /// The store: retried, and below the prefix of the URL.
    pub store: Arc<dyn BlobStore>,
    /// What a user should know of the URL and the settings, one line each.
    pub notes: Vec<String>,
    /// The directory, where it is one.
    pub directory: Option<PathBuf>,
    /// The table of a database, which writers make.
    #[cfg(feature = "postgres")]
    table: Option<Arc<groundstate_blobs_postgres::PostgresBlobs>>,
    /// How keys begin that the other form of the URL of a database has.
    #[cfg(feature = "postgres")]
    other_form: Option<OtherForm>,
}

/// The URL of a database without its name in the path, or with it: the same table, and other keys.
#[cfg(feature = "postgres")]
#[derive(Clone, Debug)]
pub(crate) struct OtherForm {
    /// How its keys begin.
    pub(crate) prefix: String,
    /// What it is.
    pub(crate) url: String,
}

impl OpenedStore {
    fn new(store: Arc<dyn BlobStore>, notes: Vec<String>, directory: Option<PathBuf>) -> Self {
        Self {
            store,
            notes,
            directory,
            #[cfg(feature = "postgres")]
            table: None,
            #[cfg(feature = "postgres")]
            other_form: None,
        }
    }

    /// Makes what a store needs before the first write and does not make by itself: the table of a database. Readers leave it out.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn prepare(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if let Some(table) = &self.table {
            return table.create_table().await;
        }
        Ok(())
    }

    /// Whether the same table has stacks that this URL does not show and its other form does: `postgres://HOST/DATABASE` puts the name of the
    /// database before all keys, and `postgres://` with `PGDATABASE` does not. Gives that form. One request; none for other stores.
    ///
    /// # Errors
    ///
    /// Those of the request.
    pub async fn other_form_with_stacks(&self) -> Result<Option<String>> {
        #[cfg(feature = "postgres")]
        if let (Some(table), Some(other)) = (&self.table, &self.other_form) {
            let stacks = format!("{}{}", other.prefix, groundstate_pulumi_diy::Layout::STACKS);
            let page = table.list(&stacks, &groundstate_blobs::ListOptions::default().limit(1)).await?;
            return Ok((!page.blobs.is_empty()).then(|| other.url.clone()));
        }
        Ok(None)
    }
}

/// A store and what is to be said of its settings.
#[cfg(any(feature = "azblob", feature = "gcs", feature = "s3"))]
pub(crate) type Opened = (Arc<dyn BlobStore>, Vec<String>);

impl BackendChoice {
    /// Opens the store. Nothing is sent yet; a directory has to be there.
    ///
    /// # Errors
    ///
    /// `Invalid` and `Unsupported` for parameters that are invalid or cannot be honoured, `Unsupported` for a store that this
    /// build does not have, and for what a project file does not decide.
    pub fn open(&self, with: OpenContext<'_>) -> Result<OpenedStore> {
        if self.url.has_user_info() && self.url.scheme() != "postgres" {
            return Err(self
                .url
                .wrong("it has a user or a password")
                .next_step("use the environment or a profile for those"));
        }
        let prefix = self.url.key_prefix()?;
        if self.url.scheme() == "file" {
            let (store, directory, notes) = crate::file::open(&self.url, with)?;
            return Ok(OpenedStore::new(store, notes, Some(directory)));
        }
        #[cfg(feature = "postgres")]
        if self.url.scheme() == "postgres" {
            let (store, table, other_form) = crate::postgres::open(self, with)?;
            let opened = OpenedStore::new(groundstate_blobs::Prefixed::wrap(store, prefix), Vec::new(), None);
            return Ok(OpenedStore { table: Some(table), other_form, ..opened });
        }
        self.open_cloud(with, prefix)
    }

    #[cfg(any(feature = "azblob", feature = "gcs", feature = "s3"))]
    fn open_cloud(&self, with: OpenContext<'_>, prefix: String) -> Result<OpenedStore> {
        let (store, notes) = match self.url.scheme() {
            #[cfg(feature = "s3")]
            "s3" => crate::s3::open(self, with)?,
            #[cfg(feature = "gcs")]
            "gs" => crate::gcs::open(self, with)?,
            #[cfg(feature = "azblob")]
            "azblob" => crate::azblob::open(self, with)?,
            _ => return Err(self.not_built_in()),
        };
        Ok(OpenedStore::new(groundstate_blobs::Prefixed::wrap(store, prefix), notes, None))
    }

    #[cfg(not(any(feature = "azblob", feature = "gcs", feature = "s3")))]
    fn open_cloud(&self, _: OpenContext<'_>, _: String) -> Result<OpenedStore> {
        Err(self.not_built_in())
    }

    fn not_built_in(&self) -> Error {
        Error::unsupported(Op::Open, format_args!("the backend URL {}", self.url))
            .because(format!("this build has no store for {}://", self.url.scheme()))
            .next_step("use a build with it")
    }

    /// Refuses what a project file does not decide: the parameter leads to another address, or chooses credentials.
    #[cfg(any(feature = "azblob", feature = "gcs", feature = "s3"))]
    pub(crate) fn only_from_user(&self, names: &[&str]) -> Result<()> {
        if self.origin >= Origin::Environment {
            return Ok(());
        }
        match names.iter().find(|name| self.url.query().get(name).is_some()) {
            None => Ok(()),
            Some(name) => Err(Error::unsupported(Op::Use, format_args!("the backend URL {}", self.url))
                .because(format!("only the project file names the parameter `{name}`, which decides who gets your credentials"))
                .next_step("log in with `pulumi login URL`, set PULUMI_BACKEND_URL, or pass `--trust-directory` if you trust it")),
        }
    }
}
