//! Results of checks, and paths of sensitive attributes.

use groundstate_statefile::{Code, Dialect, EncodeOptions, File, NoteKind, encode, encode_equally};
use groundstate_states::{Lineage, State};

use crate::support::{
    again, codes, document, instances_again, note_kinds, read, refused, strict_verdict, with_instances,
};

/// The check results, as they are written again.
#[track_caller]
fn checks_again(results: &str) -> String {
    let text = document(&format!(r#""check_results":{results}"#));
    assert!(strict_verdict(text.as_bytes()));
    let written = again(text);
    let (_, tail) = written.trim_end().split_once(r#""check_results":"#).expect("check results");
    tail.strip_suffix('}').expect("the last member").to_owned()
}

#[track_caller]
fn paths_again(paths: &str) -> String {
    let written = instances_again(with_instances(&format!(r#"{{"sensitive_attributes":{paths}}}"#)));
    let (_, tail) = written.split_once(r#""sensitive_attributes":"#).expect("paths");
    tail.strip_suffix('}').expect("the last member").to_owned()
}

#[test]
fn sensitive_paths_keep_their_order() {
    let attribute = |name: &str| format!(r#"{{"type":"get_attr","value":"{name}"}}"#);
    let index =
        |key: &str, ty: &str| format!(r#"{{"type":"index","value":{{"value":{key},"type":"{ty}"}}}}"#);
    let paths = format!(
        "[[{}],[{},{},{}],[{},{}],[{}],[]]",
        attribute("z"),
        attribute("m"),
        index(r#""k""#, "string"),
        attribute("x"),
        attribute("l"),
        index("0", "number"),
        attribute("a"),
    );
    assert_eq!(paths_again(&paths), paths);
    assert_eq!(paths_again("null"), "[]");
    assert_eq!(paths_again("[]"), "[]");
    let bad = format!(
        r#"[[{}],[{{"type":"get_attr","value":1}}],[{}],[{{"type":"index","value":"k"}}],[{{"type":"splat","value":1}}]]"#,
        attribute("a"),
        attribute("b"),
    );
    let text = with_instances(&format!(r#"{{"sensitive_attributes":{bad}}}"#));
    assert_eq!(codes(&text), [Code::SensitivePath; 3]);
    assert!(!strict_verdict(text.as_bytes()));
}

#[test]
fn no_results_and_empty_ones_are_both_written_as_null() {
    assert_eq!(checks_again("null"), "null");
    assert_eq!(checks_again("[]"), "null");
    assert_eq!(read(document(r#""check_results":null"#)).state.check_results, None);
    let empty = read(document(r#""check_results":[]"#)).state.check_results.expect("there, although empty");
    assert!(empty.aggregates.is_empty() && empty.opaque.is_empty());
}

#[test]
fn unknown_kinds_are_kept_unchanged() {
    let known = r#"{"object_kind":"check","config_addr":"check.c","status":"pass","objects":[{"object_addr":"check.c","status":"pass"}]},{"object_kind":"var","config_addr":"module.m.var.v","status":"fail","objects":[{"object_addr":"module.m[0].var.v","status":"fail","failure_messages":["no <","b"]}]},{"object_kind":"output","config_addr":"output.o","status":"unknown","objects":null}"#;
    let future = r#"{"object_kind":"future_kind","config_addr":"x.y","status":"pass","objects":null}"#;
    let expected = format!("[{},{future}]", known.replace('<', "\\u003c"));
    assert_eq!(checks_again(&format!("[{known},{future}]")), expected);
    assert_eq!(note_kinds(document(&format!(r#""check_results":[{future}]"#))), [NoteKind::Normalized]);
}

#[test]
fn an_unknown_status_keeps_its_spelling() {
    let odd = r#"[{"object_kind":"check","config_addr":"check.c","status":"maybe","objects":null}]"#;
    assert_eq!(checks_again(odd), odd);
}

#[test]
fn results_keep_the_order_they_were_read_in_and_compare_without_it() {
    let one = |name: &str| {
        format!(r#"{{"object_kind":"check","config_addr":"check.{name}","status":"pass","objects":null}}"#)
    };
    let (ab, ba) = (format!("[{},{}]", one("a"), one("b")), format!("[{},{}]", one("b"), one("a")));
    assert_eq!(checks_again(&ab), ab);
    assert_eq!(checks_again(&ba), ba);
    let state = |results: &str| read(document(&format!(r#""check_results":{results}"#))).state;
    assert!(encode_equally(&state(&ab), &state(&ba)));
    assert!(!encode_equally(&state(&ab), &state(&format!("[{}]", one("a")))));
    let objects = |order: &str| {
        state(&format!(
            r#"[{{"object_kind":"resource","config_addr":"t.n","status":"fail","objects":[{order}]}}]"#
        ))
    };
    let (x, y) = (
        r#"{"object_addr":"t.n[0]","status":"fail","failure_messages":["a","b"]}"#,
        r#"{"object_addr":"t.n[1]","status":"pass"}"#,
    );
    let y_and_x = format!("{y},{}", x.replace(r#""a","b""#, r#""b","a""#));
    assert!(encode_equally(&objects(&format!("{x},{y}")), &objects(&y_and_x)));
}

#[test]
fn addresses_of_checks_are_checked() {
    for (kind, address) in [
        ("resource", "module.a[0].test.x"),
        ("resource", "test.x[0]"),
        ("output", "output"),
        ("output", ""),
        ("check", "check"),
        ("var", "var"),
        ("var", "local.x"),
        ("check", "module.a.check"),
        ("output", "output.a[0]"),
    ] {
        let text = document(&format!(
            r#""check_results":[{{"object_kind":"{kind}","config_addr":"{address}","status":"pass","objects":null}}]"#
        ));
        assert_eq!(codes(&text), [Code::CheckAddress], "{kind} {address}");
        assert!(!strict_verdict(text.as_bytes()));
    }
    let object = document(
        r#""check_results":[{"object_kind":"output","config_addr":"output.a","status":"pass","objects":[{"object_addr":"output","status":"pass"},{"object_addr":"output.a","status":"pass"}]}]"#,
    );
    assert_eq!(codes(&object), [Code::CheckAddress]);
    assert_eq!(refused(&object).problems()[0].address.as_deref(), Some("output.a"));
}

fn dressed(change: impl FnOnce(&mut File)) -> State {
    let mut file = read(with_instances(
        r#"{"index_key":0,"attributes":{"a":1},"sensitive_attributes":[[{"type":"get_attr","value":"a"}]],"dependencies":["t.n"],"private":"YQ=="}"#,
    ));
    change(&mut file);
    file.state
}

#[test]
fn only_what_is_stored_counts_for_equality() {
    let base = dressed(|_| ());
    assert!(encode_equally(&base, &base));
    assert!(encode_equally(&base, &dressed(|file| file.serial = file.serial.next().unwrap_or(file.serial))));
    assert!(encode_equally(&base, &dressed(|file| file.lineage = Lineage::new("other"))));
    assert!(encode_equally(
        &base,
        &dressed(|file| {
            file.state.root_mut().set_local_value("l", groundstate_states::Value::Null);
        })
    ));
    assert!(!encode_equally(&base, &State::new()));
    assert!(encode_equally(&State::new(), &State::new()));
}

#[test]
fn equality_sees_every_stored_member_of_an_object() {
    let text = r#"{"index_key":0,"attributes":{"a":1},"sensitive_attributes":[[{"type":"get_attr","value":"a"}]],"dependencies":["t.n"],"private":"YQ=="}"#;
    let base = read(with_instances(text)).state;
    for (from, to) in [
        (r#""index_key":0"#, r#""index_key":1"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        (r#""value":"a""#, r#""value":"b""#),
        ("t.n", "t.m"),
        ("YQ==", "Yg=="),
        (r#""private""#, r#""create_before_destroy":true,"private""#),
        (r#""private""#, r#""skip_destroy":true,"private""#),
        (r#""private""#, r#""status":"tainted","private""#),
        (r#""private""#, r#""deposed":"00000001","private""#),
        (r#""private""#, r#""schema_version":1,"private""#),
        (r#""private""#, r#""identity":{},"private""#),
        (r#""private""#, r#""depends_on":["t.n[0]"],"private""#),
        (r#""private""#, r#""future":1,"private""#),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        assert!(!encode_equally(&base, &read(with_instances(&changed)).state), "{to}");
    }
    let spaced = text.replace(r#"{"a":1}"#, r#"{ "a" : 1 }"#);
    assert!(encode_equally(&base, &read(with_instances(&spaced)).state));
}

#[test]
fn writing_is_the_same_each_time() {
    let state = dressed(|_| ());
    let mut file = File::new(Dialect::OpenTofu, Lineage::new("l"));
    file.state = state;
    let first = encode(&file, &EncodeOptions::default()).unwrap();
    for _ in 0..100 {
        assert_eq!(encode(&file.clone(), &EncodeOptions::default()).unwrap(), first);
    }
}

#[test]
fn the_member_stays_where_the_file_has_it() {
    for (writer, member) in [("0.51.0", true), ("1.2.0", true), ("1.2.0", false), ("1.3.4", true)] {
        let checks = if member { r#","check_results":null"# } else { "" };
        let header = format!(r#""version":4,"terraform_version":"{writer}","serial":1,"lineage":"l""#);
        let text = format!("{{{header},\"outputs\":{{}},\"resources\":[]{checks}}}\n");
        assert_eq!(again(&text), text);
    }
}
