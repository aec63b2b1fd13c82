//! Calls of the Security Token Service.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Result};
use groundstate_common::Timestamp;
use http::Method;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Fetched, OP, fetched, unreadable};
use crate::cloud::{Effect, Failure, Request, Wire, query};
use crate::s3::address::ServiceAddress;
use crate::settings::Values;

/// A client of the service.
#[derive(Clone)]
pub(super) struct Sts {
    wire: Wire,
    url: String,
    region: String,
}

/// What a call asks for; the pairs of a form.
#[derive(Clone)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn new(action: &str) -> Self {
        Self(Vec::new()).with("Action", action).with("Version", "2011-06-15")
    }

    pub(super) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    pub(super) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A list, of which each element is named by its number.
    pub(super) fn list<'v>(self, name: &str, end: &str, values: impl Iterator<Item = &'v str>) -> Self {
        (1..)
            .zip(values)
            .fold(self, |form, (number, value)| form.with(format!("{name}.member.{number}{end}"), value))
    }

    /// The policy, its ARNs and the duration, which both ways to a role have under these names.
    pub(super) fn limits(self, values: &Values, names: Limits) -> Result<Self> {
        let duration = values.text(names.duration).map(|text| {
            let seconds = seconds(text).ok_or_else(|| {
                values.invalid(names.duration, "it is not a duration such as 1h30m, of 15m to 12h")
            })?;
            Ok::<_, Error>(seconds.to_string())
        });
        let form = self
            .maybe("Policy", values.text(names.policy))
            .maybe("DurationSeconds", duration.transpose()?.as_deref());
        Ok(form.list("PolicyArns", ".arn", items(values.text(names.policy_arns))))
    }
}

/// The names of options.
pub(super) struct Limits {
    pub(super) duration: &'static str,
    pub(super) policy: &'static str,
    pub(super) policy_arns: &'static str,
}

/// The elements of a list, as options have it.
pub(super) fn items(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|text| !text.is_empty())
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "AssumeRoleResult", alias = "AssumeRoleWithWebIdentityResult")]
    result: Outcome,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Outcome {
    credentials: Keys,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

impl Sts {
    pub(super) fn new(values: &Values, place: &ServiceAddress, wire: &Wire) -> Self {
        let region = values.text("sts_region").unwrap_or(&place.region).to_owned();
        let wire = wire.with_hint(values.unreachable_hint("endpoints.sts"));
        Self { wire, url: format!("{}/", place.sts), region }
    }

    /// Credentials of a role; `from` says of which.
    pub(super) async fn role(
        &self,
        from: &str,
        form: &Form,
        with: Option<&AwsCredential>,
    ) -> Result<Fetched> {
        let answer: Answer = self.call(from, form, with).await?;
        let keys = answer.result.credentials;
        let expires = Timestamp::parse(&keys.expiration).map_err(|_| unreadable(from))?;
        let token = Some(keys.session_token.as_str());
        fetched(from, (&keys.access_key_id, &keys.secret_access_key), token, Some(expires))
    }

    /// One call, signed if credentials are given.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        from: &str,
        form: &Form,
        with: Option<&AwsCredential>,
    ) -> Result<T> {
        let pairs: Vec<_> = form.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let request = Request::new(Method::POST, self.url.clone())
            .header("content-type", "application/x-www-form-urlencoded")?
            .body(query(&pairs).into());
        let mut request = request.build()?;
        if let Some(credential) = with {
            let failed = |error| Error::new(ErrorKind::Internal, OP, from).with_source(error);
            AwsAuthorizer::new(credential, "sts", &self.region)
                .try_authorize(&mut request, None)
                .map_err(failed)?;
        }
        let reply = self.wire.send(OP, from, request, Effect::Read).await?;
        if !reply.is_success() {
            return Err(refusal(from, Failure::of(&reply)));
        }
        quick_xml::de::from_str(&String::from_utf8_lossy(&reply.body)).map_err(|_| unreadable(from))
    }
}

fn refusal(from: &str, failure: Failure) -> Error {
    use crate::cloud::Meaning;
    const STEP: &str = "check the role, its trust policy, and the credentials that ask for it";
    let denied = |why: &str| Meaning::new(ErrorKind::Denied, why, STEP);
    let meaning = match failure.code.as_str() {
        "AccessDenied" => denied("the service refuses the role to these credentials"),
        "ExpiredTokenException" | "ExpiredToken" | "IDPRejectedClaim" | "InvalidIdentityToken" => {
            Meaning::new(ErrorKind::Unauthenticated, "the service refuses the token", "get a new one")
        }
        "InvalidClientTokenId" | "SignatureDoesNotMatch" => Meaning::new(
            ErrorKind::Unauthenticated,
            "the service refuses the keys that ask for it",
            super::NO_CREDENTIALS,
        ),
        "RegionDisabledException" => Meaning::new(
            ErrorKind::Denied,
            "the service is off in this region",
            "set the option `sts_region`",
        ),
        _ => {
            let mut meaning = failure.general(Effect::Read);
            meaning.step.get_or_insert_with(|| STEP.to_owned());
            meaning
        }
    };
    failure.into_error(OP, from, meaning)
}

impl fmt::Debug for Sts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sts").field("url", &self.url).finish_non_exhaustive()
    }
}

/// `1h30m`, `900s`, `15m`, or seconds alone; what the service allows.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let total = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let mut total: u64 = 0;
            for part in text.split_inclusive(['h', 'm', 's']) {
                let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
                let factor = match unit {
                    "h" => 3600,
                    "m" => 60,
                    "s" => 1,
                    _ => return None,
                };
                total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
            }
            total
        }
    };
    (900..=43_200).contains(&total).then_some(total)
}
