//! Which stacks are listed.

use groundstate_blobs::PageToken;

use crate::listing::ListedStack;
use crate::path::NAMES;

/// Which stacks are listed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StackFilter {
    /// Those of this owner.
    pub owner: Option<String>,
    /// Those of this project.
    pub project: Option<String>,
    /// Those with this tag, and this value of it if there is one.
    pub tag: Option<(String, Option<String>)>,
    /// Where to go on, from the page before.
    pub page: Option<PageToken>,
    /// How many names are looked at for a page at most.
    pub limit: Option<usize>,
}

impl StackFilter {
    /// Lists stacks of an owner.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Lists stacks of a project.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Lists stacks with a tag.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>, value: Option<String>) -> Self {
        self.tag = Some((name.into(), value));
        self
    }

    /// Goes on behind a page.
    #[must_use]
    pub fn page(mut self, page: Option<PageToken>) -> Self {
        self.page = page;
        self
    }

    /// Looks at so many names at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(crate) fn prefix(&self) -> String {
        match (&self.owner, &self.project) {
            (Some(owner), Some(project)) => format!("{NAMES}{owner}/{project}/"),
            (Some(owner), None) => format!("{NAMES}{owner}/"),
            _ => NAMES.to_owned(),
        }
    }

    pub(crate) fn has(&self, stack: &ListedStack) -> bool {
        let is_tagged = self.tag.as_ref().is_none_or(|(name, value)| {
            stack.tags.get(name).is_some_and(|found| value.as_ref().is_none_or(|value| value == found))
        });
        is_tagged && self.project.as_ref().is_none_or(|project| project == stack.path.project())
    }
}
