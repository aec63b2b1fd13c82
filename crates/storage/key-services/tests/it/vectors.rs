//! Wrapped keys that other programs have written.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_key_services::blobs_cloud::{AzureIdentitySettings, GcpSettings};
use groundstate_key_services::{AzureKeyVault, GcpKms, KeyService, WrappedKey};
use groundstate_testkit::{GoogleKmsServer, KeyVaultServer};
use serde_json::json;

use crate::context::{Outcome, context};
use crate::transit::TransitEngine;

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).expect("the vector is base64")
}

#[tokio::test]
async fn a_server_with_restored_keys_opens_what_another_has_wrapped() -> Outcome {
    let Some(engine) = TransitEngine::start() else { return Ok(()) };
    let key =
        |text: &str| json!({ "key": text, "time": "2026-01-01T00:00:00Z", "creation_time": 1_767_225_600 });
    let (first, second) = (
        key("Uy+o17e8eyKlU0uVEd/2hxd35QSy8eSlHX0ZQ7DWVg8="),
        key("CPbBMfcxLTrRBuP2mPJftzzCIydTpR96e1IAhR99y5w="),
    );
    let policy = json!({
        "name": "tofu", "keys": { "1": first, "2": second }, "min_decryption_version": 1, "latest_version": 2,
        "archive_version": 2, "type": 0, "exportable": true,
    });
    let backup = json!({ "policy": policy, "archived_keys": { "keys": [{}, first, second] } });
    let backup = BASE64_STANDARD.encode(backup.to_string());
    engine.write(&format!("{}/restore/tofu", engine.mount), &json!({ "backup": backup }));
    let transit = engine.open("tofu", "groundstate");
    for (wrapped, plain) in [
        (
            "vault:v1:eZUBghabyLg6YlZZ4LvOg8T+t0LahGFRLASxuXB7oX6dcuhdeZKnwd339/ZDA+8BN8P5WDi1NCCdvVk7",
            "XFSo+QUlGRg8OMCiZgAzRUet7NIAuiTR+SZhhrktPxg=",
        ),
        (
            "vault:v2:zMN3r1v+IQxj3jr+1dCtuq2du8ErbbnHvpIK/QgUk/7mKG7UqmoFvxvKH4ApsL9aGxufEmXE9ukDuW3k",
            "ACLzInjI0zaM+c0tyhBVYSrePwDeLoJSsWPFnUvnkr0=",
        ),
    ] {
        assert_eq!(transit.unwrap(&WrappedKey::new(wrapped)).await?.expose(), bytes(plain), "{wrapped}");
    }
    Ok(())
}

#[tokio::test]
async fn keys_that_opentofu_and_pulumi_wrapped_with_google_open() -> Outcome {
    let server = GoogleKmsServer::start("t");
    let settings = GcpSettings::new().with("access_token", "t")?;
    let settings = settings.with("kms_custom_endpoint", &server.endpoint())?;
    let kms = GcpKms::open(&settings, "projects/p/locations/global/keyRings/r/cryptoKeys/k", &context())?;
    for (wrapped, plain) in [
        (
            "CnYxhVWvWMQiBKO12g/zlFZuyOi7Y0k9+Ipx0rFpD4j/8irpNgJPhgcLZ09O2IOi9/2vCPjAy0JfRJMWY0eV",
            "ZwTu6UIvMeOM/ufjyFltDGsXImeiO1cnCpGp9HOoP2o=",
        ),
        (
            "CnYxlbbputjniS9KxdTkcvTlzx6mkZ1if3J4S1tEg1kQSQg5Btsg4KJJGOZj444kq+EsYtKValvw3wAz+tLf",
            "u5pP20U7OwNoBtCF6JugRvon+gKBSwJW1LtjbXoYxQs=",
        ),
    ] {
        assert_eq!(kms.unwrap(&WrappedKey::new(bytes(wrapped))).await?.expose(), bytes(plain));
    }
    Ok(())
}

#[tokio::test]
async fn a_key_that_opentofu_wrapped_with_azure_opens() -> Outcome {
    let server = KeyVaultServer::start();
    let mut settings = AzureIdentitySettings::new();
    for (name, value) in [
        ("tenant_id", "t"),
        ("client_id", "c"),
        ("client_secret", "s"),
        ("authority_host", &server.endpoint()),
    ] {
        settings.set(name, value)?;
    }
    let key = AzureKeyVault::open(&settings, &server.endpoint(), "gcm", &context())?;
    let wrapped = WrappedKey::new(bytes("Whrt3BNswYHel5Y5ncFt/Ep2r5mGqGnShzgi5jGmitI="))
        .algorithm(Some("A256GCM".to_owned()))
        .key_version(Some("1".repeat(32)))
        .symmetric(
            Some(bytes("98mhqS5gwbi0a9+f")),
            Some(bytes("/QYdXGBllO5+CF87lBgi+A==")),
            Some(Vec::new()),
        );
    let plain = bytes("rNlY0Fi4fZ0c4CfhbEzb5KE9RcT+i7kIa7r0Qgi84yU=");
    assert_eq!(key.unwrap(&wrapped).await?.expose(), plain);
    Ok(())
}
