//! States that OpenTofu 1.12.6 wrote, and the same built anew.

use groundstate_encryption::{EnvelopeLayout, PassphraseKeys, Status};
use sha2::{Digest, Sha256};

use crate::support::{Counting, Service, chain, open};

const PLAIN: &str = "{\"version\":4,\"terraform_version\":\"1.12.6\",\"serial\":7,\"lineage\":\"0f0e0d0c-0b0a-0908-0706-050403020100\",\"outputs\":{},\"resources\":[],\"check_results\":null}\n";

const ENVELOPE: &str = r#"{"serial":7,"lineage":"0f0e0d0c-0b0a-0908-0706-050403020100","meta":{"key_provider.pbkdf2.main":"eyJzYWx0IjoiQUFFQ0F3UUZCZ2NJQ1FvTERBME9EeEFSRWhNVUZSWVhHQmthR3h3ZEhoOD0iLCJpdGVyYXRpb25zIjo2MDAwMDAsImhhc2hfZnVuY3Rpb24iOiJzaGE1MTIiLCJrZXlfbGVuZ3RoIjozMn0="},"encrypted_data":"AAECAwQFBgcICQoL3d9QnAVG2mX34SlnpkNjUCLRro6v6OuLhJV0cdC333KdBJTQWBy19cSQj9VzPiQUYszBaUJfnYmHwRqfBtsj62CkoO3cJyCDPEP2R5CtU4M4nXn57QIpey/0l5DLLCFMPZ8LxO72s6Gg24A1XFxETHKjGzjZ2XZRD6MMxFDbj7lu6qT8/9T1C+Rwo4nOOhRDqcgRwTvkvYGT6kJHal0/QxTK0yvx6mDC","encryption_version":"v0"}"#;

const DEFAULTS: &str = r#"
    key_provider "pbkdf2" "main" { passphrase = "correct-horse-battery" }
    method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
    state { method = method.aes_gcm.main }
"#;

