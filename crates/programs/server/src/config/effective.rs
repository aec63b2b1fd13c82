//! What the values of options come to: the configuration that a server runs with.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use groundstate_common::shell_word;
use groundstate_versioned::Retention;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;

use super::buckets::{self, BucketSettings};
use super::error::{ConfigError, Origin, Problem};
use super::layers::{Given, Layers};
use super::network::Network;
use super::options::OPTIONS;
use super::public_url::PublicUrl;
use super::store::StorePlace;
use super::value::Value;
use crate::auth::{Anonymous, AuthSettings};
use crate::edge::EdgeLimits;
use crate::encryption::EncryptionMode;
use crate::{Limits, MaintenanceOptions, Policies};

/// Whether clients need a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientCertificates {
    /// A client without one is refused.
    Required,
    /// A client may have one.
    Optional,
}

/// The files that TLS needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// The certificate and those above it.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities of the certificates of clients, and whether clients need one.
    pub client_ca: Option<(PathBuf, ClientCertificates)>,
}

/// Where metrics are, if they have a listener of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricsListener {
    /// The address.
    pub address: SocketAddr,
}

/// A configuration that is valid. [`Display`](fmt::Display) is a file that says the same, with where each value comes from and
/// without secrets. `Debug` shows no secrets either.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where everything is kept.
    pub store: StorePlace,
    /// The addresses to listen on; at least one.
    pub listen: Vec<SocketAddr>,
    /// The URL that clients use, if it is not that of a listener.
    pub public_url: Option<PublicUrl>,
    /// The files of TLS; without them the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// The reverse proxies that are believed.
    pub trusted_proxies: Vec<Network>,
    /// What connections may cost.
    pub limits: EdgeLimits,
    /// What one request may cost.
    pub requests: Limits,
    /// What is refused.
    pub policies: Policies,
    /// How clients say who they are.
    pub auth: AuthSettings,
    /// Which versions are kept.
    pub maintenance: MaintenanceOptions,
    /// Where metrics are, if not at the listeners.
    pub metrics: Option<MetricsListener>,
    /// The URL of the key of a key service that encrypts the keys of the secrets of Pulumi stacks.
    pub secrets_key: Option<String>,
    /// The file with the key of the secrets of Pulumi stacks.
    pub secrets_key_file: Option<PathBuf>,
    /// File in which the server makes a key if none is configured and its store is a directory. `None` for a file in that directory.
    pub made_key_file: Option<PathBuf>,
    /// Encryption of what is stored.
    pub encryption: EncryptionMode,
    /// Names of keys for secrets of stacks that are lost for good.
    pub lost_secrets_keys: BTreeSet<String>,
    /// The buckets of the Pulumi CLI whose stacks are served.
    pub buckets: Vec<BucketSettings>,
    /// Addresses other than the loopback may go without TLS.
    pub insecure_plain_http: bool,
    /// Addresses other than the loopback may go without authentication.
    pub insecure_no_authentication: bool,
    layers: Layers,
}

