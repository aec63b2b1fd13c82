//! Reading: from empty input to documents that nothing is wrong with.

use groundstate_statefile::{Code, DecodeOptions, Document, ReadError, decode, list};

use crate::support::{
    PROVIDER, again, codes, document, note_kinds, read, refused, strict_verdict, verdict, with_instances,
    with_resource,
};

/// The offset that the syntax error names, as the original tools count it.
#[track_caller]
fn syntax_offset(text: impl AsRef<[u8]>) -> usize {
    let error = refused(&text);
    assert!(matches!(error, ReadError::NotState(_)), "{error}");
    let found: Vec<_> = error.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(found, [Code::Syntax, Code::VersionUnreadable]);
    let read = error.problems()[0].bytes_read.expect("a syntax error says how far it was read");
    assert!(error.to_string().contains(&format!("syntax error at byte offset {read}: ")), "{error}");
    read
}

#[test]
fn an_empty_file_is_no_state() {
    assert_eq!(refused(""), ReadError::NoState);
    assert_eq!(Document::open(Vec::new()).unwrap_err(), ReadError::NoState);
    assert!(list(&b""[..], false).is_err());
    assert!(refused("").problems().is_empty());
}

#[test]
fn syntax_errors_name_the_offset_that_the_original_tools_name() {
    let cases: [(&[u8], usize); 12] = [
        (b" ", 1),
        (b" \n\n", 3),
        (b"{", 1),
        (b"\xef\xbb\xbf{\"version\":4}", 1),
        (b"{\"version\":4} x", 15),
        (b"{\"version\":4}{}", 14),
        (b"{\"version\":4,}", 14),
        (b"{\"version\":4,\"lineage\":\"a\nb\"}", 26),
        (b"{\"version\":04}", 13),
        (b"{\"version\":4,\"lineage\":\"\\x\"}", 26),
        (b"nul", 3),
        (b"x", 1),
    ];
    for (text, offset) in cases {
        assert_eq!(syntax_offset(text), offset, "{}", String::from_utf8_lossy(text));
        assert!(!verdict(text));
    }
}

#[test]
fn the_binary_format_names_the_release_that_converts_it() {
    let error = refused(b"tfstate\x02\x00\xff");
    assert!(matches!(error, ReadError::Unusable(_)), "{error}");
    assert_eq!(error.problems()[0].code, Code::BinaryFormat);
    assert!(error.to_string().contains("0.6.16"), "{error}");
}

