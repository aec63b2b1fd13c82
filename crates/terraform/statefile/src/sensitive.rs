//! `sensitive_attributes`: paths to what must not be shown.

use groundstate_states::{AttributePath, PathStep, PathStepKind, Type, Value};

use crate::json::{Cursor, Kind, Stop, push_json_string};
use crate::members::{Member, Members, push_extra, text_of};
use crate::problem::Code;
use crate::sink::Sink;
use crate::value::{ValueError, decode_value, encode_type, encode_value, name_of};
use crate::wire::v4::Slice;

/// The paths of the `sensitive_attributes` of an object. A path that is malformed is left out.
#[must_use]
pub fn sensitive_paths(list: Slice<'_>) -> Vec<AttributePath> {
    decode(&mut Cursor::new(list.text), &mut Sink::default()).unwrap_or_default()
}

/// Reads a list of paths. Each bad path is one problem and is left out.
pub(crate) fn decode(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Vec<AttributePath>, Stop> {
    let mut paths = Vec::new();
    let kind = cursor.kind()?;
    let offset = cursor.offset();
    match kind {
        Kind::Array => cursor.open(b'[')?,
        Kind::Null => return cursor.null().map(|()| paths),
        kind => {
            cursor.skip()?;
            let why = format!("expected an array of paths, found {}", name_of(kind));
            sink.problem(Code::SensitivePath, offset, why);
            return Ok(paths);
        }
    }
    let mut first = true;
    while cursor.element(&mut first)? {
        let start = cursor.clone();
        match path(cursor, sink)? {
            Ok(path) => paths.push(path),
            Err(error) => {
                sink.problem(Code::SensitivePath, error.offset, error.detail);
                *cursor = start;
                cursor.skip()?;
            }
        }
    }
    Ok(paths)
}

fn wrong<T>(offset: usize, kind: Kind, wanted: &str) -> Result<T, ValueError> {
    Err(ValueError { offset, detail: format!("expected {wanted}, found {}", name_of(kind)) })
}

/// Reads one path; `null` is the path to the whole object, as in Go's decoder.
fn path(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Result<AttributePath, ValueError>, Stop> {
    let kind = cursor.kind()?;
    match kind {
        Kind::Array => cursor.open(b'[')?,
        Kind::Null => return cursor.null().map(|()| Ok(AttributePath::default())),
        kind => return Ok(wrong(cursor.offset(), kind, "an array of the path's steps")),
    }
    let mut steps = Vec::new();
    let mut first = true;
    while cursor.element(&mut first)? {
        match step(cursor, sink)? {
            Ok(step) => steps.push(step),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(AttributePath { steps }))
}

fn step(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Result<PathStep, ValueError>, Stop> {
    let kind = cursor.kind()?;
    if kind != Kind::Object {
        return Ok(wrong(cursor.offset(), kind, "a step, an object of \"type\" and \"value\","));
    }
    let Members { offset, known: [step_type, value], extra } =
        Members::read(cursor, ["type", "value"], sink)?;
    let missing = |detail: &str| Ok(Err(ValueError { offset, detail: detail.to_owned() }));
    let Some(mut step_type) = step_type else {
        return missing("a step of the path has no \"type\"; it is \"get_attr\" or \"index\"");
    };
    if step_type.kind != Kind::String {
        return Ok(wrong(step_type.offset, step_type.kind, "a step's type, \"get_attr\" or \"index\","));
    }
    let is_attribute = match &*step_type.at.string()?.decode() {
        "get_attr" => true,
        "index" => false,
        _ => {
            let detail = "a step of the path has an unknown type; known are \"get_attr\" and \"index\"";
            return Ok(Err(ValueError { offset: step_type.offset, detail: detail.to_owned() }));
        }
    };
    let Some(value) = value else {
        return missing("a step of the path has no \"value\"");
    };
    let kind = if is_attribute { attribute(value, sink)? } else { index(value, sink)? };
    Ok(kind.map(|kind| PathStep { kind, extra }))
}

fn attribute(mut name: Member<'_>, sink: &mut Sink) -> Result<Result<PathStepKind, ValueError>, Stop> {
    if name.kind != Kind::String {
        return Ok(wrong(name.offset, name.kind, "an attribute's name"));
    }
    let literal = name.at.string()?;
    Ok(Ok(PathStepKind::Attribute(text_of(&literal, sink).into())))
}

fn index(mut key: Member<'_>, sink: &mut Sink) -> Result<Result<PathStepKind, ValueError>, Stop> {
    Ok(match decode_value(&mut key.at, &Type::Dynamic, sink)? {
        Ok(Value::Dynamic(typed)) => {
            let (key_type, key) = *typed;
            Ok(PathStepKind::Index { key_type, key })
        }
        // Only null is a dynamic value without a type.
        Ok(_) => wrong(key.offset, Kind::Null, "a key, an object of \"value\" and \"type\","),
        Err(error) => Err(ValueError { detail: format!("key of an index step: {}", error.detail), ..error }),
    })
}

/// Writes paths as compact JSON, in their order. Every key has to conform to its type, see [`conform`].
pub(crate) fn encode(paths: &[AttributePath]) -> String {
    let mut out = String::from("[");
    for (index, path) in paths.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_path(&mut out, path);
    }
    out.push(']');
    out
}

/// Whether every key conforms to its type, so that it can be written.
pub(crate) fn conform(paths: &[AttributePath]) -> bool {
    paths.iter().flat_map(|path| &path.steps).all(|step| match &step.kind {
        PathStepKind::Attribute(_) => true,
        PathStepKind::Index { key_type, key } => encode_value(&mut String::new(), key, key_type).is_ok(),
    })
}

fn push_path(out: &mut String, path: &AttributePath) {
    out.push('[');
    for (index, step) in path.steps.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_step(out, step);
    }
    out.push(']');
}

fn push_step(out: &mut String, step: &PathStep) {
    match &step.kind {
        PathStepKind::Attribute(name) => {
            out.push_str("{\"type\":\"get_attr\",\"value\":");
            push_json_string(out, name);
        }
        PathStepKind::Index { key_type, key } => {
            out.push_str("{\"type\":\"index\",\"value\":{\"value\":");
            let start = out.len();
            if encode_value(out, key, key_type).is_err() {
                out.truncate(start);
                out.push_str("null");
            }
            out.push_str(",\"type\":");
            encode_type(out, key_type);
            out.push('}');
        }
    }
    push_extra(out, &step.extra);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::note::NoteKind;

    fn read(text: &str) -> (Vec<AttributePath>, Sink) {
        let mut sink = Sink::default();
        let mut cursor = Cursor::new(text.as_bytes());
        let paths = decode(&mut cursor, &mut sink).unwrap();
        cursor.end().expect("the cursor ends behind the list");
        (paths, sink)
    }

    /// Offsets of the problems found, all of them about paths.
    fn problems(sink: Sink, text: &str) -> Vec<usize> {
        let problems = sink.into_problems(text.as_bytes());
        problems
            .iter()
            .flatten()
            .map(|p| (p.code, p.place.offset))
            .map(|(code, offset)| {
                assert_eq!(code, Code::SensitivePath);
                offset
            })
            .collect()
    }

    #[test]
    fn keeps_order_and_spelling() {
        let lists = [
            "[]",
            "[[]]",
            r#"[[{"type":"get_attr","value":"password"}]]"#,
            r#"[[{"type":"get_attr","value":"b"}],[{"type":"get_attr","value":"a\u003c"}]]"#,
            r#"[[{"type":"get_attr","value":"m"},{"type":"index","value":{"value":"k","type":"string"}}]]"#,
            r#"[[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":0,"type":"number"}}]]"#,
            r#"[[{"type":"index","value":{"value":{"a":null},"type":["object",{"a":"bool"}]}}]]"#,
            r#"[[{"type":"index","value":{"value":null,"type":"dynamic"}}]]"#,
            r#"[[{"type":"get_attr","value":"x","note":{"b":1.0,"a":2},"more":"\u003c"}]]"#,
        ];
        for text in lists {
            let (paths, sink) = read(text);
            assert_eq!(encode(&paths), text);
            assert!(conform(&paths));
            assert_eq!(problems(sink, text), [] as [usize; 0]);
        }
    }

    #[test]
    fn members_come_in_any_order_and_become_canonical() {
        let text =
            r#" [ [ { "value" : { "type" : "number" , "value" : 1e1 } , "type" : "index" } ] , null ] "#;
        assert_eq!(encode(&read(text).0), r#"[[{"type":"index","value":{"value":10,"type":"number"}}],[]]"#);
    }

    #[test]
    fn null_means_no_paths() {
        let (paths, sink) = read("null");
        assert!(paths.is_empty() && sink.is_clean());
    }

    #[test]
    fn three_bad_paths_are_three_problems_and_the_others_are_read() {
        let text = r#"[[{"type":"get_attr","value":7}],[{"type":"get_attr","value":"good"}],[{"type":"index","value":"k"}],[{"type":"splat","value":"x"}]]"#;
        let (paths, sink) = read(text);
        assert_eq!(encode(&paths), r#"[[{"type":"get_attr","value":"good"}]]"#);
        let places = ["7}", r#""k""#, r#""splat""#].map(|what| text.find(what).unwrap());
        assert_eq!(problems(sink, text), places);
    }

    #[test]
    fn refuses_what_is_no_path() {
        let cases = [
            ("{}", 0),
            (r#""hunter2""#, 0),
            (r#"["hunter2"]"#, 1),
            ("[{}]", 1),
            ("[[null]]", 2),
            (r#"[["hunter2"]]"#, 2),
            ("[[{}]]", 2),
            (r#"[[{"type":1,"value":"x"}]]"#, 10),
            (r#"[[{"type":"get_attr"}]]"#, 2),
            (r#"[[{"type":"get_attr","value":null}]]"#, 29),
            (r#"[[{"type":"index","value":null}]]"#, 26),
            (r#"[[{"type":"index","value":{"value":"hunter2"}}]]"#, 26),
            (r#"[[{"type":"index","value":{"value":"hunter2","type":"number"}}]]"#, 35),
            (r#"[[{"type":"index","value":{"value":1,"type":"number","more":1}}]]"#, 53),
            // One problem a path, whatever follows in it.
            (r#"[[{"type":"a","value":1},{"type":"b","value":[[2]]},3]]"#, 10),
        ];
        for (text, offset) in cases {
            let (paths, sink) = read(text);
            assert!(paths.is_empty(), "{text}");
            let found: Vec<_> = sink.into_problems(text.as_bytes()).unwrap().iter().cloned().collect();
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].place.offset, offset, "{text}");
            assert!(!found[0].detail.contains("hunter2"), "keys may be secret: {}", found[0].detail);
        }
    }

    #[test]
    fn notes_what_is_lost() {
        for text in [
            r#"[[{"type":"get_attr","value":"\ud800"}]]"#,
            r#"[[{"type":"get_attr","value":"a","value":"b"}]]"#,
        ] {
            let notes: Vec<_> = read(text).1.notes.iter().map(|note| note.kind).collect();
            assert_eq!(notes, [NoteKind::Lost], "{text}");
        }
    }

    #[test]
    fn broken_json_stops_the_reader() {
        for text in ["[", "[[", "[[{", r#"[[{"type":"get_attr","value":"a"}]"#, "[[],]", r#"[[{"type":}]]"#] {
            decode(&mut Cursor::new(text.as_bytes()), &mut Sink::default()).unwrap_err();
        }
    }

    #[test]
    fn a_key_that_does_not_conform_is_found_before_it_is_written() {
        let path: AttributePath = [PathStep::index(Type::Number, Value::Bool(true))].into_iter().collect();
        assert!(!conform(&[path]));
    }

    fn steps() -> impl Strategy<Value = PathStep> {
        prop_oneof![
            any::<String>().prop_map(|name| PathStep::attribute(&name)),
            any::<String>().prop_map(|key| PathStep::index(Type::String, Value::string(&key))),
            any::<u64>().prop_map(|key| PathStep::index(Type::Number, Value::Number(key.into()))),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            paths in prop::collection::vec(prop::collection::vec(steps(), 0..4), 0..4),
        ) {
            let paths: Vec<AttributePath> =
                paths.into_iter().map(|steps| steps.into_iter().collect()).collect();
            let (again, sink) = read(&encode(&paths));
            prop_assert_eq!(&again, &paths);
            prop_assert!(sink.is_clean() && sink.notes.is_empty());
        }
    }
}
