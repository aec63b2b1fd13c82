//! Format 2 to 3: in flat attributes, counts of maps move from `#` to `%`, and counts of empty collections go.

use std::borrow::Cow;

use crate::sink::Sink;
use crate::wire::legacy::{Entry, StringMap, sort_keeping_last};
use crate::wire::{v2, v3};

/// Turns a document of format 2 into one of format 3.
pub(super) fn upgrade<'a>(mut document: v2::Document<'a>, sink: &mut Sink) -> v3::Document<'a> {
    let resources = document.modules.iter_mut().flat_map(|module| &mut module.resources);
    for (_, resource) in resources {
        for instance in resource.primary.iter_mut().chain(&mut resource.deposed) {
            instance.attributes = instance.attributes.take().map(|old| {
                let mut entries = old.into_entries(sink);
                upgrade_counts(&mut entries);
                StringMap::Entries(entries)
            });
        }
    }
    v3::Document(document)
}

/// What a count of a collection turns out to count.
#[derive(Clone, Copy)]
enum Count {
    /// A map: it moves to the name that counts of maps have.
    OfMap,
    /// Nothing: it is removed.
    OfNothing,
}

/// Tells maps from lists and sets in sorted attributes.
///
/// A collection is a map if one of its keys is not a number, so a map of numbers alone stays what it looks like.
/// A decision about one collection never touches the entries another one looks at, so all are made on the entries
/// as they were, and each looks only at the run of entries below it.
pub(super) fn upgrade_counts(entries: &mut Vec<Entry<'_>>) {
    let counts: Vec<(usize, Count)> =
        (0..entries.len()).filter_map(|at| Some((at, count(entries, at)?))).collect();
    let mut counts = counts.into_iter().peekable();
    let mut moved = Vec::new();
    let mut at = 0;
    entries.retain_mut(|(name, value)| {
        let count = counts.next_if(|(index, _)| *index == at).map(|(_, count)| count);
        at += 1;
        if let Some(Count::OfMap) = count {
            let count_of_map = format!("{}%", &name[..name.len() - 1]);
            moved.push((Cow::Owned(count_of_map), std::mem::take(value)));
        }
        count.is_none()
    });
    // A moved count replaces one that stood there before.
    entries.append(&mut moved);
    sort_keeping_last(entries, |entry| &entry.0);
}

/// Decides about the entry at `at`; nothing happens to what is no count, or counts a list or set.
fn count(entries: &[Entry<'_>], at: usize) -> Option<Count> {
    let prefix = entries.get(at)?.0.strip_suffix('#').filter(|prefix| prefix.ends_with('.'))?;
    let begin = entries.partition_point(|(name, _)| **name < *prefix);
    let below = entries.get(begin..)?.iter().map_while(|(name, _)| name.strip_prefix(prefix));
    let mut keys = below.filter_map(sub_key).peekable();
    if keys.peek().is_none() {
        return Some(Count::OfNothing);
    }
    keys.any(|key| key.parse::<i64>().is_err()).then_some(Count::OfMap)
}

/// The key of an element, from what its attribute's name holds behind the prefix of its collection.
fn sub_key(rest: &str) -> Option<&str> {
    match rest.split_once('.') {
        Some((key, _)) if !key.is_empty() => Some(key),
        _ => (rest != "#").then_some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &[(&str, &str)], after: &[(&str, &str)]) {
        let mut entries: Vec<Entry<'_>> = before.iter().map(|&(k, v)| (k.into(), v.into())).collect();
        entries.sort();
        upgrade_counts(&mut entries);
        let expected: Vec<Entry<'_>> = after.iter().map(|&(k, v)| (k.into(), v.into())).collect();
        assert_eq!(entries, expected);
    }

    #[test]
    fn leaves_lists_and_sets_alone() {
        let list = [("a.#", "2"), ("a.0", "x"), ("a.1", "y")];
        check(&list, &list);
        let set = [("a.#", "1"), ("a.3051489281", "x")];
        check(&set, &set);
        let negative = [("a.#", "1"), ("a.-7", "x")];
        check(&negative, &negative);
    }

    #[test]
    fn moves_the_count_of_a_map() {
        check(&[("t.#", "1"), ("t.Name", "x")], &[("t.%", "1"), ("t.Name", "x")]);
        check(&[("t.#", "2"), ("t.0", "x"), ("t.b", "y")], &[("t.%", "2"), ("t.0", "x"), ("t.b", "y")]);
    }

    #[test]
    fn keeps_a_map_of_numbers_as_a_list() {
        let all_numeric = [("t.#", "1"), ("t.443", "https")];
        check(&all_numeric, &all_numeric);
    }

    #[test]
    fn removes_the_count_of_nothing() {
        check(&[("e.#", "0"), ("id", "1")], &[("id", "1")]);
        check(&[("e.#", "3")], &[]);
    }

    #[test]
    fn decides_about_nested_collections_one_by_one() {
        check(
            &[("l.#", "1"), ("l.0.tags.#", "1"), ("l.0.tags.x", "y"), ("l.0.none.#", "0")],
            &[("l.#", "1"), ("l.0.tags.%", "1"), ("l.0.tags.x", "y")],
        );
    }

    #[test]
    fn takes_computed_hashes_and_numbers_beyond_64_bits_for_names() {
        check(&[("s.#", "1"), ("s.~123", "x")], &[("s.%", "1"), ("s.~123", "x")]);
        let big = "s.9223372036854775808";
        check(&[("s.#", "1"), (big, "x")], &[("s.%", "1"), (big, "x")]);
    }

    #[test]
    fn a_moved_count_replaces_an_older_one() {
        check(&[("t.#", "1"), ("t.%", "7"), ("t.a", "x")], &[("t.%", "1"), ("t.a", "x")]);
    }

    #[test]
    fn does_not_take_a_lone_hash_or_a_name_that_ends_in_one_for_a_count() {
        let odd = [("#", "0"), ("c#", "0")];
        check(&odd, &odd);
    }

    #[test]
    fn looks_at_neighbours_with_a_longer_name_only_below_the_dot() {
        let neighbours = [("a", "x"), ("a-b.x", "1"), ("a.#", "1"), ("a.0", "z"), ("ab.x", "1")];
        check(&neighbours, &neighbours);
    }
}
