//! Addresses of objects that conditions can check.

use std::fmt;
use std::sync::Arc;

use super::AddrErrorKind::{Checkable as Kind, KeyNotAllowed};
use super::error::{AddrError, Fault};
use super::grammar::{self, parse_whole};
use super::lexer::Steps;
use super::{AbsResource, AbsResourceInstance, ConfigResource, Module, ModuleInstance};

/// The kinds of checkable object, in the spelling of state files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CheckableKind {
    /// `resource`
    Resource,
    /// `output`
    Output,
    /// `check`
    Check,
    /// `var`
    InputVariable,
}

/// A checkable object of one module instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checkable {
    /// A resource instance.
    Resource(AbsResourceInstance),
    /// An output, check block or input variable of a module instance.
    Named {
        /// Which of the three.
        kind: CheckableKind,
        /// The module instance.
        module: ModuleInstance,
        /// The name in its block.
        name: Arc<str>,
    },
}

/// A checkable object of the configuration, without any key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigCheckable {
    /// A resource.
    Resource(ConfigResource),
    /// An output, check block or input variable.
    Named {
        /// Which of the three.
        kind: CheckableKind,
        /// The module path.
        module: Module,
        /// The name in its block.
        name: Arc<str>,
    },
}

impl CheckableKind {
    /// The kind that a state file calls `text`, if there is one.
    #[must_use]
    pub fn from_wire(text: &str) -> Option<Self> {
        [Self::Resource, Self::Output, Self::Check, Self::InputVariable]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// The spelling in state files; but for resources it is also the keyword in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Output => "output",
            Self::Check => "check",
            Self::InputVariable => "var",
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Resource => "resource instance address",
            Self::Output => "output address",
            Self::Check => "check address",
            Self::InputVariable => "variable address",
        }
    }
}

impl Checkable {
    /// Reads the address of a checkable object, such as `module.a[0].output.id`.
    ///
    /// # Errors
    /// Where and why the text is not an address of that kind.
    pub fn parse(kind: CheckableKind, text: &str) -> Result<Self, AddrError> {
        parse_whole(kind.wanted(), text, |steps| {
            let module = grammar::module_instance(steps)?;
            if kind == CheckableKind::Resource {
                grammar::expect_resource(steps)?;
                let resource = AbsResource { module, resource: grammar::resource(steps)? };
                let key = grammar::resource_key(steps)?.unwrap_or_default();
                return Ok(Self::Resource(AbsResourceInstance { resource, key }));
            }
            Ok(Self::Named { kind, module, name: named(kind, steps)? })
        })
    }

    /// What kind of object it is.
    #[must_use]
    pub fn kind(&self) -> CheckableKind {
        match self {
            Self::Resource(_) => CheckableKind::Resource,
            Self::Named { kind, .. } => *kind,
        }
    }

    /// The same object without any key.
    #[must_use]
    pub fn to_config(&self) -> ConfigCheckable {
        match self {
            Self::Resource(instance) => ConfigCheckable::Resource(instance.resource.to_config()),
            Self::Named { kind, module, name } => {
                ConfigCheckable::Named { kind: *kind, module: module.to_config(), name: Arc::clone(name) }
            }
        }
    }
}

impl ConfigCheckable {
    /// Reads the address of a checkable object in configuration, such as `module.a.output.id`.
    ///
    /// # Errors
    /// Where and why the text is not an address of that kind; keys are refused.
    pub fn parse(kind: CheckableKind, text: &str) -> Result<Self, AddrError> {
        parse_whole(kind.wanted(), text, |steps| {
            let module = grammar::module(steps)?;
            if kind == CheckableKind::Resource {
                grammar::expect_resource(steps)?;
                let resource = grammar::resource(steps)?;
                grammar::no_key(steps, "a resource in configuration has no key")?;
                grammar::resource_key(steps)?;
                return Ok(Self::Resource(ConfigResource { module, resource }));
            }
            Ok(Self::Named { kind, module, name: named(kind, steps)? })
        })
    }

    /// What kind of object it is.
    #[must_use]
    pub fn kind(&self) -> CheckableKind {
        match self {
            Self::Resource(_) => CheckableKind::Resource,
            Self::Named { kind, .. } => *kind,
        }
    }
}

/// Takes the keyword of the kind and a name.
fn named(kind: CheckableKind, steps: &mut Steps<'_>) -> Result<Arc<str>, Fault> {
    let form = || format!("write `{}.NAME`", kind.as_str());
    if !steps.take_keyword(kind.as_str())? {
        let reason = format!("`{}` is missing", kind.as_str());
        return Err(Fault::new(Kind, steps.position(), reason, form()));
    }
    let name = match steps.take_name()? {
        Some(name) => name.into(),
        None => return Err(Fault::new(Kind, steps.position(), "the name is missing", form())),
    };
    let reason = "only resources and modules have keys";
    grammar::refuse_key(steps, KeyNotAllowed, reason, "leave out the key")?;
    Ok(name)
}

impl fmt::Display for CheckableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Checkable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(instance) => instance.fmt(f),
            Self::Named { kind, module, name } if module.is_root() => write!(f, "{kind}.{name}"),
            Self::Named { kind, module, name } => write!(f, "{module}.{kind}.{name}"),
        }
    }
}

impl fmt::Display for ConfigCheckable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(resource) => resource.fmt(f),
            Self::Named { kind, module, name } if module.is_root() => write!(f, "{kind}.{name}"),
            Self::Named { kind, module, name } => write!(f, "{module}.{kind}.{name}"),
        }
    }
}
