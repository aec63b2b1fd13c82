//! A store of documents.

use std::fmt;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::{BlobStore, BlobVersion, Context, ListOptions, PageToken};

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::layout;
use crate::name::Name;
use crate::op::Op;
use crate::settings::Settings;
use crate::survey::Survey;
use crate::sweep::{SweepOptions, Swept};
use crate::traced;

/// How many heads are read at a time.
const PARALLEL: usize = 8;

/// The documents in one container of a blob store. Clones are clients of the same one.
#[derive(Clone)]
pub struct Documents {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn BlobStore>,
    pub(crate) context: Context,
    pub(crate) settings: Settings,
}

/// A document in a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// The name under which the store keeps the document.
    pub name: Name,
    /// What is true of it.
    pub head: Head,
}

/// A document in a list whose head cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Damaged {
    /// The name under which the store keeps the document.
    pub name: Name,
    /// Damage, in words.
    pub reason: String,
}

/// A part of a list of documents, in the order of the names' bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DocumentPage {
    /// The documents.
    pub documents: Vec<Listed>,
    /// Documents whose heads are damaged, or of a later release.
    pub damaged: Vec<Damaged>,
    /// Where the list goes on, if it does. A page may be empty and yet not the last.
    pub next: Option<PageToken>,
}

/// What became of a sweep over all documents.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SweepReport {
    /// How many documents there are, deleted ones too.
    pub documents: usize,
    /// What was removed from them.
    pub swept: Swept,
    /// Documents that could not be swept, with the reason; also those of which there are versions and no head.
    pub failed: Vec<(Name, Error)>,
}

/// A part of a list of names, in the order of their bytes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NamePage {
    /// The names.
    pub names: Vec<Name>,
    /// Which content the head of each has, in their order: it is another one after every change.
    pub versions: Vec<BlobVersion>,
    /// Where the list goes on, if it does. A page may be empty and yet not the last.
    pub next: Option<PageToken>,
}

/// Which documents are listed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListFilter {
    /// How their names begin; any text.
    pub prefix: String,
    /// Where to go on, from the page before.
    pub page: Option<PageToken>,
    /// How many heads are read at most; stores have a limit of their own, 1000 or more.
    pub limit: Option<usize>,
    /// Whether documents without a present version are listed too: deleted ones, and those that have only been locked.
    pub absent: bool,
}

impl ListFilter {
    /// Lists names that begin so.
    pub fn prefix(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }

    /// Goes on behind a page.
    #[must_use]
    pub fn page(mut self, page: Option<PageToken>) -> Self {
        self.page = page;
        self
    }

    /// Makes pages this long at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Lists documents without a present version too.
    #[must_use]
    pub fn with_absent(mut self) -> Self {
        self.absent = true;
        self
    }
}

impl Documents {
    /// The documents in a container. Stores try each request once: wrap the store into [`Retry`](groundstate_blobs::Retry).
    ///
    /// # Errors
    ///
    /// `Unsupported` for a store without conditional writes, `Invalid` for settings that it cannot have.
    pub fn open(store: Arc<dyn BlobStore>, context: Context, settings: Settings) -> Result<Self> {
        if !store.capabilities().conditional_put {
            let error = Error::new(ErrorKind::Unsupported, Op::Open, &store);
            return Err(error
                .because("the store has no conditional writes, so it cannot hold locks")
                .next_step("use another store"));
        }
        settings.check(&store)?;
        Ok(Self { shared: Arc::new(Shared { store, context, settings }) })
    }

    /// A client of the document of this name, which may not exist yet.
    pub fn document(&self, name: &Name) -> Document {
        Document::new(Arc::clone(&self.shared), name.clone())
    }

    /// Lists documents with their heads, in the order of the names' bytes.
    ///
    /// # Errors
    ///
    /// Errors of the store. Documents whose heads are damaged are in the page with the reason.
    pub async fn list(&self, filter: &ListFilter) -> Result<DocumentPage> {
        traced::run_on_all(Op::List, self, &filter.prefix, async {
            let page = self.listing(filter).await?;
            traced::count(page.documents.len());
            Ok(page)
        })
        .await
    }

