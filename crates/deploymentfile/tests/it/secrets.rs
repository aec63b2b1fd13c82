//! Opening and sealing secrets.

use std::collections::HashMap;

use groundstate_deploymentfile::{
    EncodeError, EncodeOptions, Escapes, PropertyErrorKind, Secrets, decode_map, encode, encode_map,
    open_secrets, seal_secrets, sealed_secrets, unsealed_secrets,
};
use groundstate_deployments::{Asset, Output, PropertyMap, PropertyValue as V, RawJson};

use crate::support::{export, read, resource};

const SIG: &str = "\"4dabf18193072939515e22adb298388d\":\"1b47061264138c4ac30d75fd1eb44270\"";

fn map(text: &str) -> PropertyMap {
    decode_map(&RawJson::parse_as_written(text).unwrap()).unwrap()
}

fn text(map: &PropertyMap, secrets: Secrets) -> String {
    encode_map(map, Escapes::Plain, secrets).unwrap().as_str().to_owned()
}

/// A crypter for tests: the text in brackets.
fn encrypt(text: &groundstate_deploymentfile::SecretText) -> Result<String, String> {
    Ok(format!("enc({})", text.expose()))
}

fn decrypt(text: &groundstate_deployments::Ciphertext) -> Result<String, String> {
    let inside = text.as_str().strip_prefix("enc(").and_then(|text| text.strip_suffix(')'));
    inside.map(ToOwned::to_owned).ok_or_else(|| "invalid ciphertext".to_owned())
}

#[test]
fn secrets_that_nobody_changed_keep_their_ciphertexts() {
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
    assert_eq!(format!("{texts:?}"), "[SecretText([secret])]");
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
    let error = open_secrets(&mut values, |_| Ok::<_, String>("swordfish".to_owned())).unwrap_err();
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
    let archive = groundstate_deployments::Archive {
        content: groundstate_deployments::ArchiveContent::Assets(
            [("s".into(), V::Asset(Box::<Asset>::default()).into_secret())].into(),
        ),
        ..groundstate_deployments::Archive::default()
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
