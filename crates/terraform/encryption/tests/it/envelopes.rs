//! What is readable of an envelope, and how it is written.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use groundstate_encryption::{Envelope, EnvelopeError, EnvelopeLayout, OpenError, PassphraseKeys, Target};

use crate::support::{Counting, STATE, configuration, open, seal, two};

#[test]
fn members_stand_in_the_order_of_opentofu_without_a_line_end() {
    let stored = String::from_utf8(seal(&two("method = method.aes_gcm.new"), STATE)).unwrap();
    assert!(
        stored.starts_with(r#"{"serial":7,"lineage":"l-1","meta":{"key_provider.pbkdf2.new":""#),
        "{stored}"
    );
    assert!(stored.contains(r#""},"encrypted_data":""#), "{stored}");
    assert!(stored.ends_with(r#"","encryption_version":"v0"}"#), "{stored}");
}

#[test]
fn files_have_the_indentation_of_the_local_backend() {
    let chain = two("method = method.aes_gcm.new");
    let mut keys = PassphraseKeys::new(Counting);
    let stored = chain.seal(STATE, EnvelopeLayout::Indented, &mut keys, &Counting).unwrap();
    let lines: Vec<String> = String::from_utf8(stored.clone()).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines[..4], ["{", "  \"serial\": 7,", "  \"lineage\": \"l-1\",", "  \"meta\": {"]);
    assert!(lines[4].starts_with("    \"key_provider.pbkdf2.new\": \""));
    assert_eq!(lines[5], "  },");
    assert!(lines[6].starts_with("  \"encrypted_data\": \""));
    assert_eq!(lines[7..], ["  \"encryption_version\": \"v0\"", "}"]);
    assert!(stored.ends_with(b"}\n"));
    assert_eq!(open(&chain, &stored).unwrap().plaintext.expose(), STATE);
}

#[test]
fn a_state_without_serial_and_lineage_has_null_and_nothing_outside() {
    let chain = two("method = method.aes_gcm.new");
    let state = br#"{"terraform_version":"1.12.6"}"#;
    let stored = seal(&chain, state);
    assert!(stored.starts_with(br#"{"serial":null,"lineage":"","meta""#));
    assert_eq!(open(&chain, &stored).unwrap().plaintext.expose(), state);
}

#[test]
fn what_is_no_json_object_comes_back_byte_for_byte() {
    let chain = two("method = method.aes_gcm.new");
    for bytes in [&b"\0\xff"[..], b"[1]", b"it's \"quoted\""] {
        let stored = seal(&chain, bytes);
        assert!(stored.starts_with(br#"{"serial":null,"lineage":"","meta""#));
        assert_eq!(open(&chain, &stored).unwrap().plaintext.expose(), bytes);
    }
}

#[test]
fn names_of_members_are_read_in_any_case_and_unknown_ones_ignored() {
    let text = br#"{"x":[{}],"SERIAL":3,"Lineage":"l","Meta":{"k":"e30="},"Encrypted_Data":"AA\nAA","ENCRYPTION_VERSION":"v0"}"#;
    let envelope = Envelope::parse(text).unwrap().unwrap();
    assert_eq!((envelope.serial(), envelope.lineage(), envelope.version()), (Some("3"), "l", "v0"));
    assert_eq!(envelope.metadata()["k"], b"{}");
    assert_eq!(envelope.data().unwrap(), [0, 0, 0]);
}

#[test]
fn what_has_no_encryption_version_is_no_envelope() {
    for text in [
        r#"{"version":4}"#,
        r#"{"encryption_version":""}"#,
        r#"{"encryption_version":0,"encrypted_data":"AA=="}"#,
    ] {
        assert_eq!(Envelope::parse(text.as_bytes()), Ok(None), "{text}");
    }
}

#[test]
fn damaged_envelopes_are_refused_with_the_member() {
    let parse = |text: &str| Envelope::parse(text.as_bytes()).and_then(|envelope| envelope.unwrap().data());
    assert_eq!(parse(r#"{"encryption_version":"v0""#), Err(EnvelopeError::Json { at: 26 }));
    assert_eq!(parse(r#"{"encryption_version":"v0"}"#), Err(EnvelopeError::NoData));
    assert_eq!(parse(r#"{"encryption_version":"v0","encrypted_data":"A"}"#), Err(EnvelopeError::Data));
    for value in [r#""e3=""#, "{}", "null"] {
        let text = format!(r#"{{"encryption_version":"v0","encrypted_data":"","meta":{{"k":{value}}}}}"#);
        assert_eq!(parse(&text), Err(EnvelopeError::Metadata { key: "k".to_owned() }), "{value}");
    }
}

#[test]
fn a_later_version_is_refused_by_name() {
    let chain = two("method = method.aes_gcm.new");
    let error = open(&chain, br#"{"encryption_version":"v1","encrypted_data":""}"#).unwrap_err();
    assert!(matches!(&error, OpenError::Version { found } if found == "v1"), "{error}");
}

#[test]
fn plans_have_neither_serial_nor_lineage_and_begin_with_pk_in_the_clear() {
    let text = r#"
        key_provider "pbkdf2" "main" { passphrase = "correct-horse-battery" }
        method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
        method "unencrypted" "plain" {}
        plan {
          method = method.aes_gcm.main
          fallback { method = method.unencrypted.plain }
        }
    "#;
    let chain = configuration(text).chain(&Target::Plan).unwrap().unwrap();
    let plan = b"PK\x03\x04 and what a zip has";
    let stored = seal(&chain, plan);
    assert!(stored.starts_with(br#"{"meta":{"key_provider.pbkdf2.main":""#));
    assert_eq!(open(&chain, &stored).unwrap().plaintext.expose(), plan);
    assert_eq!(open(&chain, plan).unwrap().plaintext.expose(), plan);
    assert!(matches!(open(&chain, b"no plan"), Err(OpenError::NotPlan)));
    assert!(matches!(open(&chain, STATE), Err(OpenError::NotPlan)));
}

#[test]
fn the_version_of_a_key_is_what_its_service_has_stored() {
    let version = |metadata: &str| {
        let metadata = BASE64.encode(metadata);
        let text =
            format!(r#"{{"meta":{{"k":"{metadata}"}},"encrypted_data":"","encryption_version":"v0"}}"#);
        Envelope::parse(text.as_bytes()).unwrap().unwrap().key_version("k")
    };
    let transit = |text: &str| version(&format!(r#"{{"ciphertext":"{}"}}"#, BASE64.encode(text)));
    assert_eq!(transit("vault:v12:abc").as_deref(), Some("v12"));
    for other in ["vault:12:abc", "vault:v12", "vault:vx:abc", "v12", "\u{1b}vault:v1:"] {
        assert_eq!(transit(other), None, "{other}");
    }
    assert_eq!(version(r#"{"ciphertext":"AAEC","iv":null,"key_version":"0f0e"}"#).as_deref(), Some("0f0e"));
    for none in [r#"{"ciphertext_blob":"AAEC"}"#, r#"{"key_version":""}"#, "[]", "{", ""] {
        assert_eq!(version(none), None, "{none}");
    }
}

#[test]
fn envelopes_of_plans_have_neither_serial_nor_lineage() {
    let is_of_state = |text: &str| Envelope::parse(text.as_bytes()).unwrap().unwrap().is_of_state();
    assert!(!is_of_state(r#"{"meta":{},"encrypted_data":"","encryption_version":"v0"}"#));
    assert!(is_of_state(
        r#"{"serial":null,"lineage":"","meta":{},"encrypted_data":"","encryption_version":"v0"}"#
    ));
}
