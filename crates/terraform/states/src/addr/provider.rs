//! Provider configuration addresses.

use std::fmt;
use std::sync::Arc;

use super::AddrErrorKind::{KeyNotAllowed, ProviderConfig as Kind};
use super::error::{AddrError, Fault};
use super::grammar::{self, parse_whole};
use super::ident::is_identifier;
use super::lexer::{StepKind, Steps};
use super::quote::write_escaped;
use super::source::read;
use super::{InstanceKey, Module, ProviderSource, plain};

const MODERN: &str = "provider configuration address";
const LEGACY: &str = "provider configuration address of Terraform 0.12";
const COMPACT: &str = "provider name of Terraform 0.11";
const MODERN_FORM: &str = "write `provider[\"host/namespace/type\"]`";
const LEGACY_FORM: &str = "write `provider.TYPE` or `provider.TYPE.ALIAS`";

/// The address of a provider configuration, for example `module.a.provider["registry.terraform.io/hashicorp/aws"].west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfig {
    /// The module that holds the `provider` block.
    pub module: Module,
    /// Which provider.
    pub source: ProviderSource,
    /// The alias, if the configuration has one.
    pub alias: Option<Arc<str>>,
}

/// One instance of a provider configuration that uses `for_each` (OpenTofu).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderInstance {
    /// The provider configuration.
    pub config: ProviderConfig,
    /// Which instance; only a configuration with an alias can have a key.
    pub key: InstanceKey,
}

impl ProviderConfig {
    /// Reads the form of Terraform 0.13 and newer; `default_host` as in [`ProviderSource::parse`].
    ///
    /// # Errors
    /// Where and why the text is no such address. That it is one of the older form is also an error:
    /// see [`parse_legacy`](Self::parse_legacy).
    ///
    /// # Examples
    /// ```
    /// use groundstate_states::addr::{ProviderConfig, TERRAFORM_REGISTRY};
    ///
    /// let config = ProviderConfig::parse(r#"module.a.provider["aws"].west"#, TERRAFORM_REGISTRY)?;
    /// assert_eq!(config.to_string(), r#"module.a.provider["registry.terraform.io/hashicorp/aws"].west"#);
    /// # Ok::<(), groundstate_states::addr::AddrError>(())
    /// ```
    pub fn parse(text: &str, default_host: &str) -> Result<Self, AddrError> {
        parse_whole(MODERN, text, |steps| {
            let config = modern(steps, default_host)?;
            grammar::refuse_key(
                steps,
                KeyNotAllowed,
                "a provider configuration cannot have a key here",
                "name the configuration and not one instance of it",
            )?;
            Ok(config)
        })
    }

    /// Reads the form of Terraform 0.12, such as `module.x.provider.aws.west`.
    ///
    /// The provider is then [`ProviderSource::legacy`]. Which real provider is meant only a registry knows.
    ///
    /// # Errors
    /// Where and why the text is no such address.
    pub fn parse_legacy(text: &str, default_host: &str) -> Result<Self, AddrError> {
        parse_whole(LEGACY, text, |steps| {
            let module = grammar::module(steps)?;
            keyword(steps, LEGACY_FORM)?;
            let reason = "the provider type is missing";
            let type_name =
                steps.take_name()?.ok_or_else(|| Fault::new(Kind, steps.position(), reason, LEGACY_FORM))?;
            let alias = legacy_alias(steps, LEGACY_FORM)?;
            Ok(Self { module, source: ProviderSource::legacy(type_name, default_host), alias })
        })
    }

    /// Reads what resources of formats 1 to 3 hold, `aws` or `aws.west`, as a configuration in `module`.
    ///
    /// # Errors
    /// Where and why the text is not a provider type with or without an alias.
    pub fn from_compact(text: &str, module: Module, default_host: &str) -> Result<Self, AddrError> {
        let form = "write `TYPE` or `TYPE.ALIAS`";
        parse_whole(COMPACT, text, |steps| {
            let reason = "the provider type is missing";
            let type_name =
                steps.take_name()?.ok_or_else(|| Fault::new(Kind, steps.position(), reason, form))?;
            let alias = legacy_alias(steps, form)?;
            Ok(Self { module, source: ProviderSource::legacy(type_name, default_host), alias })
        })
    }

    /// Whether `text` is an address of the modern form in plain characters, spelled as it would be printed.
    ///
    /// True promises that [`parse`](Self::parse) succeeds and that the result prints as `text`; false promises nothing.
    #[must_use]
    pub fn is_plain(text: impl AsRef<[u8]>) -> bool {
        plain::is_provider_config(text.as_ref())
    }

