//! Which parts of a value are sensitive.

use std::collections::BTreeSet;

use groundstate_states::{AttributePath, PathStepKind, Value};

use super::{Kind, Tape};

/// The tokens of the values that are sensitive as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks(BTreeSet<usize>);

impl Marks {
    /// No marks: nothing is hidden.
    pub(crate) const NONE: &'static Self = &Self(BTreeSet::new());

    /// Follows the paths into a value. A path that leads nowhere marks nothing.
    pub(crate) fn new(tape: &Tape<'_>, paths: &[AttributePath]) -> Self {
        let Some(root) = tape.root() else { return Self::default() };
        Self(paths.iter().flat_map(|path| find(tape, root, path)).collect())
    }

    pub(crate) fn contains(&self, token: usize) -> bool {
        self.0.contains(&token)
    }
}

/// The values that a path leads to: more than one if a member stands twice.
fn find(tape: &Tape<'_>, root: usize, path: &AttributePath) -> Vec<usize> {
    let mut found = vec![tape.unwrapped(root)];
    for step in &path.steps {
        // Wherever the elements of a set are meant, the set is marked, and nothing in it needs a mark of its own.
        found = found.into_iter().flat_map(|at| inside(tape, at, &step.kind)).collect();
    }
    found
}

fn inside(tape: &Tape<'_>, at: usize, step: &PathStepKind) -> Vec<usize> {
    let named = |name: &str| {
        let matching = tape.members(at).filter(|(key, _)| tape.string(*key) == name);
        matching.map(|(_, value)| tape.unwrapped(value)).collect()
    };
    match (step, tape.kind(at)) {
        (PathStepKind::Attribute(name), Kind::Object) => named(name),
        (PathStepKind::Index { key: Value::String(key), .. }, Kind::Object) => named(key),
        (PathStepKind::Index { key: Value::Number(number), .. }, Kind::Array) => {
            let position = number.as_str().parse().ok();
            let element = position.and_then(|position| tape.elements(at).nth(position));
            element.map(|element| tape.unwrapped(element)).into_iter().collect()
        }
        // The key of a set is the element itself, and the order of its elements is nobody's promise: all of them are
        // taken to be sensitive.
        (PathStepKind::Index { .. }, Kind::Array) => vec![at],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use groundstate_states::{AttributePath, Number, PathStep, Type, Value};

    use super::{Marks, Tape};

    /// The texts of what is marked.
    fn marked<'t>(text: &'t str, steps: &[PathStep]) -> Vec<&'t str> {
        let tape = Tape::new(text);
        let path = AttributePath { steps: steps.to_vec() };
        Marks::new(&tape, &[path]).0.iter().map(|at| tape.text(*at)).collect()
    }

    fn number(n: &str) -> PathStep {
        PathStep::index(Type::Number, Value::Number(n.parse::<Number>().unwrap()))
    }

    #[test]
    fn follows_members_keys_and_positions() {
        let text = r#"{"a":{"k":[1,{"b":"secret"}]},"c":2}"#;
        let key = PathStep::index(Type::String, Value::string("k"));
        let steps = [PathStep::attribute("a"), key, number("1"), PathStep::attribute("b")];
        assert_eq!(marked(text, &steps), [r#""secret""#]);
        assert_eq!(marked(text, &steps[..2]), [r#"[1,{"b":"secret"}]"#]);
        assert_eq!(marked(text, &[]), [text]);
    }

    #[test]
    fn looks_through_the_wrappers_of_dynamic_attributes() {
        let text = r#"{"input":{"value":{"p":"x"},"type":["object",{"p":"string"}]}}"#;
        assert_eq!(marked(text, &[PathStep::attribute("input")]), [r#"{"p":"x"}"#]);
        assert_eq!(marked(text, &[PathStep::attribute("input"), PathStep::attribute("p")]), [r#""x""#]);
    }

    #[test]
    fn marks_nothing_where_a_path_leads_nowhere() {
        for steps in
            [vec![PathStep::attribute("x")], vec![number("0")], vec![PathStep::attribute("a"), number("7")]]
        {
            assert!(marked(r#"{"a":[1]}"#, &steps).is_empty(), "{steps:?}");
        }
    }

    #[test]
    fn marks_both_members_of_the_same_name() {
        assert_eq!(marked(r#"{"a":1,"a":2}"#, &[PathStep::attribute("a")]), ["1", "2"]);
        assert_eq!(marked(r#"{"\u0061":1}"#, &[PathStep::attribute("a")]), ["1"]);
    }

    #[test]
    fn marks_a_whole_set_for_one_of_its_elements() {
        let steps = [PathStep::attribute("s"), PathStep::index(Type::String, Value::string("x"))];
        assert_eq!(marked(r#"{"s":["x","y"]}"#, &steps), [r#"["x","y"]"#]);
    }
}
