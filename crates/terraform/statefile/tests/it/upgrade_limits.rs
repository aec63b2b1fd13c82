//! Large and hostile inputs of old formats.

use groundstate_statefile::{Code, DecodeOptions, EncodeOptions, decode, encode};

fn v2(attributes: &str) -> String {
    format!(
        r#"{{"version":2,"modules":[{{"path":["root"],"resources":{{"a.b":{{"primary":{{"attributes":{{{attributes}}}}}}}}}}}]}}"#
    )
}

/// Would take minutes if every count looked at every attribute.
#[test]
fn counts_among_a_hundred_thousand_attributes_are_upgraded_in_one_go() {
    let mut attributes = vec![r#""m.#":"50000""#.to_owned()];
    for i in 0..50_000 {
        attributes.push(format!(r#""m.k{i}.#":"1","m.k{i}.0":"x""#));
    }
    let text = v2(&attributes.join(","));
    let file = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
    let written = String::from_utf8(encode(&file, &EncodeOptions::default()).unwrap()).unwrap();
    assert!(written.contains(r#""m.%": "50000""#));
    assert!(written.contains(r#""m.k49999.#": "1""#));
}

#[test]
fn counts_nested_two_thousand_deep_are_upgraded() {
    let attributes: Vec<String> =
        (1..2_000).map(|depth| format!(r#""{}#":"1""#, "0.".repeat(depth))).collect();
    let file = decode(v2(&attributes.join(",")).as_bytes(), &DecodeOptions::default()).unwrap();
    assert!(encode(&file, &EncodeOptions::default()).is_ok());
}

fn output(value: &str) -> String {
    format!(r#"{{"version":3,"modules":[{{"path":["root"],"outputs":{{"o":{{"value":{value}}}}}}}]}}"#)
}

#[test]
fn an_output_may_nest_deep_but_not_without_end() {
    let nested = |depth: usize| output(&("[".repeat(depth) + "1" + &"]".repeat(depth)));
    let file = decode(nested(200).as_bytes(), &DecodeOptions::default()).unwrap();
    assert!(encode(&file, &EncodeOptions::default()).is_ok());
    for depth in [300, 9_000] {
        let error = decode(nested(depth).as_bytes(), &DecodeOptions::default()).unwrap_err();
        assert_eq!(
            error.problems().iter().map(|p| p.code).collect::<Vec<_>>(),
            [Code::OutputValue],
            "{depth}"
        );
    }
}

#[test]
fn metadata_may_nest_as_deep_as_json() {
    let nested = "[".repeat(9_000) + &"]".repeat(9_000);
    let text = format!(
        r#"{{"version":3,"modules":[{{"path":["root"],"resources":{{"a.b":{{"primary":{{"meta":{{"k":{nested}}}}}}}}}}}]}}"#
    );
    let file = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
    let private =
        file.state.root().resources.values().flat_map(|r| r.instances.values()).flat_map(|i| i.objects());
    let expected = format!(r#"{{"k":{nested}}}"#);
    assert_eq!(
        private.map(|(_, object)| object.private.to_vec()).collect::<Vec<_>>(),
        [expected.into_bytes()]
    );
}

#[test]
fn a_thousand_problems_and_remarks_are_told_within_bounds() {
    let entries: Vec<String> = (0..1_000).map(|i| format!(r#""bad{i}":{{}}"#)).collect();
    let text =
        format!(r#"{{"version":3,"modules":[{{"path":["root"],"resources":{{{}}}}}]}}"#, entries.join(","));
    let error = decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err();
    assert_eq!(error.problems().len(), 100);
    assert!(error.to_string().contains("and 900 more problems"));

    let members: Vec<String> = (0..1_000).map(|i| format!(r#""unknown{i}":1"#)).collect();
    let text = format!(r#"{{"version":3,"modules":[{{"path":["root"],{}}}]}}"#, members.join(","));
    let file = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
    assert_eq!(file.notes.len(), 101);
}

#[test]
fn a_document_cut_off_at_any_byte_is_an_error() {
    let text = include_str!("../../../../../tests/fixtures/upgrade/v3-unknown-members.json");
    let end = text.trim_end().len();
    for cut in 0..end {
        assert!(decode(&text.as_bytes()[..cut], &DecodeOptions::default()).is_err(), "{cut}");
    }
}

#[test]
fn no_change_of_a_byte_makes_a_reader_panic() {
    for text in [
        include_str!("../../../../../tests/fixtures/upgrade/v1-tainted.json"),
        include_str!("../../../../../tests/fixtures/upgrade/v2-maps-lists-sets.json"),
        include_str!("../../../../../tests/fixtures/upgrade/v3-timeouts.json"),
        include_str!("../../../../../tests/fixtures/upgrade/v3-unknown-members.json"),
    ] {
        let mut bytes = text.as_bytes().to_vec();
        for at in 0..bytes.len() {
            for byte in *b"0\"}]n.\\\xff" {
                let before = std::mem::replace(&mut bytes[at], byte);
                if let Ok(file) = decode(&bytes, &DecodeOptions::default()) {
                    assert!(encode(&file, &EncodeOptions::default().allow_loss(true)).is_ok(), "{at} {byte}");
                }
                bytes[at] = before;
            }
        }
    }
}
