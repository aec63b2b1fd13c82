//! `groundstate outputs`.

use super::support::{groundstate, groundstate_with, state, with_resources};
use super::terraform::terraform;

const OUTPUTS: &str = r#"{
    "flag": {"value": true, "type": "bool"},
    "list": {"value": ["a", "<b>"], "type": ["list", "string"]},
    "none": {"value": null, "type": "string"},
    "number": {"value": 12345678901234567890.50, "type": "number"},
    "secret": {"value": "hunter2", "type": "string", "sensitive": true},
    "text": {"value": "one\ntwo", "type": "string"}
}"#;

fn with_outputs() -> String {
    with_resources("").replace("\"outputs\": {}", &format!("\"outputs\": {OUTPUTS}"))
}

#[test]
fn prints_all_outputs_and_hides_the_sensitive_ones() {
    let file = state(with_outputs());
    insta::assert_snapshot!(groundstate(&["outputs", &file.path]).clean(), @r#"
    flag = true
    list = [
        "a",
        "<b>",
    ]
    none = null
    number = 12345678901234567890.5
    secret = <sensitive>
    text = <<-EOT
        one
        two
    EOT
    "#);
}

#[test]
fn prints_all_outputs_as_json() {
    let file = state(with_outputs());
    insta::assert_snapshot!(groundstate(&["outputs", &file.path, "--json"]).clean());
}

#[test]
fn prints_one_output_in_each_form() {
    let file = state(with_outputs());
    for (name, text, json, raw) in [
        ("flag", "true\n", "true\n", "true"),
        ("number", "12345678901234567890.5\n", "12345678901234567890.5\n", "12345678901234567890.5"),
        ("secret", "\"hunter2\"\n", "\"hunter2\"\n", "hunter2"),
        ("text", "<<-EOT\n    one\n    two\nEOT\n", "\"one\\ntwo\"\n", "one\ntwo"),
    ] {
        assert_eq!(groundstate(&["outputs", &file.path, name]).clean(), text);
        assert_eq!(groundstate(&["outputs", &file.path, name, "--json"]).clean(), json);
        assert_eq!(groundstate(&["outputs", &file.path, name, "--raw"]).clean(), raw);
    }
    assert_eq!(
        groundstate(&["outputs", &file.path, "list", "--json"]).clean(),
        "[\"a\",\"\\u003cb\\u003e\"]\n"
    );
}

#[test]
fn refuses_to_print_lists_and_null_as_they_are() {
    let file = state(with_outputs());
    for (name, kind) in [("list", "a list"), ("none", "null")] {
        let message = groundstate(&["outputs", &file.path, name, "--raw"]).failed(2);
        assert!(
            message.starts_with(&format!("error: the output \"{name}\" is {kind}, which has no raw form"))
        );
    }
    groundstate(&["outputs", &file.path, "--raw"]).failed(2);
    groundstate(&["outputs", &file.path, "flag", "--raw", "--json"]).failed(2);
}

#[test]
fn refuses_names_that_no_output_has() {
    let file = state(with_outputs());
    let message = groundstate(&["outputs", &file.path, "nope"]).failed(7);
    assert!(message.contains("has no output \"nope\""), "{message}");
    groundstate(&["outputs", &state(with_resources("")).path, "nope", "--raw"]).failed(7);
}

#[test]
fn warns_when_there_are_no_outputs() {
    for text in ["", &with_resources("")] {
        let file = state(text);
        let run = groundstate(&["outputs", &file.path]);
        assert_eq!((run.code, &*run.stdout), (0, ""));
        assert!(run.stderr.starts_with("warning: ") && run.stderr.ends_with("has no outputs\n"));
        assert_eq!(groundstate(&["outputs", &file.path, "--json"]).clean(), "{}\n");
    }
}

#[test]
fn prints_the_outputs_of_old_formats() {
    let v3 = groundstate(&["outputs", "webshop-v3.tfstate", "--json"]).clean();
    let value: serde_json::Value = serde_json::from_str(&v3).unwrap();
    assert!(value.as_object().is_some_and(|outputs| !outputs.is_empty()), "{v3}");
}

#[test]
fn does_not_read_what_follows_the_outputs() {
    let text = with_outputs().replace("\"resources\": []", "\"resources\": [damaged, {]");
    assert_eq!(groundstate_with(&["outputs", "-", "flag"], text.as_bytes()).clean(), "true\n");
    // Without its end, the file does not show that no other outputs follow.
    let cut = text.find("\"resources\"").unwrap();
    groundstate_with(&["outputs", "-", "flag"], &text.as_bytes()[..cut + 12]).failed(4);
}

#[test]
fn reads_the_whole_file_before_it_says_that_there_is_no_output() {
    let text = with_outputs();
    let cut = &text.as_bytes()[..text.len() - 1];
    groundstate_with(&["outputs", "-", "nope"], cut).failed(4);
    groundstate_with(&["outputs", "-"], cut).failed(4);
    groundstate_with(&["outputs", "-", "--json"], cut).failed(4);
    groundstate_with(&["outputs", "-", "flag"], cut).failed(4);
}

#[test]
fn takes_the_last_one_of_equal_names() {
    let twice =
        r#""outputs": {"o": {"value": "1", "type": "string"}, "o": {"value": "2", "type": "string"}}"#;
    let text = with_resources("").replace("\"outputs\": {}", twice);
    assert_eq!(groundstate_with(&["outputs", "-", "o"], text.as_bytes()).clean(), "\"2\"\n");
    assert_eq!(groundstate_with(&["outputs", "-"], text.as_bytes()).clean(), "o = \"2\"\n");
}

#[test]
fn prints_the_type_that_stands_in_a_dynamic_place() {
    let output =
        r#""outputs": {"o": {"value": {"value": ["x"], "type": ["list", "string"]}, "type": "dynamic"}}"#;
    let file = state(with_resources("").replace("\"outputs\": {}", output));
    insta::assert_snapshot!(groundstate(&["outputs", &file.path, "--json"]).clean(), @r#"
    {
      "o": {
        "sensitive": false,
        "type": [
          "list",
          "string"
        ],
        "value": [
          "x"
        ]
      }
    }
    "#);
    let shown = groundstate(&["show", &file.path, "--json"]).clean();
    assert!(shown.contains(r#""value":["x"],"type":["list","string"]"#), "{shown}");
}

#[test]
fn passes_control_characters_through_a_pipe() {
    let text = with_resources("").replace(
        "\"outputs\": {}",
        r#""outputs": {"o": {"value": "\u001b[31mred\u001b[0m\u0000", "type": "string"}}"#,
    );
    assert_eq!(
        groundstate_with(&["outputs", "-", "o", "--raw"], text.as_bytes()).clean(),
        "\u{1b}[31mred\u{1b}[0m\0"
    );
}

#[test]
fn prints_very_many_outputs_in_a_time_that_grows_with_their_number() {
    let many: Vec<String> =
        (0..60_000).map(|at| format!(r#""o{at:05}": {{"value": {at}, "type": "number"}}"#)).collect();
    let file = state(
        with_resources("").replace("\"outputs\": {}", &format!("\"outputs\": {{{}}}", many.join(", "))),
    );
    let start = std::time::Instant::now();
    let text = groundstate(&["outputs", &file.path]).clean();
    assert_eq!((text.lines().count(), text.lines().last()), (60_000, Some("o59999 = 59999")));
    // Looking up each by its name takes minutes here.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn outputs_of_two_members_are_added_by_every_verb() {
    let two = r#""outputs": {"a": {"value": 1, "type": "number"}, "b": {"value": 1, "type": "number"}},
        "\u006futputs": {"b": {"value": 2, "type": "number"}}"#;
    for text in [
        with_resources("").replace("\"outputs\": {}", two),
        with_resources("").replace("\"resources\": []", &format!("\"resources\": [], {two}")),
        // Neither beginning nor end of the document shows the second member.
        with_resources("").replace(
            "\"outputs\": {}, \"resources\": []",
            &two.replace(",\n", ", \"resources\": [],\n")
                .replace("2, \"type\": \"number\"}}", "2, \"type\": \"number\"}}, \"resources\": []"),
        ),
    ] {
        let file = state(text);
        assert_eq!(groundstate(&["outputs", &file.path]).clean(), "a = 1\nb = 2\n");
        assert_eq!(groundstate(&["outputs", &file.path, "b"]).clean(), "2\n");
        assert_eq!(groundstate(&["outputs", &file.path, "a"]).clean(), "1\n");
        let shown = groundstate(&["show", &file.path]).clean();
        assert!(shown.contains("a = 1") && shown.contains("b = 2"), "{shown}");
        let one = with_resources("")
            .replace("{}", r#"{"a": {"value": 1, "type": "number"}, "b": {"value": 2, "type": "number"}}"#);
        assert_eq!(groundstate(&["diff", &file.path, &state(one).path]).code, 0);
        let Some(theirs) = terraform(file.dir.path(), &["output", "-no-color"]) else { continue };
        assert_eq!(String::from_utf8_lossy(&theirs.stdout), "a = 1\nb = 2\n");
    }
}
