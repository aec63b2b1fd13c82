//! Values as `show -json` has them.

use crate::{Event, Events, Marks};
use groundstate_json::{Kind, Tape};

/// The value without wrappers. Hidden values are null.
pub fn values(tape: &Tape<'_>, marks: &Marks) -> String {
    let mut out = String::new();
    let Some(root) = tape.root() else { return "null".to_owned() };
    for (name, event) in Events::new(tape, marks, root) {
        match event {
            Event::Close(token) => out.push(closing(tape.kind(token))),
            _ => begin(&mut out, name.map(|name| tape.text(name))),
        }
        match event {
            Event::Open(token) => out.push(opening(tape.kind(token))),
            Event::Leaf(token) => out.push_str(tape.text(token)),
            Event::Hidden(_) => out.push_str("null"),
            Event::Close(_) => {}
        }
    }
    out
}

/// Where the value is sensitive: `true` at these places, inside the containers that lead there.
///
/// Arrays keep their length, with `false` for what is not sensitive; objects leave such members out.
pub fn sensitive_values(tape: &Tape<'_>, marks: &Marks) -> String {
    let mut out = String::new();
    let Some(root) = tape.root() else { return "false".to_owned() };
    for (name, event) in Events::new(tape, marks, root) {
        if name.is_some() && matches!(event, Event::Leaf(_)) {
            continue;
        }
        match event {
            Event::Close(token) => out.push(closing(tape.kind(token))),
            _ => begin(&mut out, name.map(|name| tape.text(name))),
        }
        match event {
            Event::Open(token) => out.push(opening(tape.kind(token))),
            Event::Leaf(_) => out.push_str("false"),
            Event::Hidden(_) => out.push_str("true"),
            Event::Close(_) => {}
        }
    }
    out
}

/// Writes what stands before a value: a comma if it is not the first one, and its name.
fn begin(out: &mut String, name: Option<&str>) {
    if !out.is_empty() && !out.ends_with(['{', '[']) {
        out.push(',');
    }
    if let Some(name) = name {
        out.push_str(name);
        out.push(':');
    }
}

fn opening(kind: Kind) -> char {
    if kind == Kind::Array { '[' } else { '{' }
}

fn closing(kind: Kind) -> char {
    if kind == Kind::Array { ']' } else { '}' }
}

#[cfg(test)]
mod tests {
    use groundstate_states::{AttributePath, PathStep};

    use crate::{Marks, sensitive_values, values};
    use groundstate_json::Tape;

    /// Both documents of a value whose attributes of these names are sensitive.
    fn of(text: &str, sensitive: &[&str]) -> (String, String) {
        let tape = Tape::new(text);
        let path = |name: &&str| AttributePath { steps: vec![PathStep::attribute(name)] };
        let marks = Marks::new(&tape, &sensitive.iter().map(path).collect::<Vec<_>>());
        (values(&tape, &marks), sensitive_values(&tape, &marks))
    }

    #[test]
    fn says_where_values_are_sensitive() {
        for (text, sensitive, expected_values, expected_sensitive) in [
            ("{}", &[][..], "{}", "{}"),
            (r#"{"a":1,"b":null}"#, &[], r#"{"a":1,"b":null}"#, "{}"),
            (r#"{"a":1,"b":"x"}"#, &["b"], r#"{"a":1,"b":null}"#, r#"{"b":true}"#),
            (
                r#"{"a":[1,[],{}],"b":{"c":1}}"#,
                &[],
                r#"{"a":[1,[],{}],"b":{"c":1}}"#,
                r#"{"a":[false,[],{}],"b":{}}"#,
            ),
            (
                r#"{"a":[1,[]],"b":{"c":[]}}"#,
                &["a"],
                r#"{"a":null,"b":{"c":[]}}"#,
                r#"{"a":true,"b":{"c":[]}}"#,
            ),
            (r#"{"a":null}"#, &["a"], r#"{"a":null}"#, r#"{"a":true}"#),
            ("null", &[], "null", "false"),
            (r#"["{","[",",",":"]"#, &[], r#"["{","[",",",":"]"#, "[false,false,false,false]"),
        ] {
            let (values, sensitive_values) = of(text, sensitive);
            assert_eq!((&*values, &*sensitive_values), (expected_values, expected_sensitive), "{text}");
        }
    }

    #[test]
    fn leaves_out_the_wrappers_of_dynamic_values_only() {
        for (text, expected) in [
            (r#"{"a":{"value":[1],"type":["list","number"]}}"#, r#"{"a":[1]}"#),
            (r#"{"a":{"value":{"value":1,"type":"number"},"type":"dynamic"},"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"[{"value":null,"type":"string"},3]"#, "[null,3]"),
            (r#"{"a":{"type":"string","value":"x"}}"#, r#"{"a":{"type":"string","value":"x"}}"#),
            (r#"{"a":{"value":"x","type":"text"}}"#, r#"{"a":{"value":"x","type":"text"}}"#),
            (
                r#"{"a":{"value":1,"type":"number","unit":"m"}}"#,
                r#"{"a":{"value":1,"type":"number","unit":"m"}}"#,
            ),
            (r#"{"a":{"value":1}}"#, r#"{"a":{"value":1}}"#),
        ] {
            assert_eq!(of(text, &[]).0, expected);
        }
    }

    #[test]
    fn carries_every_other_text_as_it_is() {
        let deep = format!("{}{}", "{\"a\":[".repeat(5_000), "]}".repeat(5_000));
        for text in [r#"{"a\"]":"\\\"}","n":-0.10e+5,"t":[true,false,null]}"#, "1", r#""x""#, &deep] {
            assert_eq!(of(text, &[]).0, text);
        }
    }
}