#[test]
fn a_version_is_required() {
    for text in ["{}", "null", r#"{"version":null}"#, r#"{"serial":4}"#, r#"{"Version":4}"#] {
        assert_eq!(codes(text), [Code::VersionMissing], "{text}");
        assert!(matches!(refused(text), ReadError::NotState(_)), "{text}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn a_version_that_is_no_whole_number_names_what_was_found() {
    let cases = [
        (r#""4""#, "string"),
        ("4.0", "number 4.0"),
        ("4e0", "number 4e0"),
        ("-1", "number -1"),
        ("-0", "number -0"),
        ("true", "bool"),
        ("[4]", "array"),
        ("{}", "object"),
        ("18446744073709551616", "number 18446744073709551616"),
    ];
    for (version, found) in cases {
        let text = format!(r#"{{"version":{version},"serial":1}}"#);
        assert_eq!(codes(&text), [Code::VersionType], "{text}");
        let error = refused(&text);
        assert!(matches!(error, ReadError::NotState(_)), "{error}");
        assert!(error.to_string().contains(&format!("the version is {found};")), "{error}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn version_zero_never_existed() {
    let error = refused(r#"{"version":0}"#);
    assert!(matches!(error, ReadError::Unusable(_)), "{error}");
    assert_eq!(error.problems()[0].code, Code::VersionZero);
}

#[test]
fn a_newer_format_names_its_writer_if_that_can_be_read() {
    let known = refused(r#"{"version":5,"terraform_version":"9.9.9","resources":7}"#);
    assert!(matches!(known, ReadError::Unusable(_)), "{known}");
    assert_eq!(known.problems()[0].code, Code::VersionUnsupported);
    let text = known.to_string();
    assert!(text.contains("format version 5") && text.contains("9.9.9"), "{text}");
    for writer in [r#""banana""#, "null", "7", r#""""#] {
        let unknown = refused(format!(r#"{{"terraform_version":{writer},"version":5}}"#));
        let text = unknown.to_string();
        assert!(text.contains("format version 5") && text.contains("newer release"), "{text}");
        assert!(!text.contains("banana"), "{text}");
    }
}

#[test]
fn a_document_that_is_no_object_has_two_problems() {
    for (text, found) in
        [("[]", "array"), ("[1,2]", "array"), ("\"4\"", "string"), ("4", "number 4"), ("true", "bool")]
    {
        assert_eq!(codes(text), [Code::NotAnObject, Code::VersionUnreadable], "{text}");
        assert!(refused(text).to_string().contains(found), "{text}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn a_newer_writer_is_no_obstacle() {
    for version in ["999.0.0", "2.0.0", "1.13.0-dev", "v1.9", "1", "1.2.3.4", "1.11.4+ent", "0.12.0-beta1"] {
        let text = format!(r#"{{"version":4,"terraform_version":"{version}"}}"#);
        let file = read(&text);
        assert_eq!(file.terraform_version.as_ref().unwrap().as_str(), version);
        assert!(again(&text).contains(&format!(r#""terraform_version":"{version}""#)), "kept as spelled");
        assert!(strict_verdict(text.as_bytes()));
    }
}

#[test]
fn everything_but_the_version_may_be_missing() {
    for text in [
        r#"{"version":4}"#,
        r#"{"version":4,"terraform_version":null,"serial":null,"lineage":null,"outputs":null,"resources":null,"check_results":null}"#,
        r#"{"version":4,"terraform_version":"","lineage":""}"#,
        " \r\n\t{ \"version\" : 4 } \n",
    ] {
        let file = read(text);
        assert_eq!((file.serial.get(), file.lineage.as_str()), (0, ""));
        assert!(file.terraform_version.is_none() && file.state.is_empty() && file.notes.is_empty(), "{text}");
        assert!(strict_verdict(text.as_bytes()));
    }
}

#[test]
fn the_version_may_stand_anywhere() {
    let file = read(r#"{"serial":3,"lineage":"l","version":4}"#);
    assert_eq!(file.serial.get(), 3);
    assert!(verdict(br#"{"resources":[],"serial":3,"version":4}"#));
}

#[test]
fn serials_fill_all_64_bits() {
    let text = r#"{"version":4,"serial":18446744073709551615}"#;
    assert_eq!(read(text).serial.get(), u64::MAX);
    assert!(again(text).contains(r#""serial":18446744073709551615,"#));
}

#[test]
fn every_bad_resource_is_reported() {
    let one = format!(r#"{{"mode":"ephemeral","type":"t","name":"a","provider":{PROVIDER},"instances":[]}}"#);
    let two = format!(r#"{{"mode":"managed","type":"t","name":"b","module":"nope","provider":{PROVIDER}}}"#);
    let text = document(&format!(r#""resources":[{one},{two}]"#));
    assert_eq!(codes(&text), [Code::ResourceMode, Code::ModuleAddress]);
    let error = refused(&text).to_string();
    for part in ["\"ephemeral\"", "\"t\"", "\"a\"", "2 problems"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(!verdict(text.as_bytes()));
}

#[test]
fn a_bad_module_address_is_refused() {
    for module in [
        "nope",
        "module",
        "module.",
        "module.a.b",
        "module.a[1.5]",
        "module.a[true]",
        "module.a.",
        "data.x.y",
    ] {
        let text = with_resource(&format!(
            r#""module":"{module}","mode":"data","type":"t","name":"n","provider":{PROVIDER}"#
        ));
        assert_eq!(codes(&text), [Code::ModuleAddress], "{module}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn a_bad_provider_address_is_refused_and_never_drops_the_resource() {
    for provider in [
        "free text",
        "provider",
        "aws",
        r#"module.x[0].provider[\"a/b\"]"#,
        r#"provider[\"a/b/c/d\"]"#,
        r#"provider[\"a/b\"].x.y"#,
        r#"provider[\"a/b\"][0]"#,
        "provider.a.b.c",
        r#"provider[\"a/b\"].x[\"k\"]"#,
        // Neither product reads an underscore in either part.
        r#"provider[\"a_b/c\"]"#,
        r#"provider[\"registry.terraform.io/a/b_c\"]"#,
    ] {
        let text = with_resource(&format!(
            r#""mode":"data","type":"t","name":"n","provider":"{provider}","instances":[]"#
        ));
        assert_eq!(codes(&text), [Code::ProviderAddress], "{provider}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn a_missing_provider_is_refused() {
    for tail in [
        "",
        r#","instances":[]"#,
        r#","instances":[{}]"#,
        r#","provider":"","instances":[{}]"#,
        r#","provider":null"#,
    ] {
        let text = with_resource(&format!(r#""mode":"managed","type":"t","name":"n"{tail}"#));
        assert_eq!(codes(&text), [Code::ProviderMissing], "{tail}");
        assert!(refused(&text).to_string().contains("[t.n]"), "{tail}");
        assert!(!verdict(text.as_bytes()));
    }
}

#[test]
fn an_encrypted_state_is_told_from_one_without_version() {
    let text = r#"{"serial":1,"lineage":"l","meta":{"key_provider.pbkdf2.k":"e30="},"encrypted_data":"YQ==","encryption_version":"v0"}"#;
    assert_eq!(codes(text), [Code::Encrypted]);
    assert!(matches!(refused(text), ReadError::NotState(_)));
    assert_eq!(codes(text.replace("v0", "")), [Code::VersionMissing]);
    assert!(!verdict(text.as_bytes()));
}

#[test]
fn members_in_other_letter_case_are_unknown_ones_and_survive() {
    let text = r#"{"version":4,"Serial":5,"LINEAGE":"x"}"#;
    let file = read(text);
    assert_eq!((file.serial.get(), file.lineage.as_str()), (0, ""));
    assert!(again(text).trim_end().ends_with(r#""check_results":null,"Serial":5,"LINEAGE":"x"}"#));
}

#[test]
fn the_last_of_two_equal_members_counts() {
    let text = with_instances(r#"{"dependencies":["t.a"],"attributes":{},"dependencies":["t.b","t.c"]}"#);
    let file = read(&text);
    let (_, _, object) = file.state.objects().next().unwrap();
    let names: Vec<_> = object.dependencies.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["t.b", "t.c"]);
    assert!(verdict(text.as_bytes()));
    let same = with_instances(r#"{"dependencies":["t.a"],"dependencies":["t.a"]}"#);
    assert_eq!(note_kinds(&same), [groundstate_statefile::NoteKind::Normalized]);
}

#[test]
fn the_last_version_counts_only_if_both_say_the_same() {
    for text in [
        r#"{"version":4,"version":5}"#,
        r#"{"version":5,"version":4}"#,
        r#"{"version":4,"version":4.0}"#,
        r#"{"version":3,"serial":1,"version":4}"#,
        r#"{"serial":1,"version":4,"resources":[],"version":3}"#,
        r#"{"version":4,"version":null}"#,
    ] {
        assert!(matches!(refused(text), ReadError::NotState(_)), "{text}");
        assert!(!verdict(text.as_bytes()));
    }
    assert!(verdict(br#"{"version":4,"version":4}"#));
}

#[test]
fn bytes_that_are_not_utf_8_are_refused_unless_asked_for() {
    let text = b"{\"version\":4,\"lineage\":\"a\xff\xfeb\"}";
    assert_eq!(syntax_offset(text), 26);
    assert!(!verdict(text));
    let file = decode(text, &DecodeOptions::default().replace_invalid_utf8(true)).unwrap();
    assert_eq!(file.lineage.as_str(), "a\u{fffd}\u{fffd}b");
    assert_eq!(file.notes.len(), 1);
    assert_eq!((file.notes[0].kind, file.notes[0].offset), (groundstate_statefile::NoteKind::Lost, 25));
}

#[test]
fn white_space_between_tokens_does_not_matter() {
    let text = with_instances(r#"{"index_key":0,"attributes":{"a":[1,2,{}]},"private":"YQ=="}"#);
    let mut inside = false;
    let mut spaced = String::new();
    for c in text.replace("\\\"", "\u{1}").chars() {
        inside ^= c == '"';
        match c {
            ',' | ':' | '[' | ']' | '{' | '}' if !inside => spaced.push_str(&format!("\t{c}\r\n ")),
            c => spaced.push(c),
        }
    }
    let spaced = spaced.replace('\u{1}', "\\\"");
    assert_ne!(spaced, text);
    assert_eq!(again(&spaced), again(&text));
    assert!(strict_verdict(spaced.as_bytes()));
}

#[test]
fn debug_texts_of_documents_and_edits_hold_no_content() {
    let text = with_instances(r#"{"attributes":{"password":"hunter2"},"private":"aHVudGVyMg=="}"#);
    let document = Document::open(text.into_bytes()).unwrap();
    let mut edit = document.edit();
    edit.serial(groundstate_states::Serial::new(8));
    for shown in [format!("{document:?}"), format!("{document:#?}"), format!("{edit:?}")] {
        // Bytes show as numbers: 104 is the `h`.
        assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
        assert!(shown.len() < 1000, "{shown}");
    }
}
