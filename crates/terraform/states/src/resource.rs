//! Resources and their instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::{InstanceKey, ProviderConfig};
use crate::{DeposedKey, Extra, Generation, ObjectSrc};

/// A resource in one module instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The provider configuration that managed it last.
    pub provider: ProviderConfig,
    /// Its instances; none makes it a husk. Keys of all kinds may stand side by side.
    pub instances: BTreeMap<InstanceKey, ResourceInstance>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// One instance of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ResourceInstance {
    /// The current object.
    pub current: Option<Arc<ObjectSrc>>,
    /// Objects that wait to be destroyed.
    pub deposed: BTreeMap<DeposedKey, Arc<ObjectSrc>>,
    /// Instance key of the provider configuration (OpenTofu).
    pub provider_key: InstanceKey,
}

impl Resource {
    /// A husk: a resource without instances.
    #[must_use]
    pub fn new(provider: ProviderConfig) -> Self {
        Self { provider, instances: BTreeMap::new(), extra: Extra::new() }
    }
}

impl ResourceInstance {
    /// An instance with a current object.
    #[must_use]
    pub fn with_current(object: impl Into<Arc<ObjectSrc>>) -> Self {
        Self { current: Some(object.into()), ..Self::default() }
    }

    /// Whether there is a current or a deposed object.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        self.current.is_some() || !self.deposed.is_empty()
    }

    /// One of the objects.
    #[must_use]
    pub fn object(&self, generation: Generation) -> Option<&ObjectSrc> {
        match generation {
            Generation::Current => self.current.as_deref(),
            Generation::Deposed(key) => self.deposed.get(&key).map(|object| &**object),
        }
    }

    /// All objects: the current one, then the deposed ones by key.
    pub fn objects(&self) -> impl Iterator<Item = (Generation, &ObjectSrc)> {
        let current = self.current.iter().map(|object| (Generation::Current, &**object));
        let deposed = self.deposed.iter().map(|(key, object)| (Generation::Deposed(*key), &**object));
        current.chain(deposed)
    }

    /// A key that no deposed object of this instance has, from random numbers that the caller draws.
    pub fn unused_deposed_key(&self, draw: impl FnMut() -> u32) -> DeposedKey {
        DeposedKey::generate(draw, |key| self.deposed.contains_key(key))
    }
}
