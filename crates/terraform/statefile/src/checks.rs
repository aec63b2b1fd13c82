//! `check_results`: what conditions and check blocks found in the last run.

use std::sync::Arc;

use groundstate_states::addr::{Checkable, CheckableKind, ConfigCheckable};
use groundstate_states::{CheckAggregate, CheckObject, CheckResults, CheckStatus, RawJson};

use crate::json::{Cursor, Kind, Stop, push_json_string};
use crate::members::{Member, Members, push_extra, raw_json, text_of};
use crate::note::NoteKind;
use crate::problem::Code;
use crate::sink::Sink;

/// One element of `check_results`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Results of one checkable object.
    Known(CheckAggregate),
    /// An element of a kind that no known release writes.
    Opaque(RawJson),
}

/// Reads one element; nothing if it is none, which is then a problem.
pub(crate) fn decode_element(cursor: &mut Cursor<'_>, sink: &mut Sink) -> Result<Option<Element>, Stop> {
    let names = ["object_kind", "config_addr", "status", "objects"];
    let start = cursor.clone();
    let Some(members) = members(cursor, names, "a check result", sink)? else { return Ok(None) };
    let Members { offset, known: [kind, addr, status, objects], extra } = members;
    let Ok(kind_name) = string(kind, sink)? else { return Ok(None) };
    let Some(kind) = CheckableKind::from_wire(&kind_name) else {
        let message = format!("check result of the unknown kind {:?} is kept unchanged", shorten(&kind_name));
        sink.note(NoteKind::Normalized, offset, message);
        let raw = start.clone().raw()?;
        return Ok(Some(Element::Opaque(raw_json(raw))));
    };
    let (mark, addr_at) = (sink.len(), addr.as_ref().map_or(offset, |addr| addr.offset));
    let addr = match string(addr, sink)? {
        Ok(text) => address(ConfigCheckable::parse(kind, &text), addr_at, sink),
        Err(Invalid) => None,
    };
    let status = check_status(status, sink)?;
    let objects = match objects {
        Some(objects) => check_objects(objects, kind, sink)?,
        None => Vec::new(),
    };
    if let Some(addr) = &addr {
        sink.name_since(mark, || addr.to_string());
    }
    Ok(addr.map(|addr| Element::Known(CheckAggregate { addr, status, objects, extra })))
}

/// A member's value is of the wrong type, which has been reported.
struct Invalid;

/// Reads the members of an object; anything else is a problem.
fn members<'a, const N: usize>(
    cursor: &mut Cursor<'a>,
    names: [&str; N],
    wanted: &str,
    sink: &mut Sink,
) -> Result<Option<Members<'a, N>>, Stop> {
    match cursor.kind()? {
        Kind::Object => Members::read(cursor, names, sink).map(Some),
        // A list has no absent elements.
        Kind::Null => {
            sink.problem(Code::WrongType, cursor.offset(), format!("expected {wanted}, found null"));
            cursor.null().map(|()| None)
        }
        _ => sink.wrong_type(cursor, wanted),
    }
}

/// Reads a string member; absent and `null` are empty, as in Go's decoder.
fn string(member: Option<Member<'_>>, sink: &mut Sink) -> Result<Result<String, Invalid>, Stop> {
    let Some(mut member) = member else { return Ok(Ok(String::new())) };
    Ok(match sink.string(&mut member.at)? {
        Some(text) => Ok(text_of(&text, sink).into_owned()),
        None if member.kind == Kind::Null => Ok(String::new()),
        None => Err(Invalid),
    })
}

fn address<T, E: std::fmt::Display>(parsed: Result<T, E>, offset: usize, sink: &mut Sink) -> Option<T> {
    parsed.map_err(|error| sink.problem(Code::CheckAddress, offset, error.to_string())).ok()
}