/// Reads values one by one, and remembers everything that is wrong.
struct Reader<'a> {
    layers: &'a Layers,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn given(&self, name: &'static str) -> Option<Given> {
        self.layers.get(name)
    }

    fn switch(&self, name: &'static str) -> bool {
        matches!(self.given(name), Some(Given { value: Value::Switch(true), .. }))
    }

    /// A number, or a number of bytes; none where it is off.
    fn amount(&self, name: &'static str) -> Option<u64> {
        match self.given(name)?.value {
            Value::Count(amount) | Value::Size(amount) => Some(amount),
            _ => None,
        }
    }

    fn count(&self, name: &'static str) -> usize {
        self.amount(name).and_then(|amount| usize::try_from(amount).ok()).unwrap_or(usize::MAX)
    }

    fn time(&self, name: &'static str) -> Option<Duration> {
        match self.given(name)?.value {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }

    fn text(&self, name: &'static str) -> Option<(String, Origin)> {
        match self.given(name)? {
            Given { value: Value::Text(text), origin } => Some((text, origin)),
            _ => None,
        }
    }

    fn path(&self, name: &'static str) -> Option<(PathBuf, Origin)> {
        self.text(name).map(|(text, origin)| (text.into(), origin))
    }

    /// A word that is a variant of an enumeration.
    fn word<'de, T: Deserialize<'de>>(&mut self, name: &'static str, default: T) -> T {
        let Some((text, origin)) = self.text(name) else { return default };
        match T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(text)) {
            Ok(value) => value,
            Err(_) => {
                self.problems.push(Problem::new(origin, format!("`{name}` has no such value")));
                default
            }
        }
    }

    /// A text that is parsed.
    fn parsed<T: std::str::FromStr>(&mut self, name: &'static str, what: &str) -> Option<T> {
        let (text, origin) = self.text(name)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.problems.push(Problem::new(origin, format!("`{name}` is not {what}")));
        }
        parsed
    }

    /// A list of texts that are parsed.
    fn list<T: std::str::FromStr>(&mut self, name: &'static str, what: &str) -> (Vec<T>, Origin) {
        let Some(Given { value: Value::List(parts), origin }) = self.given(name) else {
            return (Vec::new(), Origin::Default);
        };
        let mut list = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            match part.parse() {
                Ok(value) => list.push(value),
                Err(_) => {
                    let number = number + 1;
                    let message = format!("entry {number} of `{name}` is not {what}");
                    self.problems.push(Problem::new(origin.clone(), message));
                }
            }
        }
        (list, origin)
    }
}

const ADDRESS: &str = "an IP address and a port, such as 127.0.0.1:4778 or [::1]:4778";

impl Config {
    pub(super) fn of(
        layers: &Layers,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut reader = Reader { layers, problems: Vec::new() };
        let store = store(&mut reader, variable);
        let (mut listen, origin) = reader.list::<SocketAddr>("listen", ADDRESS);
        if listen.is_empty() && reader.problems.is_empty() {
            reader.problems.push(Problem::new(origin, "`listen` names no address"));
        }
        listen.dedup();
        let config = Self {
            store: store.unwrap_or(StorePlace::Memory),
            listen,
            public_url: public_url(&mut reader),
            tls: tls(&mut reader),
            trusted_proxies: reader.list("proxy.trusted", "an IP address or a network such as 10.0.0.0/8").0,
            limits: edge_limits(&reader),
            requests: request_limits(&reader),
            policies: policies(&mut reader),
            auth: auth(&mut reader),
            maintenance: maintenance(&reader),
            metrics: metrics(&mut reader),
            secrets_key: reader.text("pulumi.secrets_key").map(|(text, _)| text),
            secrets_key_file: reader.path("pulumi.secrets_key_file").map(|(path, _)| path),
            made_key_file: None,
            encryption: reader.word("store_encryption", EncryptionMode::default()),
            lost_secrets_keys: reader
                .list("pulumi.lost_secrets_keys", "the name of a key")
                .0
                .into_iter()
                .collect(),
            buckets: buckets(&mut reader),
            insecure_plain_http: reader.switch("insecure_plain_http"),
            insecure_no_authentication: reader.switch("insecure_no_authentication"),
            layers: layers.clone(),
        };
        let mut problems = reader.problems;
        problems.extend(config.exposed_plainly());
        ConfigError::check(problems)?;
        Ok(config)
    }

    /// The addresses that other machines reach.
    pub fn open_addresses(&self) -> impl Iterator<Item = &SocketAddr> {
        self.listen.iter().filter(|address| !is_loopback(address.ip()))
    }

    /// An address that other machines reach needs TLS.
    fn exposed_plainly(&self) -> Option<Problem> {
        if self.tls.is_some() || self.insecure_plain_http {
            return None;
        }
        let address = self.open_addresses().next()?;
        let message = format!("{address} can be reached from other machines, and has no TLS");
        let hint = "give `--tls-certificate FILE --tls-key FILE`; listen on 127.0.0.1; or, if only a reverse proxy with TLS \
                    reaches the address, give `--insecure-plain-http`";
        Some(Problem::new(self.origin("listen"), message).hint(hint))
    }

