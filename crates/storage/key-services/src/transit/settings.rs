//! Where a server is and how it is reached, from code and from the variables of the services' own clients.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use groundstate_http_client::{ClientOptions, Proxies, address, host_of};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// Where a server is unless something else is said.
const ADDRESS: &str = "https://127.0.0.1:8200";
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is tried.
const ATTEMPTS: u32 = 3;

/// Whose variables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitNames {
    /// `BAO_…`, and `VAULT_…` where that is not set. An empty one counts as set.
    OpenBao,
    /// `VAULT_…` alone.
    Vault,
}

/// Where a server of OpenBao or Vault is, and how to get at it.
///
/// ```
/// use groundstate_key_services::{TransitNames, TransitSettings};
///
/// let variables = |name: &str| match name {
///     "BAO_ADDR" => Some("https://bao.example.com:8200/".to_owned()),
///     "VAULT_TOKEN" => Some("hidden".to_owned()),
///     _ => None,
/// };
/// let settings = TransitSettings::from_variables(TransitNames::OpenBao, &variables)?;
/// assert_eq!(settings.address(), "https://bao.example.com:8200");
/// assert!(!format!("{settings:?}").contains("hidden"));
/// # Ok::<(), groundstate_key_services::Error>(())
/// ```
#[derive(Clone)]
pub struct TransitSettings {
    pub(super) address: String,
    pub(super) token: Option<Zeroizing<String>>,
    pub(super) namespace: Option<String>,
    pub(super) headers: BTreeMap<String, Zeroizing<String>>,
    pub(super) client: ClientOptions,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    pub(super) follows_redirects: bool,
}

impl TransitSettings {
    /// A server at this address, without a token.
    ///
    /// # Errors
    ///
    /// `Invalid` for a text that is not an address, and `Unsupported` for one of a socket.
    pub fn new(address: &str) -> Result<Self> {
        let (token, namespace, headers) = (None, None, BTreeMap::new());
        Ok(Self {
            address: checked(address)?,
            token,
            namespace,
            headers,
            client: ClientOptions::new(),
            timeout: TIMEOUT,
            attempts: ATTEMPTS,
            follows_redirects: true,
        })
    }

    /// What the variables say that `variable` looks up; files that they name are read.
    ///
    /// # Errors
    ///
    /// `Invalid` for values that cannot be used, naming the variable, and `Unsupported` for variables that cannot be honoured.
    pub fn from_variables(names: TransitNames, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let reader = Reader { names, variable };
        reader.refuse_unsupported()?;
        let address = match reader.text("AGENT_ADDR").filter(|_| names == TransitNames::OpenBao) {
            Some(agent) => Some(agent),
            None => reader.text("ADDR"),
        };
        let (address, name) = (address.as_ref(), "ADDR");
        let mut settings = Self::new(address.map_or(ADDRESS, |(_, text)| text))
            .map_err(|error| reader.invalid(name, error.message().to_owned()))?;
        if let Some((_, token)) = reader.text("TOKEN") {
            settings = settings
                .token(&token)
                .map_err(|error| reader.invalid("TOKEN", error.message().to_owned()))?;
        }
        settings.namespace = reader.text("NAMESPACE").map(|(_, text)| text);
        if let Some((_, text)) = reader.text("HEADERS") {
            let headers: BTreeMap<String, String> = serde_json::from_str(&text)
                .map_err(|_| reader.invalid("HEADERS", "it is not a JSON object of texts"))?;
            settings.headers = headers.into_iter().map(|(name, text)| (name, Zeroizing::new(text))).collect();
        }
        settings.client = reader.client()?;
        // The client of gocloud's keeper heeds none of these.
        if names == TransitNames::OpenBao {
            if let Some((_, text)) = reader.text("CLIENT_TIMEOUT") {
                let seconds = text.trim_end_matches('s').parse().ok().filter(|seconds| *seconds > 0);
                let wrong = || reader.invalid("CLIENT_TIMEOUT", "it is not a number of seconds");
                settings.timeout = Duration::from_secs(seconds.ok_or_else(wrong)?);
            }
            if let Some((_, text)) = reader.text("MAX_RETRIES") {
                let wrong = |_| reader.invalid("MAX_RETRIES", "it is not a number");
                settings.attempts = text.parse::<u32>().map_err(wrong)?.saturating_add(1);
            }
        }
        settings.follows_redirects = !reader.flag("DISABLE_REDIRECTS")?;
        Ok(settings)
    }

