//! Which source credentials come from: the order of the SDK for Go, with which Terraform and OpenTofu are built.

use std::path::Path;
use std::sync::Arc;

use groundstate_blobs::{Context, Error, ErrorKind, Op, Result};
use groundstate_common::{Clock, Origin};
use object_store::aws::AwsCredential;

use super::container::Container;
use super::imds::Machine;
use super::process::Process;
use super::role::AssumedRole;
use super::sso::Sso;
use super::sts::{Limits, Sts};
use super::web_identity::{Token, WebIdentity};
use super::{Accounts, Credentials, Keys, NO_CREDENTIALS};
use crate::cloud::{Wire, only_to_own, token};
use crate::s3::OWN_DOMAINS;
use crate::s3::address::ServiceAddress;
use crate::s3::profile::{Profile, SharedConfig, only_regular};
use crate::settings::Values;

/// Chains of profiles that are longer than this do not end.
const LONGEST_CHAIN: usize = 16;

/// Credentials by the options, the variables and the profile; then of the role, if one is to be assumed.
pub(in crate::s3) fn provider(
    values: &Values,
    config: &SharedConfig,
    place: &ServiceAddress,
    wire: &Wire,
    context: &Context,
) -> Result<Credentials> {
    let sts = Sts::new(values, place, wire);
    let chain = Chain { values, config, sts: &sts, wire, clock: &context.clock, sso: place.sso.as_deref() };
    let mut credentials = chain.base()?;
    if values.text("assume_role.role_arn").is_some() {
        let role = AssumedRole::of_options(values, credentials, sts.clone())?;
        credentials = Credentials::new(role, &context.clock);
    }
    Ok(credentials.in_accounts(Accounts::of(values, &sts)?))
}

struct Chain<'a> {
    values: &'a Values,
    config: &'a SharedConfig,
    sts: &'a Sts,
    wire: &'a Wire,
    clock: &'a Arc<dyn Clock>,
    sso: Option<&'a str>,
}

