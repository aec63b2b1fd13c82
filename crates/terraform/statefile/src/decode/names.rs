//! What resources, modules, providers and releases are called in documents.

use groundstate_states::addr::{
    AbsResource, ModuleInstance, ProviderConfig, Resource, ResourceMode, TERRAFORM_REGISTRY,
};

use crate::instance::ObjectKey;
use crate::problem::Code;
use crate::sink::Sink;
use crate::walk::{Head, Text};
use crate::writer_version::WriterVersion;

/// Reads `terraform_version`; empty means unknown.
pub(crate) fn writer_version(text: &str, offset: usize, sink: &mut Sink) -> Option<WriterVersion> {
    if text.is_empty() {
        return None;
    }
    let parsed = WriterVersion::parse(text);
    if let Err(error) = &parsed {
        sink.problem(Code::WriterVersion, offset, format!("terraform_version: {error}"));
    }
    parsed.ok()
}

/// Reads the address of a module instance; `None` after a problem.
pub fn module_address(text: &Text, sink: &mut Sink) -> Option<ModuleInstance> {
    if text.value.is_empty() {
        return Some(ModuleInstance::root());
    }
    match ModuleInstance::parse(&text.value) {
        Ok(module) => Some(module),
        Err(error) => {
            sink.problem_at(Code::ModuleAddress, text.offset, error.to_string());
            None
        }
    }
}

/// Reads what a resource is called in its module; `None` after a problem.
pub fn resource_address(head: &Head, sink: &mut Sink) -> Option<Resource> {
    let mode = match head.mode.value.as_str() {
        "managed" => ResourceMode::Managed,
        "data" => ResourceMode::Data,
        other => {
            let [mode, type_name, name] = [other, &head.type_name.value, &head.name.value]
                .map(|text| text.chars().take(40).collect::<String>());
            let why = format!("mode {mode:?} of {type_name:?} {name:?} is neither \"managed\" nor \"data\"");
            let offset = if other.is_empty() { head.offset } else { head.mode.offset };
            sink.problem_at(Code::ResourceMode, offset, why);
            return None;
        }
    };
    Some(Resource {
        mode,
        type_name: head.type_name.value.as_str().into(),
        name: head.name.value.as_str().into(),
    })
}

/// The registry that provider addresses are read with, whatever the dialect: what can be read must not depend on it.
pub const READ_WITH: &str = TERRAFORM_REGISTRY;

/// Reads a provider address in its present form or in that of Terraform 0.12; `None` after a problem.
pub fn provider_address(text: &Text, sink: &mut Sink) -> Option<ProviderConfig> {
    match ProviderConfig::parse(&text.value, READ_WITH) {
        Ok(config) => Some(config),
        Err(error) => match ProviderConfig::parse_legacy(&text.value, READ_WITH) {
            Ok(config) => Some(config),
            Err(_) => {
                sink.problem_at(Code::ProviderAddress, text.offset, error.to_string());
                None
            }
        },
    }
}

/// Reports that an object appears twice.
pub(crate) fn duplicate(address: &AbsResource, key: &ObjectKey, offset: usize, sink: &mut Sink) {
    let instance = address.instance(key.0.clone());
    match &key.1 {
        None => {
            let why = format!("{instance} has two current objects; remove one of them");
            sink.problem_at(Code::DuplicateCurrent, offset, why);
        }
        Some(deposed) => {
            let why = format!("{instance} has two deposed objects {deposed}; remove one of them");
            sink.problem_at(Code::DuplicateDeposed, offset, why);
        }
    }
}
