//! Looking for a resource by its name, marks and pending operations: the words for what is wrong, and the edges of each rule.

use groundstate_pulumi_integrity::{
    DeleteError, DeleteOptions, FindError, Flag, PendingError, RenameError, closest, delete, find, rename,
    resolve_pending, set_flag,
};
use groundstate_pulumi_snapshot::{Operation, OperationType, Urn};
use proptest::prelude::*;

use crate::support::{resource, snapshot, urn};

#[test]
fn a_name_that_means_nothing_says_so_word_for_word() {
    let mut snapshot = snapshot(&["a", "b(#1)", "b(! #2)", "c(*)", "d(a)"]);
    let quoted = |name: &str| format!("{:?}", urn(name).as_str());
    let missing = format!("No such resource {} exists in the current state", quoted("zzz"));
    assert_eq!(find(&snapshot, "plain").unwrap_err().to_string(), r#""plain" is not a valid resource URN"#);
    assert_eq!(find(&snapshot, urn("zzz").as_str()).unwrap_err().to_string(), missing);
    let twice = find(&snapshot, urn("b").as_str()).unwrap_err();
    assert_eq!(twice.to_string(), "Resource URN ambiguously referred to multiple resources");
    let FindError::Ambiguous { candidates, .. } = twice else { panic!("{twice}") };
    let ids: Vec<_> = candidates.iter().map(|(at, id)| (*at, id.as_ref().map(|id| id.as_str()))).collect();
    assert_eq!(ids, [(1, Some("1")), (2, Some("2"))]);

    let refused =
        set_flag(&mut snapshot, [&urn("zzz"), &urn("a"), &urn("yyy")], Flag::Taint(true)).unwrap_err();
    let other = missing.replace("zzz", "yyy");
    assert_eq!(refused.to_string(), format!("{missing}\n{other}"));
    assert!(!snapshot.resources[0].taint, "none of them is marked");

    for (name, to, said) in [
        ("zzz", "x", missing.as_str()),
        ("b", "x", "The input URN ambiguously refers to multiple resources"),
        ("a", "d", "The chosen new urn for the state corresponds to an already existing resource"),
        ("a", "b", "The chosen new urn for the state corresponds to an already existing resource"),
    ] {
        assert_eq!(rename(&mut snapshot, &urn(name), to).unwrap_err().to_string(), said, "{name} to {to}");
    }
    let invalid = rename(&mut snapshot, &Urn::from("plain"), "x").unwrap_err();
    assert_eq!(invalid, RenameError::Invalid(Urn::from("plain")));
    assert_eq!(invalid.to_string(), "The provided input URN is not valid");
    let same = rename(&mut snapshot, &urn("a"), "a").unwrap();
    assert_eq!((same.changed, same.sealed), (0, 0));

    let none = delete(&mut snapshot, [5], DeleteOptions::default()).unwrap_err();
    assert_eq!(none, DeleteError::NoResource(5));
    assert_eq!(none.to_string(), "there is no resource at index 5; look the name up again");
}

#[test]
fn a_deletion_is_refused_for_the_last_protected_target_first() {
    let mut snapshot = snapshot(&["a(*)", "b(*)", "c"]);
    let error = delete(&mut snapshot, [0, 1, 2], DeleteOptions::default()).unwrap_err();
    assert_eq!(error, DeleteError::Protected { urn: urn("b") });
    assert_eq!(snapshot.resources.len(), 3);
    let done = delete(&mut snapshot, [2, 0, 1, 1], DeleteOptions::default().force(true)).unwrap();
    assert_eq!(done.targets, [urn("a"), urn("b"), urn("c")]);
    assert_eq!(done.protected, [urn("a"), urn("b")]);
}

#[test]
fn of_names_that_are_alike_three_are_proposed_the_nearest_first() {
    let snapshot =
        snapshot(&["abcdefg1", "abcdefgh", "abcdef", "abcdefgh2", "nothing-of-the-kind-at-all-here"]);
    assert_eq!(
        closest(&snapshot, urn("abcdefgh").as_str()),
        [urn("abcdefgh"), urn("abcdefg1"), urn("abcdefgh2")]
    );
    // Case does not count, and neither does the order in which equal ones stand.
    assert_eq!(closest(&snapshot, &urn("ABCDEFGH").as_str().to_uppercase())[0], urn("abcdefgh"));
    // Short texts may differ in two characters, whatever their length.
    assert!(closest(&snapshot, "").is_empty());
}

#[test]
fn what_cannot_be_resolved_names_the_operation_and_the_way_out() {
    let mut stuck = snapshot(&["a"]);
    for (text, kind) in
        [("x", OperationType::Updating), ("y(~)", OperationType::Creating), ("z", OperationType::Creating)]
    {
        stuck.pending_operations.push(Operation::new(resource(text), kind));
    }
    for (index, id, said) in [
        (3, "i", "there is no pending operation at index 3; list them again".to_owned()),
        (
            0,
            "i",
            format!(
                "the operation at index 0 is {:?}, and only creating can be resolved with an identifier; clear it instead",
                OperationType::Updating
            ),
        ),
        (
            1,
            "i",
            "the resource of the operation at index 1 is a component, which has no identifier; clear it instead".to_owned(),
        ),
        (2, "", "the identifier is empty; clear the operation if the resource was not created".to_owned()),
    ] {
        assert_eq!(resolve_pending(&mut stuck, index, id.into()).unwrap_err().to_string(), said);
    }
    resolve_pending(&mut stuck, 2, "i".into()).unwrap();
    assert_eq!(
        resolve_pending(&mut stuck, 2, "j".into()),
        Err(PendingError::NotCreating { index: 2, kind: OperationType::Importing })
    );
    assert_eq!(stuck.pending_operations[2].resource.id().unwrap().as_str(), "i", "the first answer stays");
}

/// How many characters have to be added, removed or replaced: the definition, without a table.
fn slow_distance(a: &[char], b: &[char]) -> usize {
    match (a, b) {
        ([], rest) | (rest, []) => rest.len(),
        ([x, a_rest @ ..], [y, b_rest @ ..]) if x == y => slow_distance(a_rest, b_rest),
        ([_, a_rest @ ..], [_, b_rest @ ..]) => {
            1 + slow_distance(a_rest, b_rest).min(slow_distance(a_rest, b)).min(slow_distance(a, b_rest))
        }
    }
}

proptest! {
    #[test]
    fn proposals_are_those_that_the_definition_of_the_distance_gives(
        names in prop::collection::btree_set("[ab]{1,5}", 1..6),
        wanted in "[abAB]{1,5}",
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let snapshot = snapshot(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let text = urn(&wanted);
        let chars = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
        let most = (text.as_str().len() / 4).max(2);
        let mut expected: Vec<(usize, Urn)> = names
            .iter()
            .map(|name| (slow_distance(&chars(name), &chars(&wanted)), urn(name)))
            .filter(|(distance, _)| *distance <= most)
            .collect();
        expected.sort_by_key(|(distance, _)| *distance);
        let expected: Vec<Urn> = expected.into_iter().take(3).map(|(_, urn)| urn).collect();
        prop_assert_eq!(closest(&snapshot, text.as_str()), expected);
    }
}
