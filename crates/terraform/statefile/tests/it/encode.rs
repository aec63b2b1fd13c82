//! Writing what was read: resources, keys, attributes and layout.

use groundstate_statefile::{Code, Dialect, EncodeError, EncodeOptions, File, NoteKind, encode, encode_to};
use groundstate_states::addr::{
    AbsResource, InstanceKey, ModuleInstance, ProviderConfig, Resource, ResourceMode,
};
use groundstate_states::{Attributes, Lineage, ObjectSrc, ObjectStatus, RawJson, ResourceInstance};

use crate::support::{
    PROVIDER, again, codes, document, instances_again, note_kinds, read, strict_verdict, with_instances,
    with_resource, write,
};

/// What an object without any member of its own is written as, in release 1.11.4.
const BARE: &str = r#""schema_version":0,"attributes":{},"sensitive_attributes":[]"#;

#[test]
fn resources_without_instances_survive_with_their_provider() {
    let head = format!(r#""mode":"managed","type":"test_a","name":"b","provider":{PROVIDER}"#);
    for tail in ["", r#","instances":[]"#, r#","instances":null"#] {
        let text = with_resource(&format!("{head}{tail}"));
        assert!(again(&text).contains(&format!(r#""resources":[{{{head},"instances":[]}}]"#)), "{tail}");
        assert!(strict_verdict(text.as_bytes()));
    }
}

#[test]
fn keys_are_written_even_if_they_are_zero_or_empty() {
    let cases = [
        ("0", InstanceKey::Int(0)),
        (r#""""#, InstanceKey::string("")),
        (r#""0""#, InstanceKey::string("0")),
        ("9007199254740993", InstanceKey::Int(9_007_199_254_740_993)),
        ("9223372036854775807", InstanceKey::Int(i64::MAX as u64)),
        (r#""a.b[\"c\"]\\${x}\n☃""#, InstanceKey::string("a.b[\"c\"]\\${x}\n☃")),
    ];
    for (key, expected) in cases {
        let text = with_instances(&format!(r#"{{"index_key":{key}}}"#));
        let file = read(&text);
        let (address, _) = file.state.resource_instances().next().unwrap();
        assert_eq!(address.key, expected, "{key}");
        assert_eq!(instances_again(&text), format!(r#"{{"index_key":{key},{BARE}}}"#));
    }
    let both = with_instances(r#"{"index_key":0},{"index_key":"0"}"#);
    assert_eq!(read(&both).state.resource_instances().count(), 2);
    assert!(strict_verdict(both.as_bytes()));
}

#[test]
fn keys_that_no_address_can_name_are_refused() {
    for key in [
        "1.5",
        "-1",
        "-1.0",
        "9223372036854775808",
        "1e19",
        "1e400",
        "1e-1",
        "true",
        "false",
        "[]",
        r#"{"a":1}"#,
    ] {
        let text = with_instances(&format!(r#"{{"index_key":{key}}}"#));
        assert_eq!(codes(&text), [Code::IndexKey], "{key}");
        assert!(!strict_verdict(text.as_bytes()));
    }
    assert_eq!(instances_again(with_instances(r#"{"index_key":null}"#)), format!("{{{BARE}}}"));
}

#[test]
fn whole_numbers_are_keys_however_they_are_spelled() {
    let cases =
        [("1.0", 1), ("1e0", 1), ("1E+2", 100), ("20e-1", 2), ("-0", 0), ("0e99999999999999999999", 0)];
    for (key, index) in cases {
        let text = with_instances(&format!(r#"{{"index_key":{key}}}"#));
        let file = read(&text);
        assert_eq!(file.state.resource_instances().next().unwrap().0.key, InstanceKey::Int(index), "{key}");
        assert_eq!(instances_again(&text), format!(r#"{{"index_key":{index},{BARE}}}"#));
        assert_eq!(file.notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::Normalized]);
        assert!(strict_verdict(text.as_bytes()));
        let twice = with_instances(&format!(r#"{{"index_key":{key}}},{{"index_key":{index}}}"#));
        assert_eq!(codes(&twice), [Code::DuplicateCurrent]);
    }
}

#[test]
fn keys_are_brought_into_normalization_form_c() {
    let text = with_instances("{\"index_key\":\"e\u{301}\"}");
    assert_eq!(instances_again(&text), format!("{{\"index_key\":\"\u{e9}\",{BARE}}}"));
    let twice = with_instances("{\"index_key\":\"e\u{301}\"},{\"index_key\":\"\u{e9}\"}");
    assert_eq!(codes(&twice), [Code::DuplicateCurrent]);
    assert!(!strict_verdict(twice.as_bytes()));
}

#[test]
fn instances_are_sorted_by_kind_of_key_then_key() {
    let text = with_instances(
        r#"{"index_key":"b"},{"index_key":10},{"index_key":2},{},{"index_key":"a"},{"index_key":"B"},{"index_key":"10"}"#,
    );
    let keys = [
        "",
        r#""index_key":2,"#,
        r#""index_key":10,"#,
        r#""index_key":"10","#,
        r#""index_key":"B","#,
        r#""index_key":"a","#,
        r#""index_key":"b","#,
    ];
    let expected: Vec<String> = keys.iter().map(|key| format!("{{{key}{BARE}}}")).collect();
    assert_eq!(instances_again(&text), expected.join(","));
}

#[test]
fn the_current_object_comes_before_deposed_ones() {
    let text = with_instances(
        r#"{"index_key":1,"deposed":"ffffffff"},{"index_key":0,"deposed":"ffffffff"},{"index_key":0,"deposed":"00000001"},{"index_key":0}"#,
    );
    let expected = [
        r#""index_key":0,"#,
        r#""index_key":0,"deposed":"00000001","#,
        r#""index_key":0,"deposed":"ffffffff","#,
        r#""index_key":1,"deposed":"ffffffff","#,
    ];
    let expected: Vec<String> = expected.iter().map(|head| format!("{{{head}{BARE}}}")).collect();
    assert_eq!(instances_again(&text), expected.join(","));
    assert!(strict_verdict(text.as_bytes()));
}

#[test]
fn deposed_keys_are_any_eight_bytes() {
    for key in ["abc", "123456789", "☃☃☃", "\\u0000"] {
        assert_eq!(codes(with_instances(&format!(r#"{{"deposed":"{key}"}}"#))), [Code::DeposedKey], "{key}");
    }
    for key in ["ZZZZZZZZ", "a b\\n c-d", "éééé", "\\u0000\\u0001234567"] {
        let text = with_instances(&format!(r#"{{"deposed":"{key}"}}"#));
        assert_eq!(instances_again(&text), format!(r#"{{"deposed":"{key}",{BARE}}}"#));
    }
    for none in [r#""""#, "null"] {
        assert_eq!(
            instances_again(with_instances(&format!(r#"{{"deposed":{none}}}"#))),
            format!("{{{BARE}}}")
        );
    }
}

#[test]
fn an_object_stands_once() {
    let cases = [
        ("{},{}", vec![Code::DuplicateCurrent]),
        (r#"{"index_key":"k"},{"index_key":"k","status":"tainted"}"#, vec![Code::DuplicateCurrent]),
        (r#"{"deposed":"aaaaaaaa"},{},{"deposed":"aaaaaaaa"}"#, vec![Code::DuplicateDeposed]),
        ("{},{},{}", vec![Code::DuplicateCurrent; 2]),
    ];
    for (instances, expected) in cases {
        let text = with_instances(instances);
        assert_eq!(codes(&text), expected, "{instances}");
        assert!(!strict_verdict(text.as_bytes()));
    }
    let fine = with_instances(r#"{"index_key":0,"deposed":"aaaaaaaa"},{"index_key":1,"deposed":"aaaaaaaa"}"#);
    assert!(strict_verdict(fine.as_bytes()));
}

#[test]
fn entries_of_one_resource_are_merged_under_the_last_provider() {
    let entry = |provider: &str, key: u8| {
        format!(
            r#"{{"mode":"managed","type":"t","name":"n","provider":{provider},"instances":[{{"index_key":{key}}}]}}"#
        )
    };
    let other = r#""provider[\"registry.terraform.io/hashicorp/other\"]""#;
    let text = document(&format!(r#""resources":[{},{}]"#, entry(PROVIDER, 1), entry(other, 0)));
    let file = read(&text);
    let address = AbsResource::parse("t.n").unwrap();
    let resource = file.state.resource(&address).unwrap();
    assert_eq!(resource.instances.len(), 2);
    assert!(resource.provider.to_string().contains("other"));
    // One of the providers would be lost, so that is not written without being asked for.
    assert!(
        matches!(encode(&file, &EncodeOptions::default()), Err(EncodeError::Loss(losses)) if losses.len() == 1)
    );
    assert!(strict_verdict(text.as_bytes()));
    let agreed = document(&format!(r#""resources":[{},{}]"#, entry(PROVIDER, 1), entry(PROVIDER, 0)));
    assert!(again(agreed).contains(r#""instances":[{"index_key":0,"#));
}

#[test]
fn objects_that_stand_twice_are_found_in_entries_far_apart() {
    let entry = |key: u8| {
        format!(
            r#"{{"mode":"managed","type":"t","name":"n","provider":{PROVIDER},"instances":[{{"index_key":{key}}}]}}"#
        )
    };
    let text = document(&format!(r#""resources":[{},{},{}]"#, entry(1), entry(0), entry(1)));
    assert_eq!(codes(&text), [Code::DuplicateCurrent]);
    assert!(!strict_verdict(text.as_bytes()));
}

#[test]
fn only_tainted_is_a_status() {
    for ready in ["null", r#""""#] {
        assert_eq!(
            instances_again(with_instances(&format!(r#"{{"status":{ready}}}"#))),
            format!("{{{BARE}}}")
        );
    }
    let tainted = with_instances(r#"{"status":"tainted"}"#);
    assert_eq!(instances_again(tainted), format!(r#"{{"status":"tainted",{BARE}}}"#));
    for status in ["planned", "Tainted", "ready"] {
        assert_eq!(codes(with_instances(&format!(r#"{{"status":"{status}"}}"#))), [Code::Status], "{status}");
    }
}

#[test]
fn the_json_form_of_attributes_wins_over_a_flat_one() {
    let text = with_instances(r#"{"attributes":{"id":"1"},"attributes_flat":{"id":"2"}}"#);
    assert_eq!(note_kinds(&text), [NoteKind::Lost]);
    let file = read(&text);
    assert!(matches!(encode(&file, &EncodeOptions::default()), Err(EncodeError::Loss(_))));
    assert!(write(&file).contains(r#""id":"1""#) && !write(&file).contains("attributes_flat"));
    let empty = with_instances(r#"{"attributes":{"id":"1"},"attributes_flat":{}}"#);
    assert!(note_kinds(empty).is_empty());
}

#[test]
fn attributes_of_null_stay_null_unless_a_flat_form_stands_beside_them() {
    let null = with_instances(r#"{"attributes":null}"#);
    assert_eq!(instances_again(&null), format!("{{{}}}", BARE.replace("{}", "null")));
    let flat = with_instances(r#"{"attributes":null,"attributes_flat":{"id":"2"}}"#);
    let expected = BARE.replace(r#""attributes":{}"#, r#""attributes_flat":{"id":"2"}"#);
    assert_eq!(instances_again(flat), format!("{{{expected}}}"));
}

#[test]
fn absent_attributes_are_empty_ones() {
    assert_eq!(instances_again(with_instances("{}")), format!("{{{BARE}}}"));
    let flat = with_instances(r#"{"attributes_flat":{}}"#);
    let file = read(&flat);
    let (_, _, object) = file.state.objects().next().unwrap();
    assert_eq!(object.attributes, Attributes::Flat(Default::default()));
    let written = instances_again(&flat);
    assert_eq!(written, r#"{"schema_version":0,"sensitive_attributes":[]}"#);
    assert_eq!(instances_again(with_instances(&written)), format!("{{{BARE}}}"));
    let sorted = instances_again(with_instances(r#"{"attributes_flat":{"b":"2","a.%":"0","A":null}}"#));
    assert!(sorted.contains(r#""attributes_flat":{"A":"","a.%":"0","b":"2"}"#), "{sorted}");
}

#[test]
fn attributes_keep_their_spelling() {
    let attributes = [
        r#"{"n":1234567890123456789012345678901234567890,"f":1.0,"e":1e3,"E":-1.5E+7}"#,
        r#"{"e":"\u00e9","s":"\/","pair":"\ud83d\ude80","half":"\ud800"}"#,
        r#"{"z":1,"a":{"y":2,"b":[]},"m":null}"#,
        r#"{"twice":1,"twice":"2"}"#,
        r#"{"":{" a b ":[[],{},[[]]]}}"#,
        r#"["a",true]"#,
        r#""text""#,
        "-0",
    ];
    for raw in attributes {
        let written = instances_again(with_instances(&format!(r#"{{"attributes":{raw}}}"#)));
        assert!(written.contains(&format!(r#""attributes":{raw},"#)), "{raw}: {written}");
    }
}

#[test]
fn attributes_are_written_with_the_escapes_of_the_original_tools() {
    let cases = [
        ("a<b>&c", r"a\u003cb\u003e\u0026c"),
        ("\u{2028}\u{2029}", r"\u2028\u2029"),
        ("\u{7f}é😀'", "\u{7f}é😀'"),
    ];
    for (text, escaped) in cases {
        let input = with_instances(&format!(r#"{{"attributes":{{"{text}":"{text}"}}}}"#));
        let written = instances_again(&input);
        assert!(written.contains(&format!(r#"{{"{escaped}":"{escaped}"}}"#)), "{written}");
        let value: serde_json::Value = serde_json::from_str(&written).unwrap();
        assert_eq!(value["attributes"][text], text);
        assert_eq!(instances_again(with_instances(&written)), written, "the same the second time");
    }
}

#[test]
fn attributes_are_indented_to_their_depth() {
    let text = with_instances(r#"{"attributes":{"a":[1,{"b":{}}],"c":[],"d":"x: [1, {"}}"#);
    let mut file = read(text);
    file.style.indented = true;
    let written = write(&file);
    let expected = r#"
          "attributes": {
            "a": [
              1,
              {
                "b": {}
              }
            ],
            "c": [],
            "d": "x: [1, {"
          },
"#;
    assert!(written.contains(expected), "{written}");
    assert!(written.ends_with("  ],\n  \"check_results\": null\n}\n"));
    assert!(written.lines().all(|line| line == line.trim_end()));
}

#[test]
fn the_compact_layout_has_no_white_space_but_the_last_line_break() {
    let text = with_instances(r#"{"attributes":{"a": [1, 2]}}"#);
    let written = again(text);
    assert!(written.ends_with("}\n"));
    assert!(!written.trim_end().contains([' ', '\n']), "{written}");
}

#[test]
fn modules_are_sorted_by_their_printed_address() {
    let modules = ["kinder", "child.module.grandchild", "m[10]", "child", "m[2]", "m"];
    let entry = |module: &str| {
        format!(r#"{{{module}"mode":"managed","type":"t","name":"n","provider":{PROVIDER},"instances":[]}}"#)
    };
    let mut entries: Vec<String> =
        modules.iter().map(|module| entry(&format!(r#""module":"module.{module}","#))).collect();
    entries.push(entry(""));
    let written = again(document(&format!(r#""resources":[{}]"#, entries.join(","))));
    let found: Vec<&str> = written
        .split(r#"{"mode":"managed""#)
        .flat_map(|part| part.split(r#""module":"module."#).skip(1))
        .map(|tail| tail.split('"').next().unwrap())
        .collect();
    assert_eq!(found, ["child", "child.module.grandchild", "kinder", "m", "m[10]", "m[2]"]);
    assert!(written.contains(r#""resources":[{"mode":"managed","#), "the root comes first");
}

#[test]
fn data_sources_come_before_managed_resources_then_type_and_name() {
    let entry = |mode: &str, kind: &str, name: &str| {
        format!(r#"{{"mode":"{mode}","type":"{kind}","name":"{name}","provider":{PROVIDER},"instances":[]}}"#)
    };
    let sorted = [
        ("data", "t", "n"),
        ("data", "u", "a"),
        ("managed", "a", "z"),
        ("managed", "t", "N"),
        ("managed", "t", "n"),
    ];
    let text: Vec<String> = sorted.iter().rev().map(|(mode, kind, name)| entry(mode, kind, name)).collect();
    let expected: Vec<String> = sorted.iter().map(|(mode, kind, name)| entry(mode, kind, name)).collect();
    let written = again(document(&format!(r#""resources":[{}]"#, text.join(","))));
    assert!(written.contains(&format!(r#""resources":[{}]"#, expected.join(","))), "{written}");
}

#[test]
fn dependencies_lose_the_keys_of_modules_and_keep_their_order() {
    let text = with_instances(
        r#"{"dependencies":["var.input","module.a[\"x\"].t.n","t.z","t.a","t.z","data.t.n","module.b[0].module.c.data.t.n"]}"#,
    );
    let written = instances_again(&text);
    let expected = r#""dependencies":["var.input","module.a.t.n","t.z","t.a","t.z","data.t.n","module.b.module.c.data.t.n"]"#;
    assert!(written.contains(expected), "{written}");
    for bad in ["t.n[0]", "t", "module.a", "data.t", "", "t.n.x", "a b.c d e"] {
        assert_eq!(
            codes(with_instances(&format!(r#"{{"dependencies":["{bad}"]}}"#))),
            [Code::Dependency],
            "{bad}"
        );
    }
    assert!(!instances_again(with_instances(r#"{"dependencies":[]}"#)).contains("dependencies"));
}

#[test]
fn planned_objects_are_refused_before_a_byte_is_written() {
    let mut file = read(with_instances(r#"{"index_key":"k"}"#));
    let address = AbsResource::parse("module.m.test_a.c").unwrap();
    let mut object = ObjectSrc::new(0, RawJson::empty_object());
    object.status = ObjectStatus::Planned;
    let provider =
        ProviderConfig::parse(r#"provider["a/b"]"#, Dialect::Terraform.default_registry()).unwrap();
    file.state.set_resource_instance(
        &address.instance(InstanceKey::Int(3)),
        Some(ResourceInstance::with_current(object)),
        &provider,
    );
    let mut out = Vec::new();
    let error = encode_to(&file, &EncodeOptions::default().allow_loss(true), &mut out).unwrap_err();
    insta::assert_snapshot!(error, @"module.m.test_a.c[3] is only planned and cannot be stored; write the state after the plan has been applied");
    assert!(out.is_empty());
}

#[test]
fn ephemeral_resources_are_left_out() {
    let mut file = File::new(Dialect::OpenTofu, Lineage::new("l"));
    let provider = ProviderConfig::parse(r#"provider["a/b"]"#, Dialect::OpenTofu.default_registry()).unwrap();
    let resource = Resource::new(ResourceMode::Ephemeral, "t", "n").absolute(ModuleInstance::root());
    file.state.set_resource_provider(&resource, &provider);
    assert!(write(&file).contains("\"resources\": []"), "{}", write(&file));
}

#[test]
fn the_each_mode_of_old_releases_is_dropped_with_a_note() {
    for each in ["list", "map"] {
        let text = with_resource(&format!(
            r#""mode":"managed","type":"test_a","name":"b","each":"{each}","provider":{PROVIDER},"instances":[]"#
        ));
        assert_eq!(note_kinds(&text), [NoteKind::Dropped]);
        assert!(!again(&text).contains("each"));
    }
}

#[test]
fn provider_addresses_keep_their_registry_or_leave_it_out() {
    let cases = [
        ("provider.aws", "provider.aws", r#"provider[\"registry.terraform.io/-/aws\"]"#),
        ("provider.aws.west", "provider.aws.west", r#"provider[\"registry.terraform.io/-/aws\"].west"#),
        (
            "module.x.provider.aws",
            "module.x.provider.aws",
            r#"module.x.provider[\"registry.terraform.io/-/aws\"]"#,
        ),
        ("provider. null", "provider.null", r#"provider[\"registry.terraform.io/-/null\"]"#),
        // Terraform and OpenTofu cannot read this type in the present form.
        ("provider.my_own", "provider.my_own", "provider.my_own"),
        (
            r#"provider[\"aws\"]"#,
            r#"provider[\"hashicorp/aws\"]"#,
            r#"provider[\"registry.terraform.io/hashicorp/aws\"]"#,
        ),
        (
            r#"provider[\"HashiCorp/AWS\"].a"#,
            r#"provider[\"hashicorp/aws\"].a"#,
            r#"provider[\"registry.terraform.io/hashicorp/aws\"].a"#,
        ),
    ];
    let complete = [
        ("provider.terraform", r#"provider[\"terraform.io/builtin/terraform\"]"#),
        (r#"provider[\"registry.terraform.io/-/aws\"]"#, r#"provider[\"registry.terraform.io/-/aws\"]"#),
        (r#"provider[\"registry.opentofu.org/-/aws\"]"#, r#"provider[\"registry.opentofu.org/-/aws\"]"#),
        (r#"provider[\"example.com/corp/thing\"].a"#, r#"provider[\"example.com/corp/thing\"].a"#),
    ];
    let complete = complete.into_iter().map(|(given, expected)| (given, expected, expected));
    for (given, kept, in_full) in cases.into_iter().chain(complete) {
        let text = with_resource(&format!(
            r#""mode":"data","type":"t","name":"n","provider":"{given}","instances":[]"#
        ));
        let written = again(&text);
        assert!(written.contains(&format!(r#""provider":"{kept}""#)), "{given}: {written}");
        let mut file = read(&text);
        file.state.write_out_providers();
        let written = encode(&file, &EncodeOptions::default().indented(false)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains(&format!(r#""provider":"{in_full}""#)), "{given}: {written}");
        assert!(strict_verdict(text.as_bytes()));
    }
}

#[test]
fn private_data_is_kept_and_padded() {
    let text = with_instances(r#"{"private":"eyJh\nIjoi\r\nYiJ9"}"#);
    assert!(instances_again(&text).contains(r#""private":"eyJhIjoiYiJ9""#));
    assert!(!instances_again(with_instances(r#"{"private":""}"#)).contains("private"));
    for bad in ["!!!!", "YQ", "YQ=", "Y Q=", "YQ==x", "_-8="] {
        assert_eq!(codes(with_instances(&format!(r#"{{"private":"{bad}"}}"#))), [Code::Malformed], "{bad}");
    }
}

#[test]
fn unknown_members_survive_at_every_level_behind_the_known_ones() {
    let text = r#"{"version":4,"future":{"b":1.0,"a":[]},"terraform_version":"1.11.4","outputs":{"a":{"why":"<","value":"x","type":"string"}},"resources":[{"x":null,"mode":"managed","type":"t","name":"n","provider":"provider[\"a/b\"]","instances":[{"y":1e3,"schema_version":0}]}]}"#;
    let written = again(text);
    for part in [
        r#""outputs":{"a":{"value":"x","type":"string","why":"\u003c"}}"#,
        r#""sensitive_attributes":[],"y":1e3}],"x":null}]"#,
        r#""check_results":null,"future":{"b":1.0,"a":[]}}"#,
    ] {
        assert!(written.contains(part), "{part} in {written}");
    }
    assert_eq!(again(&written), written);
}
