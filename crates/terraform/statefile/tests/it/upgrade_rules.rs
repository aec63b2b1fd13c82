//! Rules of upgrades that need options or a choice of inputs.

use groundstate_statefile::{
    Code, DecodeOptions, Dialect, EncodeError, EncodeOptions, File, NoteKind, ReadError, decode, encode,
};
use groundstate_states::addr::{AbsResource, ModuleInstance, Resource};
use groundstate_states::{Attributes, DeposedKey, Generation, ObjectStatus};

fn read(text: &str) -> File {
    decode(text.as_bytes(), &DecodeOptions::default()).unwrap()
}

fn v3(resources: &str) -> String {
    format!(r#"{{"version":3,"modules":[{{"path":["root"],"resources":{{{resources}}}}}]}}"#)
}

fn resource<'f>(file: &'f File, type_name: &str, name: &str) -> &'f groundstate_states::Resource {
    let address =
        AbsResource { module: ModuleInstance::root(), resource: Resource::managed(type_name, name) };
    file.state.resource(&address).unwrap()
}

const TAINTED: &str = r#"{"version":1,"modules":[{"resources":{"a.b":{
    "primary":null,"deposed":[{"id":"1"}],"tainted":[{"id":"2"},{"id":"3"}]}}}]}"#;

#[test]
fn tainted_instances_of_format_1_become_deposed_objects_behind_the_others() {
    let file = read(TAINTED);
    let objects: Vec<_> = resource(&file, "a", "b").instances.values().flat_map(|i| i.objects()).collect();
    let found: Vec<_> = objects.iter().map(|(generation, object)| (*generation, object.status)).collect();
    let deposed = |number| Generation::Deposed(DeposedKey::from_number(number));
    let expected = [
        (deposed(1), ObjectStatus::Ready),
        (deposed(2), ObjectStatus::Tainted),
        (deposed(3), ObjectStatus::Tainted),
    ];
    assert_eq!(found, expected);
    assert!(encode(&file, &EncodeOptions::default()).is_ok());
}

#[test]
fn tainted_instances_of_format_1_can_be_dropped_which_is_a_loss() {
    let file = decode(TAINTED.as_bytes(), &DecodeOptions::default().drop_v1_tainted(true)).unwrap();
    assert_eq!(resource(&file, "a", "b").instances.values().flat_map(|i| i.objects()).count(), 1);
    assert_eq!(file.notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::Lost]);
    assert!(matches!(encode(&file, &EncodeOptions::default()), Err(EncodeError::Loss(_))));
    assert!(encode(&file, &EncodeOptions::default().allow_loss(true)).is_ok());
}