    /// Checks what needs to be known of authentication: an address that other machines reach needs it.
    ///
    /// # Errors
    ///
    /// When there is such an address, and clients are not asked who they are.
    pub fn check_authentication(&self, asks_clients: bool) -> Result<(), ConfigError> {
        if asks_clients || self.insecure_no_authentication {
            return Ok(());
        }
        let Some(address) = self.open_addresses().next() else { return Ok(()) };
        let message =
            format!("{address} can be reached from other machines, and clients are not asked who they are");
        let hint = format!("{}; or listen on 127.0.0.1", self.authentication_hint());
        Err(ConfigError::of(Problem::new(self.origin("listen"), message).hint(hint)))
    }

    /// What makes the server ask clients.
    fn authentication_hint(&self) -> String {
        const CREATE: &str = "groundstate token create NAME --role admin";
        match &self.store {
            // No command reaches the memory of another process.
            StorePlace::Memory => {
                "add an `[[auth.issuer]]` or an `[[auth.certificate]]` to the configuration".to_owned()
            }
            StorePlace::Directory(path) => {
                format!("create a token with `{CREATE} --store {}`", shell_word(&path.to_string_lossy()))
            }
            _ => format!("create a token with `{CREATE}`, and the same `--store` or `--config`"),
        }
    }

    fn origin(&self, name: &'static str) -> Option<Origin> {
        self.layers.get(name).map(|given| given.origin)
    }

    /// The options that differ in another configuration and count only for a server that begins with it.
    pub fn needs_restart(&self, other: &Self) -> Vec<&'static str> {
        let differs = |name| {
            let value = |config: &Self| config.layers.get(name).map(|given| given.value);
            value(self) != value(other)
        };
        OPTIONS
            .iter()
            .filter(|spec| !spec.reloads)
            .map(|spec| spec.name)
            .filter(|name| differs(name))
            .chain((self.buckets != other.buckets).then_some(buckets::NAME))
            .collect()
    }
}

/// Whether only the machine itself reaches an address.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn store(reader: &mut Reader<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Option<StorePlace> {
    let parse = |text: &str, origin: Origin, is_secret: bool| {
        let place = StorePlace::parse(text).map_err(|error| {
            let problem = Problem::new(origin.clone(), format!("`store` names no store: {error}"));
            error.hint().into_iter().fold(problem, Problem::hint)
        })?;
        if !is_secret && place.has_secret() {
            let message = "the URL of the store has a secret, which other users of the machine can see";
            let hint = "write the URL into a file that only the server reads, and name that by `store_file`; or give the \
                        secret in a file or a variable of the service's own";
            return Err(Problem::new(origin, message).hint(hint));
        }
        match &origin {
            Origin::File { path, .. } => Ok(place.below(path.parent().unwrap_or(Path::new("")))),
            _ => Ok(place),
        }
    };
    let place = match (reader.text("store"), reader.path("store_file")) {
        (Some((_, origin)), Some(_)) => {
            Err(Problem::new(origin, "`store` and `store_file` are both set; set only one"))
        }
        (Some((text, origin)), None) => parse(&text, origin, false),
        (None, Some((path, origin))) => secret_line(&path)
            .map_err(|why| {
                Problem::new(
                    origin.clone(),
                    format!("cannot read the `store_file` {}: {why}", path.display()),
                )
            })
            .and_then(|line| parse(&line, Origin::Argument(path.display().to_string()), true)),
        (None, None) => StorePlace::default_of(variable).map_err(|error| {
            let problem = Problem::new(None, error.to_string());
            error.hint().into_iter().fold(problem, Problem::hint)
        }),
    };
    place.map_err(|problem| reader.problems.push(problem)).ok()
}

/// The one line of a file with a secret; a line break at its end is the editor's.
fn secret_line(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        "" => Err("it is empty".to_owned()),
        line if line.chars().any(char::is_control) => Err("it has more than one line".to_owned()),
        line => Ok(line.to_owned()),
    }
}

