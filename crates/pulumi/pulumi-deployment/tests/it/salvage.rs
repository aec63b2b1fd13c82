//! Properties of which parts cannot be read.

use groundstate_pulumi_deployment::{
    CiphertextCheck, PropertyErrorKind, UNREADABLE, decode_map, decode_value, salvage_map, salvage_value,
};
use groundstate_pulumi_snapshot::{PropertyValue, RawJson};
use proptest::prelude::*;

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
    let alone = decode_value(&good).unwrap();
    assert_eq!(alone.as_object().and_then(|map| map.get("a")), Some(&PropertyValue::from(1.0)));
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

/// A list in lists, with so many elements that each nest deeper than is read.
fn too_deep(elements: usize) -> String {
    format!("{}{}{}", "[".repeat(256), vec!["1"; elements].join(","), "]".repeat(256))
}

#[test]
fn values_that_nest_deep_hide_none_that_cannot_be_loaded() {
    let (deep, bad) = (too_deep(150), signed("foobar", ""));
    let salvaged =
        salvage_map(&raw(&format!(r#"{{"a":{deep},"b":{bad}}}"#)), CiphertextCheck::Unchecked).unwrap();
    let last = salvaged.faults.last().map(ToString::to_string);
    assert_eq!(last.as_deref(), Some("b: unrecognized signature 'foobar' in property map"));
    assert_eq!((salvaged.faults.len(), salvaged.more, salvaged.unloadable), (101, 50, 1));
    assert_eq!(salvaged.text.unwrap().as_str(), format!(r#"{{"a":{deep}}}"#));
}

#[test]
fn what_nests_deep_in_something_special_is_left() {
    let quoted = format!("{:?}", too_deep(1));
    for whole in [
        signed(SECRET, &format!(r#","plaintext":{quoted}"#)),
        signed(SECRET, &format!(r#","plaintext":"1","extra":{}"#, too_deep(1))),
        signed("0def7320c3a5731c473e5ecbe6d01bc7", &format!(r#","assets":{{"a":{}}}"#, too_deep(1))),
    ] {
        let text = format!(r#"{{"a":{whole},"b":1e999}}"#);
        let salvaged = salvage_map(&raw(&text), CiphertextCheck::Unchecked).unwrap();
        let kinds: Vec<_> = salvaged.faults.iter().map(|fault| fault.kind().clone()).collect();
        assert_eq!(kinds, [PropertyErrorKind::TooDeep, PropertyErrorKind::NumberRange], "{whole}");
        assert_eq!(salvaged.text.unwrap().as_str(), format!(r#"{{"a":{whole}}}"#));
    }
    let secret = format!("{}{}{}", "[".repeat(255), signed(SECRET, r#","plaintext":"1""#), "]".repeat(255));
    let text = format!(r#"{{"a":{secret}}}"#);
    let salvaged = salvage_map(&raw(&text), CiphertextCheck::Unchecked).unwrap();
    assert_eq!((salvaged.faults.len(), salvaged.unloadable), (2, 0));
    assert_eq!(salvaged.text.unwrap().as_str(), text);
    // An object of an unknown kind cannot be loaded, whatever it holds.
    let unknown = format!(r#"{{"a":{}}}"#, signed("foobar", &format!(r#","x":{}"#, too_deep(1))));
    let salvaged = salvage_map(&raw(&unknown), CiphertextCheck::Unchecked).unwrap();
    assert_eq!((salvaged.unloadable, salvaged.text.unwrap().as_str()), (1, "{}"));
}

#[test]
fn faults_that_do_not_count_hide_none_that_do() {
    let bad = signed("foobar", "");
    let many = vec![bad.as_str(); 150].join(",");
    let text = raw(&format!(r#"{{"a":[{many}],"a":1,"b":{bad}}}"#));
    let salvaged = salvage_map(&text, CiphertextCheck::Unchecked).unwrap();
    assert_eq!((salvaged.faults.len(), salvaged.more, salvaged.unloadable), (0, 1, 1));
    assert!(decode_map(&text).is_err());
    let (deep, sealed) = (too_deep(1), signed(SECRET, r#","ciphertext":"x""#));
    let all = format!("{bad},{bad},{sealed},{sealed},{sealed},{deep}");
    let repeated = format!(r#"{{"a":[{all}],"a":1,"b":[{all}],"c":[{all}]}}"#);
    let salvaged = salvage_value(&raw(&format!("[{all},{repeated}]")), CiphertextCheck::NoManager).unwrap();
    assert_eq!((salvaged.faults.len(), salvaged.more), (18, 0));
    assert_eq!((salvaged.unloadable, salvaged.undecryptable), (15, 9));
    let secret = signed(SECRET, &format!(r#","x":[{many}],"x":1,"plaintext":"2""#));
    assert_eq!(decode_map(&raw(&format!(r#"{{"s":{secret}}}"#))).unwrap().len(), 1);
    let inner = format!("{:?}", format!(r#"{{"a":[{many}],"a":1,"b":{bad}}}"#));
    assert!(
        decode_map(&raw(&format!(r#"{{"s":{}}}"#, signed(SECRET, &format!(r#","plaintext":{inner}"#)))))
            .is_err()
    );
}

#[test]
fn every_ciphertext_is_counted_whatever_is_described() {
    let (bad, sealed) = (signed("foobar", ""), signed(SECRET, r#","ciphertext":"x""#));
    let text = format!("[{},{}]", vec![bad; 120].join(","), vec![sealed; 130].join(","));
    let salvaged = salvage_value(&raw(&text), CiphertextCheck::NoManager).unwrap();
    assert_eq!((salvaged.faults.len(), salvaged.more), (100, 150));
    assert_eq!((salvaged.unloadable, salvaged.undecryptable), (250, 130));
}

/// Any JSON of few names, with objects that are something special, or nearly.
fn values() -> impl Strategy<Value = String> {
    let signatures =
        [SECRET, "0def7320c3a5731c473e5ecbe6d01bc7", "5cf8f73096256a8f31e491e813e4eb8e", "foobar"];
    let texts = signatures.map(|signature| format!("{signature:?}"));
    let others = ["1", "1e999", "null", r#""{}""#, r#""no""#].map(str::to_owned);
    let leaf = prop::sample::select([texts.as_slice(), others.as_slice()].concat());
    let name = prop::sample::select(vec![SIG, "plaintext", "ciphertext", "assets", "urn", "a"]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let member = (name.clone(), inner.clone()).prop_map(|(name, value)| format!("{name:?}:{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_left_can_be_loaded(value in values()) {
        for check in [CiphertextCheck::Unchecked, CiphertextCheck::NoManager] {
            let salvaged = salvage_value(&raw(&value), check).unwrap();
            prop_assert_eq!(salvaged.faults.len() + salvaged.more, salvaged.unloadable);
            if let Some(left) = salvaged.text {
                let again = salvage_value(&left, check).unwrap();
                prop_assert_eq!((again.faults, again.unloadable), (vec![], 0), "{} left {}", value, left.as_str());
                prop_assert_eq!(again.text, Some(left));
            }
        }
    }
}
