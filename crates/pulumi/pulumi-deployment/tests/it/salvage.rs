//! Properties of which parts cannot be read.

use groundstate_pulumi_deployment::{
    CiphertextCheck, PropertyErrorKind, UNREADABLE, decode_map, salvage_map, salvage_value,
};
use groundstate_pulumi_snapshot::{PropertyValue, RawJson};

const SIG: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

/// An object with a signature and these members.
fn signed(signature: &str, members: &str) -> String {
    format!(r#"{{"{SIG}":"{signature}"{members}}}"#)
}

fn raw(text: &str) -> RawJson {
    RawJson::parse_as_written(text).unwrap()
}

#[test]
fn names_each_fault_and_leaves_the_rest() {
    let asset = "c44067f5952c0a294b673a41bacd8c17";
    let archive = "0def7320c3a5731c473e5ecbe6d01bc7";
    let reference = "5cf8f73096256a8f31e491e813e4eb8e";
    let bytes = "803fd3297a5875dc03ca845dda5d2a98";
    let float = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
    let output = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
    let plain = signed(asset, r#","text":"x""#);
    for (value, fault) in [
        (signed("foobar", ""), "unrecognized signature 'foobar' in property map"),
        (
            signed(output, r#","value":1"#),
            "unrecognized signature 'd0e6a833031e9bbcd3f4e8bde6ca49a4' in property map",
        ),
        (format!(r#"{{"{SIG}":7}}"#), "unrecognized signature '7' in property map"),
        (
            signed(SECRET, ""),
            "malformed secret value: exactly one of `ciphertext` or `plaintext` must be supplied",
        ),
        (
            signed(SECRET, r#","plaintext":"no json""#),
            "malformed secret value: what is inside is not a value",
        ),
        (signed(asset, r#","hash":7"#), "malformed asset: hash must be a string"),
        (signed(asset, r#","text":null"#), "malformed asset: text must be a string"),
        (signed(archive, r#","uri":[]"#), "malformed archive: uri must be a string"),
        (signed(archive, r#","assets":null"#), "malformed archive: assets must be an object"),
        (
            signed(archive, &format!(r#","assets":{{"a":{plain},"b":"text"}}"#)),
            "malformed archive: \"b\" is not an asset or archive",
        ),
        (signed(reference, ""), "malformed resource reference: missing urn"),
        (signed(reference, r#","urn":"u","id":7"#), "malformed resource reference: id must be a string"),
        (
            signed(reference, r#","urn":"u","packageVersion":null"#),
            "malformed resource reference: packageVersion must be a string",
        ),
        (
            signed(float, r#","value":"zz""#),
            "malformed float value: unable to parse 'value' field: not 16 hexadecimal digits",
        ),
        (signed(float, ""), "malformed float value: missing or non-string 'value' field"),
        (
            signed(bytes, r#","value":"?""#),
            "malformed byte string: unable to parse 'value' field: not standard base64",
        ),
        ("1e999".to_owned(), "the number is beyond the range of a double"),
    ] {
        let text = format!(r#"{{"a":{{"b":{value},"c":1.50}},"d":[{value},"<"]}}"#);
        let salvaged = salvage_map(&raw(&text), CiphertextCheck::Unchecked).unwrap();
        let found: Vec<String> = salvaged.faults.iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("a.b: {fault}"), format!("d[0]: {fault}")]);
        assert_eq!(salvaged.text.unwrap().as_str(), r#"{"a":{"c":1.50},"d":[null,"<"]}"#);
        let shown = salvaged.value.get("a").and_then(PropertyValue::as_object).and_then(|map| map.get("b"));
        assert_eq!(shown.and_then(PropertyValue::as_str), Some(UNREADABLE));
        let alone = salvage_value(&raw(&value), CiphertextCheck::Unchecked).unwrap();
        assert!(alone.value.is_none() && alone.text.is_none() && alone.faults.len() == 1, "{value}");
    }
}

#[test]
fn a_part_of_something_special_takes_it_along() {
    let bad = signed("foobar", "");
    for whole in [
        signed("0def7320c3a5731c473e5ecbe6d01bc7", &format!(r#","assets":{{"a":{bad}}}"#)),
        signed(SECRET, &format!(r#","plaintext":"1","extra":{bad}"#)),
        format!(r#"{{"{SIG}":{bad},"x":1}}"#),
    ] {
        let text = format!(r#"{{"a":{whole},"b":1}}"#);
        let salvaged = salvage_map(&raw(&text), CiphertextCheck::Unchecked).unwrap();
        assert_eq!(salvaged.faults.len(), 1, "{text}");
        assert_eq!(salvaged.text.unwrap().as_str(), r#"{"b":1}"#);
    }
}

#[test]
fn only_the_last_of_equal_names_has_to_be_readable() {
    let bad = signed("foobar", "");
    let good =
        raw(&format!(r#"{{"a":{bad},"a":1,"o":{{"{SIG}":"{SECRET}","x":{bad},"x":1,"plaintext":"2"}}}}"#));
    assert!(salvage_map(&good, CiphertextCheck::Unchecked).unwrap().faults.is_empty());
    assert_eq!(decode_map(&good).unwrap().len(), 2);
    let text = format!(r#"{{"a":1,"a":{bad}}}"#);
    let salvaged = salvage_map(&raw(&text), CiphertextCheck::Unchecked).unwrap();
    assert_eq!(salvaged.faults.len(), 1);
    assert_eq!(
        salvaged.text.unwrap().as_str(),
        r#"{"a":1,"a":null}"#,
        "the first would count without the second"
    );
    assert!(decode_map(&raw(&text)).is_err());
}

#[test]
fn ciphertexts_are_looked_at_as_their_manager_writes_them() {
    let good = "v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzA==";
    let faults = |ciphertext: &str, check| {
        let text = format!(r#"{{"a":{}}}"#, signed(SECRET, &format!(r#","ciphertext":"{ciphertext}""#)));
        salvage_map(&raw(&text), check).unwrap().faults
    };
    assert!(matches!(faults(good, CiphertextCheck::NoManager)[0].kind(), PropertyErrorKind::NoManager));
    for (ciphertext, manager, is_good) in [
        (good, "passphrase", true),
        (good, "cloud", true),
        ("v1:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBz*==", "passphrase", false),
        ("v1:AAEC:9MLbHcOIBaN7khccXQqBzA==", "cloud", false),
        ("v2:AAECAwQFBgcICQoL:9MLbHcOIBaN7khccXQqBzA==", "passphrase", false),
        ("QUJD", "service", true),
        ("QUJ", "service", false),
        ("anything", "unheard-of", true),
    ] {
        let found = faults(ciphertext, CiphertextCheck::Manager(manager));
        assert_eq!(found.is_empty(), is_good, "{ciphertext} {manager}");
    }
}

#[test]
fn what_go_decodes_is_no_fault() {
    for value in [
        signed("803fd3297a5875dc03ca845dda5d2a98", r#","value":"/w\n==""#),
        signed("803fd3297a5875dc03ca845dda5d2a98", r#","value":"/x==""#),
        signed("5cf8f73096256a8f31e491e813e4eb8e", r#","urn":"u","id":{}"#),
        signed("8ad145fe-0d11-4827-bfd7-1abcbf086f5c", r#","value":"7FF0000000000000""#),
    ] {
        let text = raw(&format!(r#"{{"a":{value}}}"#));
        assert!(salvage_map(&text, CiphertextCheck::Unchecked).unwrap().faults.is_empty(), "{value}");
        assert_eq!(decode_map(&text).unwrap().len(), 1, "{value}");
    }
}
