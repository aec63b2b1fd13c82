//! Resources and their instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::{InstanceKey, ProviderConfig};
use crate::{DeposedKey, Extra, ObjectSrc};

/// A resource in one module instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The provider configuration that managed it last.
    pub provider: ProviderConfig,
    /// Its instances; none makes it a husk.
    pub instances: BTreeMap<InstanceKey, ResourceInstance>,
    /// Members that are not understood.
    pub extra: Extra,
}

/// One instance of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceInstance {
    /// The current object.
    pub current: Option<Arc<ObjectSrc>>,
    /// Objects that wait to be destroyed.
    pub deposed: BTreeMap<DeposedKey, Arc<ObjectSrc>>,
    /// Instance key of the provider configuration (OpenTofu).
    pub provider_key: InstanceKey,
}
