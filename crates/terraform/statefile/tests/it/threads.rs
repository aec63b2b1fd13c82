//! Large documents, read and written by several threads: what comes out is what one thread gives.

use std::fmt::Write as _;

use groundstate_statefile::{DecodeOptions, EncodeOptions, decode, encode};

use crate::support::PROVIDER;

/// Resources of a document that is large enough to be shared.
const MANY: usize = 1200;

fn resource(index: usize, instance: &str) -> String {
    let module = match index % 3 {
        0 => String::new(),
        n => format!("\n      \"module\": \"module.m{n}\","),
    };
    let id = format!("{index:0>200}");
    format!(
        r#"    {{{module}
      "mode": "managed",
      "type": "test_a",
      "name": "r{index}",
      "provider": {PROVIDER},
      "instances": [
        {{
          "schema_version": 0,
          "attributes": {{
            "id": "{id}"
          }},
          "sensitive_attributes": []{instance}
        }}
      ]
    }}"#
    )
}

fn resources(instance: impl Fn(usize) -> &'static str) -> String {
    let mut list = String::new();
    for index in 0..MANY {
        let comma = if index == 0 { "" } else { "," };
        write!(list, "{comma}\n{}", resource(index, instance(index))).unwrap();
    }
    list
}

/// A document with these members before and behind its resources.
fn around(before: &str, resources: &str, behind: &str) -> String {
    format!(
        "{{\n  \"version\": 4,\n  \"terraform_version\": \"1.11.4\",\n  \"serial\": 7,\n  \"lineage\": \"l\",\n  \
         \"outputs\": {{}},{before}\n  \"resources\": [{resources}\n  ]{behind}\n}}\n"
    )
}

/// What a reader says of a text: the file as it would be written, or the problems.
fn said(text: &str, threads: usize) -> Result<(Vec<u8>, String), String> {
    let file =
        decode(text.as_bytes(), &DecodeOptions::default().threads(threads)).map_err(|e| format!("{e:?}"))?;
    let what = format!("{:?} {:?} {:?} {:?}", file.notes, file.style, file.dialect, file.terraform_version);
    let options = EncodeOptions::default().allow_loss(true);
    let alone = encode(&file, &options).unwrap();
    let shared = encode(&file, &options.threads(3)).unwrap();
    assert!(shared == alone, "three threads write what one writes");
    Ok((alone, what))
}

#[track_caller]
fn same_with_threads(name: &str, text: &str) {
    assert!(text.len() > 1 << 19, "{name}: too small to be shared");
    let alone = said(text, 1);
    for threads in [2, 5] {
        // The documents are long, so they are not printed.
        assert!(said(text, threads) == alone, "{name}: {threads} threads read another file");
    }
}

#[test]
fn a_flawless_document_is_read_and_written_alike() {
    let plain = resources(|_| "");
    let text = around("", &plain, ",\n  \"check_results\": null");
    same_with_threads("as written", &text);
    same_with_threads("without checks", &around("", &plain, ""));
    same_with_threads(
        "with an unknown member on each side",
        &around("\n  \"a\": 1,", &plain, ",\n  \"b\": 2"),
    );
    same_with_threads("two line breaks", &format!("{text}\n"));
    same_with_threads("without line breaks", &text.replace("\n", ""));
}

#[test]
fn members_at_the_top_mean_the_same_wherever_they_stand() {
    let plain = resources(|_| "");
    for (name, before, behind) in [
        ("serial again", "", r#", "serial": 9"#),
        ("serial again as null", "", r#", "serial": null"#),
        ("the release behind", "", r#", "terraform_version": "1.10.0""#),
        ("lineage again", "", r#", "lineage": "l""#),
        ("version again", "", r#", "version": 4"#),
        ("another version", "", r#", "version": 3"#),
        ("outputs behind", "", r#", "outputs": {"a": {"value": 1, "type": "number"}}"#),
        ("outputs as null", r#""outputs": {"a": {"value": 1, "type": "number"}},"#, r#", "outputs": null"#),
        ("resources again, empty", "", r#", "resources": []"#),
        ("resources before, empty", r#""resources": [],"#, ""),
        ("resources before and behind", r#""resources": [],"#, r#", "resources": []"#),
        ("an unknown member on both sides", r#""x": 1,"#, r#", "x": 2"#),
        ("an unknown member twice behind", "", r#", "x": 1, "x": 1"#),
        ("checks on both sides", r#""check_results": null,"#, r#", "check_results": []"#),
        ("checks twice behind", "", r#", "check_results": [], "check_results": null"#),
        ("checks that look like resources", "", ", \"check_results\": [\n    {\n      \"mode\": 1}]"),
        ("an unknown list that looks like resources", ", \"y\": [\n    {\n      \"mode\": 1}]", ""),
        ("text behind the end", "", "} {"),
        ("a wrong type", "", r#", "lineage": 5"#),
    ] {
        let text = around(before.trim_start_matches(','), &plain, behind);
        same_with_threads(name, &text);
    }
    let later = around("", &plain, "").replacen("\"resources\"", "\"resources\": [], \"resources\"", 1);
    same_with_threads("the later resources count", &later);
}

#[test]
fn the_last_resource_decides_as_much_as_the_first() {
    let last = |index: usize, what: &'static str| if index + 1 == MANY { what } else { "" };
    for (name, what) in [
        ("only OpenTofu writes it", r#", "skip_destroy": true"#),
        ("it waits for an instance", r#", "depends_on": ["test_a.x[0]"]"#),
        ("an unknown member", r#", "future": 1"#),
        ("a wrong type", r#", "dependencies": 5"#),
        ("an unknown status", r#", "status": "lost""#),
        ("no JSON", r#", nul"#),
    ] {
        same_with_threads(name, &around("", &resources(|index| last(index, what)), ""));
    }
    let old = around("", &resources(|index| last(index, r#", "depends_on": ["test_a.x[0]"]"#)), "");
    same_with_threads("of Terraform 0.12", &old.replace("1.11.4", "0.12.31"));
    same_with_threads("cut off", &old[..old.len() - 20]);
    let other = old.replace(&format!("r{}", MANY - 1), "r1");
    same_with_threads("a resource that stands twice", &other);
    let mut split = other.clone();
    let at = split.rfind("hashicorp").unwrap();
    split.replace_range(at..at + 9, "elsewhere");
    same_with_threads("a resource that stands twice with two providers", &split);
    let end = old.rfind("\n  ]").unwrap();
    for (name, item) in [("null", "null"), ("a text", "\"x\""), ("nothing named", "{}")] {
        same_with_threads(name, &format!("{},\n    {item}{}", &old[..end], &old[end..]));
    }
}