/// Reads a status; one that no known release writes keeps its spelling.
fn check_status(member: Option<Member<'_>>, sink: &mut Sink) -> Result<CheckStatus, Stop> {
    if member.as_ref().is_none_or(|member| member.kind == Kind::Null) {
        return Ok(CheckStatus::Unknown);
    }
    let offset = member.as_ref().map_or(0, |member| member.offset);
    let Ok(text) = string(member, sink)? else { return Ok(CheckStatus::Unknown) };
    Ok(match text.as_str() {
        "unknown" => CheckStatus::Unknown,
        "pass" => CheckStatus::Pass,
        "fail" => CheckStatus::Fail,
        "error" => CheckStatus::Error,
        other => {
            let message =
                format!("unknown status {:?} of a check counts as unknown and is kept", shorten(other));
            sink.note(NoteKind::Normalized, offset, message);
            CheckStatus::Unrecognized(other.into())
        }
    })
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

fn check_objects(
    mut list: Member<'_>,
    kind: CheckableKind,
    sink: &mut Sink,
) -> Result<Vec<CheckObject>, Stop> {
    let mut objects = Vec::new();
    let cursor = &mut list.at;
    if !sink.array(cursor)? {
        return Ok(objects);
    }
    let mut first = true;
    while cursor.element(&mut first)? {
        let names = ["object_addr", "status", "failure_messages"];
        let Some(members) = members(cursor, names, "a checked object", sink)? else { continue };
        let Members { offset, known: [addr, status, messages], extra } = members;
        let addr_at = addr.as_ref().map_or(offset, |addr| addr.offset);
        let addr = match string(addr, sink)? {
            Ok(text) => address(Checkable::parse(kind, &text), addr_at, sink),
            Err(Invalid) => None,
        };
        let status = check_status(status, sink)?;
        let failure_messages = match messages {
            Some(messages) => strings(messages, sink)?,
            None => Vec::new(),
        };
        objects.extend(addr.map(|addr| CheckObject { addr, status, failure_messages, extra }));
    }
    Ok(objects)
}

/// Reads a list of strings; a `null` among them is an empty one, as in Go's decoder.
fn strings(mut list: Member<'_>, sink: &mut Sink) -> Result<Vec<Arc<str>>, Stop> {
    let mut strings = Vec::new();
    let cursor = &mut list.at;
    if !sink.array(cursor)? {
        return Ok(strings);
    }
    let mut first = true;
    while cursor.element(&mut first)? {
        let text = sink.string(cursor)?;
        strings.push(text.map_or("".into(), |text| text_of(&text, sink).into()));
    }
    Ok(strings)
}

/// Writes results as compact JSON in their order, opaque elements last; `null` when there are none.
pub(crate) fn encode(results: &CheckResults) -> String {
    if results.aggregates.is_empty() && results.opaque.is_empty() {
        return "null".to_owned();
    }
    let mut out = String::from("[");
    for (index, aggregate) in results.aggregates.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_aggregate(&mut out, aggregate);
    }
    for (index, raw) in results.opaque.iter().enumerate() {
        if index > 0 || !results.aggregates.is_empty() {
            out.push(',');
        }
        out.push_str(raw.as_str());
    }
    out.push(']');
    out
}

fn push_aggregate(out: &mut String, aggregate: &CheckAggregate) {
    out.push_str("{\"object_kind\":");
    push_json_string(out, aggregate.addr.kind().as_str());
    out.push_str(",\"config_addr\":");
    push_json_string(out, &aggregate.addr.to_string());
    push_status(out, &aggregate.status);
    out.push_str(",\"objects\":");
    if aggregate.objects.is_empty() {
        out.push_str("null");
    } else {
        out.push('[');
        for (index, object) in aggregate.objects.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            push_object(out, object);
        }
        out.push(']');
    }
    push_extra(out, &aggregate.extra);
    out.push('}');
}

fn push_object(out: &mut String, object: &CheckObject) {
    out.push_str("{\"object_addr\":");
    push_json_string(out, &object.addr.to_string());
    push_status(out, &object.status);
    if !object.failure_messages.is_empty() {
        out.push_str(",\"failure_messages\":[");
        for (index, message) in object.failure_messages.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            push_json_string(out, message);
        }
        out.push(']');
    }
    push_extra(out, &object.extra);
    out.push('}');
}

