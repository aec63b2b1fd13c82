//! Provider source addresses: where a provider comes from.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::AddrErrorKind::ProviderSource as Kind;
use super::error::{AddrError, Fault, excerpt};
use super::ident::is_identifier;
use super::plain::is_plain_part;
use super::quote::normalized;

/// The registry that Terraform takes providers from unless a host is named.
pub const TERRAFORM_REGISTRY: &str = "registry.terraform.io";

/// The registry that OpenTofu takes providers from unless a host is named.
pub const OPENTOFU_REGISTRY: &str = "registry.opentofu.org";

const WANTED: &str = "provider source address";
const LEGACY_NAMESPACE: &str = "-";
const BUILTIN: [&str; 3] = ["terraform.io", "builtin", "terraform"];

/// Letters, digits, `-` and the dot, which cannot be denied; no other ASCII character.
const PART: AsciiDenyList = AsciiDenyList::new(true, " !\"#$%&'()*+,/:;<=>?@[\\]^_`{|}~");

/// Where a provider comes from: `host/namespace/type`.
///
/// Two are equal if they name the same provider, whether or not the registry was written out.
#[derive(Clone, Debug)]
pub struct ProviderSource {
    /// Registry host, in Unicode form, with a port if there is one.
    pub(crate) host: Arc<str>,
    /// Namespace; `-` is the legacy namespace of Terraform 0.12.
    pub(crate) namespace: Arc<str>,
    /// Provider type.
    pub(crate) type_name: Arc<str>,
    /// The text left the registry out, so `host` is the default of the product.
    short: bool,
}

impl ProviderSource {
    /// Reads `type`, `namespace/type` or `host/namespace/type`.
    ///
    /// What is left out is taken from `default_host`, the registry of the product that wrote the text, and the
    /// namespace `hashicorp`. Names are brought into their normal form: lower case, and hosts in Unicode.
    /// The namespace `-` is accepted on the registries of both products.
    ///
    /// # Errors
    /// Which part is wrong, and why.
    ///
    /// # Examples
    /// ```
    /// use groundstate_states::addr::{OPENTOFU_REGISTRY, ProviderSource};
    ///
    /// let source = ProviderSource::parse("HashiCorp/AWS", OPENTOFU_REGISTRY)?;
    /// assert_eq!(source.to_string(), "registry.opentofu.org/hashicorp/aws");
    /// # Ok::<(), groundstate_states::addr::AddrError>(())
    /// ```
    pub fn parse(text: &str, default_host: &str) -> Result<Self, AddrError> {
        read(text, default_host).map_err(|fault| fault.in_text(WANTED, text))
    }

    /// The provider that Terraform 0.12 and older call `type_name`: in the legacy namespace of `default_host`, or
    /// built in. The type is kept as it is, in normalization form C.
    #[must_use]
    pub fn legacy(type_name: &str, default_host: &str) -> Self {
        let [_, _, builtin] = BUILTIN;
        if type_name == builtin {
            return Self::builtin();
        }
        Self {
            host: default_host.into(),
            namespace: LEGACY_NAMESPACE.into(),
            type_name: normalized(type_name.into()).into(),
            short: true,
        }
    }

    /// The provider that is part of the product: `terraform.io/builtin/terraform`.
    #[must_use]
    pub fn builtin() -> Self {
        let [host, namespace, type_name] = BUILTIN.map(Arc::from);
        Self { host, namespace, type_name, short: false }
    }

    /// The same provider, spelled with or without its registry.
    #[cfg(feature = "serde")]
    pub(crate) fn spelled_short(self, short: bool) -> Self {
        Self { short, ..self }
    }

