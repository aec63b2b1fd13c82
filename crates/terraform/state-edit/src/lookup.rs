//! Resources by their names and by the modules they lie in, so that many patterns do not look at all of them each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundstate_states::addr::{AbsResource, ModuleInstance};

/// Type and name.
type Key = (String, String);

/// The resources that there are now.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookup {
    by_name: BTreeMap<Key, BTreeSet<AbsResource>>,
    /// The same, with names from their end.
    by_end: BTreeSet<Key>,
    /// By the names of the modules around them.
    by_path: BTreeMap<Vec<Arc<str>>, BTreeSet<AbsResource>>,
}

impl Lookup {
    pub(super) fn of(addresses: impl IntoIterator<Item = AbsResource>) -> Self {
        let mut lookup = Self::default();
        addresses.into_iter().for_each(|address| lookup.insert(address));
        lookup
    }

    pub(super) fn insert(&mut self, address: AbsResource) {
        let key = key(&address);
        self.by_end.insert((key.0.clone(), reversed(&key.1)));
        self.by_path.entry(path(&address.module)).or_default().insert(address.clone());
        self.by_name.entry(key).or_default().insert(address);
    }

    pub(super) fn remove(&mut self, address: &AbsResource) {
        let (key, path) = (key(address), path(&address.module));
        if let Some(same) = self.by_name.get_mut(&key) {
            same.remove(address);
            if same.is_empty() {
                self.by_name.remove(&key);
                self.by_end.remove(&(key.0, reversed(&key.1)));
            }
        }
        if let Some(same) = self.by_path.get_mut(&path) {
            same.remove(address);
            if same.is_empty() {
                self.by_path.remove(&path);
            }
        }
    }

    /// Resources of this type, if one is given, whose names begin and end like this; without order.
    pub(super) fn named<'l>(
        &'l self,
        type_name: Option<&'l str>,
        (begin, end): (&'l str, &'l str),
    ) -> Box<dyn Iterator<Item = &'l AbsResource> + 'l> {
        let Some(type_name) = type_name else { return Box::new(self.by_name.values().flatten()) };
        if begin.is_empty() && !end.is_empty() {
            let end = reversed(end);
            let from = (type_name.to_owned(), end.clone());
            let keys = self
                .by_end
                .range(from..)
                .take_while(move |(other, name)| other == type_name && name.starts_with(&end));
            let keys =
                keys.filter_map(|(type_name, name)| self.by_name.get(&(type_name.clone(), reversed(name))));
            return Box::new(keys.flatten());
        }
        let from = (type_name.to_owned(), begin.to_owned());
        let same = self
            .by_name
            .range(from..)
            .take_while(move |((other, name), _)| other == type_name && name.starts_with(begin));
        Box::new(same.flat_map(|(_, addresses)| addresses))
    }

    /// Resources in modules of these names, and in those inside them; in the order of lists.
    pub(super) fn inside(&self, module: &ModuleInstance) -> Vec<AbsResource> {
        let path = path(module);
        let within = self.by_path.range(path.clone()..).take_while(|(other, _)| other.starts_with(&path));
        let mut found: Vec<AbsResource> = within.flat_map(|(_, addresses)| addresses).cloned().collect();
        found.sort();
        found
    }
}

fn key(address: &AbsResource) -> Key {
    (address.resource.type_name.to_string(), address.resource.name.to_string())
}

fn path(module: &ModuleInstance) -> Vec<Arc<str>> {
    module.to_config().steps().to_vec()
}

fn reversed(name: &str) -> String {
    name.chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> AbsResource {
        AbsResource::parse(text).unwrap()
    }

    #[test]
    fn finds_what_begins_and_ends_like_something() {
        let all =
            ["t.web_a", "t.web_b", "t.we", "u.web_a", "module.m[0].t.web_a", "module.m[0].module.n.t.x"];
        let mut lookup = Lookup::of(all.map(address));
        let named = |lookup: &Lookup, type_name: Option<&str>, ends: (&str, &str)| {
            let mut found: Vec<String> = lookup.named(type_name, ends).map(ToString::to_string).collect();
            found.sort();
            found
        };
        assert_eq!(named(&lookup, Some("t"), ("web", "")), ["module.m[0].t.web_a", "t.web_a", "t.web_b"]);
        assert_eq!(named(&lookup, Some("t"), ("", "_a")), ["module.m[0].t.web_a", "t.web_a"]);
        assert_eq!(named(&lookup, Some("v"), ("", "")), Vec::<String>::new());
        assert_eq!(named(&lookup, None, ("x", "")).len(), all.len());

        let inside =
            |lookup: &Lookup, module: &str| lookup.inside(&ModuleInstance::parse(module).unwrap()).len();
        assert_eq!((inside(&lookup, "module.m"), inside(&lookup, "module.m.module.n")), (2, 1));
        lookup.remove(&address("module.m[0].t.web_a"));
        assert_eq!(named(&lookup, Some("t"), ("", "_a")), ["t.web_a"]);
        assert_eq!(inside(&lookup, "module.m"), 1);
    }
}