fn push_status(out: &mut String, status: &CheckStatus) {
    out.push_str(",\"status\":");
    push_json_string(out, status.as_str());
}

/// The results in an order of their own, for comparisons: Terraform stores them in random order.
///
/// Elements by kind and printed address, objects by printed address, messages by text.
pub fn sorted_checks(results: &CheckResults) -> CheckResults {
    let mut results = results.clone();
    for aggregate in &mut results.aggregates {
        for object in &mut aggregate.objects {
            object.failure_messages.sort();
        }
        aggregate.objects.sort_by_cached_key(|object| {
            let mut text = String::new();
            push_object(&mut text, object);
            (object.addr.to_string(), text)
        });
    }
    results.aggregates.sort_by_cached_key(|aggregate| {
        let mut text = String::new();
        push_aggregate(&mut text, aggregate);
        (aggregate.addr.kind().as_str(), aggregate.addr.to_string(), text)
    });
    results.opaque.sort();
    results
}

#[cfg(test)]
mod tests {
    use groundstate_states::Extra;
    use proptest::prelude::*;

    use super::*;

    fn read_element(text: &str) -> (Option<Element>, Sink) {
        let mut sink = Sink::default();
        let mut cursor = Cursor::new(text.as_bytes());
        let element = decode_element(&mut cursor, &mut sink).unwrap();
        cursor.end().expect("the cursor ends behind the element");
        (element, sink)
    }

    /// Reads elements that have no problems.
    #[track_caller]
    fn read(elements: &[&str]) -> CheckResults {
        let mut results = CheckResults::default();
        for text in elements {
            let (element, sink) = read_element(text);
            assert!(sink.is_clean(), "{text}");
            match element.unwrap() {
                Element::Known(aggregate) => results.aggregates.push(aggregate),
                Element::Opaque(raw) => results.opaque.push(raw),
            }
        }
        results
    }

    fn codes(text: &str) -> Vec<(Code, usize)> {
        let problems = read_element(text).1.into_problems(text.as_bytes());
        problems.iter().flatten().map(|problem| (problem.code, problem.place.offset)).collect()
    }

    const ELEMENTS: [&str; 6] = [
        r#"{"object_kind":"resource","config_addr":"module.m.data.t.n","status":"fail","objects":[{"object_addr":"module.m[\"a\"].data.t.n[0]","status":"fail","failure_messages":["too \u003c big","b"]},{"object_addr":"module.m.data.t.n","status":"pass"}]}"#,
        r#"{"object_kind":"output","config_addr":"module.a.output.id","status":"pass","objects":[{"object_addr":"module.a[1].output.id","status":"pass"}]}"#,
        r#"{"object_kind":"check","config_addr":"check.health","status":"error","objects":[{"object_addr":"check.health","status":"error"}]}"#,
        r#"{"object_kind":"var","config_addr":"var.size","status":"unknown","objects":null}"#,
        r#"{"object_kind":"resource","config_addr":"t.n","status":"pass","objects":null,"since":"1.99","more":[1.0]}"#,
        r#"{"object_kind":"check","config_addr":"check.c","status":"stale","objects":[{"object_addr":"check.c","status":"","took":1e3}]}"#,
    ];

    #[test]
    fn every_kind_is_kept_with_its_spelling_and_order() {
        let expected = format!("[{}]", ELEMENTS.join(","));
        assert_eq!(encode(&read(&ELEMENTS)), expected);
    }

    #[test]
    fn an_unknown_status_is_noted_and_keeps_its_spelling() {
        let (element, sink) = read_element(ELEMENTS[5]);
        let Some(Element::Known(aggregate)) = element else { panic!("a known kind") };
        assert_eq!(aggregate.status, CheckStatus::Unrecognized("stale".into()));
        assert_eq!(sink.notes.len(), 2);
    }

