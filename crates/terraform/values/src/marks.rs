//! Which parts of a value are sensitive.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use groundstate_states::{AttributePath, PathStep, PathStepKind, Value};

use groundstate_json::{Kind, Tape};

use crate::dynamic::unwrapped;

/// The tokens of the values that are sensitive as a whole.
#[derive(Clone, Debug, Default)]
pub struct Marks(BTreeSet<usize>);

impl Marks {
    /// No marks: nothing is hidden.
    pub const NONE: &'static Self = &Self(BTreeSet::new());

    /// Follows the paths into a value. A path that leads nowhere marks nothing; one that cannot be followed any
    /// further marks the value it has come to.
    pub fn new(tape: &Tape<'_>, paths: &[AttributePath]) -> Self {
        let Some(root) = tape.root() else { return Self::default() };
        let mut marks = Self::default();
        let mut places = Places { tape, members: HashMap::new(), elements: HashMap::new() };
        paths.iter().for_each(|path| marks.follow(&mut places, unwrapped(tape, root), &path.steps));
        marks
    }

    /// Follows the paths into flat attributes, where names such as `list.0.name` say what is inside what.
    ///
    /// Elements of sets have names that no path knows, so everything inside the attribute of a path is marked.
    pub fn flat(tape: &Tape<'_>, paths: &[AttributePath]) -> Self {
        let Some(root) = tape.root() else { return Self::default() };
        let mut attributes = BTreeSet::new();
        let mut all = false;
        for path in paths {
            match path.steps.first().map(|step| &step.kind) {
                Some(PathStepKind::Attribute(attribute)) => drop(attributes.insert(composed(attribute))),
                _ => all = true,
            }
        }
        let secret =
            |name: &str| all || attributes.contains(&composed(name.split('.').next().unwrap_or(name)));
        let members = tape.members(root).filter(|(key, _)| secret(&tape.string(*key)));
        Self(members.map(|(_, value)| value).collect())
    }

    /// Marks every value whose text is this one.
    pub fn of_text(tape: &Tape<'_>, text: &str) -> Self {
        let end = tape.root().map_or(0, |root| tape.next(root));
        Self((0..end).filter(|token| tape.text(*token) == text).collect())
    }

    fn follow(&mut self, places: &mut Places<'_>, at: usize, steps: &[PathStep]) {
        let Some((step, rest)) = steps.split_first() else {
            self.0.insert(at);
            return;
        };
        match places.inside(at, &step.kind) {
            Inside::Values(values) => values.into_iter().for_each(|value| self.follow(places, value, rest)),
            Inside::Whole => {
                self.0.insert(at);
            }
        }
    }

    /// Whether the value at this token is sensitive as a whole.
    pub fn contains(&self, token: usize) -> bool {
        self.0.contains(&token)
    }
}

/// Where a step leads.
enum Inside {
    /// To these values; more than one if a member appears twice, none if there is no such member.
    Values(Vec<usize>),
    /// It does not fit the value. Rather hide too much than too little: all of the value counts.
    Whole,
}

/// Finds values inside others, each container read once however many paths lead through it.
struct Places<'t> {
    tape: &'t Tape<'t>,
    /// The members of objects by their names.
    members: HashMap<usize, BTreeMap<Value, Vec<usize>>>,
    /// The elements of arrays.
    elements: HashMap<usize, Vec<usize>>,
}

impl Places<'_> {
    fn inside(&mut self, at: usize, step: &PathStepKind) -> Inside {
        match (step, self.tape.kind(at)) {
            (PathStepKind::Attribute(name), Kind::Object) => self.named(at, name),
            (PathStepKind::Index { key: Value::String(key), .. }, Kind::Object) => self.named(at, key),
            (PathStepKind::Index { key: Value::Number(number), .. }, Kind::Object) => {
                self.named(at, number.as_str())
            }
            (PathStepKind::Index { key: Value::Number(number), .. }, Kind::Array) => {
                let tape = self.tape;
                let elements = self.elements.entry(at).or_insert_with(|| tape.elements(at).collect());
                let position = number.to_u64().and_then(|position| usize::try_from(position).ok());
                let element = position.and_then(|position| elements.get(position));
                Inside::Values(element.map(|element| unwrapped(tape, *element)).into_iter().collect())
            }
            (_, Kind::Null) => Inside::Values(Vec::new()),
            // The key of a set is the element itself, and no product promises the order of its elements.
            _ => Inside::Whole,
        }
    }

    /// The members of this name, of which there may be several.
    fn named(&mut self, at: usize, name: &str) -> Inside {
        let tape = self.tape;
        let members = self.members.entry(at).or_insert_with(|| {
            let mut members: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
            for (key, value) in tape.members(at) {
                members.entry(composed(&tape.string(key))).or_default().push(unwrapped(tape, value));
            }
            members
        });
        Inside::Values(members.get(&composed(name)).cloned().unwrap_or_default())
    }
}

/// A name as composed text: paths are composed, the bytes of attributes are as they were written.
fn composed(name: &str) -> Value {
    Value::string(name)
}

#[cfg(test)]
mod tests {
    use groundstate_states::{AttributePath, Number, PathStep, Type, Value};

    use crate::Marks;
    use groundstate_json::Tape;

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

    #[test]
    fn marks_what_a_path_has_come_to_where_it_leads_no_further() {
        let object = PathStep::index(Type::Bool, Value::Bool(true));
        for (text, step, expected) in [
            (r#"{"s":[{"x":1}]}"#, object.clone(), r#"[{"x":1}]"#),
            (r#"{"s":{"x":1}}"#, object, r#"{"x":1}"#),
            (r#"{"s":[{"x":1}]}"#, PathStep::attribute("x"), r#"[{"x":1}]"#),
            (r#"{"s":"text"}"#, number("0"), r#""text""#),
        ] {
            let steps = [PathStep::attribute("s"), step, PathStep::attribute("x")];
            assert_eq!(marked(text, &steps), [expected], "{text}");
        }
        assert!(marked(r#"{"s":null}"#, &[PathStep::attribute("s"), number("0")]).is_empty());
        assert_eq!(marked(r#"{"1":2}"#, &[number("1")]), ["2"]);
    }

    #[test]
    fn compares_names_as_composed_text() {
        assert_eq!(marked("{\"e\u{301}\":1}", &[PathStep::attribute("\u{e9}")]), ["1"]);
        assert_eq!(marked("{\"\u{e9}\":1}", &[PathStep::attribute("e\u{301}")]), ["1"]);
    }

    #[test]
    fn marks_everything_inside_a_flat_attribute() {
        let tape = Tape::new(r#"{"m.#":"1","m.0.x":"a","mm":"b","n":"c"}"#);
        let steps = vec![PathStep::attribute("m"), number("0")];
        let marks = Marks::flat(&tape, &[AttributePath { steps }]);
        let texts: Vec<&str> = marks.0.iter().map(|at| tape.text(*at)).collect();
        assert_eq!(texts, [r#""1""#, r#""a""#]);
    }
}
