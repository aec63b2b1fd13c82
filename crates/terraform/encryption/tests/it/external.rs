//! The protocol of programs.

use groundstate_encryption::external::{ExternalError, check_header, key_input, key_output, method_output};
use groundstate_encryption::{KeyUse, Plaintext};

const HEADER: &str = "{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}\n";
const METHOD: &str = "{\"magic\":\"OpenTofu-External-Encryption-Method\",\"version\":1,\"more\":[]}\n";

fn decrypt(metadata: &str) -> KeyUse {
    KeyUse::Decrypt(metadata.as_bytes().to_vec())
}

#[test]
fn programs_read_null_first_and_their_own_data_later() {
    assert_eq!(key_input(&KeyUse::Encrypt).unwrap(), b"null");
    let stored = decrypt(r#" {"external_data": {"salt": "s", "n": 1.50}} "#);
    assert_eq!(key_input(&stored).unwrap(), br#"{"external_data":{"salt":"s","n":1.50}}"#);
    for (damaged, at) in
        [("", 1), ("null", 1), (r#"{"external_data":{"#, 19), ("{\"external_data\":{}} x", 22)]
    {
        assert_eq!(key_input(&decrypt(damaged)), Err(ExternalError::Stored { at }), "{damaged}");
    }
    for damaged in ["{}", r#"{"external_data":null}"#, r#"{"external_data":{},"x":1}"#] {
        assert_eq!(key_input(&decrypt(damaged)), Err(ExternalError::Metadata), "{damaged}");
    }
}

#[test]
fn metadata_that_cannot_be_kept_as_they_are_are_refused_with_the_byte() {
    let body = b"{\"keys\":{\"encryption_key\":\"AAEC\"},\"meta\":{\"external_data\": {\"a\":\"\xff\"}}}";
    let printed = [HEADER.as_bytes(), body].concat();
    let at = body.iter().position(|byte| *byte == 0xff).unwrap() + 1;
    assert_eq!(key_output(&KeyUse::Encrypt, &printed), Err(ExternalError::Json { at }));
    let stored = KeyUse::Decrypt(b"{\"external_data\":{\"a\":\"\xff\"}}".to_vec());
    assert_eq!(key_input(&stored), Err(ExternalError::Stored { at: 24 }));
    // As deep as it may be, and one level more.
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let printed = |levels| {
        let data = nested(levels);
        format!(r#"{HEADER}{{"keys":{{"encryption_key":"AAEC"}},"meta":{{"external_data":{{"a":{data}}}}}}}"#)
    };
    let kept = key_output(&KeyUse::Encrypt, printed(9_997).as_bytes()).unwrap();
    assert_eq!(kept.metadata().unwrap().len(), r#"{"external_data":{"a":}}"#.len() + 2 * 9_997);
    let refused = key_output(&KeyUse::Encrypt, printed(9_998).as_bytes());
    assert!(matches!(refused, Err(ExternalError::Json { .. })), "{refused:?}");
}

#[test]
fn keys_and_metadata_come_after_the_header() {
    let body =
        r#"{"keys":{"encryption_key":"AAEC","decryption_key":"AwQF"},"meta":{"external_data":{"a":[1]}}}"#;
    let printed = format!("{HEADER}{body}\n");
    let new = key_output(&KeyUse::Encrypt, printed.as_bytes()).unwrap();
    let metadata = br#"{"external_data":{"a":[1]}}"#.to_vec();
    assert_eq!(
        new,
        groundstate_encryption::ProvidedKey::with_metadata(
            groundstate_encryption::Key::new(vec![0, 1, 2]),
            metadata,
        )
    );
    let old = key_output(&decrypt("{}"), printed.as_bytes()).unwrap();
    let key = groundstate_encryption::Key::new(vec![3, 4, 5]);
    assert_eq!(old, groundstate_encryption::ProvidedKey::new(key));
}

#[test]
fn what_breaks_the_protocol_is_refused() {
    let after = |body: &str| key_output(&KeyUse::Encrypt, format!("{HEADER}{body}").as_bytes()).unwrap_err();
    assert_eq!(after(""), ExternalError::Json { at: 1 });
    assert_eq!(after("{}"), ExternalError::NoEncryptionKey);
    assert_eq!(
        after(r#"{"keys":{"encryption_key":"AA"}}"#),
        ExternalError::Base64 { name: "encryption_key" }
    );
    assert_eq!(after(r#"{"keys":{"key":"AA=="}}"#), ExternalError::Member { name: "key".to_owned() });
    assert_eq!(after(r#"{"keys":{},"x":1}"#), ExternalError::Member { name: "x".to_owned() });
    assert!(matches!(after(r#"{"keys":{}} trailing"#), ExternalError::Json { .. }));
    let only_new = format!("{HEADER}{}", r#"{"keys":{"encryption_key":"AA=="}}"#);
    assert_eq!(key_output(&decrypt("{}"), only_new.as_bytes()), Err(ExternalError::NoDecryptionKey));
}

#[test]
fn another_header_is_refused_as_soon_as_its_line_is_complete() {
    let header = |line: &str| check_header(line.as_bytes(), false);
    assert_eq!(header(""), Ok(()));
    assert_eq!(header("what comes first may come in parts"), Ok(()));
    assert_eq!(header("garbage\n"), Err(ExternalError::Header));
    assert_eq!(header(&"x".repeat(70_000)), Err(ExternalError::Header));
    assert_eq!(
        header("{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":2}\n"),
        Err(ExternalError::Version)
    );
    let expected = "OpenTofu-External-Key-Provider";
    assert_eq!(header(METHOD), Err(ExternalError::Magic { expected }));
    assert_eq!(check_header(METHOD.as_bytes(), true), Ok(()));
}

#[test]
fn a_payload_comes_after_the_header() {
    let printed = format!("{METHOD}{}", r#"{"payload":"aGk="}"#);
    assert_eq!(method_output(printed.as_bytes()), Ok(Plaintext::new(b"hi".to_vec())));
    let printed = format!("{METHOD}{{}}");
    assert_eq!(method_output(printed.as_bytes()), Err(ExternalError::NoPayload));
    let printed = format!("{METHOD}{}", r#"{"payload":"aGk=","more":1}"#);
    assert_eq!(method_output(printed.as_bytes()), Err(ExternalError::Member { name: "more".to_owned() }));
}
