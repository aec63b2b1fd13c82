//! Who does the operations.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_ordering::effects::{Operation, Reply};
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_schedule::walk;
use groundstate_states::addr::ProviderConfig;
use groundstate_states::{ObjectSrc, ResourceInstance, State};

/// Does what plans say, with objects that are elsewhere. Called from many tasks at once.
#[async_trait]
pub trait Provider: fmt::Debug + Send + Sync {
    /// Does one operation, and says what the object is afterwards.
    ///
    /// Only operations for which [`Operation::calls_provider`] says so come here. A panic counts as a failure that
    /// leaves open whether there is a new object.
    async fn call(&self, call: Call<'_>) -> Reply;

    /// Gets a provider ready, for plans in which that is a node of its own.
    ///
    /// # Errors
    /// In words, why its operations are not possible.
    async fn configure(&self, _provider: &ProviderConfig) -> Result<(), String> {
        Ok(())
    }

    /// Is told that no operation of a provider will follow.
    ///
    /// # Errors
    /// In words, what went wrong.
    async fn close(&self, _provider: &ProviderConfig) -> Result<(), String> {
        Ok(())
    }
}

/// One operation, with all that a provider may want to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// What to do.
    pub operation: &'a Operation,
    /// The object that is to be updated, read again, destroyed, or replaced by the one to be made.
    pub prior: Option<Arc<ObjectSrc>>,
    /// The state as it is now, for references to other objects.
    pub state: &'a State,
    /// Whether the run is to end.
    pub context: &'a walk::Context,
}

/// The object that an operation is about, as it is once the operation was begun.
pub(crate) fn prior(operation: &Operation, instance: Option<&ResourceInstance>) -> Option<Arc<ObjectSrc>> {
    let instance = instance?;
    let object = match operation.kind {
        OpKind::Apply(ApplyKind::ReplaceCreate) => instance.deposed.get(&operation.deposes_to?),
        OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) => instance.deposed.get(&key),
        _ => instance.current.as_ref(),
    };
    object.cloned()
}
