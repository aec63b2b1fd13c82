//! What holds for any state, any key and any damage.

use groundstate_encryption::{EnvelopeLayout, OpenError};
use proptest::prelude::*;

use crate::support::{Counting, STATE, Service, chain};

fn by_service() -> groundstate_encryption::Chain {
    chain(
        r#"
        key_provider "aws_kms" "k" {}
        method "aes_gcm" "m" { keys = key_provider.aws_kms.k }
        state { method = method.aes_gcm.m }
        "#,
    )
}

#[test]
fn every_flipped_bit_of_the_encrypted_content_is_refused() {
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    let chain = by_service();
    let mut service = Service::with("k", &[9; 32]);
    let stored = chain.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap();
    let text = String::from_utf8(stored).unwrap();
    let (before, rest) = text.split_once(r#""encrypted_data":""#).unwrap();
    let (data, after) = rest.split_once('"').unwrap();
    let data = engine.decode(data).unwrap();
    for bit in 0..data.len() * 8 {
        let mut flipped = data.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let text = format!(r#"{before}"encrypted_data":"{}"{after}"#, engine.encode(flipped));
        let error = chain.open(text.as_bytes(), &mut service).unwrap_err();
        assert!(matches!(error, OpenError::Failed { .. }), "bit {bit}: {error}");
    }
}

#[test]
fn no_flipped_bit_of_the_envelope_gives_another_state() {
    let chain = by_service();
    let mut service = Service::with("k", &[9; 32]);
    let stored = chain.seal(STATE, EnvelopeLayout::Compact, &mut service, &Counting).unwrap();
    for bit in 0..stored.len() * 8 {
        let mut flipped = stored.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // A name in another case, or a bit of base64 that does not count, is no change.
        if let Ok(opened) = chain.open(&flipped, &mut service) {
            assert_eq!(opened.plaintext.expose(), STATE, "bit {bit}");
        }
    }
}

proptest! {
    #[test]
    fn any_state_comes_back_byte_for_byte(
        serial in 0u64..=i64::MAX as u64,
        lineage in "\\PC{0,40}",
        output in "\\PC{0,200}",
        key in prop::sample::select(vec![16usize, 24, 32]),
        indented: bool,
    ) {
        let mut state = format!(r#"{{"version":4,"terraform_version":"1.12.6","serial":{serial},"lineage":"#);
        groundstate_json::push_json_string(&mut state, &lineage);
        state.push_str(r#","outputs":{"o":{"value":"#);
        groundstate_json::push_json_string(&mut state, &output);
        state.push_str("}}}\n");
        let layout = if indented { EnvelopeLayout::Indented } else { EnvelopeLayout::Compact };
        let chain = by_service();
        let mut service = Service::with("k", &vec![4; key]);
        let stored = chain.seal(state.as_bytes(), layout, &mut service, &Counting).unwrap();
        let opened = chain.open(&stored, &mut service).unwrap();
        prop_assert_eq!(opened.plaintext.expose(), state.as_bytes());
    }
}
