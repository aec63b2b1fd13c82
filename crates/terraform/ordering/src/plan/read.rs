//! What a plan holds, as far as it matters for order.

use std::collections::BTreeMap;

use groundstate_json::{Cursor, Kind, Stop, SyntaxError};

use super::json::{Read, array, flag, object, references, skip, text, texts};
use super::{Cause, PlanError};

/// How deep modules may lie in each other.
pub(super) const DEEPEST: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) providers: Vec<Provider>,
    pub(super) root: ModuleConfig,
    pub(super) changes: Vec<Change>,
    pub(super) prior: Vec<Prior>,
    /// Whether the plan holds the state it starts from.
    pub(super) has_prior: bool,
    /// The version of the program that made the plan.
    pub(super) version: Option<String>,
    /// Whether the plan has members that only Terraform writes.
    pub(super) of_terraform: bool,
    /// Resources with preconditions or postconditions.
    pub(super) checked: Vec<String>,
    /// Whether planning ended with an error.
    pub(super) errored: bool,
    /// How many changes are put off.
    pub(super) deferred: usize,
    /// Addresses of the actions that are invoked.
    pub(super) actions: Vec<String>,
    /// How many invocations of actions are put off.
    pub(super) deferred_actions: usize,
}

#[derive(Debug, Default)]
pub(super) struct Provider {
    pub(super) key: String,
    pub(super) full_name: String,
    pub(super) alias: Option<String>,
    pub(super) module: String,
    pub(super) references: Vec<String>,
}

/// A module of the configuration.
#[derive(Debug, Default)]
pub(super) struct ModuleConfig {
    pub(super) resources: Vec<Block>,
    pub(super) outputs: BTreeMap<String, Value>,
    pub(super) calls: BTreeMap<String, Call>,
}

/// What something refers to: in expressions, and as a whole.
#[derive(Debug, Default)]
pub(super) struct Value {
    pub(super) references: Vec<String>,
    pub(super) depends_on: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) mode: String,
    pub(super) type_name: String,
    pub(super) name: String,
    pub(super) provider_key: String,
    pub(super) value: Value,
}

#[derive(Debug, Default)]
pub(super) struct Call {
    /// What each variable of the module is given.
    pub(super) arguments: BTreeMap<String, Vec<String>>,
    /// What the number of instances, and all in the module, depend on.
    pub(super) gate: Value,
    pub(super) module: ModuleConfig,
}

#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) address: String,
    pub(super) previous_address: Option<String>,
    pub(super) deposed: Option<String>,
    pub(super) provider_name: Option<String>,
    pub(super) actions: Vec<String>,
    pub(super) cause: Cause,
}

/// An object of the prior state.
#[derive(Debug, Default)]
pub(super) struct Prior {
    pub(super) address: String,
    pub(super) provider_name: Option<String>,
    pub(super) tainted: bool,
    pub(super) deposed: Option<String>,
    pub(super) depends_on: Vec<String>,
    /// The flag, in plans that have it.
    pub(super) create_before_destroy: Option<bool>,
}

pub(super) fn read(bytes: &[u8]) -> Read<Plan> {
    // PowerShell writes what it redirects as UTF-16, with a byte-order mark.
    read_plan(bytes).map_err(|error| match error {
        PlanError::Syntax { offset, why } if offset <= 1 => {
            let stop = Stop { offset, why: SyntaxError::Unexpected };
            PlanError::Syntax { offset, why: why + stop.advice(bytes) }
        }
        error => error,
    })
}

