//! The secrets service: base64 as Go reads and writes it, and nothing shown.

use groundstate_pulumi_protocol::{
    BatchDecrypt, BatchDecrypted, BatchEncrypt, BatchEncrypted, CipherBytes, DecryptValue, EncryptValue,
    LogBatchDecryption, LogDecryption, PlainBytes, decode, encode,
};

#[test]
fn single_values_are_base64_both_ways() {
    let request: EncryptValue = decode(br#"{"plaintext":"AP9h"}"#).unwrap();
    assert_eq!(request.plaintext.expose(), b"\x00\xffa");
    assert_eq!(encode(&request).unwrap(), br#"{"plaintext":"AP9h"}"#);
    let request: DecryptValue = decode(br#"{"ciphertext":"AP9h"}"#).unwrap();
    assert_eq!(request.ciphertext.as_bytes(), b"\x00\xffa");
    assert_eq!(encode(&request).unwrap(), br#"{"ciphertext":"AP9h"}"#);
}

#[test]
fn base64_is_read_as_go_reads_it() {
    for (text, expected) in [
        (r#""""#, Some(&b""[..])),
        ("null", Some(b"")),
        (r#""YWI=""#, Some(b"ab")),
        (r#""YWJ=""#, Some(b"ab")),
        (r#""Y\nWI\r=""#, Some(b"ab")),
        (r#""\u0059WI=""#, Some(b"ab")),
        (r#""YWI""#, None),
        (r#""Y-_=""#, None),
        ("7", None),
        (r#"[97,98]"#, None),
    ] {
        let read = decode::<EncryptValue>(format!(r#"{{"plaintext":{text}}}"#).as_bytes());
        assert_eq!(read.ok().as_ref().map(|value| value.plaintext.expose()), expected, "{text}");
    }
    assert_eq!(decode::<EncryptValue>(b"{}").unwrap().plaintext.expose(), b"");
}

#[test]
fn batches_keep_their_order() {
    let request: BatchEncrypt = decode(br#"{"plaintexts":["Yg==","YQ==","Yg=="]}"#).unwrap();
    let values: Vec<&[u8]> = request.plaintexts.iter().map(PlainBytes::expose).collect();
    assert_eq!(values, [b"b", b"a", b"b"]);
    let answer = BatchEncrypted { ciphertexts: vec![CipherBytes::new("z"), CipherBytes::new("y")] };
    assert_eq!(encode(&answer).unwrap(), br#"{"ciphertexts":["eg==","eQ=="]}"#);
}

#[test]
fn decrypted_batches_are_keyed_by_the_ciphertext_that_the_client_encodes() {
    // Spare bits: the client looks for the spelling of its own encoder.
    let request: BatchDecrypt = decode(br#"{"ciphertexts":["Yx==","Yw==","ZA=="]}"#).unwrap();
    let plaintexts = request.ciphertexts.into_iter().map(|cipher| {
        let plain = PlainBytes::new(cipher.as_bytes().to_ascii_uppercase());
        (cipher, plain)
    });
    let answer = BatchDecrypted { plaintexts: plaintexts.collect() };
    let text = encode(&answer).unwrap();
    assert_eq!(text, br#"{"plaintexts":{"Yw==":"Qw==","ZA==":"RA=="}}"#);
    assert_eq!(decode::<BatchDecrypted>(&text).unwrap(), answer);
}

#[test]
fn logs_of_decryptions_name_what_was_shown() {
    let log: LogDecryption = decode(br#"{"secretName":"p:token"}"#).unwrap();
    assert_eq!(log.secret_name, "p:token");
    let log: LogBatchDecryption = decode(br#"{"commandName":"pulumi config"}"#).unwrap();
    assert_eq!(log.command_name, "pulumi config");
}

#[test]
fn neither_debug_nor_errors_show_a_value() {
    let request = BatchEncrypt { plaintexts: vec![PlainBytes::new("hunter2")] };
    assert_eq!(format!("{request:?}"), "BatchEncrypt { plaintexts: [PlainBytes([secret])] }");
    assert_eq!(format!("{:?}", CipherBytes::new("hunter2")), "CipherBytes(7 bytes)");
    for text in [
        r#"{"plaintext":"hunter2!"}"#,
        r#"{"plaintext":{"hunter2":"hunter2"}}"#,
        r#"{"plaintext":["hunter2"]}"#,
        r#"{"plaintext":"hunter2"#,
        r#""hunter2""#,
    ] {
        let error = decode::<EncryptValue>(text.as_bytes()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}