fn public_url(reader: &mut Reader<'_>) -> Option<PublicUrl> {
    let (text, origin) = reader.text("public_url")?;
    match text.parse() {
        Ok(url) => Some(url),
        Err(error) => {
            reader.problems.push(Problem::new(origin, format!("`public_url` is not valid: {error}")));
            None
        }
    }
}

fn tls(reader: &mut Reader<'_>) -> Option<TlsFiles> {
    let client_ca = reader.path("tls.client_ca");
    let needs = |reader: &mut Reader<'_>, origin: Origin, has: &str, lacks: &str| {
        let message = format!("`{has}` is set, but `{lacks}` is not");
        reader.problems.push(Problem::new(origin, message));
        None
    };
    match (reader.path("tls.certificate"), reader.path("tls.key")) {
        (Some((certificate, _)), Some((key, _))) => {
            let is_optional =
                reader.text("tls.client_certificates").is_some_and(|(text, _)| text == "optional");
            let mode = if is_optional { ClientCertificates::Optional } else { ClientCertificates::Required };
            Some(TlsFiles { certificate, key, client_ca: client_ca.map(|(path, _)| (path, mode)) })
        }
        (Some((_, origin)), None) => needs(reader, origin, "tls.certificate", "tls.key"),
        (None, Some((_, origin))) => needs(reader, origin, "tls.key", "tls.certificate"),
        (None, None) => match client_ca {
            Some((_, origin)) => needs(reader, origin, "tls.client_ca", "tls.certificate"),
            None => None,
        },
    }
}

fn edge_limits(reader: &Reader<'_>) -> EdgeLimits {
    let defaults = EdgeLimits::default();
    let time = |name, default| reader.time(name).unwrap_or(default);
    EdgeLimits {
        header_bytes: reader.count("limits.header_bytes"),
        headers: reader.count("limits.headers"),
        header_timeout: time("limits.header_timeout", defaults.header_timeout),
        idle_timeout: time("limits.idle_timeout", defaults.idle_timeout),
        body_timeout: time("limits.body_timeout", defaults.body_timeout),
        upload_rate: reader.amount("limits.upload_rate"),
        write_timeout: time("limits.write_timeout", defaults.write_timeout),
        request_timeout: time("limits.request_timeout", defaults.request_timeout),
        connections: reader.count("limits.connections"),
        connections_per_address: reader.amount("limits.connections_per_address"),
        requests_per_second: reader.amount("limits.requests_per_second"),
        requests_per_second_of_principal: reader.amount("limits.requests_per_second_of_principal"),
        burst: reader.amount("limits.burst").unwrap_or(defaults.burst),
        shutdown_timeout: time("limits.shutdown_timeout", defaults.shutdown_timeout),
    }
}

fn request_limits(reader: &Reader<'_>) -> Limits {
    let mut limits = Limits::default();
    if let Some(bytes) = reader.amount("limits.state") {
        limits.state_bytes = bytes;
    }
    limits.memory = reader.amount("limits.memory");
    limits
}

fn policies(reader: &mut Reader<'_>) -> Policies {
    let mut policies = Policies::default();
    policies.require_lock = reader.switch("policy.require_lock");
    policies.allow_unlocked_write = reader.switch("policy.allow_unlocked_write");
    policies.accept_stale_id = reader.switch("policy.accept_stale_id");
    policies.force_unlock = reader.word("policy.force_unlock", policies.force_unlock);
    policies.check = reader.word("policy.check", policies.check);
    policies.content = reader.word("policy.content", policies.content);
    policies.lock_ttl = reader.time("policy.lock_ttl");
    policies.pulumi_deltas_from = reader.amount("pulumi.deltas_from");
    policies
}

