//! The backend `http`: states at servers of Terraform's HTTP protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::Origin;
use groundstate_statemgr::WorkspaceName;
use groundstate_statemgr_http::http_client::parse_size;
use groundstate_statemgr_http::http_client::url::Url;
use groundstate_statemgr_http::{HttpBackend, HttpConfig, OptionError};
use serde_json::Value;

use crate::error::BackendsError;
use crate::registry::{Context, Factory, Opened};
use crate::settings::Settings;
use crate::url::PlaceUrl;
use crate::workdir::{Purpose, Variables};

/// The options, and the variables that stand in for them.
const OPTIONS: [(&str, &str); 20] = [
    ("address", "TF_HTTP_ADDRESS"),
    ("update_method", "TF_HTTP_UPDATE_METHOD"),
    ("lock_address", "TF_HTTP_LOCK_ADDRESS"),
    ("lock_method", "TF_HTTP_LOCK_METHOD"),
    ("unlock_address", "TF_HTTP_UNLOCK_ADDRESS"),
    ("unlock_method", "TF_HTTP_UNLOCK_METHOD"),
    ("username", "TF_HTTP_USERNAME"),
    ("password", "TF_HTTP_PASSWORD"),
    ("retry_max", "TF_HTTP_RETRY_MAX"),
    ("retry_wait_min", "TF_HTTP_RETRY_WAIT_MIN"),
    ("retry_wait_max", "TF_HTTP_RETRY_WAIT_MAX"),
    ("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"),
    ("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM"),
    ("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM"),
    ("headers", ""),
    // The products have no variable for it.
    ("skip_cert_verification", "GROUNDSTATE_HTTP_SKIP_CERT_VERIFICATION"),
    // What no product has.
    ("conditional_write", "GROUNDSTATE_HTTP_CONDITIONAL_WRITE"),
    ("allow_plain_http", "GROUNDSTATE_ALLOW_PLAIN_HTTP"),
    ("request_timeout", "GROUNDSTATE_REQUEST_TIMEOUT"),
    ("max_state_size", "GROUNDSTATE_MAX_STATE_SIZE"),
];

/// Options that no `init` can have recorded.
const OWN: [&str; 4] = ["conditional_write", "allow_plain_http", "request_timeout", "max_state_size"];

/// The servers that the credentials of the environment are for, beside those that the user names.
const TRUSTED: &str = "GROUNDSTATE_HTTP_TRUSTED_SERVERS";

/// What says where requests go.
const ADDRESSES: [&str; 3] = ["address", "lock_address", "unlock_address"];

/// Makes backends of the type `http`, with the options of Terraform's and OpenTofu's.
///
/// Addresses are those of the state: `https://state.example.com/network/prod`, with the user before an `@` and options as a query;
/// other parameters of the query stay a part of the address. Without other options the lock is taken and released at the
/// same address, and the environment decides about credentials only. Beside the originals' options there are
/// `conditional_write`, `allow_plain_http`, `request_timeout` and `max_state_size`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpFactory;

impl Factory for HttpFactory {
    fn kind(&self) -> &'static str {
        "http"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.authority().is_empty() {
            return Err(url.wrong("it names no host, write https://HOST/PATH"));
        }
        let is_option = |name: &str| {
            let name = name.split_once('.').map_or(name, |(group, _)| group);
            OPTIONS.iter().any(|(option, _)| *option == name)
        };
        let mut settings = Settings::new(self.kind());
        let mut own = Vec::new();
        for ((name, value), raw) in url.options().iter().zip(url.raw_options()) {
            match is_option(name) {
                true => settings = settings.with_path(name, value.as_str()),
                false => own.push(raw.as_str()),
            }
        }
        if settings.options().contains_key("address") {
            return Err(url.wrong("it is the address itself, leave out the option `address`"));
        }
        let mut address = url.raw_place().to_owned();
        if !own.is_empty() {
            address = format!("{address}?{}", own.join("&"));
        }
        if let Some(user) = url.user() {
            settings = settings.with("username", user);
        }
        // What the environment says of verbs and addresses is about another state.
        let defaults = [
            ("lock_address", address.as_str()),
            ("unlock_address", address.as_str()),
            ("update_method", "POST"),
            ("lock_method", "LOCK"),
            ("unlock_method", "UNLOCK"),
        ];
        for (name, default) in defaults {
            if !settings.options().contains_key(name) {
                settings = settings.with(name, default);
            }
        }
        Ok((settings.with("address", address), None))
    }

    fn open(&self, settings: &Settings, context: &Context) -> Result<Opened, BackendsError> {
        settings.only_from_user(&OWN)?;
        settings.only(&OPTIONS.map(|(name, _)| name))?;
        let given = Given { settings, variables: &context.variables };
        let config = config(&given)?;
        let wrong = |error: OptionError| settings.wrong(error.option, error.why);
        let backend = HttpBackend::open(
            &config,
            Arc::clone(&context.clock),
            Arc::clone(&context.sleeper),
            Arc::clone(&context.ids),
        )
        .map_err(wrong)?;
        check_trust(&given, &config)?;
        let mut warnings = backend.warnings().to_vec();
        if !backend.has_lock() && context.purpose == Purpose::Change {
            warnings.push(format!(
                "{backend} has no lock_address, so changes are not kept apart from those of other clients"
            ));
        }
        Ok(Opened::new(Arc::new(backend)).warnings(&warnings))
    }
}

/// The options that are given, by settings or by the environment.
struct Given<'a> {
    settings: &'a Settings,
    variables: &'a Variables,
}