    /// Sets the address, which an option names.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_address(mut self, address: &str) -> Result<Self> {
        self.address = checked(address)?;
        Ok(self)
    }

    /// Sets the token.
    ///
    /// # Errors
    ///
    /// `Invalid` for a text with characters that no token has.
    pub fn token(mut self, token: &str) -> Result<Self> {
        if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
            let error = Error::new(ErrorKind::Invalid, Op::Use, "the token of the transit engine");
            return Err(error
                .because("it has characters that no token has")
                .next_step("look for line breaks in it"));
        }
        self.token = Some(Zeroizing::new(token.to_owned()));
        Ok(self)
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned()).filter(|text| !text.is_empty());
        self
    }

    /// Where the server is, without a slash at its end.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl fmt::Debug for TransitSettings {
    /// Shows no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransitSettings")
            .field("address", &self.address)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// An address without a slash at its end.
fn checked(text: &str) -> Result<String> {
    let error = |kind| Error::new(kind, Op::Use, "the address of the transit engine");
    if text.starts_with("unix://") {
        let error = error(ErrorKind::Unsupported).because("sockets are not supported");
        return Err(error.next_step("name an address with https://"));
    }
    let url = address(text).map_err(|why| error(ErrorKind::Invalid).because(why))?;
    if url.query().is_some() || host_of(&url).is_none() {
        return Err(error(ErrorKind::Invalid).because("it has a query"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

struct Reader<'a> {
    names: TransitNames,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// A variable's full name and its text, unless that is empty.
    fn text(&self, name: &str) -> Option<(String, String)> {
        let prefixes: &[&str] = match self.names {
            TransitNames::OpenBao => &["BAO_", "VAULT_"],
            TransitNames::Vault => &["VAULT_"],
        };
        let found = prefixes.iter().find_map(|prefix| {
            let name = format!("{prefix}{name}");
            (self.variable)(&name).map(|text| (name, text))
        });
        found.filter(|(_, text)| !text.is_empty())
    }

    fn flag(&self, name: &str) -> Result<bool> {
        match self.text(name).map(|(_, text)| text.to_ascii_lowercase()).as_deref() {
            None | Some("0" | "f" | "false") => Ok(false),
            Some("1" | "t" | "true") => Ok(true),
            Some(_) => Err(self.invalid(name, "it is neither true nor false")),
        }
    }

    fn invalid(&self, name: &str, why: impl Into<String>) -> Error {
        let name = self.text(name).map_or_else(|| name.to_owned(), |(name, _)| name);
        Error::new(ErrorKind::Invalid, Op::Use, format_args!("the variable {name}")).because(why)
    }

    /// Variables that change who is asked, and that would be dropped in silence.
    fn refuse_unsupported(&self) -> Result<()> {
        for name in ["TLS_SERVER_NAME", "SRV_LOOKUP", "WRAP_TTL"] {
            let Some((name, text)) = self.text(name) else { continue };
            if matches!(text.as_str(), "0" | "false") {
                continue;
            }
            let error = Error::new(ErrorKind::Unsupported, Op::Use, format_args!("the variable {name}"));
            return Err(error.because("it is not supported here").next_step(format!("unset {name}")));
        }
        Ok(())
    }

    fn client(&self) -> Result<ClientOptions> {
        let allows_plain = (self.variable)("GROUNDSTATE_ALLOW_PLAIN_HTTP");
        let allows_plain = allows_plain.is_some_and(|text| text == "1" || text.eq_ignore_ascii_case("true"));
        let mut client =
            ClientOptions::new().allow_plain_http(allows_plain).insecure(self.flag("SKIP_VERIFY")?);
        if let Some((name, pem)) = self.authorities()? {
            let wrong = |error| self.invalid(name, "there is no certificate in it").with_source(error);
            client = client.trust_only(&pem).map_err(wrong)?;
        }
        match (self.file("CLIENT_CERT")?, self.file("CLIENT_KEY")?) {
            (None, None) => {}
            (Some(mut certificate), Some(key)) => {
                certificate.push(b'\n');
                certificate.extend_from_slice(&key);
                let wrong = |error| self.invalid("CLIENT_CERT", "it cannot be used").with_source(error);
                client = client.identity(&certificate).map_err(wrong)?;
            }
            (Some(_), None) => return Err(self.invalid("CLIENT_CERT", "the variable for its key is not set")),
            (None, Some(_)) => {
                return Err(self.invalid("CLIENT_KEY", "the variable for its certificate is not set"));
            }
        }
        for name in ["PROXY_ADDR", "HTTP_PROXY"] {
            if let Some((_, text)) = self.text(name).filter(|_| self.names == TransitNames::OpenBao) {
                let url = groundstate_http_client::address_with_user(&text);
                let url = url.map_err(|why| self.invalid(name, why))?;
                client =
                    client.proxies(Proxies { http: Some(url.clone()), https: Some(url), excludes: None });
                break;
            }
        }
        Ok(client)
    }

    /// The authorities that are trusted, and the variable that names them.
    fn authorities(&self) -> Result<Option<(&'static str, Vec<u8>)>> {
        if let Some((_, text)) = self.text("CACERT_BYTES") {
            return Ok(Some(("CACERT_BYTES", text.into_bytes())));
        }
        if let Some(pem) = self.file("CACERT")? {
            return Ok(Some(("CACERT", pem.to_vec())));
        }
        let Some((_, folder)) = self.text("CAPATH") else { return Ok(None) };
        let unreadable = |error| self.invalid("CAPATH", "the folder cannot be read").with_source(error);
        let mut pem = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_file() {
                pem.extend(std::fs::read(path).map_err(unreadable)?);
                pem.push(b'\n');
            }
        }
        Ok(Some(("CAPATH", pem)))
    }

    fn file(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let Some((_, path)) = self.text(name) else { return Ok(None) };
        let unreadable = |error| self.invalid(name, "the file cannot be read").with_source(error);
        std::fs::read(path).map(|bytes| Some(Zeroizing::new(bytes))).map_err(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, TransitNames, TransitSettings};
    use crate::ErrorKind;

    fn read(names: TransitNames, variables: &[(&str, &str)]) -> crate::Result<TransitSettings> {
        TransitSettings::from_variables(names, &|name| {
            variables.iter().find(|(found, _)| *found == name).map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn variables_of_openbao_hide_those_of_vault_even_when_they_are_empty() {
        let (vault, bao) = (("VAULT_ADDR", "https://v.test"), ("BAO_ADDR", "https://b.test"));
        for (names, variables, address) in [
            (TransitNames::OpenBao, vec![vault], "https://v.test"),
            (TransitNames::OpenBao, vec![vault, bao], "https://b.test"),
            (TransitNames::OpenBao, vec![vault, ("BAO_ADDR", "")], ADDRESS),
            (TransitNames::OpenBao, vec![bao, ("BAO_AGENT_ADDR", "https://a.test/")], "https://a.test"),
            (TransitNames::Vault, vec![vault, bao, ("VAULT_AGENT_ADDR", "https://a.test")], "https://v.test"),
        ] {
            assert_eq!(read(names, &variables).unwrap().address(), address, "{variables:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_or_honoured_names_its_variable_and_no_secret() {
        for (name, text, kind) in [
            ("BAO_TOKEN", "hush\n", ErrorKind::Invalid),
            ("BAO_ADDR", "http://u:hush@h", ErrorKind::Invalid),
            ("BAO_ADDR", "unix:///run/bao.sock", ErrorKind::Invalid),
            ("VAULT_TLS_SERVER_NAME", "x", ErrorKind::Unsupported),
            ("BAO_SRV_LOOKUP", "true", ErrorKind::Unsupported),
            ("BAO_CACERT", "/no/such/file", ErrorKind::Invalid),
            ("BAO_CACERT_BYTES", "none", ErrorKind::Invalid),
            ("BAO_CLIENT_TIMEOUT", "soon", ErrorKind::Invalid),
            ("BAO_SKIP_VERIFY", "maybe", ErrorKind::Invalid),
            ("VAULT_HEADERS", "hush", ErrorKind::Invalid),
        ] {
            let error = read(TransitNames::OpenBao, &[(name, text)]).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(name) && !error.to_string().contains("hush"), "{error}");
        }
        assert!(read(TransitNames::OpenBao, &[("BAO_SRV_LOOKUP", "false")]).is_ok());
    }
}
