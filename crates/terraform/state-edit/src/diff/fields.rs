//! Collects the fields in which two things differ.

use std::collections::BTreeMap;
use std::fmt::Display;

use groundstate_states::{Extra, RawJson};

use super::tree::{Secret, compare};
use super::{ChangeKind, DiffValue, Entry, FieldChange, Subject};
use groundstate_json::{push_json_string, push_name};

/// The fields that differ so far.
#[derive(Default)]
pub(super) struct Fields(pub(super) Vec<FieldChange>);

impl Fields {
    /// Compares two JSON values member by member.
    pub(super) fn json(&mut self, path: &str, a: &RawJson, b: &RawJson, secrets: &[Secret<'_>]) {
        compare(a, b, path, secrets, &mut self.0);
    }

    /// Compares two JSON values that may be missing.
    pub(super) fn optional_json(
        &mut self,
        path: &str,
        a: Option<&RawJson>,
        b: Option<&RawJson>,
        secrets: &[Secret<'_>],
    ) {
        match (a, b) {
            (Some(a), Some(b)) => self.json(path, a, b, secrets),
            _ => self.whole(path, a.cloned(), b.cloned(), !secrets.is_empty()),
        }
    }

    /// Compares two values as wholes; equal text is no difference.
    pub(super) fn whole(&mut self, path: &str, a: Option<RawJson>, b: Option<RawJson>, sensitive: bool) {
        if a == b {
            return;
        }
        let value = |raw| if sensitive { DiffValue::Sensitive(raw) } else { DiffValue::Plain(raw) };
        self.0.push(FieldChange { path: path.to_owned(), before: a.map(value), after: b.map(value) });
    }

    /// Compares two texts.
    pub(super) fn text<T: Display>(&mut self, path: &str, a: Option<T>, b: Option<T>) {
        self.whole(path, a.map(string), b.map(string), false);
    }

    /// Compares two numbers or bools.
    pub(super) fn scalar<T: Display>(&mut self, path: &str, a: Option<T>, b: Option<T>) {
        let json = |value: T| RawJson::from_validated(&value.to_string());
        self.whole(path, a.map(json), b.map(json), false);
    }

    /// Compares two sets of texts; each side is one value.
    pub(super) fn set<T: Display>(&mut self, path: &str, a: &[T], b: &[T]) {
        self.whole(path, set_of(a), set_of(b), false);
    }

    /// Compares members that are not understood, of the object at `path`. Nothing says whether they are secret, so they are
    /// hidden.
    pub(super) fn extra(&mut self, path: &str, a: &Extra, b: &Extra) {
        if a == b {
            return;
        }
        // Of two members with one name the later counts, as it does for every reader.
        let mut members: BTreeMap<&str, [Option<&RawJson>; 2]> = BTreeMap::new();
        for (name, value) in a.iter() {
            members.entry(name).or_default()[0] = Some(value);
        }
        for (name, value) in b.iter() {
            members.entry(name).or_default()[1] = Some(value);
        }
        for (name, [a, b]) in members {
            let mut path = path.to_owned();
            push_name(&mut path, name);
            self.optional_json(&path, a, b, &[Secret::default()]);
        }
    }

    /// The entry of something that is there on both sides, if any field differs.
    pub(super) fn into_change(self, subject: Subject) -> Option<Entry> {
        (!self.0.is_empty()).then_some(Entry { subject, kind: ChangeKind::Changed, fields: self.0 })
    }
}

/// A text as JSON.
pub(super) fn string(text: impl Display) -> RawJson {
    let mut out = String::new();
    push_json_string(&mut out, &text.to_string());
    RawJson::from_validated(&out)
}

/// Texts as a sorted array without duplicates; nothing if there are none.
fn set_of<T: Display>(items: &[T]) -> Option<RawJson> {
    let mut texts: Vec<String> = items.iter().map(ToString::to_string).collect();
    texts.sort_unstable();
    texts.dedup();
    list_of(&texts)
}

/// Texts as an array; nothing if there are none.
pub(super) fn list_of<T: Display>(items: &[T]) -> Option<RawJson> {
    let literals: Vec<String> = items.iter().map(|item| string(item).as_str().to_owned()).collect();
    (!literals.is_empty()).then(|| RawJson::from_validated(&format!("[{}]", literals.join(","))))
}
