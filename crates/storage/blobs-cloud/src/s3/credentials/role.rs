//! Credentials of a role that is assumed with other credentials.

use async_trait::async_trait;
use groundstate_blobs::Result;

use super::sts::{Form, Limits, Sts, items};
use super::{Credentials, Fetched, Source};
use crate::s3::profile::Profile;
use crate::settings::Values;

/// What sessions are called that have no name.
const SESSION: &str = "groundstate";

#[derive(Debug)]
pub(super) struct AssumedRole {
    base: Credentials,
    sts: Sts,
    form: Form,
    from: String,
}

impl AssumedRole {
    /// The role of the options `assume_role`.
    pub(super) fn of_options(values: &Values, base: Credentials, sts: Sts) -> Result<Self> {
        let role = values.needed("assume_role.role_arn")?;
        let limits = Limits {
            duration: "assume_role.duration",
            policy: "assume_role.policy",
            policy_arns: "assume_role.policy_arns",
        };
        let mut form = Form::new("AssumeRole")
            .with("RoleArn", role)
            .with("RoleSessionName", values.text("assume_role.session_name").unwrap_or(SESSION))
            .maybe("ExternalId", values.text("assume_role.external_id"))
            .maybe("SourceIdentity", values.text("assume_role.source_identity"))
            .limits(values, limits)?;
        for (number, (name, value)) in (1..).zip(values.map("assume_role.tags")) {
            form = form
                .with(format!("Tags.member.{number}.Key"), name)
                .with(format!("Tags.member.{number}.Value"), value);
        }
        let form = form.list("TransitiveTagKeys", "", items(values.text("assume_role.transitive_tag_keys")));
        Ok(Self { base, sts, form, from: format!("credentials of the role {role}") })
    }

    /// The role of a profile.
    pub(super) fn of_profile(profile: &Profile, base: Credentials, sts: Sts) -> Result<Self> {
        let role = profile.needed("role_arn")?;
        if profile.text("mfa_serial").is_some() {
            let error = profile.wrong("it has `mfa_serial`, and nothing here asks for a code");
            return Err(error.next_step(profile.export_hint()));
        }
        let duration = profile.text("duration_seconds").map(|text| {
            let seconds = super::sts::seconds(text);
            let wrong = || profile.wrong("`duration_seconds` is not a number from 900 to 43200");
            seconds.map(|seconds| seconds.to_string()).ok_or_else(wrong)
        });
        let form = Form::new("AssumeRole")
            .with("RoleArn", role)
            .with("RoleSessionName", profile.text("role_session_name").unwrap_or(SESSION))
            .maybe("ExternalId", profile.text("external_id"))
            .maybe("DurationSeconds", duration.transpose()?.as_deref());
        Ok(Self { base, sts, form, from: format!("credentials of the role {role}") })
    }
}

#[async_trait]
impl Source for AssumedRole {
    fn kind(&self) -> &'static str {
        "an assumed role"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let base = self.base.get().await?;
        self.sts.role(&self.from, &self.form, Some(&base)).await
    }
}

impl std::fmt::Debug for Form {
    /// Shows nothing: forms may have tokens in them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Form")
    }
}