impl Given<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        let (_, variable) = OPTIONS.iter().find(|(option, _)| *option == name)?;
        self.variables.get(variable)
    }

    /// An option as a text, and where it comes from. An empty one is not given, and no variable stands in for it.
    fn text(&self, name: &str) -> Result<Option<(String, Origin)>, BackendsError> {
        let variable = self.variable(name);
        let text = match self.settings.options().get(name) {
            None => return Ok(variable.map(|text| (text.to_owned(), Origin::Environment))),
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            Some(_) => return Err(self.settings.wrong(name, "it has to be a text")),
        };
        let origin = self.settings.origin(name);
        // What the user says too is the user's.
        let origin = if variable == Some(&text) { origin.max(Origin::Environment) } else { origin };
        Ok((!text.is_empty()).then_some((text, origin)))
    }

    fn plain(&self, name: &str) -> Result<Option<String>, BackendsError> {
        Ok(self.text(name)?.map(|(text, _)| text))
    }

    fn flag(&self, name: &str) -> Result<bool, BackendsError> {
        match self.plain(name)?.as_deref() {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(self.settings.wrong(name, "it has to be true or false")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u32>, BackendsError> {
        let number =
            |text: String| text.parse().map_err(|_| self.settings.wrong(name, "it has to be a number"));
        self.plain(name)?.map(number).transpose()
    }

    fn seconds(&self, name: &str) -> Result<Option<Duration>, BackendsError> {
        Ok(self.number(name)?.map(|seconds| Duration::from_secs(seconds.into())))
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, BackendsError> {
        let wrong = || self.settings.wrong("headers", "it has to be a map of texts");
        match self.settings.options().get("headers") {
            None => Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| Ok((name.clone(), value.as_str().ok_or_else(wrong)?.to_owned())))
                .collect(),
            Some(_) => Err(wrong()),
        }
    }

    /// Whether the user, and not a directory, says what an option has.
    fn is_users(&self, name: &str) -> Result<bool, BackendsError> {
        Ok(self.text(name)?.is_some_and(|(_, origin)| origin.is_user()))
    }
}

fn config(given: &Given<'_>) -> Result<HttpConfig, BackendsError> {
    let address = given.plain("address")?.ok_or_else(|| {
        given.settings.wrong("address", "it has to be given, by the option or the variable TF_HTTP_ADDRESS")
    })?;
    let mut config = HttpConfig::new(address);
    config.update_method = given.plain("update_method")?;
    config.lock_address = given.plain("lock_address")?;
    config.lock_method = given.plain("lock_method")?;
    config.unlock_address = given.plain("unlock_address")?;
    config.unlock_method = given.plain("unlock_method")?;
    config.username = given.plain("username")?;
    config.password = given.plain("password")?;
    config.headers = given.headers()?;
    config.skip_cert_verification = given.flag("skip_cert_verification")?;
    config.client_ca_certificate_pem = given.plain("client_ca_certificate_pem")?;
    config.client_certificate_pem = given.plain("client_certificate_pem")?;
    config.client_private_key_pem = given.plain("client_private_key_pem")?;
    config.retry_max = given.number("retry_max")?.unwrap_or(config.retry_max);
    config.retry_wait_min = given.seconds("retry_wait_min")?.unwrap_or(config.retry_wait_min);
    config.retry_wait_max = given.seconds("retry_wait_max")?.unwrap_or(config.retry_wait_max);
    config.conditional_write = given.flag("conditional_write")?;
    config.allow_plain_http = given.flag("allow_plain_http")?;
    if let Some(timeout) = given.seconds("request_timeout")? {
        if timeout.is_zero() {
            return Err(given.settings.wrong("request_timeout", "it has to be a number of seconds above 0"));
        }
        config.request_timeout = timeout;
    }
    if let Some(text) = given.plain("max_state_size")? {
        config.max_state_size = parse_size(&text)
            .ok_or_else(|| given.settings.wrong("max_state_size", "write it as 500MiB, 2GiB or in bytes"))?;
    }
    Ok(config)
}

/// Refuses to send the user's credentials to a server that only a directory names, or over a connection that only a directory
/// trusts: both can be used again by whatever receives them.
fn check_trust(given: &Given<'_>, config: &HttpConfig) -> Result<(), BackendsError> {
    // Without a user nothing is sent, and what a directory holds itself is its own.
    if config.username.is_none() || !(given.is_users("username")? || given.is_users("password")?) {
        return Ok(());
    }
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin().ascii_serialization());
    let mut trusted: BTreeSet<String> = BTreeSet::new();
    for name in ADDRESSES {
        let users = given.text(name)?.filter(|(_, origin)| origin.is_user());
        trusted.extend(users.and_then(|(text, _)| origin(&text)));
    }
    let listed = given.variables.get(TRUSTED).unwrap_or_default();
    trusted.extend(listed.split(',').filter_map(|text| origin(text.trim())));
    for name in ADDRESSES {
        let Some((text, from)) = given.text(name)? else { continue };
        if from.is_user() || origin(&text).is_some_and(|origin| trusted.contains(&origin)) {
            continue;
        }
        let server = origin(&text).unwrap_or_default();
        let why = format!(
            "a directory does not decide that the credentials of the environment go to {server}; if you trust it, list {server} \
             in {TRUSTED}"
        );
        return Err(given.settings.wrong(name, why));
    }
    for (name, variable) in [
        ("skip_cert_verification", "GROUNDSTATE_HTTP_SKIP_CERT_VERIFICATION"),
        ("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"),
    ] {
        let by_directory = given.text(name)?.filter(|(_, from)| !from.is_user());
        if by_directory.is_some_and(|(text, _)| text != "false") {
            let why = format!(
                "a directory does not decide which servers are trusted with the credentials of the environment; set {variable} \
                 to the same"
            );
            return Err(given.settings.wrong(name, why));
        }
    }
    Ok(())
}
