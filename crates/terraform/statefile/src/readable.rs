//! Whether the addresses of a state print as text that can be read again, before any of it is written.

use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance, ProviderConfig,
    ProviderInstance, Resource, ResourceMode, is_identifier,
};
use groundstate_states::{ObjectSrc, State};

use crate::decode::READ_WITH;
use crate::encode::EncodeError;

/// Finds the first address that no reader would accept.
///
/// # Errors
///
/// [`EncodeError::Unreadable`] with its resource.
pub(crate) fn check(state: &State) -> Result<(), EncodeError> {
    // Most resources of a module have one provider, so its text is judged once.
    let mut judged: Option<ProviderConfig> = None;
    for (module, content) in state.modules() {
        let mut is_module_read = module.is_root();
        for (name, resource) in &content.resources {
            let fail = |what: String| {
                let address = name.clone().absolute(module.clone()).to_string();
                EncodeError::Unreadable { address, what }
            };
            if !is_module_read {
                is_module_read = is_module(module);
                if !is_module_read {
                    return Err(fail("its module address".to_owned()));
                }
            }
            // Equal providers may be spelled in different ways, but all of them or none can be read.
            if judged.as_ref() != Some(&resource.provider) {
                if !is_provider(&resource.provider) {
                    return Err(fail(format!("its provider {}", resource.provider)));
                }
                judged = Some(resource.provider.clone());
            }
            for instance in resource.instances.values() {
                let key = &instance.provider_key;
                if *key != InstanceKey::None && !is_provider_instance(&resource.provider, key) {
                    return Err(fail(format!("its provider {}{key}", resource.provider)));
                }
                let objects = instance.current.iter().chain(instance.deposed.values());
                if let Some(what) = objects.filter_map(|object| unread_dependency(object)).next() {
                    return Err(fail(format!("its dependency on {what}")));
                }
            }
        }
    }
    Ok(())
}

fn is_module(module: &ModuleInstance) -> bool {
    let text = module.to_string();
    ModuleInstance::is_plain(&text) || ModuleInstance::parse(&text).is_ok()
}

fn is_provider(provider: &ProviderConfig) -> bool {
    let text = provider.spelled();
    ProviderConfig::is_plain(&text)
        || ProviderConfig::parse(&text, READ_WITH).is_ok()
        || ProviderConfig::parse_legacy(&text, READ_WITH).is_ok()
}

fn is_provider_instance(provider: &ProviderConfig, key: &InstanceKey) -> bool {
    let instance = ProviderInstance { config: provider.clone(), key: key.clone() };
    ProviderInstance::parse(&instance.spelled(), READ_WITH).is_ok()
}

fn unread_dependency(object: &ObjectSrc) -> Option<String> {
    let stored = object.dependencies.iter();
    let unread = stored.filter(|config| !is_plain(&config.module, &config.resource)).find_map(|config| {
        let text = config.to_string();
        ConfigResource::parse(&text).is_err().then_some(text)
    });
    unread.or_else(|| {
        object.depends_on.iter().find_map(|instance| {
            let text = instance.to_string();
            let read = AbsResourceInstance::is_plain(&text) || AbsResourceInstance::parse(&text).is_ok();
            (!read).then_some(text)
        })
    })
}

/// Whether a dependency is of the kind that nearly all are, without printing it.
fn is_plain(module: &Module, resource: &Resource) -> bool {
    let keyword = matches!(&*resource.type_name, "data" | "ephemeral" | "module" | "resource");
    let named = is_identifier(&resource.type_name) && is_identifier(&resource.name);
    resource.mode != ResourceMode::Ephemeral
        && named
        && !keyword
        && module.steps().iter().all(|step| is_identifier(step))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groundstate_states::addr::{ConfigResource, InstanceKey, Module, Resource};
    use groundstate_states::{Lineage, ObjectSrc, RawJson, ResourceInstance};

    use crate::{Dialect, EncodeError, EncodeOptions, File, encode};

    fn file(alias: Option<&str>, key: InstanceKey, object: ObjectSrc) -> File {
        let text = r#"provider["acme/x"]"#;
        let mut provider =
            groundstate_states::addr::ProviderConfig::parse(text, Dialect::OpenTofu.default_registry())
                .unwrap();
        provider.alias = alias.map(Into::into);
        let mut resource = groundstate_states::Resource::new(provider);
        let instance = ResourceInstance { provider_key: key, ..ResourceInstance::with_current(object) };
        resource.instances.insert(InstanceKey::None, instance);
        let mut file = File::new(Dialect::OpenTofu, Lineage::default());
        file.state.root_mut().resources.insert(Resource::managed("t", "a"), Arc::new(resource));
        file
    }

    #[test]
    fn a_key_of_a_provider_needs_an_alias() {
        let key = || InstanceKey::String("k".into());
        let object = || ObjectSrc::new(0, RawJson::parse("{}").unwrap());
        assert!(encode(&file(Some("by"), key(), object()), &EncodeOptions::default()).is_ok());
        let refused = encode(&file(None, key(), object()), &EncodeOptions::default().allow_loss(true));
        assert!(matches!(refused, Err(EncodeError::Unreadable { .. })), "{refused:?}");
    }

    #[test]
    fn a_dependency_that_reads_as_something_else_is_refused() {
        for (resource, read) in [
            (Resource::managed("t", "b"), true),
            (Resource::managed("resource", "b"), true),
            (Resource::managed("data", "b"), false),
            (Resource::managed("t", "not an identifier"), false),
        ] {
            let mut object = ObjectSrc::new(0, RawJson::parse("{}").unwrap());
            object.dependencies.push(ConfigResource { module: Module::root(), resource: resource.clone() });
            let written = encode(&file(None, InstanceKey::None, object), &EncodeOptions::default());
            assert_eq!(written.is_ok(), read, "{resource:?}");
        }
    }
}
