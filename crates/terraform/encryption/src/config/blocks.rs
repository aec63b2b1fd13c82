//! From blocks and attributes to a configuration.

use super::body::{Block, Body};
use super::error::ConfigurationError;
use super::json::{Blocks, NO_BLOCKS};
use super::options::Options;
use super::value::{Place, Value};
use super::{Configuration, Declared, MethodRef, TargetBlock};

static IN_TARGET: Blocks = Blocks(&[("fallback", 0, &IN_TARGET)]);

static IN_REMOTE: Blocks = Blocks(&[("default", 0, &IN_TARGET), ("remote_state_data_source", 1, &IN_TARGET)]);

/// The blocks inside of `encryption`.
pub(super) static IN_ENCRYPTION: &Blocks = &Blocks(&[
    ("key_provider", 2, NO_BLOCKS),
    ("method", 2, NO_BLOCKS),
    ("state", 0, &IN_TARGET),
    ("plan", 0, &IN_TARGET),
    ("remote_state_data_sources", 0, &IN_REMOTE),
]);

/// How many fallbacks a target may have.
const MAX_FALLBACKS: usize = 32;

impl Configuration {
    pub(super) fn of_body(body: Body) -> Result<Self, ConfigurationError> {
        let mut configuration = Self::default();
        if let Some((name, _, place)) = body.attributes.into_iter().next() {
            return Err(unexpected(place, "attribute", &name));
        }
        for block in body.blocks {
            let place = block.place.clone();
            match block.kind.as_str() {
                "key_provider" => declare(&mut configuration.providers, block)?,
                "method" => declare(&mut configuration.methods, block)?,
                "state" => once(&mut configuration.state, target(block, true)?, place, "state")?,
                "plan" => once(&mut configuration.plan, target(block, true)?, place, "plan")?,
                "remote_state_data_sources" => configuration.add_remote(block)?,
                other => return Err(unexpected(place, "block", other)),
            }
        }
        Ok(configuration)
    }

    fn add_remote(&mut self, block: Block) -> Result<(), ConfigurationError> {
        let place = block.place.clone();
        if self.remote_default.is_some() || !self.remote.is_empty() {
            return Err(second(place, "remote_state_data_sources"));
        }
        if let Some((name, _, place)) = block.body.attributes.into_iter().next() {
            return Err(unexpected(place, "attribute", &name));
        }
        for mut block in block.body.blocks {
            let place = block.place.clone();
            match (block.kind.as_str(), &mut block.labels[..]) {
                ("default", []) => once(&mut self.remote_default, target(block, false)?, place, "default")?,
                ("remote_state_data_source", [name]) => {
                    let name = std::mem::take(name);
                    if self.remote.iter().any(|(known, _)| *known == name) {
                        return Err(second(place, &format!("remote_state_data_source.{name}")));
                    }
                    block.labels.clear();
                    self.remote.push((name, target(block, false)?));
                }
                (other, _) => return Err(unexpected(place, "block", other)),
            }
        }
        Ok(())
    }
}

fn unexpected(place: Place, what: &str, name: &str) -> ConfigurationError {
    ConfigurationError::structure(place, format!("encryption has no {what} `{name}` in this place"))
}

fn second(place: Place, what: &str) -> ConfigurationError {
    ConfigurationError::structure(place, format!("this is the second {what}, and there is one at most"))
}

fn once<T>(to: &mut Option<T>, value: T, place: Place, what: &str) -> Result<(), ConfigurationError> {
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(second(place, what)),
    }
}

