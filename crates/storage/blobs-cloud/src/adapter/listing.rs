//! Lists by any prefix and in the order of bytes, of stores that list by whole segments and in an order of their own.

use std::collections::BTreeMap;

use groundstate_blobs::{Error, ErrorKind, ListOptions, Listed, Op, Page, PageToken, Result};
use object_store::path::Path;
use object_store::{Attributes, ObjectMeta};

use super::{ObjectStoreBlobs, translate};

/// How many entries a page has, unless fewer are asked for.
const LIMIT: usize = 1000;

/// What stands at a name: a blob, or all that lies behind it.
enum Entry {
    Blob(Box<ObjectMeta>),
    Prefix,
}

impl ObjectStoreBlobs {
    pub(super) async fn page(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let entries = self.entries(prefix, options.delimiter).await?;
        let after = options.page.as_ref().map(PageToken::as_str);
        let limit = options.limit.unwrap_or(LIMIT).clamp(1, LIMIT);
        let mut page = Page::default();
        let mut last = None;
        for (name, entry) in entries.into_iter().filter(|(name, _)| after.is_none_or(|after| &**name > after))
        {
            if page.blobs.len() + page.prefixes.len() == limit {
                page.next = last.map(PageToken::new);
                break;
            }
            last = Some(name.clone());
            match entry {
                Entry::Blob(meta) => {
                    page.blobs.push(Listed::new(name, translate::meta(&meta, &Attributes::new())));
                }
                Entry::Prefix => page.prefixes.push(name),
            }
        }
        Ok(page)
    }

    async fn entries(&self, prefix: &str, delimiter: bool) -> Result<BTreeMap<String, Entry>> {
        const OP: Op = Op::List;
        let failed = |error| translate::error(OP, self.to_string(), error, false);
        let folder = match prefix.rsplit_once('/') {
            Some((folder, _)) => Some(Path::parse(folder).map_err(|error| {
                Error::new(ErrorKind::InvalidKey, OP, format!("{self}/{prefix}")).with_source(error)
            })?),
            None => None,
        };
        let mut entries = BTreeMap::new();
        let mut add = |meta: ObjectMeta| {
            let name = meta.location.to_string();
            let Some(rest) = name.strip_prefix(prefix) else { return };
            match rest.find('/').filter(|_| delimiter) {
                Some(slash) => {
                    let length = prefix.len() + slash + 1;
                    entries.insert(name.get(..length).unwrap_or(&name).to_owned(), Entry::Prefix);
                }
                None => {
                    entries.insert(name, Entry::Blob(Box::new(meta)));
                }
            }
        };
        let mut listed = self.inner.list(folder.as_ref());
        while let Some(meta) = next(&mut listed).await {
            add(meta.map_err(failed)?);
        }
        Ok(entries)
    }
}

/// The next item of a stream.
async fn next<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    std::future::poll_fn(|cx| std::pin::Pin::new(&mut *stream).poll_next(cx)).await
}