    /// Registry host, in Unicode form, with a port if there is one.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Namespace, that is, who publishes it.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Provider type.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Whether the namespace is the one that stands for a provider name of Terraform 0.12 or older.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        &*self.namespace == LEGACY_NAMESPACE
    }

    /// Whether the provider is part of the product.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        let [host, namespace, _] = BUILTIN;
        &*self.host == host && &*self.namespace == namespace
    }

    /// Whether the text left the registry out. Then the product that reads the text decides which one is meant, and
    /// [`host`](Self::host) is the default that the text was read with.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.short
    }

    /// The same text read with another default registry.
    #[must_use]
    pub fn read_with(&self, default_host: &str) -> Self {
        if !self.short || *self.host == *default_host {
            return self.clone();
        }
        Self { host: default_host.into(), ..self.clone() }
    }

    /// The same provider with the registry written out.
    #[must_use]
    pub fn written_out(&self) -> Self {
        Self { short: false, ..self.clone() }
    }

    /// The text with the registry only where it was written: what the product that reads it completes.
    #[must_use]
    pub fn spelled(&self) -> String {
        if self.short { format!("{}/{}", self.namespace, self.type_name) } else { self.to_string() }
    }

    /// The same provider from another registry, which is written out.
    ///
    /// # Errors
    /// Why `host` is no host name, or cannot hold a legacy provider.
    pub fn with_host(&self, host: &str) -> Result<Self, AddrError> {
        let normal = || {
            let host = read_host(host)?;
            check_legacy_host(&host, &self.namespace)?;
            Ok(host.into())
        };
        let host = normal().map_err(|fault: Fault| fault.in_text("registry host", host))?;
        Ok(Self { host, short: false, ..self.clone() })
    }
}

impl ProviderSource {
    /// Whether both products read the quoted form of this provider's type. Terraform 0.12 had types that neither reads.
    #[must_use]
    pub fn is_quotable(&self) -> bool {
        read_part(&self.type_name, 0, "provider type").is_ok()
    }

    /// What tells providers apart.
    fn parts(&self) -> (&str, &str, &str) {
        (&self.host, &self.namespace, &self.type_name)
    }
}

impl PartialEq for ProviderSource {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for ProviderSource {}

impl PartialOrd for ProviderSource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProviderSource {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl Hash for ProviderSource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl fmt::Display for ProviderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.type_name)
    }
}

/// Reads a source address; also used for the quoted text inside other addresses.
pub(super) fn read(text: &str, default_host: &str) -> Result<ProviderSource, Fault> {
    let mut parts = text.split('/');
    let (host, namespace, type_name) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(type_name), None, ..) => (None, None, type_name),
        (Some(namespace), Some(type_name), None, _) => (None, Some(namespace), type_name),
        (Some(host), Some(namespace), Some(type_name), None) => (Some(host), Some(namespace), type_name),
        _ => {
            let reason = "it has more than three parts";
            return Err(Fault::new(Kind, 0, reason, "write `host/namespace/type`"));
        }
    };
    let type_at = text.len() - type_name.len();
    let namespace_at = namespace.map_or(type_at, |namespace| type_at - 1 - namespace.len());
    let short = host.is_none();
    let host = match host {
        None => Cow::Borrowed(default_host),
        Some(host) => read_host(host)?,
    };
    let namespace = match namespace {
        None => Cow::Borrowed("hashicorp"),
        Some(LEGACY_NAMESPACE) => Cow::Borrowed(LEGACY_NAMESPACE),
        Some(namespace) => read_part(namespace, namespace_at, "namespace")?,
    };
    check_legacy_host(&host, &namespace).map_err(|fault| fault.moved_by(namespace_at))?;
    // Legacy types were never normalised when they were written, so their spelling is kept.
    let type_name = if *namespace == *LEGACY_NAMESPACE && is_identifier(type_name) {
        Cow::Borrowed(type_name)
    } else {
        let name = read_part(type_name, type_at, "provider type")?;
        refuse_product_prefix(&name, type_at, default_host)?;
        name
    };
    Ok(ProviderSource { host: host.into(), namespace: namespace.into(), type_name: type_name.into(), short })
}

