//! Merging what an apply could not store.

use std::collections::BTreeMap;

use groundstate_state_edit::diff;
use groundstate_state_edit::{BaseUsed, MergeBase, MergeError, merge_errored};
use groundstate_statefile::{EncodeOptions, File, encode};
use groundstate_states::{Lineage, Serial};
use proptest::prelude::*;

use crate::support::read;
use crate::support::{PROVIDER, lines};

/// A state of instances, each with the text of its attributes and what it depends on; a name without a dot is an output.
fn state(serial: u64, things: &[(&str, &str, &str)]) -> File {
    let mut outputs = Vec::new();
    let mut resources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value, dependencies) in things {
        let Some((kind, rest)) = name.split_once('.') else {
            outputs.push(format!(r#""{name}":{{"value":"{value}","type":"string"}}"#));
            continue;
        };
        let (name, key) =
            rest.split_once('[').map_or((rest, None), |(name, key)| (name, key.strip_suffix(']')));
        let head = format!(r#""mode":"managed","type":"{kind}","name":"{name}","provider":"{PROVIDER}""#);
        let key = key.map(|key| format!(r#""index_key":{key},"#)).unwrap_or_default();
        let list: Vec<_> = dependencies.split_whitespace().map(|text| format!("\"{text}\"")).collect();
        let object =
            format!(r#"{{{key}"attributes":{{"v":"{value}"}},"dependencies":[{}]}}"#, list.join(","));
        resources.entry(head).or_default().push(object);
    }
    let resources: Vec<_> = resources
        .iter()
        .map(|(head, objects)| format!(r#"{{{head},"instances":[{}]}}"#, objects.join(",")))
        .collect();
    read(format!(
        r#"{{"version":4,"serial":{serial},"lineage":"l","outputs":{{{}}},"resources":[{}]}}"#,
        outputs.join(","),
        resources.join(",")
    ))
}

#[test]
fn takes_all_that_the_apply_did_without_a_write_since() {
    let stored = state(5, &[("t.a", "1", ""), ("t.b", "1", ""), ("o", "x", "")]);
    let errored = state(6, &[("t.a", "2", ""), ("t.c[0]", "1", "t.a"), ("o", "y", ""), ("p", "z", "")]);
    let merged = merge_errored(&stored, &errored, MergeBase::Detect(&[])).unwrap();
    assert_eq!(merged.base, BaseUsed::Stored);
    assert_eq!(merged.file.state, errored.state);
    assert_eq!(merged.file.serial, Serial::new(6));
    let changed = diff(&stored, &merged.file).entries;
    assert_eq!(merged.changes.entries, changed[1..], "all but the serial");
    assert_eq!(merged.dangling, []);
    assert!(encode(&merged.file, &EncodeOptions::default()).is_ok());
}

#[test]
fn needs_no_base_for_what_is_the_same() {
    let stored = state(9, &[("t.a", "1", "")]);
    let errored = state(3, &[("t.a", "1", "")]);
    let merged = merge_errored(&stored, &errored, MergeBase::Detect(&[])).unwrap();
    assert_eq!((merged.base, merged.file.serial), (BaseUsed::None, Serial::new(9)));
    assert!(merged.changes.is_empty());
}

#[test]
fn takes_each_thing_from_the_side_that_changed_it() {
    let base = state(
        4,
        &[
            ("t.a", "1", ""),
            ("t.b", "1", ""),
            ("t.k[0]", "1", ""),
            ("t.k[1]", "1", ""),
            ("t.gone", "1", ""),
            ("o", "x", ""),
        ],
    );
    let stored = state(
        6,
        &[
            ("t.a", "2", ""),
            ("t.b", "1", ""),
            ("t.k[0]", "2", ""),
            ("t.k[1]", "1", ""),
            ("t.new", "1", ""),
            ("o", "x", ""),
        ],
    );
    let errored = state(
        5,
        &[
            ("t.a", "1", ""),
            ("t.k[0]", "1", ""),
            ("t.k[1]", "2", ""),
            ("t.k[2]", "1", ""),
            ("t.gone", "1", ""),
            ("o", "y", ""),
        ],
    );
    let merged = merge_errored(&stored, &errored, MergeBase::Detect(&[state(1, &[]), base.clone()])).unwrap();
    assert_eq!(merged.base, BaseUsed::Other(Serial::new(4)));
    let expected = state(
        0,
        &[
            ("t.a", "2", ""),
            ("t.k[0]", "2", ""),
            ("t.k[1]", "2", ""),
            ("t.k[2]", "1", ""),
            ("t.new", "1", ""),
            ("o", "y", ""),
        ],
    );
    assert_eq!(merged.file.state, expected.state);
    assert_eq!(merged.file.serial, Serial::new(6));
    let given = merge_errored(&stored, &errored, MergeBase::Given(&base)).unwrap();
    assert_eq!(given.file.state, merged.file.state);
}

/// A state with what belongs to the document as a whole: the version of its writer, an unknown member, and a check.
fn whole(serial: u64, writer: &str, note: &str, status: &str) -> File {
    read(format!(
        r#"{{"version":4,"terraform_version":"{writer}","serial":{serial},"lineage":"l","note":"{note}","resources":[],
        "outputs":{{"o":{{"value":"{serial}","type":"string"}}}},
        "check_results":[{{"object_kind":"check","config_addr":"check.c","status":"{status}","objects":null}}]}}"#
    ))
}

#[test]
fn what_belongs_to_the_document_is_taken_from_the_side_that_changed_it() {
    let base = whole(1, "1.9.0", "a", "pass");
    let merged = |mut stored: File, errored: &File| {
        // The outputs are no matter here.
        stored.state.root_mut().outputs = base.state.root().outputs.clone();
        merge_errored(&stored, errored, MergeBase::Given(&base)).map(|merged| merged.file)
    };
    let same = whole(3, "1.9.0", "a", "pass");
    let changed = whole(2, "1.10.0", "b", "fail");
    let expected = |of: &File, file: File| {
        let parts = |file: &File| {
            (file.terraform_version.clone(), file.extra.clone(), file.state.check_results.clone())
        };
        assert_eq!(parts(&file), parts(of));
    };
    expected(&changed, merged(same.clone(), &changed).unwrap());
    expected(&changed, merged(changed.clone(), &same).unwrap());
    // The writer and the checks of the stored state stay where both changed them; other members are not understood.
    let stored = whole(3, "1.11.0", "b", "error");
    expected(&stored, merged(stored.clone(), &changed).unwrap());
    let error = merged(whole(3, "1.9.0", "c", "pass"), &changed).unwrap_err();
    assert_eq!(
        error.to_string(),
        "both sides changed document (changed in the stored state, changed by the failed apply); decide for each by hand \
         which one is true"
    );
}

#[test]
fn conflicts_are_listed_and_nothing_is_merged() {
    let base = state(4, &[("t.a", "1", ""), ("t.b[0]", "1", ""), ("t.c", "1", ""), ("o", "x", "")]);
    let stored = state(5, &[("t.a", "2", ""), ("t.c", "2", ""), ("t.new", "1", ""), ("o", "y", "")]);
    let errored = state(5, &[("t.a", "3", ""), ("t.b[0]", "2", ""), ("t.new", "2", ""), ("o", "z", "")]);
    let error = merge_errored(&stored, &errored, MergeBase::Given(&base)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "both sides changed output.o (changed in the stored state, changed by the failed apply), t.a (changed in the \
         stored state, changed by the failed apply), t.b[0] (removed in the stored state, changed by the failed apply), \
         t.c (changed in the stored state, removed by the failed apply), t.new (added in the stored state, added by the \
         failed apply); decide for each by hand which one is true"
    );
    let MergeError::Conflicts(conflicts) = error else { unreachable!() };
    assert_eq!(conflicts.len(), 5);
}

#[test]
fn asks_for_a_base_when_none_is_safe() {
    let (one, two) = (&[("t.a", "1", "")], &[("t.a", "2", "")]);
    for (stored, errored, candidate) in [(5, 5, 5), (5, 5, 6), (6, 5, 5), (5, 5, 9)] {
        let candidates = [state(candidate, &[])];
        let error = merge_errored(&state(stored, one), &state(errored, two), MergeBase::Detect(&candidates))
            .unwrap_err();
        assert!(matches!(error, MergeError::BaseNeeded { .. }), "{stored} {errored} {candidate}: {error}");
    }
    let mut other = state(1, one);
    other.lineage = Lineage::new("other");
    let candidates = std::slice::from_ref(&other);
    let error = merge_errored(&state(5, one), &state(5, two), MergeBase::Detect(candidates)).unwrap_err();
    assert!(error.to_string().contains("the stored state has serial 5 and the other one 5"), "{error}");
    let error = merge_errored(&state(5, one), &state(5, two), MergeBase::Given(&other)).unwrap_err();
    assert!(error.to_string().contains("the base has lineage \"other\""), "{error}");
    for (stored, errored, base) in [(7, 5, 6), (5, 7, 6), (7, 5, 7), (5, 7, 9)] {
        let base = state(base, one);
        let error =
            merge_errored(&state(stored, one), &state(errored, two), MergeBase::Given(&base)).unwrap_err();
        assert!(error.to_string().contains("older than both"), "{error}");
    }
    for (stored, errored, base) in [(7, 5, 5), (5, 7, 5), (6, 6, 6)] {
        let base = state(base, one);
        let merged =
            merge_errored(&state(stored, one), &state(errored, two), MergeBase::Given(&base)).unwrap();
        assert_eq!(lines(&merged.file), ["t.a"]);
        assert_eq!(merged.base, BaseUsed::Other(base.serial), "as old as one of them is old enough");
    }
    let error = merge_errored(&state(5, one), &other, MergeBase::Detect(&[])).unwrap_err();
    assert!(error.to_string().contains("different chains of snapshots"), "{error}");
}

#[test]
fn says_which_dependencies_lead_nowhere() {
    let base = state(4, &[("t.a", "1", "")]);
    let stored = state(6, &[]);
    let errored = state(5, &[("t.a", "1", ""), ("t.b", "1", "t.a t.never")]);
    let merged = merge_errored(&stored, &errored, MergeBase::Given(&base)).unwrap();
    assert_eq!(lines(&merged.file), ["t.b: t.a t.never"]);
    let dangling: Vec<_> =
        merged.dangling.iter().map(|d| format!("{} {}", d.instance, d.dependency)).collect();
    assert_eq!(dangling, ["t.b t.a"]);
}

/// Which of a few things there are, and with which value.
fn things() -> impl Strategy<Value = Vec<Option<u8>>> {
    prop::collection::vec(prop::option::of(0u8..3), 6)
}

fn state_of(serial: u64, values: &[Option<u8>]) -> File {
    let names = ["t.a", "t.b[0]", "t.b[1]", "t.c[0]", "o", "p"];
    let texts: Vec<String> = values.iter().map(|value| value.unwrap_or_default().to_string()).collect();
    let there = names.iter().zip(values).zip(&texts).filter(|((_, value), _)| value.is_some());
    let things: Vec<_> = there.map(|((name, _), text)| (*name, text.as_str(), "")).collect();
    state(serial, &things)
}

proptest! {
    #[test]
    fn merges_as_each_thing_by_itself_would(base in things(), stored in things(), errored in things()) {
        let files = [state_of(1, &base), state_of(3, &stored), state_of(3, &errored)];
        let result = merge_errored(&files[1], &files[2], MergeBase::Detect(&files[..1]));
        let each: Vec<Option<Option<u8>>> = (0..6).map(|at| match (base[at], stored[at], errored[at]) {
            (_, s, e) if s == e => Some(s),
            (b, s, e) if b == e => Some(s),
            (b, s, e) if b == s => Some(e),
            _ => None,
        }).collect();
        match each.iter().copied().collect::<Option<Vec<_>>>() {
            Some(values) => prop_assert_eq!(result.unwrap().file.state, state_of(0, &values).state),
            None => {
                let MergeError::Conflicts(conflicts) = result.unwrap_err() else { unreachable!() };
                prop_assert_eq!(conflicts.len(), each.iter().filter(|value| value.is_none()).count());
            }
        }
    }
}