    #[test]
    fn an_unknown_kind_is_kept_as_it_stands_and_noted() {
        let text = r#"{ "object_kind": "future_kind", "config_addr": 7, "status": [1.0], "x": "<" }"#;
        let (element, sink) = read_element(text);
        assert!(sink.is_clean());
        assert_eq!(sink.notes.len(), 1);
        let compact = r#"{"object_kind":"future_kind","config_addr":7,"status":[1.0],"x":"\u003c"}"#;
        assert_eq!(element, Some(Element::Opaque(RawJson::parse(compact).unwrap())));
        assert_eq!(encode(&read(&[text])), format!("[{compact}]"));
        assert_eq!(encode(&read(&[text, ELEMENTS[3]])), format!("[{},{compact}]", ELEMENTS[3]));
    }

    #[test]
    fn absent_members_and_empty_lists_read_as_in_terraform() {
        let cases = [
            r#"{"object_kind":"check","config_addr":"check.c"}"#,
            r#"{"object_kind":"check","config_addr":"check.c","status":null,"objects":[]}"#,
            r#"{"objects":null,"status":"unknown","config_addr":"check.c","object_kind":"check"}"#,
        ];
        for text in cases {
            let expected =
                r#"[{"object_kind":"check","config_addr":"check.c","status":"unknown","objects":null}]"#;
            assert_eq!(encode(&read(&[text])), expected, "{text}");
        }
        let text = r#"{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":[null,"b"]},{"object_addr":"check.c","status":"fail","failure_messages":null}]}"#;
        let expected = text.replace("[null,", "[\"\",").replace(r#","failure_messages":null"#, "");
        assert_eq!(encode(&read(&[text])), format!("[{expected}]"));
    }

    #[test]
    fn nothing_is_written_as_null() {
        assert_eq!(encode(&CheckResults::default()), "null");
    }

    #[test]
    fn a_bad_address_is_a_problem_at_its_place() {
        let cases = [
            (r#"{"object_kind":"resource","config_addr":"module.a[0].test.x"}"#, 40),
            (r#"{"object_kind":"resource","config_addr":"test.x[0]"}"#, 40),
            (r#"{"object_kind":"resource","config_addr":""}"#, 40),
            (r#"{"object_kind":"resource"}"#, 0),
            (r#"{"object_kind":"output","config_addr":"output"}"#, 38),
            (r#"{"object_kind":"output","config_addr":"test.x"}"#, 38),
            (r#"{"object_kind":"check","config_addr":null}"#, 37),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":[{"object_addr":"var"}]}"#, 69),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":[{}]}"#, 54),
        ];
        for (text, offset) in cases {
            assert_eq!(codes(text), [(Code::CheckAddress, offset)], "{text}");
        }
    }

    #[test]
    fn a_wrong_type_is_a_problem_at_its_place() {
        let cases = [
            ("null", 0),
            ("[]", 0),
            (r#""x""#, 0),
            (r#"{"object_kind":1}"#, 15),
            (r#"{"object_kind":"var","config_addr":1}"#, 35),
            (r#"{"object_kind":"var","config_addr":"var.a","status":true}"#, 52),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":{}}"#, 53),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":[null]}"#, 54),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":["x"]}"#, 54),
            (r#"{"object_kind":"var","config_addr":"var.a","objects":[{"object_addr":1}]}"#, 69),
            (
                r#"{"object_kind":"var","config_addr":"var.a","objects":[{"object_addr":"var.a","status":1}]}"#,
                86,
            ),
            (
                r#"{"object_kind":"var","config_addr":"var.a","objects":[{"object_addr":"var.a","failure_messages":"x"}]}"#,
                96,
            ),
            (
                r#"{"object_kind":"var","config_addr":"var.a","objects":[{"object_addr":"var.a","failure_messages":[1]}]}"#,
                97,
            ),
        ];
        for (text, offset) in cases {
            assert_eq!(codes(text), [(Code::WrongType, offset)], "{text}");
        }
    }

    #[test]
    fn all_problems_of_an_element_are_found_and_name_it() {
        let text = r#"{"object_kind":"check","config_addr":"check.c","status":1,"objects":[{"object_addr":"check"},{"object_addr":"check.c","failure_messages":7}]}"#;
        let problems = read_element(text).1.into_problems(text.as_bytes()).unwrap();
        assert_eq!(problems.iter().count(), 3);
        assert!(problems.iter().all(|problem| problem.address.as_deref() == Some("check.c")));
    }

    #[test]
    fn duplicate_members_are_noted_and_the_last_one_counts() {
        let text =
            r#"{"object_kind":"check","config_addr":"check.a","config_addr":"check.c","status":"pass"}"#;
        let (_, sink) = read_element(text);
        assert_eq!(sink.notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::Lost]);
        assert!(encode(&read(&[text])).contains("check.c"));
    }

    #[test]
    fn broken_json_stops_the_reader() {
        let text = ELEMENTS[0];
        for end in 0..text.len() {
            let cut = text.as_bytes().get(..end).unwrap_or_default();
            decode_element(&mut Cursor::new(cut), &mut Sink::default()).unwrap_err();
        }
    }

    #[test]
    fn sorting_removes_the_order_of_the_file() {
        let forward = read(&ELEMENTS);
        let mut backward = forward.clone();
        backward.aggregates.reverse();
        for aggregate in &mut backward.aggregates {
            aggregate.objects.reverse();
            for object in &mut aggregate.objects {
                object.failure_messages.reverse();
            }
        }
        assert_ne!(encode(&forward), encode(&backward));
        assert_eq!(sorted_checks(&forward), sorted_checks(&backward));
        let order: Vec<_> =
            sorted_checks(&forward).aggregates.iter().map(|one| one.addr.to_string()).collect();
        assert_eq!(
            order,
            ["check.c", "check.health", "module.a.output.id", "module.m.data.t.n", "t.n", "var.size"]
        );
    }

    fn status() -> impl Strategy<Value = CheckStatus> {
        prop_oneof![
            Just(CheckStatus::Unknown),
            Just(CheckStatus::Pass),
            Just(CheckStatus::Fail),
            Just(CheckStatus::Error),
            "[a-z]{0,3}".prop_map(|text| CheckStatus::Unrecognized(text.into())),
        ]
    }

    fn aggregates() -> impl Strategy<Value = CheckAggregate> {
        let addr = prop::sample::select(vec![
            ("resource", "t.n", "t.n[0]"),
            ("resource", "module.a.data.t.n", "module.a[\"é\\\"\"].data.t.n"),
            ("output", "output.o", "output.o"),
            ("check", "module.a.module.b.check.c", "module.a[0].module.b[1].check.c"),
            ("var", "var.v", "var.v"),
        ]);
        let objects = prop::collection::vec((status(), prop::collection::vec(any::<String>(), 0..3)), 0..3);
        (addr, status(), objects).prop_map(|((kind, config, instance), status, objects)| {
            let kind = CheckableKind::from_wire(kind).expect("a known kind");
            let object = |(status, messages): (CheckStatus, Vec<String>)| CheckObject {
                addr: Checkable::parse(kind, instance).expect("an address"),
                status,
                failure_messages: messages.into_iter().map(Arc::from).collect(),
                extra: Extra::new(),
            };
            CheckAggregate {
                addr: ConfigCheckable::parse(kind, config).expect("an address"),
                status,
                objects: objects.into_iter().map(object).collect(),
                extra: Extra::new(),
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(aggregate in aggregates()) {
            let text = encode(&CheckResults { aggregates: vec![aggregate.clone()], opaque: Vec::new() });
            let element = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
            let again = read_element(element).0;
            prop_assert_eq!(again, Some(Element::Known(aggregate)));
        }
    }
}
