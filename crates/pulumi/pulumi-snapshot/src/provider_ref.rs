//! References to providers.

use crate::text::{ResourceId, text_id};
use crate::type_token::{self, PROVIDERS_MODULE};
use crate::urn::{self, Urn};

/// The text that stands for a value that is not known yet.
pub const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

text_id! {
    /// Which provider manages a resource: `<provider URN>::<id>`.
    ///
    /// Any text is kept; [`ProviderRef::split`] says whether it is a reference.
    ///
    /// ```
    /// use groundstate_pulumi_snapshot::{ProviderRef, ResourceId, Urn};
    ///
    /// let urn = Urn::from("urn:pulumi:dev::shop::pulumi:providers:aws::default");
    /// let reference = ProviderRef::build(&urn, &ResourceId::from("42"))?;
    /// assert_eq!(reference.split()?, (urn, ResourceId::from("42")));
    /// # Ok::<(), groundstate_pulumi_snapshot::ProviderRefError>(())
    /// ```
    pub struct ProviderRef;
}

/// Why something is not a reference to a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderRefError {
    /// There is no `::` to split at.
    #[error("expected '::' in provider reference '{0}'")]
    NoSeparator(String),
    /// What stands in front is not a URN.
    #[error("{0} is not a valid URN")]
    InvalidUrn(String),
    /// The URN is not that of a provider.
    #[error("invalid module in type: expected 'pulumi:providers', got '{0}'")]
    NotAProvider(String),
    /// The type in the URN ends behind the module.
    #[error("provider URNs must specify a type name")]
    NoTypeName,
}

impl ProviderRef {
    /// The reference to the provider of this URN and identifier. No identifier is written as [`UNKNOWN`].
    ///
    /// # Errors
    ///
    /// The URN is not that of a provider.
    pub fn build(urn: &Urn, id: &ResourceId) -> Result<Self, ProviderRefError> {
        check(urn.as_str())?;
        let id = if id.is_empty() { UNKNOWN } else { id.as_str() };
        Ok(Self::new(format!("{urn}::{id}")))
    }

    /// URN and identifier, split at the last `::`. An empty identifier stays empty.
    ///
    /// An identifier that holds `::` itself cannot be told from a longer name; [`ProviderRef::splits`] gives all readings.
    ///
    /// # Errors
    ///
    /// The text is not a reference.
    pub fn split(&self) -> Result<(Urn, ResourceId), ProviderRefError> {
        let (urn, id) = self.split_text()?;
        Ok((Urn::from(urn), ResourceId::from(id)))
    }

    /// What [`ProviderRef::split`] gives, as slices of the text.
    ///
    /// # Errors
    ///
    /// The text is not a reference.
    pub fn split_text(&self) -> Result<(&str, &str), ProviderRefError> {
        let text = self.as_str();
        let Some((urn, id)) = text.rsplit_once("::") else {
            return Err(ProviderRefError::NoSeparator(text.to_owned()));
        };
        check(urn)?;
        Ok((urn, id))
    }

    /// All ways to read the text as URN and identifier, the longest URN first.
    ///
    /// A caller who knows the providers takes the first reading that names one of them.
    pub fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = self.as_str();
        let at = text.rmatch_indices("::").map(move |(at, _)| (&text[..at], &text[at + 2..]));
        at.filter(|(urn, _)| check(urn).is_ok())
    }

    /// Whether it forbids a default provider instead of naming one.
    pub fn is_deny_default(&self) -> bool {
        self.split_text().is_ok_and(|(_, id)| id == ResourceId::DENY_DEFAULT)
    }
}

/// Whether a URN names a default provider: the type is that of a provider, and the name begins with `default`.
pub fn is_default_provider(urn: &Urn) -> bool {
    type_token::is_provider(urn.resource_type()) && urn.name().starts_with("default")
}

/// Checks that a text is the URN of a provider.
fn check(text: &str) -> Result<(), ProviderRefError> {
    if !Urn::is_valid_text(text) {
        return Err(ProviderRefError::InvalidUrn(text.to_owned()));
    }
    let token = urn::resource_type(text);
    let colons = token.matches(':').count();
    // Without any colon there is no module; with one, there is nothing but it.
    let (module, name) = match type_token::split(token) {
        Some(parts) => parts,
        None if colons == 0 => ("", token),
        None => (token, ""),
    };
    match (module, name) {
        (PROVIDERS_MODULE, _) if colons == 1 => Err(ProviderRefError::NotAProvider(module.to_owned())),
        (PROVIDERS_MODULE, "") => Err(ProviderRefError::NoTypeName),
        (PROVIDERS_MODULE, _) => Ok(()),
        (other, _) => Err(ProviderRefError::NotAProvider(other.to_owned())),
    }
}
