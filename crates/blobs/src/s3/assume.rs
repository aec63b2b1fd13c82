//! Credentials of a role that is assumed with other credentials.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, Timestamp};
use http::Method;
use object_store::aws::{AwsAuthorizer, AwsCredential, AwsCredentialProvider};
use object_store::client::CredentialProvider;
use serde::Deserialize;

use super::S3Settings;
use super::place::Place;
use crate::cloud::{Effect, Failure, Request, Wire, query};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};

/// Credentials are renewed so long before they end.
const MARGIN: Duration = Duration::from_secs(300);

pub(super) struct AssumedRole {
    base: AwsCredentialProvider,
    wire: Wire,
    url: String,
    region: String,
    form: String,
    role: String,
    clock: Arc<dyn Clock>,
    cached: Mutex<Option<(Arc<AwsCredential>, Timestamp)>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    assume_role_result: Outcome,
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

impl AssumedRole {
    pub(super) fn new(
        settings: &S3Settings,
        base: AwsCredentialProvider,
        place: &Place,
        wire: &Wire,
        context: &Context,
    ) -> Result<Self> {
        let values = &settings.0;
        let role = values.needed("assume_role.role_arn")?;
        let duration = values.text("assume_role.duration").map(|text| {
            seconds(text)
                .ok_or_else(|| values.invalid("assume_role.duration", "it is not a duration such as 1h30m"))
        });
        let duration = duration.transpose()?.map(|seconds| seconds.to_string());
        let session = values.text("assume_role.session_name").unwrap_or("groundstate");
        let mut pairs = vec![
            ("Action", "AssumeRole"),
            ("RoleArn", role),
            ("RoleSessionName", session),
            ("Version", "2011-06-15"),
        ];
        let more = [
            ("ExternalId", values.text("assume_role.external_id")),
            ("Policy", values.text("assume_role.policy")),
            ("SourceIdentity", values.text("assume_role.source_identity")),
            ("DurationSeconds", duration.as_deref()),
        ];
        pairs.extend(more.into_iter().filter_map(|(name, value)| Some((name, value?))));
        Ok(Self {
            base,
            wire: wire.clone(),
            url: format!("{}/", place.sts),
            region: values.text("sts_region").unwrap_or(&place.region).to_owned(),
            form: query(&pairs),
            role: role.to_owned(),
            clock: Arc::clone(&context.clock),
            cached: Mutex::default(),
        })
    }

    fn cached(&self) -> Option<Arc<AwsCredential>> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (credential, expires) = cached.as_ref()?;
        let soon = self.clock.now().checked_add(MARGIN)?;
        (soon < *expires).then(|| Arc::clone(credential))
    }

    async fn fetch(&self) -> Result<(Arc<AwsCredential>, Timestamp)> {
        let place = &self.role;
        let failed = |kind| Error::new(kind, "assume", place);
        let base = self.base.get_credential().await;
        let base = base.map_err(|error| failed(ErrorKind::Unauthenticated).with_source(error))?;
        let request = Request::new(Method::POST, self.url.clone())
            .header("content-type", "application/x-www-form-urlencoded")?
            .body(self.form.clone().into());
        let mut request = request.build()?;
        AwsAuthorizer::new(&base, "sts", &self.region)
            .try_authorize(&mut request, None)
            .map_err(|error| failed(ErrorKind::Internal).with_source(error))?;
        let reply = self.wire.send("assume", place, request, Effect::Read).await?;
        if !reply.is_success() {
            let failure = Failure::of(&reply);
            let meaning = failure.general(Effect::Read);
            return Err(failure
                .into_error("assume", place, meaning)
                .next_step("check `assume_role` and who may assume the role"));
        }
        let text = String::from_utf8_lossy(&reply.body);
        let answer: Answer =
            quick_xml::de::from_str(&text).map_err(|error| failed(ErrorKind::Internal).with_source(error))?;
        let keys = answer.assume_role_result.credentials;
        let expires = Timestamp::parse(&keys.expiration)
            .map_err(|error| failed(ErrorKind::Internal).with_source(error))?;
        let credential = AwsCredential {
            key_id: keys.access_key_id,
            secret_key: keys.secret_access_key,
            token: Some(keys.session_token),
        };
        Ok((Arc::new(credential), expires))
    }
}

impl fmt::Debug for AssumedRole {
    /// Shows the role only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssumedRole").field("role", &self.role).finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialProvider for AssumedRole {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        if let Some(credential) = self.cached() {
            return Ok(credential);
        }
        let fresh = self.fetch().await;
        let fresh =
            fresh.map_err(|error| object_store::Error::Generic { store: "S3", source: error.into() })?;
        let credential = Arc::clone(&fresh.0);
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        Ok(credential)
    }
}

/// `1h30m`, `900s`, `15m`.
fn seconds(text: &str) -> Option<u64> {
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
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, expected) in
            [("1h30m", Some(5400)), ("900s", Some(900)), ("15m", Some(900)), ("15", None), ("xm", None)]
        {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
