//! Property values: every form, both ways, and every way to be malformed.

use groundstate_pulumi_deployment::{
    Escapes, PropertyErrorKind, Secrets, decode_map, decode_value, encode_map, encode_value,
};
use groundstate_pulumi_snapshot::{
    ArchiveContent, Number, Output, PropertyMap, PropertyValue as V, RawJson, ResourceId, UNKNOWN, Urn,
};

const SIG: &str = "\"4dabf18193072939515e22adb298388d\"";

fn raw(text: &str) -> RawJson {
    RawJson::parse_as_written(text).unwrap()
}

fn value(text: &str) -> V {
    decode_value(&raw(text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn json(value: &V) -> String {
    encode_value(value, Escapes::Plain, Secrets::Sealed).unwrap().as_str().to_owned()
}

/// An object with a signature and further members.
fn signed(signature: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{{SIG}:"{signature}"{comma}{members}}}"#)
}

const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
const REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
const BYTES: &str = "803fd3297a5875dc03ca845dda5d2a98";
const FLOAT: &str = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";

#[test]
fn every_form_is_written_as_it_is_read() {
    for text in [
        "null".to_owned(),
        "true".into(),
        "false".into(),
        "-0".into(),
        "1.50".into(),
        "9007199254740993".into(),
        r#""a<b>&é""#.into(),
        "[]".into(),
        "{}".into(),
        r#"[1,[null],{"a":{}}]"#.into(),
        r#"{"4a":1,"5":2,"a":3,"é":4}"#.into(),
        format!("\"{UNKNOWN}\""),
        signed(BYTES, r#""value":"/w==""#),
        signed(FLOAT, r#""value":"7ff8000000000001""#),
        signed(FLOAT, r#""value":"7ff0000000000000""#),
        signed(FLOAT, r#""value":"fff0000000000000""#),
        signed(FLOAT, r#""value":"fff8000000000123""#),
        signed(ASSET, r#""hash":"abc""#),
        signed(ASSET, r#""hash":"abc","text":"t""#),
        signed(ASSET, r#""path":"p""#),
        signed(ASSET, r#""later":[1],"uri":"u""#),
        signed(ARCHIVE, ""),
        signed(ARCHIVE, r#""hash":"abc","path":"p""#),
        signed(ARCHIVE, r#""uri":"u""#),
        signed(ARCHIVE, r#""assets":{}"#),
        signed(
            ARCHIVE,
            &format!(r#""assets":{{"a":{},"b":{}}}"#, signed(ASSET, r#""text":"t""#), signed(ARCHIVE, "")),
        ),
        signed(REFERENCE, r#""packageVersion":"","urn":"u""#),
        signed(REFERENCE, r#""id":"","packageVersion":"1","urn":"u""#),
        signed(REFERENCE, r#""id":"7","packageVersion":"1","urn":"u""#),
        signed(SECRET, r#""ciphertext":"v1:a:b""#),
    ] {
        assert_eq!(json(&value(&text)), text);
        let map = format!(r#"{{"k":{text}}}"#);
        let decoded = decode_map(&raw(&map)).unwrap();
        assert_eq!(encode_map(&decoded, Escapes::Plain, Secrets::Sealed).unwrap().as_str(), map);
    }
}

#[test]
fn special_numbers_have_their_bits() {
    for (number, bits) in [
        (f64::INFINITY, "7ff0000000000000"),
        (f64::NEG_INFINITY, "fff0000000000000"),
        (f64::from_bits(0x7ff8_0000_0000_0001), "7ff8000000000001"),
    ] {
        let text = signed(FLOAT, &format!(r#""value":"{bits}""#));
        assert_eq!(json(&V::Number(Number::new(number))), text);
        assert_eq!(value(&text), V::Number(Number::new(number)));
    }
    for (number, text) in [(-0.0, "-0"), (1e21, "1e+21"), (1e-7, "1e-7"), (123_456_789.0, "123456789")] {
        assert_eq!(json(&V::from(number)), text);
    }
    let V::Number(big) = value("9007199254740993") else { unreachable!("it is a number") };
    assert_eq!(big.value(), 9_007_199_254_740_992.0);
}

#[test]
fn values_are_read_as_what_they_are() {
    assert_eq!(value(&format!("\"{UNKNOWN}\"")), V::unknown());
    assert_eq!(value(&signed(BYTES, r#""value":"b2s=""#)), V::from("ok"), "text after all");
    assert_eq!(value(r#"{"a":1,"a":2}"#), V::Object(PropertyMap::from_iter([("a", V::from(2.0))])));
    let V::Archive(archive) = value(&signed(ARCHIVE, r#""assets":{},"path":"p","uri":"u""#)) else {
        unreachable!("it is an archive")
    };
    assert_eq!(archive.content, ArchiveContent::Path("p".into()));
    assert_eq!(archive.extra.len(), 2, "what does not count is kept");
}

#[test]
fn identifiers_of_references_have_had_another_form() {
    let id = |id: &str| match value(&signed(REFERENCE, &format!(r#""urn":"u","packageVersion":""{id}"#))) {
        V::ResourceReference(reference) => reference.id,
        other => unreachable!("{other:?} is no reference"),
    };
    let custom = |id: &str| Some(ResourceId::from(id));
    for (text, expected) in [
        ("", None),
        (r#","id":"x""#, custom("x")),
        (r#","id":"""#, custom("")),
        (r#","id":{"V":null}"#, None),
        (r#","id":{"V":"x"}"#, custom("x")),
        (r#","id":{"V":{"V":{"Element":{"V":""}}}}"#, custom("")),
    ] {
        assert_eq!(id(text), expected, "{text}");
    }
}

#[test]
fn malformed_values_have_the_texts_of_the_original() {
    let secret = "malformed secret value: exactly one of `ciphertext` or `plaintext` must be supplied";
    for (text, message) in [
        (signed(SECRET, ""), secret),
        (signed(SECRET, r#""ciphertext":"a","plaintext":"b""#), secret),
        (signed(SECRET, r#""plaintext":"""#), secret),
        (signed(SECRET, r#""ciphertext":"""#), secret),
        (signed(SECRET, r#""ciphertext":5"#), secret),
        (signed(SECRET, &format!(r#""ciphertext":"{UNKNOWN}""#)), secret),
        (
            signed(SECRET, r#""plaintext":"not json""#),
            "malformed secret value: what is inside is not a value",
        ),
        (
            signed(REFERENCE, r#""packageVersion":1"#),
            "malformed resource reference: packageVersion must be a string",
        ),
        (signed(REFERENCE, ""), "malformed resource reference: missing urn"),
        (signed(REFERENCE, r#""urn":1"#), "malformed resource reference: missing urn"),
        (signed(REFERENCE, r#""urn":"u","id":7"#), "malformed resource reference: id must be a string"),
        (signed(REFERENCE, r#""urn":"u","id":{"V":7}"#), "malformed resource reference: id must be a string"),
        (
            signed(REFERENCE, r#""urn":"u","id":{"W":"x"}"#),
            "malformed resource reference: id must be a string",
        ),
        (signed(BYTES, ""), "malformed byte string: missing or non-string 'value' field"),
        (signed(BYTES, r#""value":1"#), "malformed byte string: missing or non-string 'value' field"),
        (
            signed(BYTES, r#""value":"%""#),
            "malformed byte string: unable to parse 'value' field: not standard base64",
        ),
        (signed(FLOAT, ""), "malformed float value: missing or non-string 'value' field"),
        (
            signed(FLOAT, r#""value":"xyz""#),
            "malformed float value: unable to parse 'value' field: not 16 hexadecimal digits",
        ),
        (
            signed(FLOAT, r#""value":"+7ff000000000000""#),
            "malformed float value: unable to parse 'value' field: not 16 hexadecimal digits",
        ),
        (signed("foo", ""), "unrecognized signature 'foo' in property map"),
        (
            signed("d0e6a833031e9bbcd3f4e8bde6ca49a4", r#""value":1"#),
            "unrecognized signature 'd0e6a833031e9bbcd3f4e8bde6ca49a4' in property map",
        ),
        (format!("{{{SIG}:5}}"), "unrecognized signature '5' in property map"),
        (signed(ASSET, r#""text":5"#), "malformed asset: text must be a string"),
        (signed(ARCHIVE, r#""path":[]"#), "malformed archive: path must be a string"),
        (signed(ARCHIVE, r#""assets":[]"#), "malformed archive: assets must be an object"),
    ] {
        let error = decode_value(&raw(&text)).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
        let nested = decode_map(&raw(&format!(r#"{{"a":{{"b.c":[0,{text}]}}}}"#))).unwrap_err();
        assert_eq!(nested.to_string(), format!("a[\"b.c\"][1]: {message}"));
        assert_eq!(nested.kind(), error.kind());
    }
    assert_eq!(decode_map(&raw("[]")).unwrap_err().kind(), &PropertyErrorKind::NotAnObject);
}

#[test]
fn nesting_is_bounded_without_a_stack_overflow() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep = value(&nested(256));
    assert_eq!(json(&deep), nested(256));
    assert_eq!(decode_value(&raw(&nested(300))).unwrap_err().kind(), &PropertyErrorKind::TooDeep);
    let too_deep = (0..300).fold(V::Null, |inner, _| V::Array(vec![inner]));
    let error = encode_value(&too_deep, Escapes::Plain, Secrets::Sealed).unwrap_err();
    assert_eq!(error.kind(), &PropertyErrorKind::TooDeep);
    // Secrets inside of secrets count as well.
    let mut text = "1".to_owned();
    for _ in 0..12 {
        text = signed(SECRET, &format!(r#""plaintext":{}"#, serde_json::to_string(&text).unwrap()));
    }
    value(&text);
}

#[test]
fn what_has_no_form_is_not_written() {
    for (value, kind) in [
        (V::from(UNKNOWN), PropertyErrorKind::Ambiguous),
        (
            V::Object(PropertyMap::from_iter([(SIG.trim_matches('"'), V::from("foo"))])),
            PropertyErrorKind::Ambiguous,
        ),
        (V::from("x").into_secret(), PropertyErrorKind::Unsealed),
    ] {
        assert_eq!(encode_value(&value, Escapes::Plain, Secrets::Sealed).unwrap_err().kind(), &kind);
    }
}

#[test]
fn outputs_are_written_as_what_they_hold() {
    let output = |element: V, known, secret| {
        V::Output(Box::new(Output { element, known, secret, dependencies: vec![Urn::from("u")] }))
    };
    assert_eq!(json(&output(V::from(1.0), true, false)), "1");
    assert_eq!(json(&output(V::from(1.0), false, false)), format!("\"{UNKNOWN}\""));
    let shown = |value: &V| encode_value(value, Escapes::Plain, Secrets::Shown).unwrap().as_str().to_owned();
    assert_eq!(shown(&output(V::from(1.0), true, true)), signed(SECRET, r#""plaintext":"1""#));
}

#[test]
fn texts_have_the_escapes_that_are_asked_for() {
    let value = V::Array(vec![V::from("<"), V::from("<").into_secret()]);
    for (escapes, plain) in [(Escapes::Plain, "<"), (Escapes::Html, r"\u003c")] {
        let text = encode_value(&value, escapes, Secrets::Shown).unwrap();
        // Inside of a secret they are always those of Go's default.
        let inside = signed(SECRET, r#""plaintext":"\"\\u003c\"""#);
        assert_eq!(text.as_str(), format!(r#"["{plain}",{inside}]"#));
    }
}