impl Chain<'_> {
    fn base(&self) -> Result<Credentials> {
        let is_option = |name| self.values.is_option(name);
        // The block for it counts before all other credentials.
        if is_option("web_identity_role_arn") {
            return self.web_identity();
        }
        if is_option("access_key") || is_option("secret_key") {
            return self.keys();
        }
        if is_option("profile") {
            return self.profile(&self.config.selected(), 0);
        }
        if self.values.text("access_key").is_some() || self.values.text("secret_key").is_some() {
            return self.keys();
        }
        let has_token = self.values.text("web_identity_token_file").is_some()
            || self.values.text("web_identity_token").is_some();
        if has_token && self.values.text("web_identity_role_arn").is_some() {
            return self.web_identity();
        }
        self.profile(&self.config.selected(), 0)
    }

    /// Refuses an address that only a directory names for what shows itself there.
    fn only_to_own(&self, option: &'static str, secret: &str, variable: &str) -> Result<()> {
        only_to_own(self.values, option, OWN_DOMAINS, secret, variable)
    }

    fn of(&self, source: impl super::Source) -> Credentials {
        Credentials::new(source, self.clock)
    }

    fn keys(&self) -> Result<Credentials> {
        // The signer puts them into headers.
        let checked = |name| {
            let text = token(self.values.needed(name)?).map_err(|why| self.values.invalid(name, why))?;
            Ok::<_, Error>(text.to_owned())
        };
        let session = self.values.text("token").map(|_| checked("token")).transpose()?;
        let (key_id, secret_key) = (checked("access_key")?, checked("secret_key")?);
        Ok(self.of(Keys(AwsCredential { key_id, secret_key, token: session })))
    }

    fn web_identity(&self) -> Result<Credentials> {
        const FILE: &str = "web_identity_token_file";
        let role = self.values.needed("web_identity_role_arn")?;
        let file = self.values.text("web_identity_token_file");
        let token = match (file, self.values.text("web_identity_token")) {
            (Some(_), Some(_))
                if self.values.is_option("web_identity_token")
                    && self.values.is_option("web_identity_token_file") =>
            {
                let why = "`web_identity_token` is set too, and one excludes the other";
                return Err(self.values.invalid("web_identity_token_file", why));
            }
            (Some(_), Some(text)) if self.values.is_option("web_identity_token") => {
                Token::Text(text.to_owned())
            }
            (Some(path), _) => {
                let is_users = self.values.origin(FILE).is_some_and(Origin::is_user);
                if !is_users {
                    let wrong = |error| self.values.invalid(FILE, "it cannot be read").with_source(error);
                    only_regular(Path::new(path)).map_err(wrong)?;
                }
                Token::File(path.to_owned())
            }
            (None, Some(text)) => Token::Text(text.to_owned()),
            (None, None) => {
                let why = "there is a role and no token for it";
                return Err(self.values.invalid("web_identity_token_file", why));
            }
        };
        self.only_to_own("endpoints.sts", "the web identity token", "AWS_ENDPOINT_URL_STS")?;
        let session = self.values.text("web_identity_session_name");
        let limits = Limits {
            duration: "assume_role_with_web_identity.duration",
            policy: "assume_role_with_web_identity.policy",
            policy_arns: "assume_role_with_web_identity.policy_arns",
        };
        let source = WebIdentity::new(self.sts.clone(), role, session, token);
        Ok(self.of(source.form(|form| form.limits(self.values, limits))?))
    }

    /// What a profile gives, and then its role.
    fn profile(&self, profile: &Profile, depth: usize) -> Result<Credentials> {
        if depth > LONGEST_CHAIN {
            return Err(profile.wrong("`source_profile` leads in a circle"));
        }
        if profile.text("login_session").is_some() {
            let error =
                Error::new(ErrorKind::Unsupported, Op::Use, format_args!("the profile {:?}", profile.name));
            return Err(error.because("`login_session` is not supported").next_step(profile.export_hint()));
        }
        let role = profile.text("role_arn");
        let base = match (profile.text("source_profile"), profile.text("credential_source")) {
            (Some(_), Some(_)) => {
                return Err(profile
                    .wrong("it has `source_profile` and `credential_source`, and one excludes the other"));
            }
            (Some(source), None) if role.is_some() => self.source_profile(profile, source, depth)?,
            (None, Some(source)) if role.is_some() => self.credential_source(profile, source)?,
            _ => {
                if let Some(path) = profile.text("web_identity_token_file") {
                    self.only_to_own("endpoints.sts", "the web identity token", "AWS_ENDPOINT_URL_STS")?;
                    let session = profile.text("role_session_name");
                    let token = Token::File(path.to_owned());
                    let role = profile.needed("role_arn")?;
                    return Ok(self.of(WebIdentity::new(self.sts.clone(), role, session, token)));
                }
                self.own(profile)?
            }
        };
        match role {
            Some(_) => Ok(self.of(AssumedRole::of_profile(profile, base, self.sts.clone())?)),
            None => Ok(base),
        }
    }

    fn source_profile(&self, profile: &Profile, source: &str, depth: usize) -> Result<Credentials> {
        // One that names itself means its own keys.
        if source == profile.name {
            return self.own(profile);
        }
        let missing =
            || profile.wrong(format!("there is no profile {source:?}, which is its `source_profile`"));
        self.profile(self.config.get(source).ok_or_else(missing)?, depth + 1)
    }

    fn credential_source(&self, profile: &Profile, source: &str) -> Result<Credentials> {
        match source {
            "Environment" => self.keys(),
            "Ec2InstanceMetadata" => self.machine(),
            "EcsContainer" => {
                let missing =
                    || profile.wrong("`credential_source` is EcsContainer, and no variable says where it is");
                Ok(self.of(Container::of(self.values, self.wire)?.ok_or_else(missing)?))
            }
            _ => Err(profile
                .wrong("`credential_source` is none of Environment, Ec2InstanceMetadata and EcsContainer")),
        }
    }

    /// What a profile has without another one, and otherwise what AWS gives to what runs on it.
    fn own(&self, profile: &Profile) -> Result<Credentials> {
        if let Some(keys) = profile.keys()? {
            return Ok(self.of(Keys(keys)));
        }
        if profile.text("sso_session").is_some() || profile.text("sso_start_url").is_some() {
            self.only_to_own("endpoints.sso", "the token of the login", "AWS_ENDPOINT_URL_SSO")?;
            let home = self.values.text("home");
            let wire = self.wire.with_hint(self.values.unreachable_hint("endpoints.sso"));
            return Ok(self.of(Sso::of(profile, self.config, home, self.sso, wire, self.clock)?));
        }
        if let Some(command) = profile.process()? {
            return Ok(self.of(Process::new(&profile.name, command)));
        }
        match Container::of(self.values, self.wire)? {
            Some(container) => Ok(self.of(container)),
            None => self.machine(),
        }
    }

    fn machine(&self) -> Result<Credentials> {
        let is_off = self.values.text("skip_metadata_api_check");
        if is_off.is_some_and(|text| text.eq_ignore_ascii_case("true") || text == "1") {
            let why = "there are no credentials, and the metadata of the machine is not to be asked";
            return Err(self.values.no_credentials("access_key", why).next_step(NO_CREDENTIALS));
        }
        Ok(self.of(Machine::of(self.values, self.wire)?))
    }
}
