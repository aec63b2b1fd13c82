//! The URL of a secrets provider: `awskms://`, `azurekeyvault://`, `gcpkms://`, `hashivault://`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use groundstate_common::{one_line, shortened};
use thiserror::Error;

use crate::query::{Query, decode, flag};

/// Why a URL of a secrets provider cannot be used. The texts begin with those of Pulumi, which users search for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the secrets provider {url}: {why}")]
pub struct KeyUrlError {
    url: String,
    why: String,
}

/// The URL of a secrets provider, read.
///
/// ```
/// use groundstate_pulumi_backends::KeyUrl;
///
/// let url = KeyUrl::parse("awskms:///arn:aws:kms:eu-west-1:1:alias/x?region=eu-west-1")?;
/// assert_eq!(url.key(), "arn:aws:kms:eu-west-1:1:alias/x");
/// assert!(KeyUrl::parse("awskms://arn:aws:kms:eu-west-1:1:alias/x").unwrap_err().to_string().contains("awskms:///arn:"));
/// # Ok::<(), groundstate_pulumi_backends::KeyUrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUrl {
    pub(super) kind: Kind,
    pub(super) key: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Aws {
        /// Names and values of the options that the parameters stand for, in a fixed order.
        options: Vec<(&'static str, String)>,
        context: BTreeMap<String, String>,
    },
    Azure {
        vault: String,
        version: Option<String>,
        algorithm: Option<String>,
    },
    Gcp {
        associated_data: Vec<u8>,
    },
    Vault {
        mount: Option<String>,
    },
}

/// The schemes, as Pulumi lists them.
const SCHEMES: [&str; 4] = ["awskms", "azurekeyvault", "gcpkms", "hashivault"];

/// How the hosts of vaults end.
const AZURE: [&str; 5] = [
    ".vault.azure.net",
    ".vault.azure.cn",
    ".vault.usgovcloudapi.net",
    ".managedhsm.azure.net",
    ".managedhsm.usgovcloudapi.net",
];

/// The parts of a URL, and what is wrong about it.
struct Parts<'t> {
    text: &'t str,
    host: String,
    path: String,
    query: Query,
}

impl KeyUrl {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// For schemes, parameters and values that are not known.
    pub fn parse(text: &str) -> Result<Self, KeyUrlError> {
        let wrong = |why: String| KeyUrlError { url: shown(text), why };
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        if !SCHEMES.contains(&scheme) {
            let scheme = one_line(&shortened(scheme, 40)).into_owned();
            let known = SCHEMES.join(",");
            return Err(wrong(format!(
                "unknown secrets provider type '{scheme}' (supported values: default,passphrase,{known})"
            )));
        }
        let rest = rest.strip_prefix("//").ok_or_else(|| wrong(format!("write it as {scheme}://KEY")))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match place.find('/') {
            Some(slash) => place.split_at(slash),
            None => (place, ""),
        };
        let unreadable = || wrong("a `%` in it is not followed by two hexadecimal digits".to_owned());
        let query = Query::parse(query).ok_or_else(unreadable)?;
        let path = decode(path).ok_or_else(unreadable)?;
        let parts = Parts { text, host: host.to_owned(), path, query };
        match scheme {
            "awskms" => parts.aws(),
            "azurekeyvault" => parts.azure(),
            "gcpkms" => parts.gcp(),
            _ => parts.vault(),
        }
    }

    /// The key in the service.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether wrapped keys have the inner text of Azure's.
    pub(super) fn is_azure(&self) -> bool {
        matches!(self.kind, Kind::Azure { .. })
    }

    /// Whether it is that of a transit engine, and does not say which.
    pub(super) fn lacks_engine(&self) -> bool {
        matches!(self.kind, Kind::Vault { mount: None })
    }

    /// What sends requests to an address of its own or chooses the credentials that sign them, in words: the first of the parameters
    /// `endpoint`, `profile` and `role`, or a vault that is none of Azure's. In a state that may be a stranger's decision.
    ///
    /// ```
    /// use groundstate_pulumi_backends::KeyUrl;
    ///
    /// let url = KeyUrl::parse("awskms://alias/x?region=eu-west-1&endpoint=http%3A%2F%2Fevil.example")?;
    /// assert_eq!(url.leads_elsewhere().as_deref(), Some("the parameter `endpoint`"));
    /// assert_eq!(KeyUrl::parse("awskms://alias/x?region=eu-west-1")?.leads_elsewhere(), None);
    /// # Ok::<(), groundstate_pulumi_backends::KeyUrlError>(())
    /// ```
    pub fn leads_elsewhere(&self) -> Option<String> {
        match &self.kind {
            Kind::Aws { options, .. } => {
                let names =
                    [("endpoints.kms", "endpoint"), ("profile", "profile"), ("assume_role.role_arn", "role")];
                let given = |option: &str| options.iter().any(|(name, _)| *name == option);
                let (_, name) = names.into_iter().find(|(option, _)| given(option))?;
                Some(format!("the parameter `{name}`"))
            }
            Kind::Azure { vault, .. } => {
                let host = vault.strip_prefix("https://").unwrap_or(vault);
                let is_azures = AZURE.iter().any(|ending| host.ends_with(ending))
                    && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
                (!is_azures).then(|| "a vault at an address that is none of Azure's".to_owned())
            }
            Kind::Gcp { .. } | Kind::Vault { .. } => None,
        }
    }

