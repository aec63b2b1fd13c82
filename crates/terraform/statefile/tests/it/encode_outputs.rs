//! Outputs: types, values and what normalising does to them.

use groundstate_statefile::{Code, EncodeError, EncodeOptions, NoteKind, encode, encode_to};
use groundstate_states::{OutputValue, Type, Value};

use crate::support::{
    codes, document, note_kinds, outputs_again, read, refused, strict_verdict, with_output,
};

/// Writes an output of this value and type and gives its value.
#[track_caller]
fn value_again(value: &str, ty: &str) -> String {
    let text = with_output(&format!(r#""value":{value},"type":{ty}"#));
    assert!(strict_verdict(text.as_bytes()));
    let written = outputs_again(&text);
    let again = outputs_again(document(&format!(r#""outputs":{{{written}}}"#)));
    assert_eq!(again, written, "written twice");
    let (_, tail) = written.split_once(r#""value":"#).expect("a value");
    tail.rsplit_once(r#","type":"#).expect("a type").0.to_owned()
}

#[test]
fn values_are_written_in_the_form_of_their_type() {
    let cases = [
        ("[3,1,2.0,10,1]", r#"["set","number"]"#, "[1,2,3,10]"),
        (r#"["b","a","b",null]"#, r#"["set","string"]"#, r#"["a","b",null]"#),
        ("[true,false]", r#"["set","bool"]"#, "[false,true]"),
        (r#"{"b":1,"a":2,"A":3}"#, r#"["map","number"]"#, r#"{"A":3,"a":2,"b":1}"#),
        ("1e3", r#""number""#, "1000"),
        ("1.50", r#""number""#, "1.5"),
        ("0.1e-2", r#""number""#, "0.001"),
        ("123456789012345678901234567890.5", r#""number""#, "123456789012345678901234567890.5"),
        (r#""12""#, r#""number""#, "12"),
        ("12", r#""string""#, r#""12""#),
        ("true", r#""string""#, r#""true""#),
        (r#""1""#, r#""bool""#, "true"),
        (r#""false""#, r#""bool""#, "false"),
        ("null", r#""string""#, "null"),
        ("null", r#"["object",{"a":"bool"}]"#, "null"),
        ("[1,\"x\",null]", r#"["tuple",["number","string","bool"]]"#, r#"[1,"x",null]"#),
        ("[]", r#"["tuple",[]]"#, "[]"),
        (
            r#"{"b":{"c":[]},"a":"<"}"#,
            r#"["object",{"a":"string","b":["map",["list","bool"]]}]"#,
            r#"{"a":"\u003c","b":{"c":[]}}"#,
        ),
    ];
    for (value, ty, expected) in cases {
        assert_eq!(value_again(value, ty), expected, "{value} as {ty}");
    }
}

#[test]
fn objects_have_the_attributes_of_their_type() {
    let ty = r#"["object",{"a":"string","b":"number"}]"#;
    assert_eq!(value_again(r#"{"b":1}"#, ty), r#"{"a":null,"b":1}"#);
    let extra = with_output(&format!(r#""value":{{"c":1}},"type":{ty}"#));
    assert_eq!(codes(&extra), [Code::OutputValue]);
    let error = refused(&extra).to_string();
    assert!(error.contains("output \"a\"") && error.contains("\"c\""), "{error}");
}

#[test]
fn dynamic_values_carry_their_type() {
    let wrapped = r#"{"value":"x","type":"string"}"#;
    assert_eq!(value_again(wrapped, r#""dynamic""#), wrapped);
    assert_eq!(value_again(r#"{"type":"string","value":"x"}"#, r#""dynamic""#), wrapped);
    assert_eq!(value_again("null", r#""dynamic""#), "null");
    let inside = r#"[{"value":1,"type":"number"},null]"#;
    assert_eq!(value_again(inside, r#"["list","dynamic"]"#), inside);
    for bare in [
        r#""x""#,
        "1",
        "[]",
        "{}",
        r#"{"value":1}"#,
        r#"{"type":"number"}"#,
        r#"{"value":1,"type":"number","x":1}"#,
    ] {
        assert_eq!(
            codes(with_output(&format!(r#""value":{bare},"type":"dynamic""#))),
            [Code::OutputValue],
            "{bare}"
        );
    }
}

#[test]
fn outputs_need_type_and_value() {
    assert_eq!(codes(with_output(r#""value":1"#)), [Code::OutputType]);
    assert_eq!(codes(with_output(r#""type":"string""#)), [Code::OutputValue]);
    assert_eq!(codes(with_output("")), [Code::OutputType]);
    assert_eq!(codes(document(r#""outputs":{"a":null}"#)), [Code::OutputType]);
    for ty in [
        "null",
        "1",
        "[]",
        "{}",
        r#""strings""#,
        r#"["list"]"#,
        r#"["list","string","string"]"#,
        r#"["tuple","string"]"#,
        r#"["object",["string"]]"#,
        r#"["object",{"a":"x"}]"#,
        r#"["object",{"a":"bool"},["b"]]"#,
        r#"["nope","string"]"#,
    ] {
        let text = with_output(&format!(r#""value":null,"type":{ty}"#));
        assert_eq!(codes(&text), [Code::OutputType], "{ty}");
        assert!(!strict_verdict(text.as_bytes()));
    }
}

#[test]
fn values_that_do_not_conform_are_refused() {
    for (value, ty) in [
        ("[]", r#""string""#),
        ("{}", r#""string""#),
        ("true", r#""number""#),
        (r#""x""#, r#""number""#),
        (r#""Inf""#, r#""number""#),
        (r#""""#, r#""number""#),
        ("1", r#""bool""#),
        (r#""yes""#, r#""bool""#),
        ("{}", r#"["list","string"]"#),
        ("[]", r#"["map","string"]"#),
        ("[1]", r#"["tuple",["number","number"]]"#),
        ("[1,2,3]", r#"["tuple",["number","number"]]"#),
        ("[[]]", r#"["set","string"]"#),
        ("[]", r#"["object",{}]"#),
    ] {
        let text = with_output(&format!(r#""value":{value},"type":{ty}"#));
        assert_eq!(codes(&text), [Code::OutputValue], "{value} as {ty}");
        assert!(!strict_verdict(text.as_bytes()));
    }
}

#[test]
fn text_is_composed() {
    assert_eq!(value_again("\"e\u{301}\"", r#""string""#), "\"\u{e9}\"");
    assert_eq!(value_again("{\"e\u{301}\":\"e\u{301}\"}", r#"["map","string"]"#), "{\"\u{e9}\":\"\u{e9}\"}");
    let ty = "[\"object\",{\"e\u{301}\":\"string\"}]";
    assert_eq!(value_again("{\"\u{e9}\":\"x\"}", ty), "{\"\u{e9}\":\"x\"}");
}

#[test]
fn numbers_of_huge_exponents_stay_short() {
    assert_eq!(value_again("1e100000000", r#""number""#), "1e+100000000");
    assert_eq!(value_again("-2.50e-99999", r#""number""#), "-2.5e-99999");
    let text = with_output(r#""value":1e1000000000000000000000,"type":"number""#);
    assert_eq!(codes(text), [Code::OutputValue]);
    assert_eq!(value_again("0e1000000000000000000000", r#""number""#), "0");
}

#[test]
fn types_are_written_with_sorted_attributes_and_optional_ones() {
    let ty = r#"["object",{"b":"bool","a":["tuple",["dynamic",["set","number"]]]},["b","a"]]"#;
    let text = with_output(&format!(r#""value":null,"type":{ty}"#));
    let expected = r#""a":{"value":null,"type":["object",{"a":["tuple",["dynamic",["set","number"]]],"b":"bool"},["a","b"]]}"#;
    assert_eq!(outputs_again(text), expected);
}

#[test]
fn types_and_values_nest_256_levels_deep() {
    let nest = |levels: usize| {
        let ty = format!("{}\"string\"{}", r#"["list","#.repeat(levels), "]".repeat(levels));
        with_output(&format!(r#""value":{}{},"type":{ty}"#, "[".repeat(levels), "]".repeat(levels)))
    };
    assert!(strict_verdict(nest(255).as_bytes()));
    assert_eq!(codes(nest(256)), [Code::OutputType]);
    assert!(!strict_verdict(nest(5000).as_bytes()));
}

#[test]
fn flags_are_written_only_if_set() {
    let plain = r#""a":{"value":1,"type":"number"}"#;
    for flags in
        [r#","sensitive":false"#, r#","sensitive":null"#, r#","deprecated":null"#, r#","deprecated":"""#]
    {
        let written = outputs_again(with_output(&format!(r#""value":1,"type":"number"{flags}"#)));
        assert_eq!(written, plain, "{flags}");
    }
    let sensitive = outputs_again(with_output(r#""value":1,"type":"number","sensitive":true"#));
    assert_eq!(sensitive, r#""a":{"value":1,"type":"number","sensitive":true}"#);
}

#[test]
fn outputs_are_sorted_by_their_bytes() {
    let one = r#"{"value":1,"type":"number"}"#;
    let text =
        document(&format!(r#""outputs":{{"b":{one},"é":{one},"B":{one},"":{one},"a b":{one},"a":{one}}}"#));
    let expected: Vec<String> =
        ["", "B", "a", "a b", "b", "é"].iter().map(|name| format!(r#""{name}":{one}"#)).collect();
    assert_eq!(outputs_again(&text), expected.join(","));
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    let text = with_output(r#""value":{"a":1,"a":2},"type":["map","number"]"#);
    assert_eq!(note_kinds(&text), [NoteKind::Lost]);
    let expected = Value::mapping([("a", Value::Number(2u64.into()))]);
    assert_eq!(read(&text).state.outputs()["a"].value, expected);
    let same = with_output(r#""value":{"a":1,"a":1.0},"type":["map","number"]"#);
    assert!(!note_kinds(&same).contains(&NoteKind::Lost));
}

#[test]
fn an_output_that_stands_twice_is_not_written_unasked() {
    let text = document(r#""outputs":{"a":{"value":1,"type":"number"},"a":{"value":2,"type":"number"}}"#);
    assert_eq!(note_kinds(&text), [NoteKind::Lost]);
    let file = read(&text);
    assert_eq!(file.state.outputs()["a"].value, Value::Number(2u64.into()));
    assert!(matches!(encode(&file, &EncodeOptions::default()), Err(EncodeError::Loss(_))));
    assert!(strict_verdict(text.as_bytes()));
}

#[test]
fn a_value_that_does_not_conform_is_refused_before_a_byte_is_written() {
    let mut file = read(document(""));
    let output = OutputValue::new(Value::Bool(true), Type::Number);
    file.state.root_mut().set_output_value("broken", output);
    let mut out = Vec::new();
    let error = encode_to(&file, &EncodeOptions::default().allow_loss(true), &mut out).unwrap_err();
    insta::assert_snapshot!(error, @r#"output "broken" cannot be stored: a number is needed; set a value that conforms to its type"#);
    assert!(out.is_empty());
}
