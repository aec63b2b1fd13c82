//! What the configuration says of authentication.

use std::fmt;

use serde::Deserialize;

use super::certificate::CertificateRule;
use super::oidc::IssuerSettings;

/// How clients say who they are, beside the tokens of the store.
///
/// As TOML:
///
/// ```
/// use groundstate_server::auth::AuthSettings;
///
/// let settings = AuthSettings::parse(r#"
///     [[issuer]]
///     name = "github"
///     issuer = "https://token.actions.githubusercontent.com"
///     audiences = ["https://states.example.com"]
///
///     [[issuer.rules]]
///     claims = { repository = "acme/*", ref = "refs/heads/main" }
///     grants = [{ role = "write", project = "web", state = "prod-*" }]
///
///     [[certificate]]
///     dns = "*.ci.example.com"
///     grants = [{ role = "read", project = "*", state = "*" }]
/// "#)?;
/// assert_eq!((settings.issuers.len(), settings.certificates.len()), (1, 1));
/// # Ok::<(), groundstate_server::auth::InvalidAuth>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AuthSettings {
    /// Who is let in without credentials.
    pub anonymous: Anonymous,
    /// The issuers of OpenID Connect whose tokens are accepted.
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
    /// The certificates of clients that have roles.
    #[serde(rename = "certificate")]
    pub certificates: Vec<CertificateRule>,
}

/// Who is let in without credentials, and may do everything then, as long as no token, issuer or certificate is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Anonymous {
    /// No client.
    Never,
    /// Clients on this machine, whose requests come through no proxy.
    #[default]
    Loopback,
    /// Every client that reaches the server.
    Everywhere,
}

/// Settings that cannot be used. Nothing of a secret can be in them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAuth {
    /// The text is not TOML, or has other members.
    #[error("it is not a configuration of authentication")]
    Form(#[source] Box<toml::de::Error>),
    /// A value lets in too much or nothing.
    #[error("{0}")]
    Value(String),
}

impl AuthSettings {
    /// Reads TOML and checks it.
    ///
    /// # Errors
    ///
    /// For anything that is not understood, and for settings that would let in more than was meant.
    pub fn parse(text: &str) -> Result<Self, InvalidAuth> {
        let settings: Self = toml::from_str(text).map_err(|error| InvalidAuth::Form(Box::new(error)))?;
        settings.check()?;
        Ok(settings)
    }

    /// Checks what the form does not tell.
    ///
    /// # Errors
    ///
    /// For settings that would let in more than was meant, or nothing.
    pub fn check(&self) -> Result<(), InvalidAuth> {
        let issuer = self.issuers.iter().find_map(IssuerSettings::problem);
        let twice = || {
            let mut urls: Vec<&str> = self.issuers.iter().map(|issuer| issuer.issuer.as_str()).collect();
            urls.sort_unstable();
            urls.windows(2)
                .find(|pair| pair[0] == pair[1])
                .map(|pair| format!("the issuer {} is configured twice", pair[0]))
        };
        let certificate = || {
            let unconditional = self.certificates.iter().any(|rule| !rule.has_condition());
            let empty = self.certificates.iter().any(|rule| rule.grants.is_empty());
            let why = match (unconditional, empty) {
                (true, _) => {
                    "a rule of certificates asks for no name, so every certificate would have its roles"
                }
                (_, true) => "a rule of certificates grants nothing",
                _ => return None,
            };
            Some(why.to_owned())
        };
        let never = || {
            let rules = self.issuers.iter().flat_map(|issuer| &issuer.rules).flat_map(|rule| &rule.grants);
            let mut grants = rules.chain(self.certificates.iter().flat_map(|rule| &rule.grants));
            grants.find_map(|grant| grant.check().err()).map(|error| error.to_string())
        };
        match issuer.or_else(twice).or_else(certificate).or_else(never) {
            Some(why) => Err(InvalidAuth::Value(why)),
            None => Ok(()),
        }
    }
}

impl Default for AuthSettings {
    /// Tokens alone, and clients on this machine until there is one.
    fn default() -> Self {
        Self { anonymous: Anonymous::Loopback, issuers: Vec::new(), certificates: Vec::new() }
    }
}

impl fmt::Display for Anonymous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Never => "never",
            Self::Loopback => "loopback",
            Self::Everywhere => "everywhere",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Anonymous, AuthSettings};

    #[test]
    fn what_lets_in_more_than_was_meant_is_refused() {
        let grants = "grants = [{ role = \"read\", project = \"*\", state = \"*\" }]";
        let issuer = format!(
            "[[issuer]]\nname = \"a\"\nissuer = \"https://a\"\naudiences = [\"us\"]\n\
             [[issuer.rules]]\nclaims = {{ sub = \"x\" }}\n{grants}\n"
        );
        assert!(AuthSettings::parse(&issuer).is_ok());
        for (text, expected) in [
            (format!("[[certificate]]\n{grants}"), "asks for no name"),
            ("[[certificate]]\ndns = \"a\"\ngrants = []".to_owned(), "grants nothing"),
            (format!("{issuer}{issuer}"), "configured twice"),
            (issuer.replace("https://a", "http://a.example.com"), "https"),
            ("[[certificate]]\ndns = \"a\"\n".to_owned(), "not a configuration"),
            ("anonymous = \"always\"".to_owned(), "not a configuration"),
            ("tokens = [\"gs_x\"]".to_owned(), "not a configuration"),
        ] {
            let error = AuthSettings::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!(AuthSettings::parse("").unwrap(), AuthSettings::default());
        assert_eq!(AuthSettings::parse("anonymous = \"never\"").unwrap().anonymous, Anonymous::Never);
    }
}