fn read_plan(bytes: &[u8]) -> Read<Plan> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(PlanError::PlanFile);
    }
    let mut cursor = Cursor::new(bytes);
    let mut plan = Plan::default();
    let (mut version, mut is_plan) = (None, false);
    if cursor.kind()? != Kind::Object {
        return Err(PlanError::NotAPlan);
    }
    object(&mut cursor, "the plan", |cursor, name| {
        match name {
            "format_version" => version = Some(text(cursor, name)?),
            "terraform_version" => plan.version = Some(text(cursor, name)?),
            "applyable" | "complete" => {
                plan.of_terraform = true;
                skip(cursor)?;
            }
            "configuration" => {
                is_plan = true;
                configuration(cursor, &mut plan)?;
            }
            "resource_changes" => {
                is_plan = true;
                array(cursor, name, |cursor| {
                    plan.changes.push(change(cursor)?);
                    Ok(())
                })?;
            }
            "prior_state" => object(cursor, name, |cursor, name| match name {
                "values" => object(cursor, name, |cursor, name| match name {
                    "root_module" => {
                        plan.has_prior = true;
                        prior_module(cursor, &mut plan.prior, 0)
                    }
                    _ => skip(cursor),
                }),
                _ => skip(cursor),
            })?,
            "checks" => array(cursor, name, |cursor| {
                plan.checked.extend(checked(cursor)?);
                Ok(())
            })?,
            "errored" => plan.errored = flag(cursor, name)?,
            "deferred_changes" => {
                plan.of_terraform = true;
                array(cursor, name, |cursor| {
                    plan.deferred += 1;
                    skip(cursor)
                })?;
            }
            "action_invocations" => array(cursor, name, |cursor| {
                plan.actions.push(invoked(cursor)?);
                Ok(())
            })?,
            "deferred_action_invocations" => array(cursor, name, |cursor| {
                plan.deferred_actions += 1;
                skip(cursor)
            })?,
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    cursor.end()?;
    match version {
        Some(version) if version.starts_with("0.") || version.starts_with("1.") => {}
        Some(version) => return Err(PlanError::Version { version }),
        None => return Err(PlanError::NotAPlan),
    }
    if is_plan { Ok(plan) } else { Err(PlanError::NotAPlan) }
}

fn configuration(cursor: &mut Cursor<'_>, plan: &mut Plan) -> Read<()> {
    object(cursor, "configuration", |cursor, name| match name {
        "provider_config" => object(cursor, name, |cursor, key| {
            plan.providers.push(provider(cursor, key)?);
            Ok(())
        }),
        "root_module" => {
            plan.root = module(cursor, 0)?;
            Ok(())
        }
        _ => skip(cursor),
    })
}

fn provider(cursor: &mut Cursor<'_>, key: &str) -> Read<Provider> {
    let mut provider = Provider { key: key.to_owned(), ..Provider::default() };
    object(cursor, key, |cursor, name| {
        match name {
            "full_name" => provider.full_name = text(cursor, name)?,
            "alias" => provider.alias = Some(text(cursor, name)?),
            "module_address" => provider.module = text(cursor, name)?,
            "expressions" => references(cursor, &mut provider.references)?,
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    Ok(provider)
}

fn module(cursor: &mut Cursor<'_>, depth: usize) -> Read<ModuleConfig> {
    if depth > DEEPEST {
        return Err(PlanError::TooDeep(DEEPEST));
    }
    let mut module = ModuleConfig::default();
    object(cursor, "module", |cursor, name| match name {
        "resources" => array(cursor, name, |cursor| {
            module.resources.push(block(cursor)?);
            Ok(())
        }),
        "outputs" => object(cursor, name, |cursor, name| {
            let mut value = Value::default();
            object(cursor, name, |cursor, name| match name {
                "expression" => references(cursor, &mut value.references),
                "depends_on" => {
                    value.depends_on = texts(cursor, name)?;
                    Ok(())
                }
                _ => skip(cursor),
            })?;
            module.outputs.insert(name.to_owned(), value);
            Ok(())
        }),
        "module_calls" => object(cursor, name, |cursor, name| {
            module.calls.insert(name.to_owned(), call(cursor, depth)?);
            Ok(())
        }),
        _ => skip(cursor),
    })?;
    Ok(module)
}

fn block(cursor: &mut Cursor<'_>) -> Read<Block> {
    let mut block = Block::default();
    object(cursor, "resources", |cursor, name| {
        match name {
            "mode" => block.mode = text(cursor, name)?,
            "type" => block.type_name = text(cursor, name)?,
            "name" => block.name = text(cursor, name)?,
            "provider_config_key" => block.provider_key = text(cursor, name)?,
            "depends_on" => block.value.depends_on = texts(cursor, name)?,
            "expressions" | "count_expression" | "for_each_expression" | "provisioners" => {
                references(cursor, &mut block.value.references)?;
            }
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    Ok(block)
}

fn call(cursor: &mut Cursor<'_>, depth: usize) -> Read<Call> {
    let mut call = Call::default();
    object(cursor, "module_calls", |cursor, name| {
        match name {
            "expressions" => object(cursor, name, |cursor, variable| {
                let mut found = Vec::new();
                references(cursor, &mut found)?;
                call.arguments.insert(variable.to_owned(), found);
                Ok(())
            })?,
            "count_expression" | "for_each_expression" => references(cursor, &mut call.gate.references)?,
            "depends_on" => call.gate.depends_on = texts(cursor, name)?,
            "module" => call.module = module(cursor, depth + 1)?,
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    Ok(call)
}

fn change(cursor: &mut Cursor<'_>) -> Read<Change> {
    let mut change = Change::default();
    object(cursor, "resource_changes", |cursor, name| {
        match name {
            "address" => change.address = text(cursor, name)?,
            "previous_address" => change.previous_address = Some(text(cursor, name)?),
            "deposed" => change.deposed = Some(text(cursor, name)?),
            "provider_name" => change.provider_name = Some(text(cursor, name)?),
            "action_reason" => change.cause.reason = Some(text(cursor, name)?),
            "change" => object(cursor, name, |cursor, name| match name {
                "actions" => {
                    change.actions = texts(cursor, name)?;
                    Ok(())
                }
                "replace_paths" => array(cursor, name, |cursor| {
                    change.cause.replace_paths.push(path(cursor)?);
                    Ok(())
                }),
                _ => skip(cursor),
            })?,
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    Ok(change)
}

/// A path of names and places, as `disk[0].size`.
fn path(cursor: &mut Cursor<'_>) -> Read<String> {
    let mut path = String::new();
    array(cursor, "replace_paths", |cursor| {
        match cursor.kind()? {
            Kind::String => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&text(cursor, "replace_paths")?);
            }
            Kind::Number => {
                path.push('[');
                path.push_str(cursor.number()?);
                path.push(']');
            }
            _ => skip(cursor)?,
        }
        Ok(())
    })?;
    Ok(path)
}

fn prior_module(cursor: &mut Cursor<'_>, prior: &mut Vec<Prior>, depth: usize) -> Read<()> {
    if depth > DEEPEST {
        return Err(PlanError::TooDeep(DEEPEST));
    }
    object(cursor, "root_module", |cursor, name| match name {
        "resources" => array(cursor, name, |cursor| {
            let mut object_found = Prior::default();
            object(cursor, "resources", |cursor, name| {
                match name {
                    "address" => object_found.address = text(cursor, name)?,
                    "provider_name" => object_found.provider_name = Some(text(cursor, name)?),
                    "tainted" => object_found.tainted = flag(cursor, name)?,
                    "deposed_key" => object_found.deposed = Some(text(cursor, name)?),
                    "depends_on" => object_found.depends_on = texts(cursor, name)?,
                    "create_before_destroy" => {
                        object_found.create_before_destroy = Some(flag(cursor, name)?);
                    }
                    _ => skip(cursor)?,
                }
                Ok(())
            })?;
            prior.push(object_found);
            Ok(())
        }),
        "child_modules" => array(cursor, name, |cursor| prior_module(cursor, prior, depth + 1)),
        _ => skip(cursor),
    })
}

/// The resource whose conditions the check is about, if it is about one.
fn checked(cursor: &mut Cursor<'_>) -> Read<Option<String>> {
    let (mut kind, mut display) = (None, None);
    object(cursor, "checks", |cursor, name| match name {
        "address" => object(cursor, name, |cursor, name| {
            match name {
                "kind" => kind = Some(text(cursor, name)?),
                "to_display" => display = Some(text(cursor, name)?),
                _ => skip(cursor)?,
            }
            Ok(())
        }),
        _ => skip(cursor),
    })?;
    Ok(display.filter(|_| kind.as_deref() == Some("resource")))
}

/// The address of an action that is invoked; empty if the plan does not say it.
fn invoked(cursor: &mut Cursor<'_>) -> Read<String> {
    let mut address = String::new();
    object(cursor, "action_invocations", |cursor, name| match name {
        "address" => {
            address = text(cursor, name)?;
            Ok(())
        }
        _ => skip(cursor),
    })?;
    Ok(address)
}