    /// Lists the names of documents and reads none of them: one request for each page. Documents without a present version are listed
    /// whatever [`ListFilter::absent`] is.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn names(&self, filter: &ListFilter) -> Result<NamePage> {
        traced::run_on_all(Op::List, self, &filter.prefix, async {
            let page = self.name_page(filter).await?;
            traced::count(page.names.len());
            Ok(page)
        })
        .await
    }

    /// Sweeps all documents, one after the other, as [`Document::sweep`] does. One that cannot be swept does not end it.
    ///
    /// # Errors
    ///
    /// Those of the store when it is listed.
    pub async fn sweep(&self, options: &SweepOptions) -> Result<SweepReport> {
        traced::run_on_all(Op::Sweep, self, "", async {
            let (mut report, mut page) = (SweepReport::default(), None);
            loop {
                let listed = self.name_page(&ListFilter::default().page(page)).await?;
                for name in listed.names {
                    report.documents += 1;
                    match self.document(&name).sweep(options).await {
                        Ok(swept) => report.swept += swept,
                        Err(error) => report.failed.push((name, error)),
                    }
                }
                page = listed.next;
                if page.is_none() {
                    break;
                }
            }
            let mut survey = Survey::of_headless(self);
            while let Some(name) = survey.next().await? {
                if let Err(error) = self.document(&name).load(Op::Sweep).await {
                    report.failed.push((name, error));
                }
            }
            traced::count(report.documents);
            Ok(report)
        })
        .await
    }

    async fn listing(&self, filter: &ListFilter) -> Result<DocumentPage> {
        let NamePage { names, next, .. } = self.name_page(filter).await?;
        let heads = stream::iter(names).map(|name| async move {
            match self.document(&name).load(Op::List).await {
                Ok(stored) => Ok(Ok(Listed { name, head: stored.head })),
                Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported) => {
                    Ok(Err(Damaged { name, reason: error.message().to_owned() }))
                }
                Err(error) => Err(error),
            }
        });
        let heads: Vec<Result<Listed, Damaged>> = heads.buffered(PARALLEL).try_collect().await?;
        let mut page = DocumentPage { next, ..DocumentPage::default() };
        for listed in heads {
            match listed {
                Ok(listed) if filter.absent || listed.head.current().is_some() => page.documents.push(listed),
                Ok(_) => {}
                Err(damaged) => page.damaged.push(damaged),
            }
        }
        Ok(page)
    }

    /// The names of the documents that have a head.
    pub(crate) async fn name_page(&self, filter: &ListFilter) -> Result<NamePage> {
        let root = self.shared.settings.prefix();
        let mut options = ListOptions::default().page(filter.page.clone());
        options.limit = filter.limit.map(|limit| limit.max(1));
        let listed = self.shared.store.list(&layout::heads(root, &filter.prefix), &options).await;
        let listed = listed.map_err(|error| Error::of_store(Op::List, self, error))?;
        let named = listed.blobs.into_iter();
        let named =
            named.filter_map(|blob| Some((layout::name_of_head(root, &blob.name)?, blob.meta.version)));
        let (names, versions) = named.unzip();
        Ok(NamePage { names, versions, next: listed.next })
    }
}

impl Documents {
    /// A page of the names of the blobs in the data of all documents.
    pub(crate) async fn data_page(
        &self,
        page: Option<PageToken>,
    ) -> Result<(Vec<String>, Option<PageToken>)> {
        let prefix = format!("{}{}", self.shared.settings.prefix(), layout::DATA);
        let listed = self.shared.store.list(&prefix, &ListOptions::default().page(page)).await;
        let listed = listed.map_err(|error| Error::of_store(Op::List, self, error))?;
        Ok((listed.blobs.into_iter().map(|blob| blob.name).collect(), listed.next))
    }

    /// The document whose data has a blob of this name.
    pub(crate) fn name_of_data(&self, key: &str) -> Option<Name> {
        layout::name_of_data(self.shared.settings.prefix(), key)
    }
}

impl fmt::Display for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shared.store)?;
        match self.shared.settings.prefix().strip_suffix('/') {
            Some(root) => write!(f, "/{root}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents")
            .field("store", &self.shared.store)
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
