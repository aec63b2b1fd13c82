//! Listing in pages, with prefixes and delimiters.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::Object;

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After<'a> {
    Start,
    /// After this key.
    Key(&'a str),
    /// After this entry of an earlier page, with all that it stands for.
    Entry(&'a str),
    /// At this key.
    At(&'a str),
}

/// A key, or what several have in common up to a delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Key(String),
    Prefix(String),
}

impl Entry {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Key(text) | Self::Prefix(text) => text,
        }
    }
}

/// A page of a listing.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    /// Whether there is more after the last entry.
    pub(crate) truncated: bool,
}

impl Page {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Key(key) => Some(key.as_str()),
            Entry::Prefix(_) => None,
        })
    }

    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Prefix(prefix) => Some(prefix.as_str()),
            Entry::Key(_) => None,
        })
    }

    /// The last entry, if there is more after it.
    pub(crate) fn next(&self) -> Option<&str> {
        self.entries.last().filter(|_| self.truncated).map(Entry::text)
    }
}

/// Lists objects in order of their keys.
pub(crate) fn page(
    objects: &BTreeMap<String, Object>,
    prefix: &str,
    delimiter: &str,
    after: After<'_>,
    max: usize,
) -> Page {
    let start = match after {
        After::Start => Bound::Included(prefix),
        After::At(key) => Bound::Included(key.max(prefix)),
        After::Key(key) | After::Entry(key) if key >= prefix => Bound::Excluded(key),
        After::Key(_) | After::Entry(_) => Bound::Included(prefix),
    };
    let seen = match after {
        After::Entry(entry) if !delimiter.is_empty() && entry.ends_with(delimiter) => Some(entry),
        _ => None,
    };
    let mut page = Page::default();
    for (key, _) in objects.range::<str, _>((start, Bound::Unbounded)) {
        let Some(rest) = key.strip_prefix(prefix) else { break };
        if seen.is_some_and(|seen| key.starts_with(seen)) {
            continue;
        }
        let common = if delimiter.is_empty() { None } else { rest.find(delimiter) };
        let entry = match common {
            Some(at) => Entry::Prefix(key[..prefix.len() + at + delimiter.len()].to_owned()),
            None => Entry::Key(key.clone()),
        };
        if page.entries.last() == Some(&entry) {
            continue;
        }
        if page.entries.len() == max {
            page.truncated = max > 0;
            break;
        }
        page.entries.push(entry);
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;

    use super::{After, Entry, page};
    use crate::store::Object;

    fn objects(keys: &[&str]) -> BTreeMap<String, Object> {
        keys.iter().map(|key| ((*key).to_owned(), Object::new(Bytes::new()))).collect()
    }

    #[test]
    fn pages_join_to_the_whole_listing() {
        let objects = objects(&["a", "a/1", "a/2", "b/", "b/x", "c", "d/y"]);
        for delimiter in ["", "/"] {
            let whole = page(&objects, "", delimiter, After::Start, usize::MAX).entries;
            for max in 1..=whole.len() {
                let (mut joined, mut last): (Vec<Entry>, Option<String>) = (Vec::new(), None);
                loop {
                    let after = last.as_deref().map_or(After::Start, After::Entry);
                    let part = page(&objects, "", delimiter, after, max);
                    joined.extend(part.entries.iter().cloned());
                    let Some(next) = part.next() else { break };
                    last = Some(next.to_owned());
                }
                assert_eq!(joined, whole, "{delimiter:?} {max}");
            }
        }
    }

    #[test]
    fn what_keys_have_in_common_is_listed_once() {
        let found = page(&objects(&["p/a", "p/b/1", "p/b/2", "q"]), "p/", "/", After::Start, 10);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["p/a"]);
        assert_eq!(found.prefixes().collect::<Vec<_>>(), ["p/b/"]);
        assert!(!found.truncated);
    }

    #[test]
    fn a_listing_may_begin_at_or_after_a_key() {
        let objects = objects(&["a", "b", "c"]);
        let keys = |after| page(&objects, "", "", after, 10).keys().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(keys(After::Key("b")), ["c"]);
        assert_eq!(keys(After::At("b")), ["b", "c"]);
    }
}