fn maintenance(reader: &Reader<'_>) -> MaintenanceOptions {
    let mut options = MaintenanceOptions::default();
    let retention = |count: Option<u64>, younger: Option<Duration>| match count.is_some() || younger.is_some()
    {
        true => Retention::Newest { count: count.unwrap_or(1), younger },
        false => Retention::Everything,
    };
    options.retention = retention(reader.amount("retention.versions"), reader.time("retention.age"));
    options.updates = retention(reader.amount("retention.updates"), reader.time("retention.updates_age"));
    options.interval = reader.time("retention.interval").unwrap_or(options.interval);
    options
}

fn auth(reader: &mut Reader<'_>) -> AuthSettings {
    let mut auth = AuthSettings::default();
    let is_open = reader.switch("insecure_no_authentication");
    auth.anonymous =
        if is_open { Anonymous::Everywhere } else { reader.word("auth.anonymous", auth.anonymous) };
    if let Some((identities, origin)) = reader.layers.identities() {
        auth.issuers = identities.issuers.clone();
        auth.certificates = identities.certificates.clone();
        if let Err(error) = auth.check() {
            reader.problems.push(Problem::new(origin.clone(), format!("`auth` is not valid: {error}")));
        }
    }
    auth
}

fn buckets(reader: &mut Reader<'_>) -> Vec<BucketSettings> {
    let Some((tables, origin)) = reader.layers.buckets() else { return Vec::new() };
    match buckets::settings(tables, secret_line) {
        Ok(settings) => settings,
        Err(why) => {
            reader.problems.push(Problem::new(origin.clone(), why));
            Vec::new()
        }
    }
}

fn metrics(reader: &mut Reader<'_>) -> Option<MetricsListener> {
    let address: SocketAddr = reader.parsed("metrics.listen", ADDRESS)?;
    if !is_loopback(address.ip()) && !reader.switch("metrics.insecure_public") {
        let origin = reader.given("metrics.listen").map(|given| given.origin);
        let message = format!(
            "{address}, where metrics are read without authentication, can be reached from other machines"
        );
        let hint = "use an address of the loopback; or, if a firewall protects it, set `metrics.insecure_public = true`";
        reader.problems.push(Problem::new(origin, message).hint(hint));
    }
    Some(MetricsListener { address })
}

impl fmt::Debug for Config {
    /// Without the URL of a key and the texts that options were given, which may have a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("store", &self.store)
            .field("listen", &self.listen)
            .field("public_url", &self.public_url)
            .field("tls", &self.tls)
            .field("trusted_proxies", &self.trusted_proxies)
            .field("limits", &self.limits)
            .field("requests", &self.requests)
            .field("policies", &self.policies)
            .field("auth", &self.auth)
            .field("maintenance", &self.maintenance)
            .field("metrics", &self.metrics)
            .field("has_secrets_key", &self.secrets_key.is_some())
            .field("secrets_key_file", &self.secrets_key_file)
            .field("encryption", &self.encryption)
            .field("lost_secrets_keys", &self.lost_secrets_keys)
            .field("buckets", &self.buckets)
            .field("insecure_plain_http", &self.insecure_plain_http)
            .field("insecure_no_authentication", &self.insecure_no_authentication)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = "";
        for spec in OPTIONS {
            let (section, key) = spec.name.split_once('.').unwrap_or(("", spec.name));
            if section != table {
                table = section;
                writeln!(f, "\n[{table}]")?;
            }
            let given = self.layers.get(spec.name);
            match (spec.name, given) {
                ("store", given) => {
                    let origin = given.map_or(Origin::Default, |given| given.origin);
                    let value = Value::Text(self.store.to_string());
                    writeln!(f, "store = {} # {origin}", value.to_toml())?;
                }
                (_, Some(Given { value, origin })) => writeln!(f, "{key} = {} # {origin}", value.to_toml())?,
                (_, None) => writeln!(f, "# {key} is not set")?,
            }
        }
        for BucketSettings { organization, url } in &self.buckets {
            let [organization, url] =
                [organization.clone(), url.to_string()].map(|text| Value::Text(text).to_toml());
            writeln!(f, "\n[[{}]]\norganization = {organization}\nurl = {url}", buckets::NAME)?;
        }
        Ok(())
    }
}

/// The loopback and the port that the server listens on unless it is told otherwise.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4778);
