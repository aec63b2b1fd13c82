//! Invented deployments are what Pulumi could have written.

use groundstate_bench::write_deployment;
use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, decode, decode_map, encode};
use groundstate_pulumi_integrity::{VerifyOptions, verify};

#[test]
fn a_deployment_is_valid_and_canonical() {
    let mut text = Vec::new();
    write_deployment(120, 1, &mut text).unwrap();
    let file = decode(&text, &DecodeOptions::default()).unwrap();
    let written = encode(&file, &EncodeOptions::default()).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8(text.clone()).unwrap());
    let snapshot = file.snapshot.unwrap();
    assert_eq!(snapshot.resources.len(), 120);
    let report = verify(&snapshot, &VerifyOptions::default().loading(true));
    assert!(report.is_clean(), "{:?}", report.findings);
    for resource in &snapshot.resources {
        resource.inputs.as_raw().into_iter().chain(resource.outputs.as_raw()).for_each(|raw| {
            decode_map(raw).unwrap();
        });
    }
    let mut again = Vec::new();
    write_deployment(120, 1, &mut again).unwrap();
    assert!(again == text, "the same seed gives the same bytes");
}
