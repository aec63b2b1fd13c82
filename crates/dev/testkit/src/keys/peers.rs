//! New keys in the key services that tests have as peers: AWS KMS in moto, and a transit engine in OpenBao.

use serde_json::{Value, json};

use super::random;
use crate::asking::ask;

/// The id of a new key in the moto at this address.
///
/// # Panics
///
/// When moto does not make one.
pub fn new_kms_key(address: &str) -> String {
    let headers = [
        "X-Amz-Target: TrentService.CreateKey",
        "Content-Type: application/x-amz-json-1.1",
        "Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/kms/aws4_request, SignedHeaders=host, Signature=0",
    ];
    let asked = ask(address, "POST", "/", &headers, b"{}").expect("moto answers");
    let created: Value = serde_json::from_slice(&asked.body).expect("moto answers in JSON");
    created["KeyMetadata"]["KeyId"].as_str().expect("the key has an id").to_owned()
}

/// A new mount of a transit engine with a key of this name, in the OpenBao at this address. Gives the mount.
///
/// # Panics
///
/// When OpenBao does not make them.
pub fn new_transit_key(address: &str, name: &str) -> String {
    let mount = format!("transit-{:x}", u64::from_le_bytes(random()));
    write_to_openbao(address, &format!("sys/mounts/{mount}"), &json!({ "type": "transit" }));
    write_to_openbao(address, &format!("{mount}/keys/{name}"), &json!({}));
    mount
}

/// Writes to a path of the OpenBao at this address, with its root token.
///
/// # Panics
///
/// When OpenBao refuses.
pub fn write_to_openbao(address: &str, path: &str, body: &Value) -> Value {
    let path = format!("/v1/{path}");
    let asked = ask(address, "POST", &path, &["X-Vault-Token: groundstate"], body.to_string().as_bytes());
    let asked = asked.expect("OpenBao answers");
    assert!(asked.status < 300, "{path}: {} {}", asked.status, String::from_utf8_lossy(&asked.body));
    serde_json::from_slice(&asked.body).unwrap_or_default()
}
