//! Secrets: when the ciphertext stays, and what is never shown.

use groundstate_pulumi_snapshot::{
    Asset, Ciphertext, Output, Properties, PropertyMap, PropertyValue, RawJson, Resource, Secret, StoredValue,
};

#[test]
fn the_ciphertext_stays_until_the_value_changes() {
    let mut secret = Secret::sealed(Ciphertext::new("c"));
    assert!(!secret.clone().forget_ciphertext(), "the value would be lost");
    secret.open(PropertyValue::from("a"));
    secret.set(PropertyValue::from("a"));
    assert_eq!(secret.ciphertext().map(Ciphertext::as_str), Some("c"));
    secret.set(PropertyValue::from("b"));
    assert_eq!(secret.ciphertext(), None);
    secret.seal(Ciphertext::new("d"));
    assert!(secret.forget_ciphertext());
    assert_eq!(secret.ciphertext(), None);
    assert_eq!(secret.into_value(), Some(PropertyValue::from("b")));
}

#[test]
fn setting_a_sealed_secret_forgets_what_it_was() {
    let mut secret = Secret::sealed(Ciphertext::new("c"));
    secret.set(PropertyValue::from("a"));
    assert_eq!(secret.ciphertext(), None);
}

#[test]
fn debug_texts_show_nothing_of_secrets_inputs_or_assets() {
    const HIDDEN: &str = "swordfish";
    let secret = PropertyValue::from(HIDDEN).into_secret();
    let element = PropertyValue::from(HIDDEN);
    let output = Output { element, known: true, secret: true, dependencies: Vec::new() };
    let asset = Asset { text: Some(HIDDEN.into()), ..Asset::default() };
    let map = PropertyMap::from_iter([("k", PropertyValue::from(HIDDEN))]);
    let mut resource = Resource::new("u", "t");
    resource.inputs = Properties::Map(map);
    resource.outputs = Properties::Raw(RawJson::parse("{\"k\":\"swordfish\"}").unwrap());
    resource.replacement_trigger = Some(StoredValue::Value(PropertyValue::from(HIDDEN)));
    let sealed = Secret::sealed(Ciphertext::new(HIDDEN));
    let shown = format!("{secret:?} {output:?} {asset:?} {resource:?} {sealed:?} {:?}", sealed.ciphertext());
    assert!(!shown.contains(HIDDEN), "{shown}");
    assert!(shown.contains("[secret]") && shown.contains("Map(1 values)"), "{shown}");
}
