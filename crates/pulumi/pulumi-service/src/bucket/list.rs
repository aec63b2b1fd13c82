//! The lists of stacks in buckets.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::PageToken;
use tracing::warn;

use super::StackBucket;
use crate::deployment::{self, Counts};
use crate::error::{ErrorKind, Result};
use crate::filter::StackFilter;
use crate::listing::{ListedStack, StackPage};
use crate::op::Op;
use crate::path::StackPath;
use crate::stacks::Stacks;

const OP: Op = Op::List;
/// What the tokens of pages of buckets begin with; behind it are the owner, and the last stack of the page before.
const TOKEN: &str = "bucket:";
/// How many stacks a page has where no number is asked for.
const PAGE: usize = 100;
/// How many stacks of a list are read at a time.
const PARALLEL: usize = 8;

impl Stacks {
    /// A page of the stacks of buckets; none if the filter is for others, or begins with them.
    pub(crate) async fn list_bucket(&self, filter: &StackFilter) -> Result<Option<StackPage>> {
        let token = filter.page.as_ref().and_then(|page| page.as_str().strip_prefix(TOKEN));
        let (owner, after) = match (token, &filter.owner) {
            (Some(token), _) => token.split_once('/').unwrap_or((token, "")),
            (None, Some(owner)) if self.buckets().contains_key(owner) => (owner.as_str(), ""),
            _ => return Ok(None),
        };
        let Some(bucket) = self.buckets().get(owner) else { return Ok(Some(StackPage::default())) };
        let after = after.split_once('/');
        let names = bucket.names(filter.project.as_deref()).await?;
        let rest = names
            .iter()
            .filter(|(project, stack)| after.is_none_or(|after| (project.as_str(), stack.as_str()) > after));
        let mut paths = rest.filter_map(|(project, stack)| served(bucket, [owner, project, stack]));
        let limit = filter.limit.unwrap_or(PAGE).max(1);
        let page: Vec<StackPath> = paths.by_ref().take(limit).collect();
        let has_more = paths.next().is_some();
        let next = match page.last().filter(|_| has_more) {
            Some(last) => Some(format!("{TOKEN}{last}")),
            None if filter.owner.is_none() => {
                let later = self.buckets().keys().find(|other| other.as_str() > owner);
                later.map(|later| format!("{TOKEN}{later}"))
            }
            None => None,
        };
        let stacks = stream::iter(page).map(|path| self.listed_in_bucket(bucket, path));
        let stacks: Vec<Option<ListedStack>> = stacks.buffered(PARALLEL).try_collect().await?;
        let stacks = stacks.into_iter().flatten().filter(|stack| filter.has(stack)).collect();
        Ok(Some(StackPage { stacks, damaged: Vec::new(), next: next.map(PageToken::new) }))
    }

    /// Where the stacks of buckets begin, behind those of the service.
    pub(crate) fn first_bucket_page(&self, filter: &StackFilter) -> Option<PageToken> {
        let first = self.buckets().keys().next().filter(|_| filter.owner.is_none())?;
        Some(PageToken::new(format!("{TOKEN}{first}")))
    }

    async fn listed_in_bucket(
        &self,
        bucket: &Arc<dyn StackBucket>,
        path: StackPath,
    ) -> Result<Option<ListedStack>> {
        let (updated, resources) = match bucket.read(&path).await {
            Ok(None) => return Ok(None),
            Ok(Some(state)) => {
                let counted = match &state.export {
                    Some(export) => {
                        deployment::check(OP, &path, export).and_then(|_| Counts::of(OP, &path, export))
                    }
                    None => Ok(Counts::default()),
                };
                let counted = counted.map(|counts| counts.resources).inspect_err(|error| {
                    warn!(stack = %path, error = %error, "the resources of a stack in a bucket cannot be counted");
                });
                (state.updated, counted.ok())
            }
            // A stack whose state is damaged is one.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                warn!(stack = %path, error = %error, "a stack in a bucket cannot be read");
                (None, None)
            }
            Err(error) => return Err(error),
        };
        let tags = match bucket.tags(&path).await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                warn!(stack = %path, error = %error, "the tags of a stack in a bucket cannot be read, so it is listed without them");
                BTreeMap::new()
            }
            tags => tags?,
        };
        let known = self.find_known(OP, &path).await?.filter(|stack| *stack.path() == path);
        let (id, running) = match known {
            Some(stack) => (stack.id().to_owned(), stack.running(&stack.head(OP).await?).is_some()),
            None => (String::new(), false),
        };
        Ok(Some(ListedStack { path, id, tags, updated, running, resources }))
    }
}

/// The path of a stack in a bucket, if it can be served.
fn served(bucket: &Arc<dyn StackBucket>, [owner, project, stack]: [&str; 3]) -> Option<StackPath> {
    StackPath::new(owner, project, stack)
        .inspect_err(|error| {
            warn!(%bucket, project, stack, error = %error, "a stack in a bucket has a name that is not served");
        })
        .ok()
}
