//! Entries as text: what is written, what is read, and what is refused.

use groundstate_pulumi_deployment::Secrets;
use groundstate_pulumi_journal::{
    Code, DecodeOptions, Entry, EntryKind, Framing, Target, decode, decode_entry, encode_entry, encode_framed,
};

use crate::notation::entry;

/// One entry of each kind, as Pulumi writes it, with unknown members.
const ENTRIES: [&str; 12] = [
    r#"{"version":1,"kind":6,"sequenceID":1,"operationID":0,"removeOld":null,"removeNew":null,"secretsProvider":{"type":"passphrase","state":{"salt":"v1:a"}}}"#,
    r#"{"version":1,"kind":5,"sequenceID":2,"operationID":0,"removeOld":null,"removeNew":null,"newSnapshot":{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"resources":[{"urn":"u","custom":false,"type":"t"}],"metadata":{}}}"#,
    r#"{"version":1,"kind":0,"sequenceID":3,"operationID":1,"removeOld":null,"removeNew":null,"operation":{"resource":{"urn":"u","custom":true,"type":"t","inputs":{"a<b":1.50}},"type":"importing"}}"#,
    r#"{"version":1,"kind":1,"sequenceID":5,"operationID":2,"removeOld":null,"removeNew":null,"deleteOld":1,"state":{"urn":"urn:pulumi:s::p::pk:m:T::a","custom":true,"id":"new","type":"pk:m:T"}}"#,
    r#"{"version":1,"kind":1,"sequenceID":6,"operationID":3,"removeOld":0,"removeNew":null,"pendingReplacementNew":7,"deleteNew":0,"isRefresh":true,"requiresByteString":true}"#,
    r#"{"version":1,"kind":2,"sequenceID":7,"operationID":3,"removeOld":null,"removeNew":4,"pendingReplacementOld":0}"#,
    r#"{"version":1,"kind":3,"sequenceID":8,"operationID":4,"removeOld":2,"removeNew":null,"isRefresh":true}"#,
    r#"{"version":1,"kind":4,"sequenceID":9,"operationID":5,"removeOld":null,"removeNew":2,"state":{"urn":"u","custom":false,"type":"t","outputs":{"n":9007199254740993}}}"#,
    r#"{"version":1,"kind":7,"sequenceID":10,"operationID":0,"removeOld":null,"removeNew":null}"#,
    r#"{"version":1,"kind":8,"sequenceID":11,"operationID":7,"removeOld":null,"removeNew":null,"extensionRef":"r","extension":{"name":"n","version":"1.0.0","value":"AAEC"}}"#,
    r#"{"version":1,"kind":9,"sequenceID":12,"operationID":0,"removeOld":null,"removeNew":null,"snippets":[{"uuid":"a","name":"n","type":"t","code":"c","descriptor":{"name":"d"}}]}"#,
    r#"{"version":1,"kind":42,"sequenceID":9223372036854775807,"operationID":9,"removeOld":null,"removeNew":null,"state":{"urn":"u","custom":false,"type":"t","newer":[1,{}]},"newest":{"b":1,"a":1e3}}"#,
];

#[test]
fn what_was_written_is_read_and_written_byte_for_byte() {
    let mut all = Vec::new();
    for text in ENTRIES {
        let entry = decode_entry(text.as_bytes(), &DecodeOptions::default()).unwrap();
        assert_eq!(String::from_utf8(encode_entry(&entry, Secrets::Sealed).unwrap()).unwrap(), text);
        all.push(entry);
    }
    let list = format!("[{}]", ENTRIES.join(","));
    for (framing, text) in [
        (Framing::Lines, ENTRIES.map(|entry| format!("{entry}\n")).concat()),
        (Framing::Batch, format!("{{\"entries\":{list}}}")),
        (Framing::List, list),
    ] {
        let decoded = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
        assert_eq!((decoded.framing, &decoded.entries), (framing, &all));
        let written = encode_framed(&decoded.entries, framing, Secrets::Sealed).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }
}

