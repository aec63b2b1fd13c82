//! Modules: the resources of one module instance.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::addr;
use crate::{OutputValue, Resource, Value};

/// What state holds of one module instance.
///
/// `Debug` shows the names of local values only, since nothing tells which of them are secret.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Module {
    /// Resources by mode, type and name.
    pub resources: BTreeMap<addr::Resource, Arc<Resource>>,
    /// Output values; only the root's are stored in files.
    pub outputs: BTreeMap<Arc<str>, Arc<OutputValue>>,
    /// Local values; never stored in files.
    pub locals: BTreeMap<Arc<str>, Value>,
}

impl Module {
    /// Whether there are neither resources nor outputs nor local values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty() && self.locals.is_empty()
    }

    /// The resource at this address inside the module.
    #[must_use]
    pub fn resource(&self, addr: &addr::Resource) -> Option<&Resource> {
        self.resources.get(addr).map(|resource| &**resource)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("resources", &self.resources)
            .field("outputs", &self.outputs)
            .field("locals", &self.locals.keys())
            .finish()
    }
}
