//! Finding the resource that a name means, and names that may have been meant.

use groundstate_pulumi_snapshot::{ResourceId, Snapshot, Urn};

/// So many names are proposed.
const PROPOSED: usize = 3;

/// Why a name means no resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The text has not the form of a URN.
    #[error("{0:?} is not a valid resource URN")]
    Invalid(String),
    /// Nothing has the name.
    #[error("No such resource {:?} exists in the current state", .urn.as_str())]
    Missing {
        /// The URN that was asked for.
        urn: Urn,
        /// Names like it, the likeliest first.
        closest: Vec<Urn>,
    },
    /// Several resources have it.
    #[error("Resource URN ambiguously referred to multiple resources")]
    Ambiguous {
        /// The URN that was asked for.
        urn: Urn,
        /// Their indexes, with their identifiers.
        candidates: Vec<(usize, Option<ResourceId>)>,
    },
}

/// The index of the only resource of a name.
///
/// # Errors
///
/// The text is no URN, or means no resource, or several.
pub fn find(snapshot: &Snapshot, text: &str) -> Result<usize, FindError> {
    let urn = Urn::from(text);
    let candidates: Vec<(usize, Option<ResourceId>)> =
        snapshot.locate(&urn).map(|(index, resource)| (index, resource.id().cloned())).collect();
    match candidates.as_slice() {
        [(index, _)] => Ok(*index),
        [] if !urn.is_valid() => Err(FindError::Invalid(text.to_owned())),
        [] => Err(FindError::Missing { closest: closest(snapshot, text), urn }),
        _ => Err(FindError::Ambiguous { urn, candidates }),
    }
}

/// Up to three names of resources like this text, the likeliest first.
///
/// Names are alike if few characters have to be changed, without regard to case.
pub fn closest(snapshot: &Snapshot, text: &str) -> Vec<Urn> {
    let most = (text.len() / 4).max(2);
    let wanted: Vec<char> = text.to_lowercase().chars().collect();
    let mut found: Vec<(usize, &Urn)> = Vec::new();
    for (_, resource) in snapshot.indexed() {
        let name: Vec<char> = resource.urn.as_str().to_lowercase().chars().collect();
        if let Some(distance) = distance(&wanted, &name, most)
            && !found.iter().any(|(_, known)| **known == resource.urn)
        {
            found.push((distance, &resource.urn));
            // The sort is stable, so of equal distances the first in the snapshot comes first.
            found.sort_by_key(|(distance, _)| *distance);
            found.truncate(PROPOSED);
        }
    }
    found.into_iter().map(|(_, urn)| urn.clone()).collect()
}

/// How many characters have to be added, removed or replaced, if that is at most `most`.
fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; above.len()];
    for (at, from) in a.iter().enumerate() {
        row[0] = at + 1;
        for (column, to) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(from != to);
            row[column + 1] = replaced.min(above[column + 1] + 1).min(row[column] + 1);
        }
        if row.iter().all(|distance| *distance > most) {
            return None;
        }
        std::mem::swap(&mut above, &mut row);
    }
    above.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_up_to_a_limit() {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        for (a, b, most, expected) in [
            ("kitten", "sitting", 3, Some(3)),
            ("kitten", "sitting", 2, None),
            ("", "ab", 2, Some(2)),
            ("abc", "abc", 0, Some(0)),
            ("abcdef", "a", 2, None),
            ("xabc", "abc", 1, Some(1)),
            ("abc", "abc", 3, Some(0)),
            ("a", "", 1, Some(1)),
        ] {
            assert_eq!(distance(&chars(a), &chars(b), most), expected, "{a} {b}");
        }
    }
}