#[test]
fn an_empty_journal_has_no_entries() {
    for (framing, texts) in [
        (Framing::Lines, &["", " \n\n"][..]),
        (Framing::List, &["[]", " [ ] "]),
        (Framing::Batch, &["{}", r#"{"entries":[]}"#, r#"{ "entries" : null }"#]),
    ] {
        for text in texts {
            let decoded = decode(text.as_bytes(), &DecodeOptions::default()).unwrap();
            assert_eq!((decoded.framing, decoded.entries.len()), (framing, 0), "{text}");
        }
        let written = encode_framed(&[], framing, Secrets::Sealed).unwrap();
        assert!(texts.contains(&&*String::from_utf8(written).unwrap()));
    }
}

#[test]
fn the_short_form_names_what_is_there() {
    let mut entry = entry("5 2 success removeOld1 deleteNew3 isRefresh A");
    entry.pending_replacement = Some(Target::Old(0));
    assert_eq!(
        entry.to_string(),
        "(5, 2): success, removeOld:1, removePendingReplacementOld:0, deleteNew:3, state(urn:pulumi:s::p::t:t:t::A), isRefresh"
    );
    let shown: Vec<String> = ENTRIES
        .map(|text| decode_entry(text.as_bytes(), &DecodeOptions::default()).unwrap().to_string())
        .to_vec();
    assert_eq!(shown[0], "(1, 0): secrets-manager, secretsProvider(passphrase)");
    assert_eq!(shown[1], "(2, 0): write, +snap");
    assert_eq!(shown[2], "(3, 1): begin, operation(importing)");
    assert_eq!(shown[10], "(12, 0): snippets, snippets(1)");
    assert_eq!(shown[11], "(9223372036854775807, 9): invalid, state(u)");
    assert_eq!(EntryKind::from_number(42).number(), 42);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases = [
        ("x", Code::Syntax, "line 1, column 1 ([0])"),
        ("[1]", Code::WrongType, "line 1, column 2 ([0])"),
        (r#"{"entries":7}"#, Code::NotEntries, "line 1, column 12 (entries)"),
        (r#"{"entries":[],"other":1}"#, Code::NotEntries, "line 1, column 15 (other)"),
        (r#"[{"version":2,"kind":0,"sequenceID":1}]"#, Code::Version, "line 1, column 13 ([0].version)"),
        (r#"[{"kind":0,"sequenceID":1}]"#, Code::Missing, "line 1, column 2 ([0])"),
        (r#"[{"version":1,"sequenceID":1}]"#, Code::Missing, "line 1, column 2 ([0])"),
        (r#"[{"version":1,"kind":0}]"#, Code::Missing, "line 1, column 2 ([0])"),
        (r#"[{"version":1,"kind":0,"sequenceID":0}]"#, Code::Missing, "line 1, column 37 ([0].sequenceID)"),
        (r#"[{"version":1,"kind":0.5,"sequenceID":1}]"#, Code::WrongType, "line 1, column 22 ([0].kind)"),
        (
            r#"[{"version":1,"kind":0,"sequenceID":9223372036854775808}]"#,
            Code::WrongType,
            "line 1, column 37 ([0].sequenceID)",
        ),
        (
            r#"[{"version":1,"kind":1,"sequenceID":1,"removeOld":1,"removeNew":1}]"#,
            Code::TwoTargets,
            "line 1, column 65 ([0].removeNew)",
        ),
        (
            "{\"version\":1,\"kind\":1,\"sequenceID\":1}\n{\"version\":1,\"kind\":1,\"sequenceID\":2,\n \"kind\":2}",
            Code::Repeated,
            "line 3, column 2 ([1].kind)",
        ),
        (
            "{\"version\":1,\"kind\":1,\"sequenceID\":1}\n {\"version\":1,\"kind\":1,\"sequenceID\":2,\"state\":{\"urn\":7}}",
            Code::WrongType,
            "line 2, column 54 ([1].state.urn)",
        ),
        (
            r#"{"entries":[{"version":1,"kind":0,"sequenceID":1,"operation":{"resource":{"created":"now"}}}]}"#,
            Code::Time,
            "line 1, column 85 (entries[0].operation.resource.created)",
        ),
        (
            r#"[{"version":1,"kind":0,"sequenceID":1,"state":{"urn":"\ud800"}}]"#,
            Code::Loss,
            "line 1, column 54 ([0].state.urn)",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, code, place) in cases {
        let error = decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err();
        let problem = &error.problems()[0];
        let found: Vec<_> = error.problems().iter().map(|problem| problem.to_string()).collect();
        if (problem.code, problem.place.to_string().as_str()) != (code, place) {
            wrong.push(format!("{text}: {found:?}"));
        }
        assert_eq!(problem.code.id().len(), 6);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_truncation_is_an_error_or_leaves_whole_entries() {
    let text = format!("{}\n{}\n", ENTRIES[3], ENTRIES[2]);
    for end in 0..=text.len() {
        let cut = &text.as_bytes()[..end];
        let strict = decode(cut, &DecodeOptions::default());
        let torn = decode(cut, &DecodeOptions::default().allow_torn(true)).unwrap();
        let whole = usize::from(end >= ENTRIES[3].len()) + usize::from(end > text.len() - 2);
        assert_eq!(torn.entries.len(), whole, "{end}");
        assert_eq!(strict.is_err(), torn.torn.is_some(), "{end}");
        if let Some(at) = torn.torn {
            assert_eq!(at, if whole == 0 { 0 } else { ENTRIES[3].len() + 1 });
        }
    }
    assert!(decode(b"[{\"version\":1", &DecodeOptions::default().allow_torn(true)).is_err());
}

#[test]
fn losses_can_be_allowed() {
    let text = br#"{"version":1,"kind":9,"sequenceID":1,"extensionRef":"\ud800"}"#;
    let entries = decode(text, &DecodeOptions::default().allow_loss(true)).unwrap().entries;
    assert_eq!(entries[0].extension_ref.as_ref().unwrap().as_str(), "\u{fffd}");
}

#[test]
fn debug_shows_no_values() {
    let text = ENTRIES[2].replace("importing", "creating");
    let entry: Entry = decode_entry(text.as_bytes(), &DecodeOptions::default()).unwrap();
    assert!(!format!("{entry:?}").contains("a<b"));
}
