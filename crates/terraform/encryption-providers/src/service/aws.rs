//! `aws_kms`.

use std::collections::BTreeMap;

use groundstate_encryption::{BoxError, Options, ProvidedKey};
use groundstate_key_services::blobs_cloud::AwsSettings;
use groundstate_key_services::{AwsKms, KeyService as _, WrappedKey};

use super::metadata::{Stored, encoded};
use super::settings::pass_on;
use super::{KeyServices, found, made, needed};

const BLOB: &str = "ciphertext_blob";
const CONTEXT: &str = "encryption_context";
/// Options that are not the client's.
const OWN: [&str; 3] = ["kms_key_id", "key_spec", CONTEXT];

impl KeyServices {
    pub(super) async fn aws(
        &self,
        options: &Options,
        stored: Option<&[u8]>,
    ) -> Result<ProvidedKey, BoxError> {
        let key = needed(options, "kms_key_id")?;
        let length = match needed(options, "key_spec")?.as_str() {
            "AES_256" => 32,
            "AES_128" => 16,
            _ => return Err(options.wrong("key_spec", "it has to be AES_256 or AES_128").into()),
        };
        let mut settings = AwsSettings::new();
        pass_on(options, &OWN, &mut |name, text| Ok(settings.set(name, text)?))?;
        let kms = AwsKms::open(&settings.or_from(&|name| self.given(name))?, &key, &self.context)?;
        let Some(stored) = stored else {
            let context = context(options)?;
            let made_key = kms.encryption_context(context.clone()).generate(length).await?;
            return Ok(made(made_key, |wrapped| metadata(&wrapped, &context)));
        };
        let stored = Stored::parse(stored, &[BLOB, CONTEXT])?;
        // The stored context counts, so that a changed option does not hinder reading.
        let kms = kms.encryption_context(stored.texts(CONTEXT)?);
        Ok(found(&kms.unwrap(&WrappedKey::new(stored.ciphertext(BLOB)?)).await?))
    }
}

fn context(options: &Options) -> Result<BTreeMap<String, String>, BoxError> {
    let Some(members) = options.members(CONTEXT)? else { return Ok(BTreeMap::new()) };
    let text = |name: &str| {
        let text = members.text(name)?.ok_or_else(|| members.missing(name))?;
        Ok((name.to_owned(), text.to_string()))
    };
    members.names().map(text).collect()
}

fn metadata(wrapped: &WrappedKey, context: &BTreeMap<String, String>) -> String {
    let blob = encoded(&wrapped.ciphertext);
    match context.is_empty() {
        true => format!(r#"{{"{BLOB}":{blob}}}"#),
        false => format!(r#"{{"{BLOB}":{blob},"{CONTEXT}":{}}}"#, serde_json::json!(context)),
    }
}