    /// What to tell a user who has wrapped a key with a version of a key that the URL does not name.
    pub(super) fn advice(&self, version: Option<&str>) -> Option<String> {
        let Kind::Azure { version: None, .. } = &self.kind else { return None };
        let (key, version) = (&self.key, one_line(version?));
        Some(format!(
            "the current version of the key wrapped the data key, and after a rotation pulumi looks for it in the new one; to pin \
             it, use the URL with /keys/{key}/{version}"
        ))
    }
}

/// The URL without its parameters, which may name roles and contexts.
pub(super) fn shown(text: &str) -> String {
    one_line(&shortened(text.split('?').next().unwrap_or_default(), 200)).into_owned()
}

/// A path without empty parts, `.` and `..`, as Go's `path.Join` has it.
fn cleaned(host: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in host.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl Parts<'_> {
    fn wrong(&self, why: impl Into<String>) -> KeyUrlError {
        KeyUrlError { url: shown(self.text), why: why.into() }
    }

    fn switch(&self, name: &str) -> Result<Option<bool>, KeyUrlError> {
        let Some(text) = self.query.get(name) else { return Ok(None) };
        flag(text)
            .map(Some)
            .ok_or_else(|| self.wrong(format!("the parameter `{name}` is neither true nor false")))
    }

    fn only(&self, known: &[&str]) -> Result<(), KeyUrlError> {
        match self.query.unknown(known) {
            None => Ok(()),
            Some(name) => {
                let name = one_line(&shortened(name, 40)).into_owned();
                Err(self.wrong(format!("invalid query parameter {name:?}; remove it")))
            }
        }
    }

    fn key(&self, why: &str) -> Result<String, KeyUrlError> {
        let key = cleaned(&self.host, &self.path);
        if key.is_empty() { Err(self.wrong(why)) } else { Ok(key) }
    }

    fn aws(&self) -> Result<KeyUrl, KeyUrlError> {
        const PARAMETERS: [&str; 12] = [
            "region",
            "profile",
            "role",
            "endpoint",
            "hostname_immutable",
            "anonymous",
            "dualstack",
            "fips",
            "awssdk",
            "rate_limiter_capacity",
            "request_checksum_calculation",
            "response_checksum_validation",
        ];
        if self.host.starts_with("arn:") {
            return Err(self.wrong("an ARN needs three slashes: write awskms:///arn:…"));
        }
        let key = self.key("it names no key: write awskms://KEY, awskms://alias/NAME or awskms:///ARN")?;
        let mut context = BTreeMap::new();
        for (name, value) in self.query.iter() {
            let member = name.strip_prefix("context_");
            match member {
                Some(member) => {
                    if context.insert(member.to_owned(), value.to_owned()).is_some() {
                        let name = one_line(&shortened(name, 40)).into_owned();
                        return Err(
                            self.wrong(format!("the parameter {name:?} is given twice; give it one value"))
                        );
                    }
                }
                None if PARAMETERS.contains(&name) => {}
                None => {
                    let name = one_line(&shortened(name, 40)).into_owned();
                    return Err(self.wrong(format!("unknown query parameter {name:?}; remove it")));
                }
            }
        }
        let given = |name: &str| self.query.get(name).filter(|text| !text.is_empty());
        let mut options = Vec::new();
        // Their order is that of the settings, whatever that in the URL.
        for (parameter, option) in
            [("profile", "profile"), ("region", "region"), ("endpoint", "endpoints.kms")]
        {
            options.extend(given(parameter).map(|text| (option, text.to_owned())));
        }
        for (parameter, option) in [
            ("dualstack", "use_dualstack_endpoint"),
            ("fips", "use_fips_endpoint"),
            ("anonymous", "anonymous"),
        ] {
            options.extend(self.switch(parameter)?.map(|yes| (option, yes.to_string())));
        }
        // Checked as Pulumi does; addresses are taken as they are anyway.
        self.switch("hostname_immutable")?;
        if let Some(role) = given("role") {
            if !role.starts_with("arn:") {
                return Err(self.wrong("the parameter `role` must be a valid ARN (starts with 'arn:')"));
            }
            options.push(("assume_role.role_arn", role.to_owned()));
            options.push(("assume_role.duration", "900".to_owned()));
        }
        Ok(KeyUrl { kind: Kind::Aws { options, context }, key })
    }

    fn azure(&self) -> Result<KeyUrl, KeyUrlError> {
        self.only(&["algorithm"])?;
        let wrong =
            || self.wrong("write it as azurekeyvault://NAME.vault.azure.net/keys/KEY or …/keys/KEY/VERSION");
        // What is before it may be a path, as Pulumi has it.
        let is_host = [".vault.", ".managedhsm."].iter().any(|part| self.host.contains(part));
        let (before, after) = match is_host {
            true => ("", self.path.strip_prefix("/keys/").ok_or_else(wrong)?),
            false => self.path.rsplit_once("/keys/").ok_or_else(wrong)?,
        };
        let place = format!("{}{before}", self.host);
        let is_vault = place.contains(".vault.") || place.contains(".managedhsm.");
        let (key, version) = match after.split_once('/') {
            None => (after, None),
            Some((key, version)) => {
                (key, Some(version.trim_end_matches('/')).filter(|text| !text.is_empty()))
            }
        };
        if !is_vault
            || self.host.is_empty()
            || key.is_empty()
            || version.is_some_and(|text| text.contains('/'))
        {
            return Err(wrong());
        }
        let algorithm = self.query.get("algorithm").filter(|text| !text.is_empty()).map(str::to_owned);
        if algorithm.as_ref().is_some_and(|name| name.ends_with("GCM")) {
            let why = "what a GCM algorithm wraps cannot be unwrapped, since stacks do not store its vector and tag";
            return Err(self.wrong(format!("{why}; use RSA-OAEP-256")));
        }
        let kind =
            Kind::Azure { vault: format!("https://{place}"), version: version.map(str::to_owned), algorithm };
        Ok(KeyUrl { kind, key: key.to_owned() })
    }

    fn gcp(&self) -> Result<KeyUrl, KeyUrlError> {
        const NAME: &str = "additional_authenticated_data";
        self.only(&[NAME])?;
        let key = self.key("write it as gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K")?;
        let associated_data = match self.query.get(NAME) {
            None => Vec::new(),
            Some(text) => BASE64_URL_SAFE.decode(text).map_err(|_| {
                self.wrong(format!(
                    "the parameter `{NAME}` is not base64 for URLs with padding, such as -_8="
                ))
            })?,
        };
        Ok(KeyUrl { kind: Kind::Gcp { associated_data }, key })
    }

    fn vault(&self) -> Result<KeyUrl, KeyUrlError> {
        self.only(&["engine"])?;
        let key = self.key("it names no key: write hashivault://KEY")?;
        let mount = self.query.get("engine").filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(KeyUrl { kind: Kind::Vault { mount }, key })
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyUrl, Kind};

    /// Key, options, and context.
    type Read = (String, Vec<(&'static str, String)>, Vec<(String, String)>);

    fn aws(text: &str) -> Read {
        let url = KeyUrl::parse(text).unwrap();
        let Kind::Aws { options, context } = url.kind else { panic!("{text}") };
        (url.key, options, context.into_iter().collect())
    }

    #[test]
    fn keys_of_aws_are_host_and_path_without_detours() {
        for (text, key) in [
            ("awskms://alias/pulumi?region=us-east-1", "alias/pulumi"),
            ("awskms://1234-abcd", "1234-abcd"),
            ("awskms:///arn:aws:kms:eu-west-1:1:key/k", "arn:aws:kms:eu-west-1:1:key/k"),
            ("awskms://alias//a/./b/../c", "alias/a/c"),
            ("awskms://alias/a%20b", "alias/a b"),
        ] {
            assert_eq!(aws(text).0, key, "{text}");
        }
    }

    #[test]
    fn the_order_of_parameters_has_no_effect() {
        let role = "role=arn:aws:iam::1:role/r";
        let one =
            aws(&format!("awskms://k?{role}&profile=p&fips=true&region=r&context_b=1&context_a=x%26y+z"));
        let other =
            aws(&format!("awskms://k?context_a=x%26y+z&region=r&fips=t&context_b=1&profile=p&{role}"));
        assert_eq!(one, other);
        assert_eq!(one.1[0], ("profile", "p".to_owned()));
        assert_eq!(one.2, [("a".to_owned(), "x&y z".to_owned()), ("b".to_owned(), "1".to_owned())]);
        assert_eq!(one.1.last(), Some(&("assume_role.duration", "900".to_owned())));
    }

    #[test]
    fn what_pulumi_refuses_is_refused_in_its_words() {
        for (text, words) in [
            ("awskms://arn:aws:kms:r:1:alias/x", "write awskms:///arn:"),
            ("awskms://k?foo=hush", "unknown query parameter \"foo\""),
            ("awskms://k?role=hush", "must be a valid ARN (starts with 'arn:')"),
            ("awskms://k?context_a=1&context_a=2", "given twice"),
            ("awskms://k?fips=hush", "neither true nor false"),
            ("awskms://", "names no key"),
            (
                "AWSKMS://k",
                "unknown secrets provider type 'AWSKMS' (supported values: default,passphrase,awskms,",
            ),
            ("foo://k", "unknown secrets provider type 'foo'"),
            ("awskms:k", "write it as awskms://KEY"),
            ("awskms://k?a=%zz", "two hexadecimal digits"),
            ("gcpkms://projects/p?x=1", "invalid query parameter \"x\""),
            ("gcpkms://projects/p?additional_authenticated_data=-_8", "padding"),
            ("hashivault://k?mount=x", "invalid query parameter \"mount\""),
            ("azurekeyvault://v.vault.azure.net/keys/k?x=1", "invalid query parameter"),
            ("azurekeyvault://v.vault.azure.net/k", "/keys/KEY"),
            ("azurekeyvault://v.example.com/keys/k", "/keys/KEY"),
            ("azurekeyvault://v.vault.azure.net/keys/k?algorithm=A256GCM", "vector and tag"),
        ] {
            let error = KeyUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("hush"), "{text}: {error}");
        }
    }

    #[test]
    fn addresses_and_credentials_of_a_url_are_named() {
        for (text, what) in [
            ("awskms://k?region=r&fips=true&context_a=b", None),
            ("awskms://k?endpoint=http%3A%2F%2Fx", Some("the parameter `endpoint`")),
            ("awskms://k?profile=p", Some("the parameter `profile`")),
            ("awskms://k?role=arn:aws:iam::1:role/r", Some("the parameter `role`")),
            ("azurekeyvault://v.vault.azure.net/keys/k", None),
            ("azurekeyvault://h.managedhsm.azure.net/keys/k", None),
            ("azurekeyvault://v.vault.example.com/keys/k", Some("none of Azure's")),
            ("azurekeyvault://127.0.0.1:8443/p.vault.azure.net/keys/k", Some("none of Azure's")),
            ("azurekeyvault://x@v.vault.azure.net/keys/k", Some("none of Azure's")),
            ("gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k", None),
            ("hashivault://k?engine=m", None),
        ] {
            let found = KeyUrl::parse(text).unwrap().leads_elsewhere();
            assert_eq!(found.is_some(), what.is_some(), "{text}");
            assert!(found.unwrap_or_default().contains(what.unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn the_other_services_are_read_too() {
        let azure =
            KeyUrl::parse("azurekeyvault://v.vault.azure.net/keys/k1/abc?algorithm=RSA-OAEP").unwrap();
        let (vault, version) = ("https://v.vault.azure.net".to_owned(), Some("abc".to_owned()));
        let algorithm = Some("RSA-OAEP".to_owned());
        assert_eq!(azure, KeyUrl { kind: Kind::Azure { vault, version, algorithm }, key: "k1".to_owned() });
        let odd = KeyUrl::parse("azurekeyvault://127.0.0.1:8443/p.vault.x/keys/k").unwrap();
        assert!(matches!(odd.kind, Kind::Azure { vault, .. } if vault == "https://127.0.0.1:8443/p.vault.x"));
        assert!(KeyUrl::parse("azurekeyvault://h.managedhsm.azure.net/keys/k").is_ok());
        let name = "projects/p/locations/global/keyRings/r/cryptoKeys/k";
        let gcp = KeyUrl::parse(&format!("gcpkms://{name}?additional_authenticated_data=-_8=")).unwrap();
        assert_eq!(
            gcp,
            KeyUrl { kind: Kind::Gcp { associated_data: vec![0xfb, 0xff] }, key: name.to_owned() }
        );
        let vault = KeyUrl::parse("hashivault://pulumi?engine=teams/a").unwrap();
        assert_eq!(
            vault,
            KeyUrl { kind: Kind::Vault { mount: Some("teams/a".to_owned()) }, key: "pulumi".to_owned() }
        );
    }
}
