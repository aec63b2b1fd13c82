//! Which resources the value of each property came from.

use std::sync::Arc;

use crate::urn::Urn;

/// Dependencies by the name of a property, in the order of the names' bytes.
///
/// A list may be absent: formats before 3 knew no dependencies of properties, and their upgrade writes `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Lists", into = "Lists"))]
pub struct PropertyDependencies(Vec<(Arc<str>, Option<Vec<Urn>>)>);

impl PropertyDependencies {
    /// No properties.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether there are no properties.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many properties there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The dependencies of a property: nothing if it is not there, an empty list also if its list is absent.
    pub fn get(&self, property: &str) -> Option<&[Urn]> {
        let at = self.position(property).ok()?;
        self.0.get(at).map(|(_, urns)| urns.as_deref().unwrap_or_default())
    }

    /// Adds or replaces the list of a property.
    pub fn insert(&mut self, property: impl Into<Arc<str>>, urns: Option<Vec<Urn>>) {
        let property = property.into();
        match self.position(&property) {
            Ok(at) => self.0[at].1 = urns,
            Err(at) => self.0.insert(at, (property, urns)),
        }
    }

    /// Takes a property out, and tells whether it was there.
    pub fn remove(&mut self, property: &str) -> bool {
        let at = self.position(property);
        at.is_ok_and(|at| {
            self.0.remove(at);
            true
        })
    }

    /// Properties and their lists.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Option<&[Urn]>)> {
        self.0.iter().map(|(property, urns)| (&**property, urns.as_deref()))
    }

    /// Properties and those of their lists that are there, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Vec<Urn>)> {
        self.0.iter_mut().filter_map(|(property, urns)| Some((&**property, urns.as_mut()?)))
    }

    /// Keeps the properties for which the function, which may change their lists, says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Option<Vec<Urn>>) -> bool) {
        self.0.retain_mut(|(property, urns)| keep(property, urns));
    }

    fn position(&self, property: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(property))
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Option<Vec<Urn>>)> for PropertyDependencies {
    /// Of equal names the last counts.
    fn from_iter<I: IntoIterator<Item = (N, Option<Vec<Urn>>)>>(entries: I) -> Self {
        let mut entries: Vec<_> = entries.into_iter().map(|(name, urns)| (name.into(), urns)).collect();
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            entries.reverse();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            entries.dedup_by(|(a, _), (b, _)| a == b);
        }
        Self(entries)
    }
}

/// The lists by the names of their properties.
#[cfg(feature = "serde")]
type Lists = std::collections::BTreeMap<Arc<str>, Option<Vec<Urn>>>;

#[cfg(feature = "serde")]
impl From<Lists> for PropertyDependencies {
    fn from(lists: Lists) -> Self {
        lists.into_iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<PropertyDependencies> for Lists {
    fn from(dependencies: PropertyDependencies) -> Self {
        dependencies.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_the_last_of_equal_names_counts() {
        let urns = |names: &[&str]| Some(names.iter().map(|name| Urn::from(*name)).collect::<Vec<_>>());
        let mut map: PropertyDependencies =
            [("b", urns(&["x"])), ("a", None), ("b", urns(&["y"])), ("c", urns(&[]))].into_iter().collect();
        let names: Vec<&str> = map.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(map.get("b"), Some(&[Urn::from("y")][..]));
        assert_eq!((map.get("a"), map.get("d")), (Some(&[][..]), None));
        map.insert("ab", urns(&["z"]));
        assert!(map.remove("b") && !map.remove("b"));
        map.retain(|name, urns| name != "c" && urns.is_some());
        assert_eq!(map, [("ab", urns(&["z"]))].into_iter().collect());
        assert_eq!((map.len(), map.is_empty()), (1, false));
    }
}
