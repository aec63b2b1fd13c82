//! The rules that several kinds of address share.

use super::AddrErrorKind::{Incomplete, KeyNotAllowed, KeyWithoutBrackets, ModulePath, OtherKind, Trailing};
use super::error::{AddrError, Fault};
use super::lexer::{StepKind, Steps};
use super::{InstanceKey, Module, ModuleInstance, ModuleStep, Resource, ResourceMode};

const KEYLESS: &str = "leave out the key";

/// Runs a rule over a whole text.
pub(super) fn parse_whole<'a, T>(
    wanted: &'static str,
    text: &'a str,
    rule: impl FnOnce(&mut Steps<'a>) -> Result<T, Fault>,
) -> Result<T, AddrError> {
    let parse = || {
        let mut steps = Steps::new(text)?;
        let value = rule(&mut steps)?;
        match steps.next()? {
            None => Ok(value),
            Some(step) => {
                Err(Fault::new(Trailing, step.at, "more follows after the address", "remove what follows"))
            }
        }
    };
    parse().map_err(|fault: Fault| fault.in_text(wanted, text))
}

/// Takes all `module` steps at the front; there may be none.
pub(super) fn module_instance(steps: &mut Steps<'_>) -> Result<ModuleInstance, Fault> {
    let mut path = Vec::new();
    while let Some(name) = module_name(steps)? {
        let key = steps.take_key()?.map(|(key, _)| key).unwrap_or_default();
        path.push(ModuleStep { name: name.into(), key });
    }
    if path.is_empty() { Ok(ModuleInstance::root()) } else { Ok(path.into_iter().collect()) }
}

/// Takes all `module` steps at the front, which must not have keys.
pub(super) fn module(steps: &mut Steps<'_>) -> Result<Module, Fault> {
    let mut path = Vec::new();
    while let Some(name) = module_name(steps)? {
        if let Some((_, at)) = steps.take_key()? {
            let reason = "a module cannot have a key here";
            return Err(Fault::new(KeyNotAllowed, at, reason, KEYLESS));
        }
        path.push(name.into());
    }
    if path.is_empty() { Ok(Module::root()) } else { Ok(path.into_iter().collect()) }
}

fn module_name<'a>(steps: &mut Steps<'a>) -> Result<Option<&'a str>, Fault> {
    if !steps.take_keyword("module")? {
        refuse_key(steps, ModulePath, "a name must follow the module path", "put a dot and a name here")?;
        return Ok(None);
    }
    match steps.take_name()? {
        Some(name) => Ok(Some(name)),
        None => {
            let reason = "the name of the module is missing";
            Err(Fault::new(ModulePath, steps.position(), reason, "write `module.NAME`"))
        }
    }
}

/// Fails if a resource must follow a module path and nothing does.
pub(super) fn expect_resource(steps: &mut Steps<'_>) -> Result<(), Fault> {
    match steps.peek()? {
        Some(_) => Ok(()),
        None => {
            let reason = "this is a module, not a resource";
            Err(Fault::new(OtherKind, steps.position(), reason, "put `.TYPE.NAME` behind it"))
        }
    }
}

/// Takes mode, type and name.
pub(super) fn resource(steps: &mut Steps<'_>) -> Result<Resource, Fault> {
    let mode = if steps.take_keyword("data")? {
        ResourceMode::Data
    } else if steps.take_keyword("ephemeral")? {
        ResourceMode::Ephemeral
    } else {
        ResourceMode::Managed
    };
    let mut type_name = resource_part(steps, mode)?;
    let mut name = resource_part(steps, mode)?;
    // In Terraform `resource.` may stand in front of a type that is a keyword elsewhere. It is no part of the address,
    // and to OpenTofu it is a type like any other.
    if mode == ResourceMode::Managed
        && type_name == "resource"
        && let Some(third) = steps.take_name()?
    {
        (type_name, name) = (name, third);
    }
    Ok(Resource { mode, type_name: type_name.into(), name: name.into() })
}

fn resource_part<'a>(steps: &mut Steps<'a>, mode: ResourceMode) -> Result<&'a str, Fault> {
    if let Some(name) = steps.take_name()? {
        return Ok(name);
    }
    let next = match mode {
        ResourceMode::Managed => "write `TYPE.NAME`",
        ResourceMode::Data => "write `data.TYPE.NAME`",
        ResourceMode::Ephemeral => "write `ephemeral.TYPE.NAME`",
    };
    let reason = "a resource needs a type and a name";
    Err(Fault::new(Incomplete, steps.position(), reason, next))
}

/// Takes the key of a resource instance, if there is one, and nothing else.
pub(super) fn resource_key(steps: &mut Steps<'_>) -> Result<Option<InstanceKey>, Fault> {
    if let Some(key) = steps.take_key()? {
        return Ok(Some(key.0));
    }
    match steps.next()? {
        None => Ok(None),
        Some(step) => {
            let next = match step.kind {
                StepKind::Name(name) => format!("write `[\"{name}\"]` if it is a key, otherwise remove it"),
                _ => "remove what follows".to_owned(),
            };
            let reason = "what follows a resource is a key in brackets";
            Err(Fault::new(KeyWithoutBrackets, step.at, reason, next))
        }
    }
}

/// Fails if a key comes next.
pub(super) fn refuse_key(
    steps: &mut Steps<'_>,
    kind: super::AddrErrorKind,
    reason: &'static str,
    next: &'static str,
) -> Result<(), Fault> {
    match steps.peek()? {
        Some(step) if step.to_key().is_some() => Err(Fault::new(kind, step.at, reason, next)),
        _ => Ok(()),
    }
}

/// Fails if a key comes next where the address names all instances.
pub(super) fn no_key(steps: &mut Steps<'_>, reason: &'static str) -> Result<(), Fault> {
    refuse_key(steps, KeyNotAllowed, reason, KEYLESS)
}
