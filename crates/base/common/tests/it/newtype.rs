//! Types that `string_id!` defines.

use std::collections::{BTreeMap, HashMap};

use groundstate_common::{InvalidId, string_id};

fn lower_case(text: &str) -> Result<(), String> {
    match text.char_indices().find(|(_, c)| !c.is_ascii_lowercase()) {
        None if text.is_empty() => Err("it is empty".to_owned()),
        None => Ok(()),
        Some((at, _)) => Err(format!("byte {at} is not a lower-case letter")),
    }
}

string_id! {
    /// The name of a workspace.
    struct WorkspaceName: "workspace name" = lower_case;
    /// Any text.
    struct Anything: "text" = |_: &str| Ok::<(), &'static str>(());
}

#[test]
fn every_way_in_checks_the_text() {
    let expected = r#""aB" is not a valid workspace name: byte 1 is not a lower-case letter"#;
    let ways: [Result<WorkspaceName, InvalidId>; 4] = [
        WorkspaceName::parse("aB"),
        "aB".parse(),
        WorkspaceName::try_from("aB"),
        WorkspaceName::try_from("aB".to_owned()),
    ];
    for way in ways {
        let error = way.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!((error.kind(), error.reason()), ("workspace name", "byte 1 is not a lower-case letter"));
    }
}

#[test]
fn what_display_writes_parses_to_the_same_id() {
    for text in ["", " ", "prod", "ä\n\"x\""] {
        let id = Anything::parse(text).unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.as_ref(), text);
        assert_eq!(id.to_string().parse::<Anything>(), Ok(id));
    }
    assert_eq!(format!("{:>6}|", WorkspaceName::parse("prod").unwrap()), "  prod|");
}

#[test]
fn debug_names_the_type() {
    assert_eq!(format!("{:?}", WorkspaceName::parse("prod").unwrap()), r#"WorkspaceName("prod")"#);
}

#[test]
fn maps_keyed_by_an_id_are_asked_with_a_plain_text() {
    let id = || WorkspaceName::parse("prod").unwrap();
    let hashed = HashMap::from([(id(), 1)]);
    let ordered = BTreeMap::from([(id(), 2)]);
    assert_eq!((hashed.get("prod"), ordered.get("prod"), ordered.get("dev")), (Some(&1), Some(&2), None));
}

#[test]
fn ids_are_ordered_as_their_texts() {
    let mut ids: Vec<Anything> =
        ["b", "a", "B", "aa"].into_iter().map(|t| Anything::parse(t).unwrap()).collect();
    ids.sort();
    assert_eq!(ids.iter().map(Anything::as_str).collect::<Vec<_>>(), ["B", "a", "aa", "b"]);
}

#[test]
fn a_message_quotes_only_the_start_of_a_long_text() {
    let error = WorkspaceName::parse(&"é".repeat(1000)).unwrap_err();
    let expected = format!(
        r#""{}"... is not a valid workspace name: byte 0 is not a lower-case letter"#,
        "é".repeat(60)
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(
        WorkspaceName::parse("\u{1b}[2J").unwrap_err().to_string(),
        r#""\u{1b}[2J" is not a valid workspace name: byte 0 is not a lower-case letter"#
    );
}
