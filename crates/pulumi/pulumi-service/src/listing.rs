//! Lists of stacks.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::PageToken;
use groundstate_common::Timestamp;
use groundstate_versioned::ListFilter;

use crate::error::{Error, ErrorKind, Result};
use crate::filter::StackFilter;
use crate::op::Op;
use crate::path::StackPath;
use crate::record::VersionNote;
use crate::stacks::Stacks;

/// How many stacks of a list are read at a time.
const PARALLEL: usize = 8;

/// A stack in a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedStack {
    /// The owner, the project and the name.
    pub path: StackPath,
    /// Its id, which no other stack has, nor ever had.
    pub id: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// When what made its last version ended; none for a stack that has never been updated.
    pub updated: Option<Timestamp>,
    /// Whether an update runs.
    pub running: bool,
    /// How many resources it has; none if its state cannot be read.
    pub resources: Option<u64>,
}

/// A page of a list of stacks, in the order of their names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StackPage {
    /// The stacks.
    pub stacks: Vec<ListedStack>,
    /// Stacks that cannot be read, with the reason.
    pub damaged: Vec<(StackPath, String)>,
    /// Where the list goes on, if it does.
    pub next: Option<PageToken>,
}

impl Stacks {
    /// Lists stacks, of one owner or of one project, in the order of their names.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn list(&self, filter: &StackFilter) -> Result<StackPage> {
        const OP: Op = Op::List;
        if let Some(page) = self.list_bucket(filter).await? {
            return Ok(page);
        }
        let prefix = filter.prefix();
        let mut names = ListFilter::prefix(&prefix).page(filter.page.clone());
        if let Some(limit) = filter.limit {
            names = names.limit(limit);
        }
        let page = self.documents().names(&names).await;
        let page = page.map_err(|error| Error::of_document(OP, "stacks", error))?;
        let paths = page.names.iter().filter_map(StackPath::of_document);
        let stacks = stream::iter(paths).map(|path| async move {
            match self.listed(path.clone()).await {
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    Ok(Err((path, error.message().to_owned())))
                }
                listed => listed.map(Ok),
            }
        });
        let listed: Vec<Result<_, (StackPath, String)>> = stacks.buffered(PARALLEL).try_collect().await?;
        let (mut stacks, mut damaged) = (Vec::new(), Vec::new());
        for stack in listed {
            match stack {
                Ok(stack) => stacks.extend(stack.filter(|stack| filter.has(stack))),
                Err(reason) => damaged.push(reason),
            }
        }
        // Behind the stacks of the service are those of buckets.
        let next = page.next.or_else(|| self.first_bucket_page(filter));
        Ok(StackPage { stacks, damaged, next })
    }

    async fn listed(&self, path: StackPath) -> Result<Option<ListedStack>> {
        const OP: Op = Op::List;
        let stack = match self.find_known(OP, &path).await {
            // A stack of a bucket that was configured once is not served.
            Err(error) if error.kind() == ErrorKind::NoBucket => return Ok(None),
            found => found?,
        };
        // Those of buckets are listed from there.
        let Some(stack) = stack.filter(|stack| stack.bucket().is_none()) else { return Ok(None) };
        // A former name is none in a list.
        if *stack.path() != path {
            return Ok(None);
        }
        let head = stack.head(OP).await?;
        let Some(version) = head.current() else { return Ok(None) };
        let note = VersionNote::of(version);
        Ok(Some(ListedStack {
            path,
            id: stack.id().to_owned(),
            tags: stack.tags().await?,
            updated: (version.number > 1).then_some(note.ended),
            running: stack.running(&head).is_some(),
            resources: Some(note.resources),
        }))
    }
}
