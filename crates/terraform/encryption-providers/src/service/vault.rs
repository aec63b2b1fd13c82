//! `openbao`.

use groundstate_encryption::{BoxError, Options, ProvidedKey};
use groundstate_key_services::{KeyService as _, Transit, TransitNames, TransitSettings, WrappedKey};

use super::metadata::{Stored, encoded, quoted};
use super::settings::base64;
use super::{KeyServices, found, made, needed};

const CIPHERTEXT: &str = "ciphertext";
const DATA: &str = "associated_data";
/// The options that there are.
const KNOWN: [&str; 6] = ["address", "token", "key_name", "key_length", "transit_engine_path", DATA];

impl KeyServices {
    pub(super) async fn vault(
        &self,
        options: &Options,
        stored: Option<&[u8]>,
    ) -> Result<ProvidedKey, BoxError> {
        options.only(&KNOWN)?;
        let name = needed(options, "key_name")?;
        let length = match options.number("key_length")? {
            None | Some(32) => 32,
            Some(16) => 16,
            Some(64) => 64,
            Some(_) => return Err(options.wrong("key_length", "it has to be 16, 32 or 64").into()),
        };
        // A variable that is empty counts here: it hides its twin.
        let mut settings = TransitSettings::from_variables(TransitNames::OpenBao, &*self.variable)?;
        // An agent is asked in the place of any address.
        let agent = ["BAO_AGENT_ADDR", "VAULT_AGENT_ADDR"].into_iter().find_map(|name| self.given(name));
        if let (Some(address), None) = (options.text("address")?.filter(|text| !text.is_empty()), agent) {
            settings = settings.with_address(address)?;
        }
        if let Some(token) = options.text("token")?.filter(|text| !text.is_empty()) {
            settings = settings.token(token)?;
        }
        let mut transit = Transit::open(settings, &name, &self.context)?;
        if let Some(path) = options.text("transit_engine_path")?.filter(|text| !text.is_empty()) {
            transit = transit.mount(path)?;
        }
        let Some(stored) = stored else {
            let data = base64(options, DATA)?.map(|(text, _)| text).filter(|text| !text.is_empty());
            let made_key = transit.associated_data(data.clone()).generate(length).await?;
            return Ok(made(made_key, |wrapped| metadata(&wrapped, data.as_deref())));
        };
        let stored = Stored::parse(stored, &[CIPHERTEXT, DATA])?;
        // What is stored counts, so that a changed option does not hinder reading.
        let transit = transit.associated_data(stored.text(DATA)?.map(str::to_owned));
        Ok(found(&transit.unwrap(&WrappedKey::new(stored.ciphertext(CIPHERTEXT)?)).await?))
    }
}

fn metadata(wrapped: &WrappedKey, data: Option<&str>) -> String {
    let ciphertext = encoded(&wrapped.ciphertext);
    match data {
        None => format!(r#"{{"{CIPHERTEXT}":{ciphertext}}}"#),
        Some(data) => format!(r#"{{"{CIPHERTEXT}":{ciphertext},"{DATA}":{}}}"#, quoted(data)),
    }
}
