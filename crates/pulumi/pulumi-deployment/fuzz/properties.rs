//! What has to hold for any text. The fuzz targets call it, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use groundstate_pulumi_deployment::{
    DecodeOptions, DeploymentFile, EncodeOptions, EnvelopeKind, Escapes, RawDeployment, Secrets, decode,
    decode_map, encode, encode_map, open_secrets, rewrite_references, seal_secrets,
};
use groundstate_pulumi_secrets::{Ciphertext, Plaintext};
use groundstate_pulumi_snapshot::{RawJson, Urn};

/// The text as a file of either envelope: what can be read can be written, and is then canonical; errors have places inside
/// of the text.
pub(crate) fn decode_any(data: &[u8]) {
    let kinds = [None, Some(EnvelopeKind::Deployment), Some(EnvelopeKind::Checkpoint)];
    for kind in kinds {
        let mut options = DecodeOptions::default();
        options.envelope = kind;
        match decode(data, &options) {
            Ok(file) => canonical(&file, &options),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(error.place().is_none_or(|place| place.offset <= data.len()));
            }
        }
    }
    if let Ok(raw) = RawDeployment::read(data) {
        let again = RawDeployment::read(&raw.to_deployment()).expect("what was written can be read");
        assert_eq!(again.deployment, raw.deployment);
    }
}

/// One step makes a file canonical.
fn canonical(file: &DeploymentFile, options: &DecodeOptions) {
    let once =
        encode(file, &EncodeOptions::default().allow_loss(true)).expect("losses are allowed, all is text");
    let again = decode(&once, options).expect("what was written can be read");
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    let twice = encode(&again, &EncodeOptions::default()).expect("there is nothing to lose");
    assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once));
    for resource in file.snapshot.iter().flat_map(|snapshot| &snapshot.resources) {
        for properties in [&resource.inputs, &resource.outputs] {
            properties.as_raw().into_iter().for_each(values);
        }
    }
}

/// The text as properties.
pub(crate) fn properties(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(raw) = RawJson::parse_as_written(text) {
        values(&raw);
    }
}

/// Values that can be read can be written, and are then read as the same values.
fn values(raw: &RawJson) {
    if let Ok(Some(changed)) = rewrite_references(raw, &mut |urn| Some(urn.with_stack("other"))) {
        assert!(RawJson::parse_as_written(changed.as_str()).is_ok());
    }
    let same = rewrite_references(raw, &mut |_: &Urn| None);
    assert!(same.is_err() || same == Ok(None));
    let Ok(mut map) = decode_map(raw) else { return };
    // What was shown is sealed by a text that cannot be mistaken, so that all of it has a form.
    let sealed =
        seal_secrets(&mut map, |text| Ok::<_, String>(Ciphertext::new(format!("sealed:{}", text.expose()))));
    let Ok(_) = sealed else { return };
    let Ok(written) = encode_map(&map, Escapes::Html, Secrets::Sealed) else { return };
    let mut again = decode_map(&written).expect("what was written can be read");
    let open = |ciphertext: &Ciphertext| {
        ciphertext.as_str().strip_prefix("sealed:").map(Plaintext::new).ok_or("foreign")
    };
    // Secrets that another manager sealed stay sealed.
    if open_secrets(&mut again, open).is_ok() {
        assert_eq!(encode_map(&again, Escapes::Html, Secrets::Sealed).as_ref(), Ok(&written));
    }
    assert_eq!(encode_map(&again, Escapes::Html, Secrets::Sealed), Ok(written));
}
