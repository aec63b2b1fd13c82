//! Provider source addresses and provider configuration addresses.

use std::sync::Arc;

use super::{InstanceKey, Module};

/// Where a provider comes from: `host/namespace/type`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderSource {
    /// Registry host, in Unicode form, with a port if there is one.
    pub(crate) host: Arc<str>,
    /// Namespace; `-` is the legacy namespace of Terraform 0.12.
    pub(crate) namespace: Arc<str>,
    /// Provider type.
    pub(crate) type_name: Arc<str>,
}

/// The address of a provider configuration, for example `module.a.provider["registry.terraform.io/hashicorp/aws"].west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfig {
    /// The module that holds the `provider` block.
    pub module: Module,
    /// Which provider.
    pub source: ProviderSource,
    /// The alias, if the configuration has one.
    pub alias: Option<Arc<str>>,
}

/// One instance of a provider configuration that uses `for_each` (OpenTofu).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderInstance {
    /// The provider configuration.
    pub config: ProviderConfig,
    /// Which instance; only a configuration with an alias can have a key.
    pub key: InstanceKey,
}
