//! Documents in every layout.

use groundstate_json::{Escapes, Layout, Writer};

#[track_caller]
fn check(layout: Layout, expected: &str) {
    let mut writer = Writer::new(Vec::new(), layout);
    writer.open('{');
    writer.name("a<b");
    writer.raw(r#"{"k":["<",{},[]],"\u003c":1}"#).unwrap();
    writer.name("list");
    writer.open('[');
    writer.string("&");
    writer.scalar("1.50");
    writer.open('{');
    writer.close('}').unwrap();
    writer.close(']').unwrap();
    writer.close('}').unwrap();
    assert_eq!(String::from_utf8(writer.end().unwrap()).unwrap(), expected);
}

#[test]
fn compact_text_has_no_white_space() {
    let html = r#"{"a\u003cb":{"k":["<",{},[]],"\u003c":1},"list":["\u0026",1.50,{}]}"#;
    check(Layout::COMPACT, html);
    let plain = r#"{"a<b":{"k":["<",{},[]],"\u003c":1},"list":["&",1.50,{}]}"#;
    check(Layout::COMPACT.with_escapes(Escapes::Plain), plain);
}

#[test]
fn indented_text_has_a_line_for_each_item_and_none_for_nothing() {
    let lines = [
        "{",
        "   \"a<b\": {",
        "      \"k\": [",
        "         \"<\",",
        "         {},",
        "         []",
        "      ],",
        "      \"\\u003c\": 1",
        "   },",
        "   \"list\": [",
        "      \"&\",",
        "      1.50,",
        "      {}",
        "   ]",
        "}",
    ];
    check(Layout::indented(3).with_escapes(Escapes::Plain), &lines.join("\n"));
}

#[test]
fn deep_lines_are_indented_beyond_any_table() {
    let depth = 60;
    let text = "[".repeat(depth) + &"]".repeat(depth);
    let mut writer = Writer::new(Vec::new(), Layout::indented(8));
    writer.raw(&text).unwrap();
    let out = String::from_utf8(writer.end().unwrap()).unwrap();
    let widest = out.lines().map(|line| line.len() - line.trim_start().len()).max();
    assert_eq!(widest, Some(8 * (depth - 1)));
}
