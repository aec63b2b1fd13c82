//! `azure_vault`.

use groundstate_encryption::{BoxError, Options, ProvidedKey};
use groundstate_key_services::blobs_cloud::AzureIdentitySettings;
use groundstate_key_services::{AzureKeyVault, KeyService as _, WrappedKey};
use serde_json::Value;

use super::metadata::{Stored, encoded, quoted};
use super::settings::pass_on;
use super::{KeyServices, found, key_length, made, needed};

/// The members of metadata, in the order in which OpenTofu writes them.
const MEMBERS: [&str; 6] =
    ["ciphertext", "iv", "authentication_tag", "additional_authenticated_data", "key_version", "algo"];
/// Options that are not the client's.
const OWN: [&str; 5] = ["vault_uri", "vault_key_name", "key_length", "symmetric", "symmetric_key_size"];

impl KeyServices {
    pub(super) async fn azure(
        &self,
        options: &Options,
        stored: Option<&[u8]>,
    ) -> Result<ProvidedKey, BoxError> {
        let (vault, name) = (needed(options, "vault_uri")?, needed(options, "vault_key_name")?);
        let length = key_length(options)?;
        let mut settings = AzureIdentitySettings::new();
        pass_on(options, &OWN, &mut |name, text| Ok(settings.set(name, text)?))?;
        let settings = settings.or_from(&|name| self.given(name))?;
        let key =
            AzureKeyVault::open(&settings, &vault, &name, &self.context)?.algorithm(algorithm(options)?)?;
        let Some(stored) = stored else {
            let made_key = key.generate(length).await?;
            return Ok(made(made_key, |wrapped| metadata(&wrapped)));
        };
        let stored = Stored::parse(stored, &MEMBERS)?;
        let text = |name| Ok::<_, BoxError>(stored.text(name)?.map(str::to_owned));
        let wrapped = WrappedKey::new(stored.ciphertext(MEMBERS[0])?)
            .symmetric(stored.bytes(MEMBERS[1])?, stored.bytes(MEMBERS[2])?, stored.bytes(MEMBERS[3])?)
            .key_version(text(MEMBERS[4])?)
            .algorithm(text(MEMBERS[5])?);
        Ok(found(&key.unwrap(&wrapped).await?))
    }
}

fn algorithm(options: &Options) -> Result<&'static str, BoxError> {
    if !options.flag("symmetric")?.unwrap_or(false) {
        return Ok("RSA-OAEP-256");
    }
    match options.number("symmetric_key_size")? {
        Some(128) => Ok("A128GCM"),
        Some(192) => Ok("A192GCM"),
        Some(256) => Ok("A256GCM"),
        Some(_) => Err(options.wrong("symmetric_key_size", "it has to be 128, 192 or 256").into()),
        None => Err(options.missing("symmetric_key_size").into()),
    }
}

fn metadata(wrapped: &WrappedKey) -> String {
    let bytes = |bytes: &Option<Vec<u8>>| bytes.as_deref().map_or(Value::Null, encoded);
    let text = |text: &Option<String>| quoted(text.as_deref().unwrap_or_default());
    let values = [
        encoded(&wrapped.ciphertext),
        bytes(&wrapped.iv),
        bytes(&wrapped.tag),
        bytes(&wrapped.associated_data),
        text(&wrapped.key_version),
        text(&wrapped.algorithm),
    ];
    let members = MEMBERS.iter().zip(values).map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
