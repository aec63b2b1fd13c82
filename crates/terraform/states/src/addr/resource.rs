//! Resource addresses, relative, absolute, by instance and by configuration.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::grammar::{self, parse_whole};
use super::{AddrError, InstanceKey, Module, ModuleInstance, plain};

const RESOURCE: &str = "resource address";
const INSTANCE: &str = "resource instance address";

/// What kind of block declares a resource. The derived order is the one lists use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ResourceMode {
    /// An `ephemeral` block; never written to a state file.
    Ephemeral,
    /// A `data` block.
    Data,
    /// A `resource` block.
    Managed,
}

/// A resource inside its module: mode, type and name. The derived order is the one lists use.
///
/// Type and name come unchecked from files, so either may be empty or not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// Managed, data or ephemeral.
    pub mode: ResourceMode,
    /// The resource type, for example `aws_instance`.
    pub type_name: Arc<str>,
    /// The name given in configuration.
    pub name: Arc<str>,
}

/// A resource in a module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResource {
    /// The module instance that contains it.
    pub module: ModuleInstance,
    /// The resource inside that module.
    pub resource: Resource,
}

/// One instance of a resource in a module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResourceInstance {
    /// The resource.
    pub resource: AbsResource,
    /// Which instance of it.
    pub key: InstanceKey,
}

/// A resource as configuration declares it, without any key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// The module path without keys.
    pub module: Module,
    /// The resource inside that module.
    pub resource: Resource,
}

impl Resource {
    /// A `resource` block.
    #[must_use]
    pub fn managed(type_name: &str, name: &str) -> Self {
        Self::new(ResourceMode::Managed, type_name, name)
    }

    /// A `data` block.
    #[must_use]
    pub fn data(type_name: &str, name: &str) -> Self {
        Self::new(ResourceMode::Data, type_name, name)
    }

    /// A block of the given mode.
    #[must_use]
    pub fn new(mode: ResourceMode, type_name: &str, name: &str) -> Self {
        Self { mode, type_name: type_name.into(), name: name.into() }
    }

    /// This resource in a module instance.
    #[must_use]
    pub fn absolute(self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self }
    }

    /// This resource in a module.
    #[must_use]
    pub fn in_module(self, module: Module) -> ConfigResource {
        ConfigResource { module, resource: self }
    }
}

impl AbsResource {
    /// Reads an address such as `module.a["x"].aws_instance.web`.
    ///
    /// Entries of `dependencies` are read with this and [`to_config`](Self::to_config): old writers left module keys in.
    ///
    /// # Errors
    /// Where and why the text is not a resource address; an instance key and a bare module are refused.
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole(RESOURCE, text, |steps| {
            let module = grammar::module_instance(steps)?;
            grammar::expect_resource(steps)?;
            let resource = grammar::resource(steps)?;
            grammar::no_key(steps, "the key of an instance cannot follow a whole resource")?;
            grammar::resource_key(steps)?;
            Ok(Self { module, resource })
        })
    }

    /// Whether `text` is a resource address in plain characters, spelled as it would be printed.
    ///
    /// True promises that [`parse`](Self::parse) succeeds and that the result prints as `text`; false promises nothing.
    #[must_use]
    pub fn is_plain(text: impl AsRef<[u8]>) -> bool {
        plain::is_resource(text.as_ref(), true)
    }

    /// One instance of this resource.
    #[must_use]
    pub fn instance(&self, key: InstanceKey) -> AbsResourceInstance {
        AbsResourceInstance { resource: self.clone(), key }
    }

    /// The resource without the keys of its modules.
    #[must_use]
    pub fn to_config(&self) -> ConfigResource {
        ConfigResource { module: self.module.to_config(), resource: self.resource.clone() }
    }
}

impl AbsResourceInstance {
    /// Reads an address such as `aws_instance.web[0]`; without a key it is the instance that has none.
    ///
    /// # Errors
    /// Where and why the text is not a resource instance address; a bare module is refused.
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole(INSTANCE, text, |steps| {
            let module = grammar::module_instance(steps)?;
            grammar::expect_resource(steps)?;
            let resource = grammar::resource(steps)?;
            let key = grammar::resource_key(steps)?.unwrap_or_default();
            Ok(Self { resource: AbsResource { module, resource }, key })
        })
    }

    /// Whether `text` is an instance address in plain characters, spelled as it would be printed.
    ///
    /// True promises that [`parse`](Self::parse) succeeds and that the result prints as `text`; false promises nothing.
    #[must_use]
    pub fn is_plain(text: impl AsRef<[u8]>) -> bool {
        plain::is_instance(text.as_ref())
    }

    /// The module instance that contains it.
    #[must_use]
    pub fn module(&self) -> &ModuleInstance {
        &self.resource.module
    }
}

impl ConfigResource {
    /// Reads an address such as `module.a.aws_instance.web`.
    ///
    /// # Errors
    /// Where and why the text is not a resource address without keys.
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole("resource address without keys", text, |steps| {
            let module = grammar::module(steps)?;
            grammar::expect_resource(steps)?;
            let resource = grammar::resource(steps)?;
            grammar::no_key(steps, "a resource cannot have a key here")?;
            grammar::resource_key(steps)?;
            Ok(Self { module, resource })
        })
    }

    /// Whether `text` is such an address in plain characters, spelled as it would be printed.
    ///
    /// True promises that [`parse`](Self::parse) succeeds and that the result prints as `text`; false promises nothing.
    /// It builds nothing, so that the many entries of `dependencies` can be checked at little cost.
    #[must_use]
    pub fn is_plain(text: impl AsRef<[u8]>) -> bool {
        plain::is_resource(text.as_ref(), false)
    }

    /// The resource in the one instance of its module that has no key at any step.
    #[must_use]
    pub fn without_keys(&self) -> AbsResource {
        AbsResource { module: self.module.without_keys(), resource: self.resource.clone() }
    }
}

impl fmt::Display for ResourceMode {
    /// Prints the spelling of state files: `managed`, `data` or `ephemeral`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ephemeral => "ephemeral",
            Self::Data => "data",
            Self::Managed => "managed",
        })
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.mode {
            ResourceMode::Ephemeral => "ephemeral.",
            ResourceMode::Data => "data.",
            ResourceMode::Managed => "",
        })?;
        write!(f, "{}.{}", self.type_name, self.name)
    }
}

impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

impl fmt::Display for AbsResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.key)
    }
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

impl FromStr for AbsResource {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}

impl FromStr for AbsResourceInstance {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}

impl FromStr for ConfigResource {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}
