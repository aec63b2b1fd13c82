//! Opening and sealing secrets.

use std::collections::HashMap;

use groundstate_pulumi_deployment::{
    DeploymentFile, EncodeError, EncodeOptions, Envelope, Escapes, PropertyErrorKind, Secrets, SecretsError,
    decode_map, encode, encode_map, open_secrets, open_snapshot, seal_secrets, seal_snapshot, sealed_secrets,
    secrets_providers, unsealed_secrets,
};
use groundstate_pulumi_deployment::{forget_ciphertexts, stack_outputs};
use groundstate_pulumi_secrets::{Base64Crypter, Ciphertext, CryptError, Encrypter, ErrorCrypter, Plaintext};
use groundstate_pulumi_snapshot::{Asset, Output, PropertyMap, PropertyValue as V, RawJson};

use crate::support::{export, read, resource};

const SIG: &str = "\"4dabf18193072939515e22adb298388d\":\"1b47061264138c4ac30d75fd1eb44270\"";

fn map(text: &str) -> PropertyMap {
    decode_map(&RawJson::parse_as_written(text).unwrap()).unwrap()
}

fn text(map: &PropertyMap, secrets: Secrets) -> String {
    encode_map(map, Escapes::Plain, secrets).unwrap().as_str().to_owned()
}

/// A crypter for tests: the text in brackets.
fn encrypt(text: &Plaintext) -> Result<Ciphertext, String> {
    Ok(Ciphertext::new(format!("enc({})", text.expose())))
}

fn decrypt(text: &Ciphertext) -> Result<Plaintext, String> {
    let inside = text.as_str().strip_prefix("enc(").and_then(|text| text.strip_suffix(')'));
    inside.map(Plaintext::new).ok_or_else(|| "invalid ciphertext".to_owned())
}

