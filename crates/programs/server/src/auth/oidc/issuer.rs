//! The issuers of the configuration, and what their tokens are granted.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_common::Timestamp;
use groundstate_http_client::address;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::fetch::{KeySource, is_allowed};
use super::jwt::Unverified;
use super::keys::Keys;
use super::{Rejected, claims};
use crate::auth::{Grant, Pattern, Principal, PrincipalKind};

/// An issuer whose tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct IssuerSettings {
    /// The name by which principals and logs name it, such as `github`.
    pub name: String,
    /// Its URL, as tokens have it in `iss`.
    pub issuer: String,
    /// What tokens have in `aud`: one of these. It should be a name that is used for this server alone.
    pub audiences: Vec<String>,
    /// What tokens are granted. All rules that hold count.
    pub rules: Vec<ClaimRule>,
}

/// Which claims have which roles.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClaimRule {
    /// Claims and the patterns of their values; all have to match. An array matches if one of its values does.
    pub claims: BTreeMap<String, Pattern>,
    /// The roles.
    pub grants: Vec<Grant>,
}

impl IssuerSettings {
    /// What is wrong with it, if anything is.
    pub(crate) fn problem(&self) -> Option<String> {
        let name = &self.name;
        let url = address(&self.issuer).ok();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        {
            Some("the name of an issuer may have letters, digits and -_. only".to_owned())
        } else if !url.as_ref().is_some_and(is_allowed) {
            Some(format!("the issuer {name} has to be an https URL"))
        } else if url.is_some_and(|url| url.query().is_some()) {
            Some(format!("the URL of the issuer {name} has a query"))
        } else if self.audiences.is_empty() || self.audiences.iter().any(String::is_empty) {
            Some(format!("the issuer {name} has no audience: tokens for other services would be accepted"))
        } else if self.rules.is_empty() {
            Some(format!("the issuer {name} has no rule, so its tokens are granted nothing"))
        } else if self.rules.iter().any(|rule| rule.grants.is_empty()) {
            Some(format!("a rule of the issuer {name} grants nothing"))
        } else if self.rules.iter().any(|rule| rule.claims.values().all(Pattern::is_any)) {
            // With issuers that everyone can use, that is everyone.
            Some(format!(
                "a rule of the issuer {name} asks for no claim, so every token of the issuer would have its roles"
            ))
        } else {
            None
        }
    }
}

impl ClaimRule {
    fn holds(&self, claims: &Map<String, Value>) -> bool {
        self.claims.iter().all(|(name, pattern)| {
            claims
                .get(name)
                .is_some_and(|value| claims::texts(value).iter().any(|text| pattern.matches(text)))
        })
    }
}

/// The issuers, by their URLs.
#[derive(Debug)]
pub(crate) struct Issuers(BTreeMap<String, (IssuerSettings, Keys)>);

impl Issuers {
    /// The issuers of settings in which no problem was found; one with a problem is left out.
    pub(crate) fn new(settings: &[IssuerSettings], source: &Arc<dyn KeySource>) -> Self {
        let issuer = |settings: &IssuerSettings| {
            let url = address(&settings.issuer).ok().filter(|_| settings.problem().is_none())?;
            Some((settings.issuer.clone(), (settings.clone(), Keys::new(url, Arc::clone(source)))))
        };
        Self(settings.iter().filter_map(issuer).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The principal of a token: without any role, if no rule holds for it.
    pub(crate) async fn principal(&self, token: &str, now: Timestamp) -> Result<Principal, Rejected> {
        let token = Unverified::parse(token)?;
        let found = token.issuer().and_then(|issuer| self.0.get(issuer));
        let (settings, keys) = found.ok_or(Rejected::Issuer)?;
        keys.verify(&token).await?;
        let claims = token.verified().0;
        claims::check(&claims, &settings.audiences, now)?;
        let subject = claims.get("sub").and_then(Value::as_str).ok_or(Rejected::Form("it has no subject"))?;
        let holding = settings.rules.iter().filter(|rule| rule.holds(&claims));
        let grants: Vec<Grant> = holding.flat_map(|rule| rule.grants.iter().cloned()).collect();
        Ok(Principal::new(&format!("oidc:{}:{subject}", settings.name), PrincipalKind::Oidc, grants))
    }
}

#[cfg(test)]
mod tests {
    use super::IssuerSettings;

    #[test]
    fn settings_that_let_in_too_much_or_nothing_are_refused() {
        let good = r#"{"name":"github","issuer":"https://token.actions.githubusercontent.com","audiences":["us"],
            "rules":[{"claims":{"repository":"acme/*"},"grants":[{"role":"write","project":"web","state":"*"}]}]}"#;
        let problem = |text: &str| serde_json::from_str::<IssuerSettings>(text).unwrap().problem();
        assert_eq!(problem(good), None);
        for (from, to, expected) in [
            ("\"github\"", "\"git hub\"", "letters"),
            ("https:", "http:", "https"),
            ("usercontent.com", "usercontent.com/?a", "query"),
            ("[\"us\"]", "[]", "no audience"),
            ("[\"us\"]", "[\"\"]", "no audience"),
            ("acme/*", "*", "asks for no claim"),
            ("{\"repository\":\"acme/*\"}", "{}", "asks for no claim"),
            ("[{\"role\":\"write\",\"project\":\"web\",\"state\":\"*\"}]", "[]", "grants nothing"),
        ] {
            let text = good.replace(from, to);
            assert_ne!(text, good);
            let found = problem(&text).unwrap();
            assert!(found.contains(expected), "{text}: {found}");
        }
        assert!(serde_json::from_str::<IssuerSettings>(&good.replace("rules", "rule")).is_err());
    }
}
