//! Features: which are written, and what they do to the version.

use groundstate_pulumi_snapshot::{Feature, Properties, PropertyMap, PropertyValue};

use crate::support::{export, export_with, read, resource, round_trip, written};

const BYTES: &str =
    r#"{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"/w=="}"#;
const SECRET: &str =
    r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:a:b"}"#;

fn head(text: &str) -> &str {
    text.split(",\"deployment\"").next().unwrap()
}

#[track_caller]
fn needs(members: &str, expected: &str) {
    let text = written(&read(&export(&resource(members))));
    assert_eq!(head(&text), expected, "{members}");
}

#[test]
fn features_are_sorted_and_make_version_4() {
    needs(r#""taint":true,"resourceHooks":{"OnError":[]}"#, r#"{"version":4,"features":["hooks","taint"]"#);
    needs(r#""taint":false"#, r#"{"version":3"#);
}

#[test]
fn a_feature_that_is_no_longer_needed_is_not_written() {
    let text = written(&read(&export_with(r#"["taint"]"#, &resource(""))));
    assert_eq!(head(&text), r#"{"version":3"#);
}

#[test]
fn pending_operations_count_like_resources() {
    let pending = format!(
        r#""pending_operations":[{{"resource":{},"type":"creating"}}],"metadata""#,
        resource(r#""taint":true"#)
    );
    let text = export("").replace(r#""resources":[],"metadata""#, &pending);
    assert_eq!(head(&written(&read(&text))), r#"{"version":4,"features":["taint"]"#);
}

#[test]
fn texts_that_are_not_utf8_are_seen_in_properties() {
    needs(&format!(r#""inputs":{{"k":[{BYTES}]}}"#), r#"{"version":4,"features":["byteString"]"#);
    needs(&format!(r#""outputs":{{"k":{{"d":{BYTES}}}}}"#), r#"{"version":4,"features":["byteString"]"#);
    needs(&format!(r#""replacementTrigger":{BYTES}"#), r#"{"version":4,"features":["byteString"]"#);
    // The signature as text, and bytes that are UTF-8 after all.
    needs(r#""inputs":{"k":"803fd3297a5875dc03ca845dda5d2a98"}"#, r#"{"version":3"#);
    needs(&format!(r#""inputs":{{"k":{}}}"#, BYTES.replace("/w==", "b2s=")), r#"{"version":3"#);
}

#[test]
fn what_a_secret_hides_is_taken_at_the_word_of_the_file() {
    let inputs = resource(&format!(r#""inputs":{{"k":{SECRET}}}"#));
    round_trip(&export_with(r#"["byteString"]"#, &inputs));
    let mut file = read(&export_with(r#"["byteString"]"#, &inputs));
    assert!(file.features.contains(&Feature::ByteString));
    file.snapshot.as_mut().unwrap().resource_mut(0).unwrap().inputs = Properties::Absent;
    assert_eq!(head(&written(&file)), r#"{"version":3"#, "without a secret nothing is hidden");
}

#[test]
fn decoded_values_are_seen_as_well() {
    let mut file = read(&export(&resource("")));
    let bytes = PropertyMap::from_iter([("k", PropertyValue::bytes(b"\xff"))]);
    file.snapshot.as_mut().unwrap().resource_mut(0).unwrap().outputs = bytes.into();
    let text = written(&file);
    assert_eq!(head(&text), r#"{"version":4,"features":["byteString"]"#);
    assert!(text.contains(&format!(r#""outputs":{{"k":{BYTES}}}"#)), "{text}");
}