#[test]
fn unchanged_secrets_keep_their_ciphertexts() {
    let original =
        format!(r#"{{"a":{{{SIG},"ciphertext":"enc(1)"}},"b":[{{{SIG},"ciphertext":"enc(\"x\")"}}]}}"#);
    let mut opened = map(&original);
    assert_eq!(sealed_secrets(&opened).len(), 2);
    assert_eq!(open_secrets(&mut opened, decrypt), Ok(2));
    assert_eq!((sealed_secrets(&opened).len(), open_secrets(&mut opened, decrypt)), (0, Ok(0)));
    assert_eq!(text(&opened, Secrets::Sealed), original);
    let shown = format!(r#"{{"a":{{{SIG},"plaintext":"1"}},"b":[{{{SIG},"plaintext":"\"x\""}}]}}"#);
    assert_eq!(text(&opened, Secrets::Shown), shown);
    // What was shown is a secret still, and sealed anew.
    let mut again = map(&shown);
    assert_eq!(unsealed_secrets(&again).unwrap().len(), 2);
    assert_eq!(seal_secrets(&mut again, encrypt), Ok(2));
    assert_eq!(text(&again, Secrets::Sealed), original);
}

#[test]
fn only_what_changed_is_encrypted() {
    let mut opened =
        map(&format!(r#"{{"a":{{{SIG},"ciphertext":"enc(1)"}},"b":{{{SIG},"ciphertext":"enc(2)"}}}}"#));
    open_secrets(&mut opened, decrypt).unwrap();
    let Some(V::Secret(secret)) = opened.get_mut("b") else { unreachable!("it is a secret") };
    secret.set(V::from(3.0));
    let mut asked = Vec::new();
    seal_secrets(&mut opened, |text| {
        asked.push(text.expose().to_owned());
        encrypt(text)
    })
    .unwrap();
    assert_eq!(asked, ["3"]);
}

#[test]
fn texts_of_secrets_have_html_escapes_and_sorted_names() {
    let inner = PropertyMap::from_iter([("b", V::from("<&>")), ("a", V::from("\u{2028}"))]);
    let secrets = PropertyMap::from_iter([("k", V::Object(inner).into_secret())]);
    let texts = unsealed_secrets(&secrets).unwrap();
    assert_eq!(texts[0].expose(), r#"{"a":"\u2028","b":"\u003c\u0026\u003e"}"#);
    assert_eq!(format!("{texts:?}"), "[Plaintext([secret])]");
    let empty = PropertyMap::from_iter([("k", V::from("").into_secret())]);
    assert_eq!(unsealed_secrets(&empty).unwrap()[0].expose(), "\"\"");
}

#[test]
fn secrets_inside_of_secrets_are_encrypted_once() {
    let nested = V::Array(vec![V::from(1.0).into_secret()]).into_secret();
    let mut sealed = PropertyMap::from_iter([("k", nested.clone())]);
    assert_eq!(seal_secrets(&mut sealed, encrypt), Ok(1));
    let inside = format!(r#"[{{{SIG},"ciphertext":"1"}}]"#);
    let V::Secret(secret) = sealed.get("k").unwrap() else { unreachable!("it is a secret") };
    assert_eq!(secret.ciphertext().unwrap().as_str(), format!("enc({inside})"));
    // The form of the code and the form of the documentation are read alike.
    for inside in [inside.clone(), inside.replace("ciphertext", "plaintext")] {
        let quoted = serde_json::to_string(&format!("enc({inside})")).unwrap();
        let mut read = map(&format!(r#"{{"k":{{{SIG},"ciphertext":{quoted}}}}}"#));
        open_secrets(&mut read, decrypt).unwrap();
        let V::Secret(read) = read.get("k").unwrap() else { unreachable!("it is a secret") };
        let V::Secret(expected) = &nested else { unreachable!("it is a secret") };
        assert_eq!(read.value(), expected.value());
    }
    let shown = text(&PropertyMap::from_iter([("k", nested)]), Secrets::Shown);
    let inside = serde_json::to_string(&inside.replace("ciphertext", "plaintext")).unwrap();
    assert_eq!(shown, format!(r#"{{"k":{{{SIG},"plaintext":{inside}}}}}"#));
}

#[test]
fn batches_are_asked_for_in_the_order_of_the_answers() {
    let mut values =
        map(&format!(r#"{{"z":{{{SIG},"ciphertext":"enc(1)"}},"a":{{{SIG},"ciphertext":"enc(2)"}}}}"#));
    let batch: Vec<String> = sealed_secrets(&values).into_iter().map(|c| c.as_str().to_owned()).collect();
    let mut asked = Vec::new();
    open_secrets(&mut values, |ciphertext| {
        asked.push(ciphertext.as_str().to_owned());
        decrypt(ciphertext)
    })
    .unwrap();
    assert_eq!(asked, batch);
}

#[test]
fn failures_name_the_property_and_no_value() {
    let mut values = map(&format!(r#"{{"a":[{{{SIG},"ciphertext":"swordfish"}}]}}"#));
    let error = open_secrets(&mut values, decrypt).unwrap_err();
    assert_eq!(error.to_string(), "a[0]: decrypting secret value: invalid ciphertext");
    let error = open_secrets(&mut values, |_| Ok::<_, String>(Plaintext::new("swordfish"))).unwrap_err();
    assert_eq!(error.to_string(), "a[0]: malformed secret value: what is inside is not a value");
    let mut values = PropertyMap::from_iter([("k", V::from(1.0).into_secret())]);
    let error = seal_secrets(&mut values, |_| Err("no key")).unwrap_err();
    assert_eq!(error.to_string(), "k: encrypting secret value: no key");
    let error =
        encode_map(&map(&format!(r#"{{"k":{{{SIG},"ciphertext":"x"}}}}"#)), Escapes::Plain, Secrets::Shown);
    assert_eq!(error.unwrap_err().kind(), &PropertyErrorKind::Sealed);
}

#[test]
fn secrets_of_outputs_and_archives_are_found() {
    let output = Output { element: V::from(1.0), known: true, secret: true, dependencies: Vec::new() };
    let hidden = Output { element: V::from(1.0), known: false, secret: false, dependencies: Vec::new() };
    let archive = groundstate_pulumi_snapshot::Archive {
        content: groundstate_pulumi_snapshot::ArchiveContent::Assets(
            [("s".into(), V::Asset(Box::<Asset>::default()).into_secret())].into(),
        ),
        ..groundstate_pulumi_snapshot::Archive::default()
    };
    let mut values = PropertyMap::from_iter([
        ("a", V::Archive(Box::new(archive))),
        ("h", V::Output(Box::new(hidden))),
        ("o", V::Output(Box::new(output))),
    ]);
    let mut sealed = HashMap::new();
    seal_secrets(&mut values, |text| {
        sealed.insert(text.expose().to_owned(), ());
        encrypt(text)
    })
    .unwrap();
    assert!(sealed.contains_key("1") && sealed.len() == 2);
    assert_eq!(values.get("h"), Some(&V::unknown()));
    text(&values, Secrets::Sealed);
}

#[test]
fn a_file_with_unsealed_secrets_is_not_written() {
    let mut file = read(&export(&resource("")));
    let values = PropertyMap::from_iter([("k", V::from("swordfish").into_secret())]);
    file.snapshot.as_mut().unwrap().resource_mut(0).unwrap().outputs = values.into();
    let error = encode(&file, &EncodeOptions::default()).unwrap_err();
    let EncodeError::Property { urn, source } = &error else { unreachable!("a property is wrong") };
    assert_eq!(
        (urn.as_str(), source.path().to_string().as_str()),
        ("urn:pulumi:s::p::t:t:T::n", "outputs.k")
    );
    assert!(!format!("{error} {source}").contains("swordfish"));
    let shown = encode(&file, &EncodeOptions::default().secrets(Secrets::Shown)).unwrap();
    assert!(String::from_utf8(shown).unwrap().contains(r#""plaintext":"\"swordfish\"""#));
}

/// A snapshot with secrets in inputs, outputs, a trigger and a pending operation.
fn snapshot() -> groundstate_pulumi_snapshot::Snapshot {
    let secret = |text: &str| format!(r#"{{{SIG},"ciphertext":"{}"}}"#, base64(text));
    let one = resource(&format!(
        r#""inputs":{{"a":{},"b":1.50}},"outputs":{{"plain":1.50}},"replacementTrigger":[{}]"#,
        secret("1"),
        secret("2")
    ));
    let pending = format!(
        r#""pending_operations":[{{"resource":{},"type":"creating"}}],"metadata""#,
        resource(&format!(r#""outputs":{{"c":{}}}"#, secret("\"x\"")))
    );
    read(&export(&one).replace("\"metadata\"", &pending)).snapshot.unwrap()
}

fn base64(text: &str) -> String {
    Base64Crypter.encrypt(&Plaintext::new(text)).unwrap().as_str().to_owned()
}

#[test]
fn secrets_of_a_snapshot_are_opened_and_sealed_without_a_change() {
    let original = snapshot();
    let file = |snapshot: &groundstate_pulumi_snapshot::Snapshot, secrets| {
        let file = DeploymentFile::new(Envelope::checkpoint("s"), Some(snapshot.clone()));
        String::from_utf8(encode(&file, &EncodeOptions::default().secrets(secrets)).unwrap()).unwrap()
    };
    let mut opened = original.clone();
    assert_eq!(open_snapshot(&mut opened, &Base64Crypter).unwrap(), 3);
    assert!(opened.resources[0].outputs.as_raw().is_some(), "what has no secret stays text");
    assert_eq!(file(&opened, Secrets::Sealed), file(&original, Secrets::Sealed));
    let shown = file(&opened, Secrets::Shown);
    for plaintext in [r#""plaintext":"1""#, r#""plaintext":"2""#, r#""plaintext":"\"x\"""#, r#""b":1.50"#] {
        assert!(shown.contains(plaintext), "{plaintext} in {shown}");
    }
    assert_eq!(seal_snapshot(&mut opened, &Base64Crypter).unwrap(), 0, "all have their ciphertexts");
    let mut imported = read(&shown).snapshot.unwrap();
    assert_eq!(seal_snapshot(&mut imported, &Base64Crypter).unwrap(), 3);
    assert_eq!(file(&imported, Secrets::Sealed), file(&original, Secrets::Sealed));
}

#[test]
fn a_failure_changes_nothing() {
    let mut kept = snapshot();
    let error = open_snapshot(&mut kept, &ErrorCrypter::new("locked")).unwrap_err();
    assert!(error.to_string().contains("locked"), "{error}");
    assert_eq!(kept, snapshot());
    let mut broken = snapshot();
    let bad = RawJson::parse_as_written(&format!("{{\"k\":{{{SIG}}}}}")).unwrap();
    broken.resource_mut(0).unwrap().outputs = bad.into();
    let SecretsError::Property { urn, source } = open_snapshot(&mut broken, &Base64Crypter).unwrap_err()
    else {
        unreachable!("a property is malformed")
    };
    assert_eq!(
        (urn.as_str(), source.path().to_string().as_str()),
        ("urn:pulumi:s::p::t:t:T::n", "outputs.k")
    );
}

/// Counts what it is asked for.
#[derive(Debug, Default)]
struct Counting(std::sync::Mutex<Vec<usize>>);

impl Encrypter for Counting {
    fn encrypt(&self, plaintext: &Plaintext) -> Result<Ciphertext, CryptError> {
        Base64Crypter.encrypt(plaintext)
    }

    fn encrypt_batch(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Ciphertext>, CryptError> {
        self.0.lock().unwrap().push(plaintexts.len());
        Base64Crypter.encrypt_batch(plaintexts)
    }
}

#[test]
fn batches_have_a_thousand_secrets_at_most() {
    let values = |from: usize| {
        PropertyMap::from_iter(
            (from..from + 501).map(|n| (format!("k{n:04}"), V::from(n as f64).into_secret())),
        )
    };
    let mut file = read(&export(&[resource(""), resource("")].join(",")));
    let snapshot = file.snapshot.as_mut().unwrap();
    snapshot.resource_mut(0).unwrap().outputs = values(0).into();
    snapshot.resource_mut(1).unwrap().inputs = values(501).into();
    let counting = Counting::default();
    assert_eq!(seal_snapshot(snapshot, &counting).unwrap(), 1002);
    assert_eq!(*counting.0.lock().unwrap(), [1000, 2]);
    encode(&file, &EncodeOptions::default()).unwrap();
}

#[test]
fn managers_are_opened_from_what_the_snapshot_says() {
    let provider = groundstate_pulumi_snapshot::SecretsProvider {
        kind: "passphrase".into(),
        state: Some(RawJson::parse_as_written(r#"{"salt":"v1:x"}"#).unwrap()),
        ..groundstate_pulumi_snapshot::SecretsProvider::default()
    };
    let providers = secrets_providers(&provider).unwrap();
    assert_eq!((providers.kind(), providers.state()), ("passphrase", Some(r#"{"salt":"v1:x"}"#)));
    let none = secrets_providers(&groundstate_pulumi_snapshot::SecretsProvider::default()).unwrap();
    assert!(none.is_none() && none.state().is_none());
}

#[test]
fn another_manager_seals_what_has_been_opened() {
    let mut moved = snapshot();
    assert!(forget_ciphertexts(&mut moved).is_err(), "values would be lost");
    assert_eq!(moved, snapshot());
    open_snapshot(&mut moved, &Base64Crypter).unwrap();
    assert_eq!(forget_ciphertexts(&mut moved).unwrap(), 3);
    let counting = Counting::default();
    assert_eq!(seal_snapshot(&mut moved, &counting).unwrap(), 3);
}

#[test]
fn outputs_of_the_stack_are_those_of_its_root() {
    assert_eq!(stack_outputs(&snapshot(), None).unwrap(), None);
    let outputs = format!(r#"{{"a":{{{SIG},"ciphertext":"{}"}},"b":2}}"#, base64("1"));
    let root = format!(r#"{{"urn":"u","custom":false,"type":"pulumi:pulumi:Stack","outputs":{outputs}}}"#);
    let found = read(&export(&[resource(""), root].join(","))).snapshot.unwrap();
    let sealed = stack_outputs(&found, None).unwrap().unwrap();
    assert_eq!(text(&sealed, Secrets::Sealed), outputs);
    let opened = stack_outputs(&found, Some(&Base64Crypter)).unwrap().unwrap();
    assert!(text(&opened, Secrets::Shown).contains(r#""plaintext":"1""#));
    let mut empty = found;
    empty.resource_mut(1).unwrap().outputs = groundstate_pulumi_snapshot::Properties::Absent;
    assert_eq!(stack_outputs(&empty, None).unwrap(), Some(PropertyMap::new()));
}
