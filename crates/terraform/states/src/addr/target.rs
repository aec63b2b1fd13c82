//! What a user may name on a command line: a module, a resource or an instance.

use std::fmt;
use std::str::FromStr;

use super::error::Fault;
use super::grammar::{self, parse_whole};
use super::{
    AbsResource, AbsResourceInstance, AddrError, AddrErrorKind, ConfigResource, ModuleInstance, ResourceMode,
};

/// What expressions of a configuration begin with. Neither product takes it for a resource type in an argument.
const RESERVED: [&str; 10] =
    ["arg", "count", "each", "lazy", "local", "path", "self", "template", "terraform", "var"];

/// A parsed address argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A module instance and everything inside it.
    Module(ModuleInstance),
    /// A resource with all its instances.
    Resource(AbsResource),
    /// One instance, named with its key.
    Instance(AbsResourceInstance),
}

impl Target {
    /// Reads an address argument. Without a key, `aws_instance.web` means the whole resource.
    ///
    /// # Errors
    /// Where and why the text names neither a module nor a resource nor an instance.
    ///
    /// # Examples
    /// ```
    /// use groundstate_states::addr::{AbsResourceInstance, Target};
    ///
    /// let module = Target::parse("module.app")?;
    /// let instance = AbsResourceInstance::parse(r#"module.app["eu"].aws_instance.web[0]"#)?;
    /// assert!(module.contains_instance(&instance));
    /// # Ok::<(), groundstate_states::addr::AddrError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, AddrError> {
        parse_whole("address", text, |steps| {
            let module = grammar::module_instance(steps)?;
            if !module.is_root() && steps.peek()?.is_none() {
                return Ok(Self::Module(module));
            }
            let resource = AbsResource { module, resource: grammar::resource(steps)? };
            Ok(match grammar::resource_key(steps)? {
                None => Self::Resource(resource),
                Some(key) => Self::Instance(AbsResourceInstance { resource, key }),
            })
        })
    }

    /// Reads an address argument as Terraform and OpenTofu take it: the names of their expressions, such as `count.x` and
    /// `path.x`, are no managed resources, unless `resource.` stands in front.
    ///
    /// # Errors
    /// As [`Target::parse`], and for such a name.
    pub fn parse_argument(text: &str) -> Result<Self, AddrError> {
        let target = Self::parse(text)?;
        let (Self::Resource(AbsResource { resource, .. })
        | Self::Instance(AbsResourceInstance { resource: AbsResource { resource, .. }, .. })) = &target
        else {
            return Ok(target);
        };
        if resource.mode != ResourceMode::Managed || !RESERVED.contains(&&*resource.type_name) {
            return Ok(target);
        }
        parse_whole("address", text, |steps| {
            grammar::module_instance(steps)?;
            let at = steps.peek()?.map_or(0, |step| step.at);
            if !steps.take_keyword(&resource.type_name)? {
                // `resource.` stands in front.
                while steps.next()?.is_some() {}
                return Ok(());
            }
            let reason = format!("`{}` is a word of expressions and no resource type", resource.type_name);
            let next = format!("write `resource.{resource}` if a resource has that type");
            Err(Fault::new(AddrErrorKind::OtherKind, at, reason, next))
        })?;
        Ok(target)
    }

    /// The module instance that the address is, or that contains it.
    #[must_use]
    pub fn module(&self) -> &ModuleInstance {
        match self {
            Self::Module(module) => module,
            Self::Resource(resource) => &resource.module,
            Self::Instance(instance) => instance.module(),
        }
    }

    /// Whether everything that `other` names is also named by this address.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        match other {
            Self::Module(module) => self.contains_module(module),
            Self::Resource(resource) => self.contains_resource(resource),
            Self::Instance(instance) => self.contains_instance(instance),
        }
    }

    /// Whether a module instance lies in this one; see [`ModuleInstance::contains`].
    #[must_use]
    pub fn contains_module(&self, other: &ModuleInstance) -> bool {
        matches!(self, Self::Module(module) if module.contains(other))
    }

    /// Whether this is the resource, or a module around it.
    #[must_use]
    pub fn contains_resource(&self, other: &AbsResource) -> bool {
        match self {
            Self::Module(module) => module.contains(&other.module),
            Self::Resource(resource) => resource == other,
            Self::Instance(_) => false,
        }
    }

    /// Whether this is the instance, its resource, or a module around it.
    #[must_use]
    pub fn contains_instance(&self, other: &AbsResourceInstance) -> bool {
        match self {
            Self::Module(_) | Self::Resource(_) => self.contains_resource(&other.resource),
            Self::Instance(instance) => instance == other,
        }
    }

    /// Whether this names every instance that the configured resource may have. An address with a key never does.
    #[must_use]
    pub fn contains_config_resource(&self, other: &ConfigResource) -> bool {
        match self {
            Self::Module(module) => module.contains_config(&other.module),
            Self::Resource(resource) => resource.contains_config(other),
            Self::Instance(_) => false,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(module) => module.fmt(f),
            Self::Resource(resource) => resource.fmt(f),
            Self::Instance(instance) => instance.fmt(f),
        }
    }
}

impl FromStr for Target {
    type Err = AddrError;

    fn from_str(text: &str) -> Result<Self, AddrError> {
        Self::parse(text)
    }
}