#[test]
fn providers_belong_to_the_registry_of_the_dialect_that_is_asked_for() {
    let text = v3(r#""aws_x.a":{"provider":"provider.aws.west"},"terraform_y.b":{}"#);
    for (dialect, expected) in [
        (None, r#"provider["registry.terraform.io/-/aws"].west"#),
        (Some(Dialect::Terraform), r#"provider["registry.terraform.io/-/aws"].west"#),
        (Some(Dialect::OpenTofu), r#"provider["registry.opentofu.org/-/aws"].west"#),
    ] {
        let options = dialect.map_or_else(DecodeOptions::default, |d| DecodeOptions::default().dialect(d));
        let file = decode(text.as_bytes(), &options).unwrap();
        assert_eq!(resource(&file, "aws_x", "a").provider.to_string(), expected);
        let builtin = resource(&file, "terraform_y", "b").provider.to_string();
        assert_eq!(builtin, r#"provider["terraform.io/builtin/terraform"]"#);
    }
}

#[test]
fn the_same_file_gives_the_same_bytes_a_hundred_times() {
    let entries: Vec<String> = (0..40)
        .map(|i| format!(r#""a_b.c.{i}":{{"primary":{{"id":"{i}"}},"provider":"p.alias{}"}}"#, i % 7))
        .collect();
    let text = v3(&entries.join(","));
    let write = || encode(&read(&text), &EncodeOptions::default()).unwrap();
    let first = write();
    for _ in 0..100 {
        assert_eq!(write(), first);
    }
    // The provider is that of the smallest address, which is a_b.c.0.
    assert!(String::from_utf8(first).unwrap().contains(r#"/p\"].alias0""#));
}

#[test]
fn the_order_of_entries_does_not_matter() {
    let (a, b) = (r#""a_b.c.1":{"provider":"p.x"}"#, r#""a_b.c.0":{"provider":"p.y"}"#);
    let write = |text: String| encode(&read(&text), &EncodeOptions::default()).unwrap();
    assert_eq!(write(v3(&format!("{a},{b}"))), write(v3(&format!("{b},{a}"))));
}

#[test]
fn every_null_element_is_a_problem_and_no_crash() {
    for (text, step) in [
        (r#"{"version":1,"modules":[null]}"#, "from version 1 to 2"),
        (r#"{"version":1,"modules":[{"resources":{"a.b":null}}]}"#, "from version 1 to 2"),
        (r#"{"version":1,"modules":[{"resources":{"a.b":{"deposed":[null]}}}]}"#, "from version 1 to 2"),
        (r#"{"version":2,"modules":[null]}"#, "from version 2 to 3"),
        (r#"{"version":2,"modules":[{"outputs":{"o":null}}]}"#, "from version 2 to 3"),
        (r#"{"version":2,"modules":[{"resources":{"a.b":{"deposed":[null]}}}]}"#, "from version 2 to 3"),
        (r#"{"version":3,"modules":[{},null]}"#, "from version 3 to 4"),
        (r#"{"version":3,"modules":[{"resources":{"a.b":null}}]}"#, "from version 3 to 4"),
        (r#"{"version":3,"modules":[{"outputs":{"o":null}}]}"#, "from version 3 to 4"),
    ] {
        let error = decode(text.as_bytes(), &DecodeOptions::default()).unwrap_err();
        assert!(
            matches!(&error, ReadError::Unusable(problems) if problems.has(Code::UpgradeFailed)),
            "{text}"
        );
        assert!(error.to_string().contains(step), "{error}");
    }
}

#[test]
fn null_stands_for_nothing_wherever_a_member_may_be_absent() {
    for text in [
        r#"{"version":1,"serial":null,"remote":null,"modules":null}"#,
        r#"{"version":1,"modules":[{"path":null,"outputs":null,"resources":null,"depends_on":null}]}"#,
        r#"{"version":2,"terraform_version":null,"lineage":null,"backend":null,"modules":[]}"#,
        r#"{"version":3,"modules":[{"path":["root"],"resources":{"a.b":{"type":null,"depends_on":null,
            "primary":null,"deposed":null,"provider":null}}}]}"#,
        r#"{"version":3,"modules":[{"path":["root"],"resources":{"a.b":{
            "primary":{"id":null,"attributes":null,"meta":null,"tainted":null}}}}]}"#,
        r#"{"version":3,"modules":[{"path":["root"],"outputs":{"o":{"sensitive":null,"type":null}}}]}"#,
    ] {
        assert_eq!(read(text).notes, [], "{text}");
    }
}

#[test]
fn an_absent_attribute_map_is_json_and_an_empty_one_stays_flat() {
    let file = read(&v3(r#""a.none":{"primary":{}},"a.empty":{"primary":{"attributes":{}}}"#));
    let attributes = |name| {
        let mut objects = resource(&file, "a", name).instances.values().flat_map(|i| i.objects());
        objects.next().unwrap().1.attributes.clone()
    };
    assert!(matches!(attributes("none"), Attributes::Json(raw) if raw.as_str() == "{}"));
    assert!(matches!(attributes("empty"), Attributes::Flat(flat) if flat.is_empty()));
}

#[test]
fn secrets_do_not_show_in_problems_and_notes() {
    let text = r#"{"version":3,"modules":[{"path":["root"],"outputs":{"o":{"sensitive":true,"value":{"k":"s3cr3t","k":"s3cr3t"}}},
        "resources":{"a.b":{"secret":"s3cr3t","primary":{"id":"s3cr3t","attributes":{"id":"x","p":"s3cr3t","p":"s3cr3t"},
        "meta":{"schema_version":1.5,"token":"s3cr3t"},"status":"s3cr3t"}}}}]}"#;
    let file = read(text);
    assert!(file.notes.len() >= 4);
    assert!(!format!("{:?}", file.notes).contains("s3cr3t"));
    let shown = format!("{file:?}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
    let broken = text.replace(r#""p":"s3cr3t"}"#, r#""p":["s3cr3t"]}"#);
    let error = decode(broken.as_bytes(), &DecodeOptions::default()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("s3cr3t"));
}

#[test]
fn texts_that_no_file_can_hold_are_a_loss() {
    for entry in [
        r#"{"attributes":{"n":"\ud800"}}"#,
        r#"{"attributes":{"\udc00":"x"}}"#,
        r#"{"meta":{"k":["\ud800"]}}"#,
        r#"{"meta":{"k":{"\ud800":1}}}"#,
        r#"{"meta":{"k":{"a":1,"a":2}}}"#,
        r#"{"meta":{"k":1,"k":2}}"#,
    ] {
        let file = read(&v3(&format!(r#""a.b":{{"primary":{entry}}}"#)));
        assert_eq!(file.notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::Lost], "{entry}");
    }
}
