//! What every written list keeps to.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::{StackEntry, Urn};

/// How an entry refers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// It is managed by it.
    Provider,
    /// It belongs to it.
    Parent,
    /// It depends on it as a whole.
    Dependency,
    /// A property of it depends on it.
    Property,
    /// Its deletion comes with the other's.
    DeletedWith,
    /// Its replacement comes with the other's.
    ReplaceWith,
}

/// What is wrong about a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum IntegrityError {
    /// An entry refers to something that is not in the list.
    #[error("{urn} (entry {at}) refers to {reference} as its {relation}, which is not in the list")]
    Missing {
        /// Where the entry stands.
        at: usize,
        /// Its name.
        urn: Urn,
        /// How it refers.
        relation: Relation,
        /// To what.
        reference: Urn,
    },
    /// An entry refers to something that comes after it.
    #[error("{urn} (entry {at}) refers to {reference} as its {relation}, which comes after it")]
    Behind {
        /// Where the entry stands.
        at: usize,
        /// Its name.
        urn: Urn,
        /// How it refers.
        relation: Relation,
        /// To what.
        reference: Urn,
    },
    /// Two entries are the live one of a name.
    #[error("{urn} (entry {at}) is in the list a second time, and neither is marked for deletion")]
    Twice {
        /// Where the second one stands.
        at: usize,
        /// The name.
        urn: Urn,
    },
}

/// Checks that everything an entry refers to comes before it, and that names are live once.
///
/// The provider of an entry whose object is deleted already is not asked for.
///
/// # Errors
/// Everything that is wrong, in the order of the list.
pub fn verify<'a>(list: impl IntoIterator<Item = &'a StackEntry>) -> Result<(), Vec<IntegrityError>> {
    let list: Vec<&StackEntry> = list.into_iter().collect();
    let mut first: HashMap<&Urn, usize> = HashMap::new();
    for (at, entry) in list.iter().enumerate() {
        first.entry(&entry.urn).or_insert(at);
    }
    let mut live = HashSet::new();
    let mut errors = Vec::new();
    for (at, entry) in list.iter().enumerate() {
        let urn = || entry.urn.clone();
        for (relation, reference) in entry.references() {
            if relation == Relation::Provider && entry.pending_replacement {
                continue;
            }
            let reference = || reference.clone();
            match first.get(&reference()) {
                Some(&place) if place < at => {}
                Some(_) => {
                    errors.push(IntegrityError::Behind { at, urn: urn(), relation, reference: reference() });
                }
                None => {
                    errors.push(IntegrityError::Missing { at, urn: urn(), relation, reference: reference() });
                }
            }
        }
        if !entry.delete && !live.insert(&entry.urn) {
            errors.push(IntegrityError::Twice { at, urn: urn() });
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Provider => "provider",
            Self::Parent => "parent",
            Self::Dependency => "dependency",
            Self::Property => "property dependency",
            Self::DeletedWith => "deleted-with",
            Self::ReplaceWith => "replace-with",
        })
    }
}