fn check_legacy_host(host: &str, namespace: &str) -> Result<(), Fault> {
    if namespace != LEGACY_NAMESPACE || host == TERRAFORM_REGISTRY || host == OPENTOFU_REGISTRY {
        return Ok(());
    }
    let reason = "the namespace `-` exists only in the registries of Terraform and OpenTofu";
    Err(Fault::new(Kind, 0, reason, "name the namespace that publishes the provider"))
}

fn refuse_product_prefix(name: &str, at: usize, default_host: &str) -> Result<(), Fault> {
    let name_of = |prefix| name.strip_prefix(prefix);
    let rest = match name_of("terraform-") {
        None if default_host == OPENTOFU_REGISTRY => name_of("opentofu-"),
        rest => rest,
    };
    let Some(rest) = rest else { return Ok(()) };
    let rest = rest.strip_prefix("provider-").unwrap_or(rest);
    let next = format!("write only `{}`", excerpt(rest));
    Err(Fault::new(Kind, at, "a provider type does not begin with the name of the product", next))
}

/// A namespace or type in normal form.
fn read_part<'a>(part: &'a str, at: usize, what: &str) -> Result<Cow<'a, str>, Fault> {
    if is_plain_part(part.as_bytes()) {
        return Ok(Cow::Borrowed(part));
    }
    if part.is_empty() {
        return Err(Fault::new(
            Kind,
            at,
            format!("the {what} is empty"),
            "write `namespace/type` or `host/namespace/type`",
        ));
    }
    let (name, result) = Uts46::new().to_unicode(part.as_bytes(), PART, Hyphens::Check);
    // The mapping can bring forth or remove characters, so dots and dashes are judged before and after it.
    if result.is_err() || !is_well_formed(part) || !is_well_formed(&name) {
        let next = "use letters and digits, with single dashes between them";
        return Err(Fault::new(Kind, at, format!("the {what} is not a valid name"), next));
    }
    Ok(Cow::Owned(name.into_owned()))
}

fn is_well_formed(part: &str) -> bool {
    let words = |sign| part.split(sign).all(|word: &str| !word.is_empty());
    !part.contains('.') && words('-')
}

/// A host in Unicode form, with its port unless that is the one of HTTPS.
fn read_host(text: &str) -> Result<Cow<'_, str>, Fault> {
    let (name, port) = match text.split_once(':') {
        None => (text, None),
        Some((name, port)) => (name, read_port(port)?),
    };
    if name.is_empty() {
        return Err(host_fault(
            "the registry host is empty",
            "write `namespace/type` or `host/namespace/type`",
        ));
    }
    if has_punycode(name) {
        return Err(host_fault("the registry host is in encoded form (`xn--`)", "write it in Unicode"));
    }
    let host = if labels(name).all(|label| is_plain_part(label.as_bytes())) {
        Cow::Borrowed(name)
    } else {
        let (host, result) = Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
        if result.is_err() || labels(&host).any(str::is_empty) || has_punycode(&host) {
            let next = "write it as in `registry.example.com`";
            return Err(host_fault("the registry host is not a valid host name", next));
        }
        Cow::Owned(host.into_owned())
    };
    Ok(match port {
        None => host,
        Some(port) => Cow::Owned(format!("{host}:{port}")),
    })
}

fn host_fault(reason: &'static str, next: &'static str) -> Fault {
    Fault::new(Kind, 0, reason, next)
}

/// The number of a port; nothing for that of HTTPS, which is never written.
fn read_port(text: &str) -> Result<Option<u16>, Fault> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(443) if digits => Ok(None),
        Ok(port) if digits => Ok(Some(port)),
        _ => {
            Err(host_fault("the port of the registry host is not a number up to 65535", "write `host:port`"))
        }
    }
}

/// The labels of a host name; the empty one of the DNS root at the end is allowed.
fn labels(host: &str) -> impl Iterator<Item = &str> {
    host.strip_suffix('.').unwrap_or(host).split('.')
}

fn has_punycode(host: &str) -> bool {
    labels(host).any(|label| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--")))
}
