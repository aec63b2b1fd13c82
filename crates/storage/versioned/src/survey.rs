//! Documents that have data and no head.

use std::collections::VecDeque;

use groundstate_blobs::PageToken;

use crate::documents::{Documents, ListFilter};
use crate::error::Result;
use crate::name::Name;

/// Where a list of names goes on.
struct Names {
    read: VecDeque<Name>,
    next: Option<PageToken>,
    is_begun: bool,
}

impl Names {
    fn new() -> Self {
        Self { read: VecDeque::new(), next: None, is_begun: false }
    }

    /// `true` if there is another page.
    fn goes_on(&self) -> bool {
        !self.is_begun || self.next.is_some()
    }
}

/// A walk over two lists that have the same order: that of the data, and that of the heads. It has a page of each in memory.
pub(crate) struct Survey<'a> {
    documents: &'a Documents,
    data: Names,
    heads: Names,
    /// The document whose data came last.
    last: Option<Name>,
}

impl<'a> Survey<'a> {
    /// Finds documents that have data and no head, in the order of their names. One that is made meanwhile may be among them.
    pub(crate) fn of_headless(documents: &'a Documents) -> Self {
        Self { documents, data: Names::new(), heads: Names::new(), last: None }
    }

    /// The next of them.
    pub(crate) async fn next(&mut self) -> Result<Option<Name>> {
        while let Some(name) = self.next_with_data().await? {
            if !self.has_head(&name).await? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    async fn next_with_data(&mut self) -> Result<Option<Name>> {
        loop {
            while let Some(name) = self.data.read.pop_front() {
                if self.last.as_ref() != Some(&name) {
                    self.last = Some(name.clone());
                    return Ok(Some(name));
                }
            }
            if !self.data.goes_on() {
                return Ok(None);
            }
            let (keys, next) = self.documents.data_page(self.data.next.take()).await?;
            let mut names: Vec<Name> =
                keys.iter().filter_map(|key| self.documents.name_of_data(key)).collect();
            names.dedup();
            self.data = Names { read: names.into(), next, is_begun: true };
        }
    }

    async fn has_head(&mut self, name: &Name) -> Result<bool> {
        loop {
            while let Some(head) = self.heads.read.front() {
                if head.as_str() >= name.as_str() {
                    return Ok(head == name);
                }
                self.heads.read.pop_front();
            }
            if !self.heads.goes_on() {
                return Ok(false);
            }
            let page = self.documents.name_page(&ListFilter::default().page(self.heads.next.take())).await?;
            self.heads = Names { read: page.names.into(), next: page.next, is_begun: true };
        }
    }
}
