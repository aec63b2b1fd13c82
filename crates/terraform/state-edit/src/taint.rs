//! Marking current objects for replacement, and taking that back.

use std::sync::Arc;

use groundstate_states::addr::{AbsResourceInstance, ResourceMode};
use groundstate_states::{ObjectSrc, ObjectStatus};

use super::Editor;
use super::error::TaintError;
use super::summary::{Change, Summary};

impl Editor<'_> {
    /// Marks the current object of an instance, so that the next apply replaces it. The summary of one that is marked
    /// already is empty.
    ///
    /// # Errors
    ///
    /// When there is no such instance, when it has no current object, or when it is not managed.
    pub fn taint(&mut self, instance: &AbsResourceInstance) -> Result<Summary, TaintError> {
        let status = self.current(instance)?;
        let changes = match status {
            ObjectStatus::Tainted => Vec::new(),
            _ => {
                self.set_status(instance, ObjectStatus::Tainted)?;
                vec![Change::Tainted(instance.clone())]
            }
        };
        Ok(Summary { changes, ..Summary::default() })
    }

    /// Removes the mark that the current object of an instance is to be replaced.
    ///
    /// # Errors
    ///
    /// As [`Editor::taint`], and when it is not tainted.
    pub fn untaint(&mut self, instance: &AbsResourceInstance) -> Result<Summary, TaintError> {
        if self.current(instance)? != ObjectStatus::Tainted {
            return Err(TaintError::NotTainted { instance: instance.clone() });
        }
        self.set_status(instance, ObjectStatus::Ready)?;
        Ok(Summary { changes: vec![Change::Untainted(instance.clone())], ..Summary::default() })
    }

    /// The status of the current object.
    fn current(&self, address: &AbsResourceInstance) -> Result<ObjectStatus, TaintError> {
        let Some(instance) = self.working_set.instance(address)? else {
            return Err(TaintError::Missing { instance: address.clone() });
        };
        if address.resource.resource.mode != ResourceMode::Managed {
            return Err(TaintError::NotManaged { instance: address.clone() });
        }
        let current = instance.current.as_ref().map(|object| object.status);
        current.ok_or_else(|| TaintError::NoCurrentObject { instance: address.clone() })
    }

    fn set_status(&mut self, address: &AbsResourceInstance, status: ObjectStatus) -> Result<(), TaintError> {
        let resource = self.working_set.edit(&address.resource)?;
        let instance = resource.and_then(|resource| resource.instances.get_mut(&address.key));
        if let Some(current) = instance.and_then(|instance| instance.current.as_mut()) {
            *current = Arc::new(ObjectSrc { status, ..(**current).clone() });
        }
        Ok(())
    }
}
