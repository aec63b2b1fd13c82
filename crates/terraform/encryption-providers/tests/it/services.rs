//! Keys of services: moto and a real OpenBao where the environment names them, stand-ins for Google and Azure, and the real tofu.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groundstate_encryption_providers::common::{FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_encryption_providers::encryption::{Chain, EnvelopeLayout, OpenError};
use groundstate_encryption_providers::key_services::KeyContext;
use groundstate_encryption_providers::{KeyRing, KeyServices};
use groundstate_testkit::{
    Answer, Fault, FaultProxy, GoogleKmsServer, KeyVaultServer, Ran, Recorded, is_required, new_kms_key,
    new_transit_key, server_of_peer,
};
use serde_json::Value;

use crate::support::{STATE, chain};

/// A key service, and the variables by which it is found.
struct Place {
    proxy: FaultProxy,
    /// The options of the key provider.
    options: String,
    kind: &'static str,
    variables: Vec<(&'static str, String)>,
}

fn context() -> KeyContext {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let sleeper = Arc::<FixedClock>::clone(&clock);
    KeyContext::new(clock, sleeper, Arc::new(OsIds), Arc::new(OsEntropy))
}

fn ring(variables: &[(&'static str, String)]) -> KeyRing {
    let variables: HashMap<&str, String> = variables.iter().cloned().collect();
    let services = KeyServices::new(context(), move |name| variables.get(name).cloned());
    KeyRing::new(Arc::new(OsEntropy)).service(Arc::new(services))
}

fn configuration(kind: &str, options: &str) -> String {
    format!(
        "key_provider \"{kind}\" \"k\" {{\n{options}\n}}\nmethod \"aes_gcm\" \"m\" {{\n  keys = key_provider.{kind}.k\n}}\n\
         state {{\n  method = method.aes_gcm.m\n}}\n"
    )
}

impl Place {
    /// A new key in moto.
    fn aws() -> Option<Self> {
        let proxy = FaultProxy::in_front_of(&server_of_peer("moto", "GROUNDSTATE_KMS_ENDPOINT")?);
        let id = new_kms_key(&proxy.address().to_string());
        let options = format!("kms_key_id = \"{id}\"\nkey_spec = \"AES_256\"\nregion = \"us-east-1\"");
        let endpoint = proxy.endpoint();
        let variables = [
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "b"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_ENDPOINT_URL_KMS", &endpoint),
            ("AWS_ENDPOINT_URL_STS", &endpoint),
        ];
        let variables = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
        Some(Self { proxy, options, kind: "aws_kms", variables })
    }

    /// A new key in a mount of its own.
    fn openbao() -> Option<Self> {
        let proxy = FaultProxy::in_front_of(&server_of_peer("openbao", "GROUNDSTATE_OPENBAO")?);
        let mount = new_transit_key(&proxy.address().to_string(), "states");
        let options = format!("key_name = \"states\"\ntransit_engine_path = \"/{mount}\"");
        let variables = vec![("BAO_ADDR", proxy.endpoint()), ("BAO_TOKEN", "groundstate".to_owned())];
        Some(Self { proxy, options, kind: "openbao", variables })
    }

    fn configuration(&self) -> String {
        configuration(self.kind, &self.options)
    }

    fn chain(&self) -> Chain {
        chain(&self.configuration())
    }

    fn count(&self, is_asked: impl Fn(&Recorded) -> bool) -> usize {
        self.proxy.requests().iter().filter(|request| is_asked(request)).count()
    }

    /// How many keys were made, and how many unwrapped.
    fn asked(&self) -> (usize, usize) {
        let has = |request: &Recorded, action: &str, path: &str| {
            request.header("x-amz-target") == Some(action) || request.path.contains(path)
        };
        let made = self.count(|request| has(request, "TrentService.GenerateDataKey", "/datakey/"));
        (made, self.count(|request| has(request, "TrentService.Decrypt", "/decrypt/")))
    }
}

async fn sealed(ring: &KeyRing, chain: &Chain) -> Vec<u8> {
    ring.seal(chain, STATE, EnvelopeLayout::Compact).await.unwrap()
}

fn texts(error: &OpenError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    format!("{text} {error:?}")
}

async fn reading_makes_no_key_and_each_is_asked_for_once(place: &Place) {
    let (writer, chain) = (ring(&place.variables), place.chain());
    place.proxy.clear_requests();
    let stored = sealed(&writer, &chain).await;
    let again = sealed(&writer, &chain).await;
    assert_eq!(place.asked(), (1, 0));
    place.proxy.clear_requests();
    let reader = ring(&place.variables);
    for stored in [&stored, &again, &stored] {
        assert_eq!(reader.open(&chain, stored).await.unwrap().plaintext.expose(), STATE);
    }
    assert_eq!(place.asked(), (0, 1));
}

#[tokio::test]
async fn each_key_is_asked_for_once_and_none_is_made_for_reading() {
    for place in [Place::aws(), Place::openbao()].into_iter().flatten() {
        reading_makes_no_key_and_each_is_asked_for_once(&place).await;
    }
}

#[tokio::test]
async fn what_was_stored_counts_for_contexts_and_associated_data() {
    if let Some(mut place) = Place::aws() {
        let plain = place.options.clone();
        place.options = format!("{plain}\nencryption_context = {{ team = \"net\", stage = \"prod\" }}");
        let stored = sealed(&ring(&place.variables), &place.chain()).await;
        place.options = plain;
        let opened = ring(&place.variables).open(&place.chain(), &stored).await.unwrap();
        assert_eq!(opened.plaintext.expose(), STATE);
    }
    if let Some(mut place) = Place::openbao() {
        let plain = place.options.clone();
        place.options = format!("{plain}\nassociated_data = \"b3Bz\"");
        let stored = sealed(&ring(&place.variables), &place.chain()).await;
        place.options = plain;
        let opened = ring(&place.variables).open(&place.chain(), &stored).await.unwrap();
        assert_eq!(opened.plaintext.expose(), STATE);
    }
}

#[tokio::test]
async fn refusals_name_the_right_that_is_missing_and_no_secret() {
    for place in [Place::aws(), Place::openbao()].into_iter().flatten() {
        let chain = place.chain();
        let stored = sealed(&ring(&place.variables), &chain).await;
        let (answer, right) = match place.kind {
            "aws_kms" => (Answer::new(400).body(r#"{"__type":"AccessDeniedException"}"#), "kms:Decrypt"),
            _ => (Answer::new(403).body(r#"{"errors":["permission denied"]}"#), "/decrypt/states"),
        };
        place.proxy.fault(Fault::instead(answer));
        let error = ring(&place.variables).open(&chain, &stored).await.unwrap_err();
        let text = texts(&error);
        assert!(text.contains(right) && !text.contains("groundstate\""), "{text}");
    }
}

#[tokio::test]
async fn options_that_cannot_be_used_are_named() {
    for (kind, options, words) in [
        ("aws_kms", "key_spec = \"AES_256\"", "kms_key_id"),
        ("aws_kms", "kms_key_id = \"k\"\nkey_spec = \"RSA\"", "AES_256 or AES_128"),
        ("aws_kms", "kms_key_id = \"k\"\nkey_spec = \"AES_256\"\nregion = \"r\"\nregoin = \"x\"", "regoin"),
        ("gcp_kms", "kms_encryption_key = \"k\"\nkey_length = 32\naccess_token = \"hush\"", "keyRings"),
        ("gcp_kms", "kms_encryption_key = \"k\"\nkey_length = 5000", "1 to 1024"),
        ("azure_vault", "vault_uri = \"https://v.vault.azure.net\"\nvault_key_name = \"k\"", "key_length"),
        ("openbao", "key_name = \"a/b\"", "no slash"),
        ("openbao", "key_name = \"k\"\nkey_length = 24", "16, 32 or 64"),
        ("openbao", "key_name = \"k\"\ntoken = \"hush\\nx\"", "no token has"),
    ] {
        let chain = chain(&configuration(kind, options));
        let error = ring(&[]).seal(&chain, STATE, EnvelopeLayout::Compact).await.unwrap_err();
        let mut text = error.to_string();
        let mut next = std::error::Error::source(&error);
        while let Some(cause) = next {
            text.push_str(&format!(": {cause}"));
            next = cause.source();
        }
        assert!(text.contains(words) && !text.contains("hush"), "{kind}: {text}");
    }
}

/// The envelope that OpenTofu wrote, from its parts.
fn envelope(kind: &str, lineage: &str, metadata: &str, data: &str) -> Vec<u8> {
    let metadata = BASE64_STANDARD.encode(metadata);
    format!(
        r#"{{"serial":1,"lineage":"{lineage}","meta":{{"key_provider.{kind}.k":"{metadata}"}},"encrypted_data":"{data}","encryption_version":"v0"}}"#
    )
    .into_bytes()
}

#[tokio::test]
async fn a_state_that_tofu_encrypted_with_google_opens() {
    let server = GoogleKmsServer::start("t");
    let variables =
        [("GOOGLE_OAUTH_ACCESS_TOKEN", "t".to_owned()), ("GOOGLE_KMS_CUSTOM_ENDPOINT", server.endpoint())];
    let options =
        "kms_encryption_key = \"projects/p/locations/global/keyRings/r/cryptoKeys/k\"\nkey_length = 32";
    let (ring, chain) = (ring(&variables), chain(&configuration("gcp_kms", options)));
    let stored = envelope(
        "gcp_kms",
        "cb0a6ed9-d3ca-6f62-708f-3028300ad20a",
        r#"{"ciphertext":"CnYxhVWvWMQiBKO12g/zlFZuyOi7Y0k9+Ipx0rFpD4j/8irpNgJPhgcLZ09O2IOi9/2vCPjAy0JfRJMWY0eV"}"#,
        GOOGLE,
    );
    let opened = ring.open(&chain, &stored).await.unwrap();
    assert!(
        opened.plaintext.expose().starts_with(br#"{"version":4,"terraform_version":"1.12.6","serial":1"#)
    );
    let own = sealed(&ring, &chain).await;
    assert_eq!(ring.open(&chain, &own).await.unwrap().plaintext.expose(), STATE);
    // Members of later releases are not guessed at.
    let later = envelope("gcp_kms", "l", r#"{"ciphertext":"AAAA","aad":"AAAA"}"#, GOOGLE);
    let text = texts(&ring.open(&chain, &later).await.unwrap_err());
    assert!(text.contains("a later release wrote them"), "{text}");
}

#[tokio::test]
async fn a_state_that_tofu_encrypted_with_azure_opens() {
    let server = KeyVaultServer::start();
    let options = |rest: &str| {
        format!(
            "vault_uri = \"{}\"\nkey_length = 32\ntenant_id = \"t\"\nclient_id = \"c\"\nclient_secret = \"s\"\n{rest}",
            server.endpoint()
        )
    };
    let variables = [("AZURE_AUTHORITY_HOST", server.endpoint())];
    let symmetric = options("vault_key_name = \"gcm\"\nsymmetric = true\nsymmetric_key_size = 256");
    let (keys, gcm) = (ring(&variables), chain(&configuration("azure_vault", &symmetric)));
    let stored = envelope(
        "azure_vault",
        "c4001e52-bb31-3e65-fc3e-826182ff665c",
        r#"{"ciphertext":"Whrt3BNswYHel5Y5ncFt/Ep2r5mGqGnShzgi5jGmitI=","iv":"98mhqS5gwbi0a9+f","authentication_tag":"/QYdXGBllO5+CF87lBgi+A==","additional_authenticated_data":"","key_version":"11111111111111111111111111111111","algo":"A256GCM"}"#,
        AZURE,
    );
    let opened = keys.open(&gcm, &stored).await.unwrap();
    assert!(
        opened.plaintext.expose().starts_with(br#"{"version":4,"terraform_version":"1.12.6","serial":1"#)
    );
    // One of RSA stays open after a rotation, since its version is stored.
    let rsa = chain(&configuration("azure_vault", &options("vault_key_name = \"k1\"")));
    let stored = sealed(&keys, &rsa).await;
    let metadata: Value = serde_json::from_slice(&stored).unwrap();
    let metadata = metadata["meta"]["key_provider.azure_vault.k"].as_str().unwrap();
    let metadata = String::from_utf8(BASE64_STANDARD.decode(metadata).unwrap()).unwrap();
    let end = r#","iv":null,"authentication_tag":null,"additional_authenticated_data":null,"key_version":"11111111111111111111111111111111","algo":"RSA-OAEP-256"}"#;
    assert!(metadata.starts_with(r#"{"ciphertext":""#) && metadata.ends_with(end), "{metadata}");
    server.rotate();
    assert_eq!(ring(&variables).open(&rsa, &stored).await.unwrap().plaintext.expose(), STATE);
}

/// Whether there is a tofu. If not, it says that the test does not run.
#[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not compared")]
fn tofu_takes_part() -> bool {
    let found = Command::new("tofu").arg("version").output().is_ok();
    assert!(found || !is_required("tofu"), "tofu has to be on the PATH");
    if !found {
        eprintln!("not run: tofu is not on the PATH; see `cargo xtask services install tofu`");
    }
    found
}

fn tofu(folder: &Path, place: &Place, arguments: &[&str]) -> Ran {
    let mut command = Command::new("tofu");
    for (name, _) in std::env::vars_os() {
        let is_foreign =
            |name: &str| ["AWS_", "BAO_", "TF_", "VAULT_"].iter().any(|prefix| name.starts_with(prefix));
        if name.to_str().is_some_and(is_foreign) {
            command.env_remove(name);
        }
    }
    command.args(arguments).current_dir(folder).env("TF_ENCRYPTION", place.configuration());
    command.env("HOME", folder).env("TF_CLI_CONFIG_FILE", folder.join("tofu.rc"));
    command.envs(place.variables.iter().map(|(name, value)| (name, value)));
    Ran::of("tofu", arguments, command.output().unwrap())
}

async fn tofu_and_we_read_each_other(place: &Place) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tofu.rc"), "").unwrap();
    std::fs::write(folder.path().join("main.tf"), "output \"o\" {\n  value = \"swordfish\"\n}\n").unwrap();
    tofu(folder.path(), place, &["init", "-input=false"]).succeeds();
    tofu(folder.path(), place, &["apply", "-auto-approve", "-input=false"]).succeeds();
    let path = folder.path().join("terraform.tfstate");
    let stored = std::fs::read(&path).unwrap();
    assert!(!stored.windows(9).any(|window| window == b"swordfish"));
    let (ring, chain) = (ring(&place.variables), place.chain());
    let opened = ring.open(&chain, &stored).await.unwrap();
    let plain = String::from_utf8(opened.plaintext.expose().to_vec()).unwrap();
    assert!(plain.contains("swordfish"), "{plain}");
    // The other direction.
    let changed = plain.replace("swordfish", "trout");
    let stored = ring.seal(&chain, changed.as_bytes(), EnvelopeLayout::Indented).await.unwrap();
    std::fs::write(&path, stored).unwrap();
    assert_eq!(tofu(folder.path(), place, &["output", "-raw", "o"]).succeeds(), "trout");
}

#[tokio::test]
async fn tofu_reads_what_we_write_with_aws_and_the_reverse() {
    let Some(place) = Place::aws() else { return };
    if tofu_takes_part() {
        tofu_and_we_read_each_other(&place).await;
    }
}

#[tokio::test]
async fn tofu_reads_what_we_write_with_openbao_and_the_reverse() {
    let Some(place) = Place::openbao() else { return };
    if tofu_takes_part() {
        tofu_and_we_read_each_other(&place).await;
    }
}

/// What OpenTofu encrypted with keys of the stand-ins.
const GOOGLE: &str = "fy2/DgQlWz8r1s+sTrB9xuaANTXf+2H68GjDlunQb1JLcTeWqYnSS9GCqFxEe2/xBgpNi+TN/itmbzKJ6Zo5lzkfGwt++lNzRrrL/Y7r+S+l8VmBxxYjOrGUfOiQUa3ksEiMJX8wE6/cl11rDOrvSB8uBFsquoq60MoBBTNNebl+jIur3iXS74MJkM3C2lsCe6a+OXoc9EGxXwAZco6vlrp3MVZiF3+EOJczQ9g5syG5nICRu2H0FHPZmWPRx5EY7xW75A7mXOPFZrK/Jid40leCDVl5Uw==";
const AZURE: &str = "ZXHBzfDCDsntGd/MCzVLwPBqYuvSFQf2/NhbX7c2q9NiLzBKdAS4Ed0O1GWHkVotv6xMuo5Fs1KSFKYUoS25uLAsIPt9XfvHrsd6CoL+vYx/uSNEh5/IL3+ZCgNusNGkjm0YdbcMEI0Bw4TnGsOcwvaI6f78+NC9mMrrU9DXSPqPmV/1ts0NmhVD9/ZA30PnmjgOOR0GWtpBDsuRIhtxaDEVWb5FrZ6fH71z2x5vJNasrNypZjVO9ULp0ZVvWQTppjoH8+RoZ6+R1YABqThUGME1WcR4Rg==";
