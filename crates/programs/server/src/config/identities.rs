//! The tables `[[auth.issuer]]` and `[[auth.certificate]]` of a file.

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::auth::{CertificateRule, IssuerSettings};

/// The lists of tables of `[auth]`.
const LISTS: [&str; 2] = ["issuer", "certificate"];

/// What the lists have.
const FORM: &str = "an `[[auth.issuer]]` has `name`, `issuer`, `audiences` (a list) and `rules`, each with `claims` and `grants`; an \
                    `[[auth.certificate]]` has `common_name`, `dns`, `uri` or `email`, and `grants`; a grant has `role` (`outputs`, \
                    `read`, `lock`, `write` or `admin`), `project` and `state`";

/// Who is known beside the tokens of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Identities {
    /// The issuers of OpenID Connect.
    #[serde(rename = "issuer")]
    pub(crate) issuers: Vec<IssuerSettings>,
    /// The certificates of clients.
    #[serde(rename = "certificate")]
    pub(crate) certificates: Vec<CertificateRule>,
}

/// Whether an option is one of these lists.
pub(crate) fn is_identity(name: &str) -> bool {
    name.strip_prefix("auth.").is_some_and(|list| LISTS.contains(&list))
}

/// Reads the lists of a document, with the offset of the first; or says what is wrong, and at which offset.
pub(crate) fn identities(document: &DeTable<'_>) -> Result<Option<(Identities, usize)>, (usize, String)> {
    let Some(DeValue::Table(auth)) = document.get("auth").map(Spanned::get_ref) else { return Ok(None) };
    let lists: DeTable<'_> = auth
        .iter()
        .filter(|(key, _)| LISTS.contains(&&**key.get_ref()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let Some(offset) = lists.values().map(|value| value.span().start).min() else { return Ok(None) };
    let whole = Spanned::new(offset..offset, DeValue::Table(lists));
    match Identities::deserialize(ValueDeserializer::from(whole)) {
        Ok(identities) => Ok(Some((identities, offset))),
        Err(error) => {
            let offset = error.span().map_or(offset, |span| span.start);
            // What the error quotes may be a secret.
            Err((offset, format!("`auth` is not valid: {FORM}")))
        }
    }
}