fn digest(bytes: &[u8]) -> String {
    groundstate_encryption::common::hex(&Sha256::digest(bytes))
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn a_state_of_opentofu_opens_with_its_passphrase() {
    let opened = open(&chain(DEFAULTS), ENVELOPE.as_bytes()).unwrap();
    assert_eq!(opened.plaintext.expose(), PLAIN.as_bytes());
    assert_eq!(opened.status, Status::Satisfied);
    assert_eq!(opened.method.unwrap().to_string(), "method.aes_gcm.main");
    assert_eq!(opened.key_provider.unwrap().to_string(), "key_provider.pbkdf2.main");
    assert!(!opened.is_weak);
}

#[test]
fn the_same_salt_and_nonce_give_the_envelope_of_opentofu_byte_for_byte() {
    let mut keys = PassphraseKeys::new(Counting);
    let stored =
        chain(DEFAULTS).seal(PLAIN.as_bytes(), EnvelopeLayout::Compact, &mut keys, &Counting).unwrap();
    assert_eq!(String::from_utf8(stored.clone()).unwrap(), ENVELOPE);
    assert_eq!(stored.len(), 542);
    assert_eq!(digest(&stored), "0f0bccd20dfbbca793d907b8df74d28e27673eac078e26e23f288dd7ffe47a8f");
}

/// Type of the provider, lineage, data key, metadata, encrypted content, and the digest of the envelope.
const SERVICES: [(&str, &str, &str, &str, &str, &str); 4] = [
    (
        "aws_kms",
        "2c29e459-dedb-bf49-a621-07a92e66f00f",
        "0iQ1iB2VphqfSza67LfhkvQEjge5+ySxK+6IGIx13PI=",
        r#"{"ciphertext_blob":"MjM4Y2Y3OTQtMjVkNy00MmQzLWJkYzEtOTBmYTQ5OTdkNzc4XG3kPXOJ/EmQkbtIqno1k2cPVkK1UKwh9S5Pkbh2GxGDEFFyUgehKkqWTWOAuWx4Jj0jYo31ic66hSs9"}"#,
        "Geb0HB2Rm4IWElG5CevKAs3pLjJIs1JrdcQRRy3PEQEFM5Q9fTEJY7BMql8E10MlLw7M3rNBbH4u1w+86+XDBbiDdlbMr0jCcfKqWlYg0/QJkjc1Na6lW9hLFePZs7q41hfq/2grGbtlOojAVtPpI+cuk7gAkOSMxYENa355/iD4PgtX7Kz2WPmGWvrD4uBao/JDjs0d2xO1UOB/vF4YcXqJx951qTr8FOrAK4nE+6TaMXk00CY4K0M2tk9tmViJq4f2to2/G5sB4XtC4mGApAJr/NM8lg==",
        "d14e5eb355dff3dbd89736d4b93e1c6b0466b5701765104eef4d1978609f5ca3",
    ),
    (
        "openbao",
        "89f615c8-f5e4-b173-8650-75b32ad4f7bf",
        "ACLzInjI0zaM+c0tyhBVYSrePwDeLoJSsWPFnUvnkr0=",
        r#"{"ciphertext":"dmF1bHQ6djI6ek1OM3IxditJUXhqM2pyKzFkQ3R1cTJkdThFcmJibkh2cElLL1FnVWsvN21LRzdVcW1vRnZ4dktINEFwc0w5YUd4dWZFbVhFOXVrRHVXM2s="}"#,
        "HU6Km4gqwHf+luZcSPhBy1WxLVlHkYOQUnYCdyFTX0ddc5tN4xRHZ/PPGXIFovao2qpX9Y0Xtd4SBqHlx7RCoyw+FStdJNA6fM3LFSnG3+wy7eMbqakUw5SHvZ2ijTSFgyBB6A0+oSvGplv+0eYU1eYBBlKEA9UQBu9/pnpYm+gsnTG9a2DNl2yU7Bhfk+IIAM38Uh8XSThErDuldvH4v2OG9wV5IhbtJdBAEYVjM6+IFbqk4whbrutgYy1KLqICZBduPt7nCJsgOcaTfGjCtJAxgnQk0A==",
        "19ffaf8bf39c0074d19c395ce947ddaa2908abd012a26e713dc99018d659bcf5",
    ),
    (
        "azure_vault",
        "c4001e52-bb31-3e65-fc3e-826182ff665c",
        "rNlY0Fi4fZ0c4CfhbEzb5KE9RcT+i7kIa7r0Qgi84yU=",
        r#"{"ciphertext":"Whrt3BNswYHel5Y5ncFt/Ep2r5mGqGnShzgi5jGmitI=","iv":"98mhqS5gwbi0a9+f","authentication_tag":"/QYdXGBllO5+CF87lBgi+A==","additional_authenticated_data":"","key_version":"11111111111111111111111111111111","algo":"A256GCM"}"#,
        "ZXHBzfDCDsntGd/MCzVLwPBqYuvSFQf2/NhbX7c2q9NiLzBKdAS4Ed0O1GWHkVotv6xMuo5Fs1KSFKYUoS25uLAsIPt9XfvHrsd6CoL+vYx/uSNEh5/IL3+ZCgNusNGkjm0YdbcMEI0Bw4TnGsOcwvaI6f78+NC9mMrrU9DXSPqPmV/1ts0NmhVD9/ZA30PnmjgOOR0GWtpBDsuRIhtxaDEVWb5FrZ6fH71z2x5vJNasrNypZjVO9ULp0ZVvWQTppjoH8+RoZ6+R1YABqThUGME1WcR4Rg==",
        "26bd40632d94b59e296e8c9a737d2e85273d15f2052b4da015ab214551dbe2f3",
    ),
    (
        "gcp_kms",
        "cb0a6ed9-d3ca-6f62-708f-3028300ad20a",
        "ZwTu6UIvMeOM/ufjyFltDGsXImeiO1cnCpGp9HOoP2o=",
        r#"{"ciphertext":"CnYxhVWvWMQiBKO12g/zlFZuyOi7Y0k9+Ipx0rFpD4j/8irpNgJPhgcLZ09O2IOi9/2vCPjAy0JfRJMWY0eV"}"#,
        "fy2/DgQlWz8r1s+sTrB9xuaANTXf+2H68GjDlunQb1JLcTeWqYnSS9GCqFxEe2/xBgpNi+TN/itmbzKJ6Zo5lzkfGwt++lNzRrrL/Y7r+S+l8VmBxxYjOrGUfOiQUa3ksEiMJX8wE6/cl11rDOrvSB8uBFsquoq60MoBBTNNebl+jIur3iXS74MJkM3C2lsCe6a+OXoc9EGxXwAZco6vlrp3MVZiF3+EOJczQ9g5syG5nICRu2H0FHPZmWPRx5EY7xW75A7mXOPFZrK/Jid40leCDVl5Uw==",
        "8a4967bd0d962bcc548a55d376c382accb3ccf6ab48c85570b3d770779c124af",
    ),
];

#[test]
fn states_of_every_key_service_open_with_their_data_keys() {
    use base64::Engine;
    for (kind, lineage, key, metadata, data, sha256) in SERVICES {
        let meta = base64::engine::general_purpose::STANDARD.encode(metadata);
        let stored = format!(
            r#"{{"serial":1,"lineage":"{lineage}","meta":{{"key_provider.{kind}.k":"{meta}"}},"encrypted_data":"{data}","encryption_version":"v0"}}"#
        );
        assert_eq!(digest(stored.as_bytes()), sha256, "{kind}");
        let chain = chain(&format!(
            r#"
            key_provider "{kind}" "k" {{}}
            method "aes_gcm" "m" {{ keys = key_provider.{kind}.k }}
            state {{ method = method.aes_gcm.m }}
            "#
        ));
        let opened = chain.open(stored.as_bytes(), &mut Service::with("k", &decode(key))).unwrap();
        let expected = format!(
            "{{\"version\":4,\"terraform_version\":\"1.12.6\",\"serial\":1,\"lineage\":\"{lineage}\",\"outputs\":{{\"o\":{{\"value\":\"hi\",\"type\":\"string\"}}}},\"resources\":[],\"check_results\":null}}\n"
        );
        assert_eq!(opened.plaintext.expose(), expected.as_bytes(), "{kind}");
    }
}
