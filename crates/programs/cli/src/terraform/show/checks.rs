//! Check results in the form of `show -json`.

use groundstate_states::addr::{AbsResourceInstance, Checkable, CheckableKind, ConfigCheckable, InstanceKey};
use groundstate_states::addr::{ModuleInstance, ResourceMode};
use groundstate_states::{CheckAggregate, CheckObject, CheckResults, CheckStatus};

use crate::report::json::Json;

/// Adds the member `checks`, sorted by address.
pub(super) fn write(json: &mut Json, results: &CheckResults) {
    let mut aggregates: Vec<(String, &CheckAggregate)> =
        results.aggregates.iter().map(|aggregate| (aggregate.addr.to_string(), aggregate)).collect();
    aggregates.sort_by(|a, b| a.0.cmp(&b.0));
    json.objects("checks", aggregates, |json, (address, aggregate)| {
        json.inner("address", |json| config_address(json, &aggregate.addr, &address));
        json.text("status", status(&aggregate.status));
        if !aggregate.objects.is_empty() {
            instances(json, &aggregate.objects);
        }
    });
}

fn instances(json: &mut Json, objects: &[CheckObject]) {
    let mut objects: Vec<(String, &CheckObject)> =
        objects.iter().map(|object| (object.addr.to_string(), object)).collect();
    objects.sort_by(|a, b| a.0.cmp(&b.0));
    json.objects("instances", objects, |json, (address, object)| {
        json.inner("address", |json| instance_address(json, &object.addr, &address));
        json.text("status", status(&object.status));
        if !object.failure_messages.is_empty() {
            let mut messages = object.failure_messages.clone();
            messages.sort();
            json.objects("problems", messages, |json, message| json.text("message", &message));
        }
    });
}

fn config_address(json: &mut Json, address: &ConfigCheckable, shown: &str) {
    json.text("kind", kind(address.kind()));
    match address {
        ConfigCheckable::Resource(config) => {
            json.text("mode", mode(config.resource.mode));
            if !config.module.is_root() {
                json.text("module", &config.module.to_string());
            }
            json.text("name", &config.resource.name);
            json.text("to_display", shown);
            json.text("type", &config.resource.type_name);
        }
        ConfigCheckable::Named { module, name, .. } => {
            if !module.is_root() {
                json.text("module", &module.to_string());
            }
            json.text("name", name);
            json.text("to_display", shown);
        }
    }
}

fn instance_address(json: &mut Json, address: &Checkable, shown: &str) {
    let module: &ModuleInstance = match address {
        Checkable::Resource(AbsResourceInstance { resource, key }) => {
            self::key(json, "instance_key", key);
            &resource.module
        }
        Checkable::Named { module, .. } => module,
    };
    if !module.is_root() {
        json.text("module", &module.to_string());
    }
    json.text("to_display", shown);
}

/// Adds an instance key, if there is one.
pub(super) fn key(json: &mut Json, name: &str, key: &InstanceKey) {
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(index) => json.raw(name, index),
        InstanceKey::String(key) => json.text(name, key),
    }
}

pub(super) fn mode(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    }
}

/// The kind as this format spells it: outputs have another name than in state files.
fn kind(kind: CheckableKind) -> &'static str {
    match kind {
        CheckableKind::Output => "output_value",
        other => other.as_str(),
    }
}

fn status(status: &CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        _ => "unknown",
    }
}