fn declare(to: &mut Vec<Declared>, block: Block) -> Result<(), ConfigurationError> {
    let Block { kind: of, labels, body, place } = block;
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char))
    };
    let [kind, name] = &labels[..] else {
        return Err(ConfigurationError::structure(
            place,
            format!("`{of}` has two labels: a type and a name"),
        ));
    };
    let address = format!("{of}.{kind}.{name}");
    if !is_name(kind) || !is_name(name) {
        return Err(ConfigurationError::structure(
            place,
            "a label is not a name: use letters, digits, _ and -",
        ));
    }
    if to.iter().any(|known| known.kind == *kind && known.name == *name) {
        return Err(second(place, &address));
    }
    let mut values = body.into_options();
    let mut seen = std::collections::BTreeSet::new();
    if let Some((name, _, place)) = values.iter().find(|(name, ..)| !seen.insert(name.clone())) {
        return Err(second(place.clone(), &format!("`{name}` of {address}")));
    }
    let mut alias = None;
    if of == "key_provider" {
        let at = values.iter().position(|(name, ..)| name == "encrypted_metadata_alias");
        match at.map(|at| values.remove(at)) {
            None | Some((_, Value::Null, _)) => {}
            Some((_, Value::Text(text), _)) => alias = Some(text.to_string()).filter(|text| !text.is_empty()),
            Some((_, _, place)) => {
                let why = format!("encrypted_metadata_alias of {address} has to be a text");
                return Err(ConfigurationError::structure(place, why));
            }
        }
    }
    let options = Options { owner: address, place, values };
    to.push(Declared { kind: kind.clone(), name: name.clone(), alias, options });
    Ok(())
}

/// A target with its fallbacks, which are nested in each other.
fn target(block: Block, is_enforceable: bool) -> Result<TargetBlock, ConfigurationError> {
    let mut found =
        TargetBlock { place: block.place.clone(), enforced: false, method: None, fallbacks: None };
    let mut next = Some(block);
    let mut depth = 0;
    while let Some(Block { labels, body, place, .. }) = next.take() {
        if !labels.is_empty() || depth > MAX_FALLBACKS {
            let why = "a target has no labels, and 32 fallbacks at most";
            return Err(ConfigurationError::structure(place, why));
        }
        let mut method = None;
        for (name, value, place) in body.attributes {
            match name.as_str() {
                "method" => once(&mut method, reference(value, place.clone())?, place, "method")?,
                "enforced" if is_enforceable && depth == 0 => found.enforced = flag(value, place)?,
                other => return Err(unexpected(place, "attribute", other)),
            }
        }
        let method = method.flatten();
        match (depth, method) {
            (0, method) => found.method = method,
            (_, Some(method)) => found.fallbacks.get_or_insert_default().push(method),
            (_, None) => return Err(ConfigurationError::structure(place, "the fallback has no method")),
        }
        for block in body.blocks {
            let place = block.place.clone();
            match block.kind.as_str() {
                "fallback" => once(&mut next, block, place, "fallback")?,
                other => return Err(unexpected(place, "block", other)),
            }
        }
        depth += 1;
    }
    Ok(found)
}

fn flag(value: Value, place: Place) -> Result<bool, ConfigurationError> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        Value::Text(text) if text.as_str() == "true" => Ok(true),
        Value::Text(text) if text.as_str() == "false" => Ok(false),
        Value::Unknown(why) => Err(ConfigurationError::structure(place, format!("`enforced`: {why}"))),
        _ => Err(ConfigurationError::structure(place, "`enforced` has to be true or false")),
    }
}

/// The address of a method, which JSON writes as a text.
fn reference(value: Value, place: Place) -> Result<Option<MethodRef>, ConfigurationError> {
    let address = match value {
        Value::Null => return Ok(None),
        Value::Reference(address) => address,
        Value::Text(text) => text.to_string(),
        Value::Unknown(why) => {
            return Err(ConfigurationError::structure(place, format!("`method`: {why}")));
        }
        _ => String::new(),
    };
    let parts: Vec<&str> = address.split('.').collect();
    match &parts[..] {
        ["method", kind, name] if !kind.is_empty() && !name.is_empty() => {
            Ok(Some(MethodRef { address, place }))
        }
        _ => Err(ConfigurationError::structure(place, "`method` has to have the form method.TYPE.NAME")),
    }
}
