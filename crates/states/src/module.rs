//! Modules: the resources of one module instance.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr;
use crate::{OutputValue, Resource, Value};

/// What state holds of one module instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Resources by mode, type and name.
    pub resources: BTreeMap<addr::Resource, Arc<Resource>>,
    /// Output values; only the root's are stored in files.
    pub outputs: BTreeMap<Arc<str>, Arc<OutputValue>>,
    /// Local values; never stored in files.
    pub locals: BTreeMap<Arc<str>, Value>,
}
