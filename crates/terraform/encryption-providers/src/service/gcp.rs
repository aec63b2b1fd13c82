//! `gcp_kms`.

use groundstate_encryption::{BoxError, Options, ProvidedKey};
use groundstate_key_services::blobs_cloud::GcpSettings;
use groundstate_key_services::{GcpKms, KeyService as _, WrappedKey};

use super::metadata::{Stored, encoded};
use super::settings::{base64, pass_on};
use super::{KeyServices, found, key_length, made, needed};

const CIPHERTEXT: &str = "ciphertext";
const DATA: &str = "additional_authenticated_data";
/// Options that are not the client's.
const OWN: [&str; 3] = ["kms_encryption_key", "key_length", DATA];

impl KeyServices {
    pub(super) async fn gcp(
        &self,
        options: &Options,
        stored: Option<&[u8]>,
    ) -> Result<ProvidedKey, BoxError> {
        let (name, length) = (needed(options, "kms_encryption_key")?, key_length(options)?);
        let mut settings = GcpSettings::new();
        let home = self.given("HOME").or_else(|| self.given("USERPROFILE"));
        pass_on(options, &OWN, &mut |name, text| {
            let expanded = match (name, text.strip_prefix("~/"), &home) {
                ("credentials", Some(rest), Some(home)) => Some(format!("{home}/{rest}")),
                _ => None,
            };
            Ok(settings.set(name, expanded.as_deref().unwrap_or(text))?)
        })?;
        let kms = GcpKms::open(&settings.or_from(&|name| self.given(name))?, &name, &self.context)?;
        let kms = match base64(options, DATA)? {
            Some((_, bytes)) => kms.associated_data(&bytes)?,
            None => kms,
        };
        let Some(stored) = stored else {
            let made_key = kms.generate(length).await?;
            return Ok(made(made_key, |wrapped| {
                format!(r#"{{"{CIPHERTEXT}":{}}}"#, encoded(&wrapped.ciphertext))
            }));
        };
        let stored = Stored::parse(stored, &[CIPHERTEXT])?;
        Ok(found(&kms.unwrap(&WrappedKey::new(stored.ciphertext(CIPHERTEXT)?)).await?))
    }
}
