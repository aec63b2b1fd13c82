//! The whole state.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::ModuleInstance;
use crate::{CheckResults, Module};

/// All that is known of remote objects, without lineage and serial.
///
/// Cloning shares the modules; a change copies only the module it touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    modules: BTreeMap<ModuleInstance, Arc<Module>>,
    /// Results of conditions; absent when the writer did not know of checks.
    pub check_results: Option<CheckResults>,
}