    /// The text as files hold it: with the registry only where it was written, and without one in the form of
    /// Terraform 0.12 for a legacy provider.
    ///
    /// # Examples
    /// ```
    /// use groundstate_states::addr::{OPENTOFU_REGISTRY, ProviderConfig};
    ///
    /// let config = ProviderConfig::parse(r#"provider["acme/x"]"#, OPENTOFU_REGISTRY)?;
    /// assert_eq!(config.to_string(), r#"provider["registry.opentofu.org/acme/x"]"#);
    /// assert_eq!(config.spelled(), r#"provider["acme/x"]"#);
    /// # Ok::<(), groundstate_states::addr::AddrError>(())
    /// ```
    #[must_use]
    pub fn spelled(&self) -> String {
        if !self.source.is_short() {
            return self.to_string();
        }
        // No other text can be read in that form.
        let legacy = self.to_legacy().filter(|_| is_identifier(self.source.type_name()));
        legacy.unwrap_or_else(|| Short(self).to_string())
    }

    /// The text in the form of Terraform 0.12; nothing for a provider that this form cannot name.
    #[must_use]
    pub fn to_legacy(&self) -> Option<String> {
        let type_name = self.source.type_name();
        if self.source != ProviderSource::legacy(type_name, self.source.host()) {
            return None;
        }
        let mut text = format!("provider.{type_name}");
        if !self.module.is_root() {
            text.insert_str(0, &format!("{}.", self.module));
        }
        if let Some(alias) = &self.alias {
            text.push('.');
            text.push_str(alias);
        }
        Some(text)
    }
}

impl ProviderInstance {
    /// Reads a configuration address that may have a key behind its alias.
    ///
    /// # Errors
    /// Where and why the text is no such address.
    pub fn parse(text: &str, default_host: &str) -> Result<Self, AddrError> {
        parse_whole("provider instance address", text, |steps| {
            let config = modern(steps, default_host)?;
            let key = steps.take_key()?.map(|(key, _)| key).unwrap_or_default();
            Ok(Self { config, key })
        })
    }

    /// The text as files hold it; see [`ProviderConfig::spelled`].
    #[must_use]
    pub fn spelled(&self) -> String {
        // Only the present form can have a key.
        if self.config.source.is_short() {
            format!("{}{}", Short(&self.config), self.key)
        } else {
            self.to_string()
        }
    }
}

/// Prints a configuration address without the registry.
struct Short<'c>(&'c ProviderConfig);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.print(None, f)
    }
}

impl ProviderConfig {
    fn print(&self, host: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        f.write_str("provider[\"")?;
        host.iter().try_for_each(|host| write!(f, "{host}/"))?;
        write!(f, "{}/", self.source.namespace)?;
        write_escaped(f, &self.source.type_name)?;
        f.write_str("\"]")?;
        self.alias.iter().try_for_each(|alias| write!(f, ".{alias}"))
    }
}

fn keyword(steps: &mut Steps<'_>, form: &'static str) -> Result<(), Fault> {
    if steps.take_keyword("provider")? {
        return Ok(());
    }
    Err(Fault::new(Kind, steps.position(), "`provider` is missing", form))
}

fn modern(steps: &mut Steps<'_>, default_host: &str) -> Result<ProviderConfig, Fault> {
    let module = grammar::module(steps)?;
    keyword(steps, MODERN_FORM)?;
    let source = match steps.next()? {
        // The text begins behind the bracket and the quote, unless blanks stand between them.
        Some(step) => match step.kind {
            StepKind::Text(text) => read(&text, default_host).map_err(|fault| fault.moved_by(step.at + 2))?,
            _ => {
                return Err(Fault::new(
                    Kind,
                    step.at,
                    "the source address is not quoted in brackets",
                    MODERN_FORM,
                ));
            }
        },
        None => return Err(Fault::new(Kind, steps.position(), "the source address is missing", MODERN_FORM)),
    };
    grammar::refuse_key(
        steps,
        KeyNotAllowed,
        "a provider configuration without an alias cannot have a key",
        "put the alias before the key, or leave the key out",
    )?;
    let alias = steps.take_name()?.map(Arc::from);
    Ok(ProviderConfig { module, source, alias })
}

fn legacy_alias(steps: &mut Steps<'_>, form: &'static str) -> Result<Option<Arc<str>>, Fault> {
    let reason = "a provider configuration cannot have a key here";
    grammar::refuse_key(steps, KeyNotAllowed, reason, form)?;
    let alias = steps.take_name()?.map(Arc::from);
    grammar::refuse_key(steps, KeyNotAllowed, reason, form)?;
    Ok(alias)
}

impl fmt::Display for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(Some(&self.source.host), f)
    }
}

impl fmt::Display for ProviderInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.config, self.key)
    }
}
