//! Carries mutations out on a state.

use std::sync::Arc;

use groundstate_states::addr::AbsResourceInstance;
use groundstate_states::{DeposedKey, ObjectSrc, ResourceInstance, State};

use super::{Meta, Mutation, Operation};

/// A mutation that the instance has no place for. The state is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// There is no current object.
    #[error("{addr} has no current object; refresh and plan again")]
    NoCurrent {
        /// The instance.
        addr: Box<AbsResourceInstance>,
    },
    /// There is one where none may be.
    #[error("{addr} has a current object, so {key} cannot take its place; plan again")]
    CurrentInTheWay {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// The deposed object that was to become current.
        key: DeposedKey,
    },
    /// There is no such deposed object.
    #[error("missing deposed object {key} of {addr}; refresh and plan again")]
    MissingDeposed {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// The key.
        key: DeposedKey,
    },
    /// The key is in use.
    #[error("{addr} has a deposed object {key} already; plan again, so that another key is drawn")]
    DeposedKeyInUse {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// The key.
        key: DeposedKey,
    },
}

/// Does all of the mutations to the operation's instance, or none of them. Whatever is empty then is removed: the
/// instance, its resource, its module.
///
/// # Errors
/// When a mutation does not fit to what the instance holds at that point.
pub fn apply(state: &mut State, operation: &Operation, mutations: &[Mutation]) -> Result<(), ApplyError> {
    if mutations.is_empty() {
        return Ok(());
    }
    let addr = &operation.addr;
    // Objects are shared, so this copy is a few pointers.
    let mut instance = state.resource_instance(addr).cloned().unwrap_or_default();
    let mut moved_in = false;
    for mutation in mutations {
        moved_in |= matches!(mutation, Mutation::SetCurrent(_));
        mutate(&mut instance, mutation, addr)?;
    }
    if !instance.has_objects() {
        state.forget_resource_instance_all(addr);
        return Ok(());
    }
    if moved_in {
        instance.provider_key.clone_from(&operation.provider.key);
        state.set_resource_provider(&addr.resource, &operation.provider.config);
    }
    state.set_resource_instance(addr, Some(instance), &operation.provider.config);
    Ok(())
}

fn mutate(
    instance: &mut ResourceInstance,
    mutation: &Mutation,
    addr: &AbsResourceInstance,
) -> Result<(), ApplyError> {
    let addr = || Box::new(addr.clone());
    match mutation {
        Mutation::SetCurrent(object) => instance.current = Some(Arc::clone(object)),
        Mutation::RemoveCurrent => {
            instance.current.take().ok_or_else(|| ApplyError::NoCurrent { addr: addr() })?;
        }
        Mutation::Depose(key) => {
            if instance.deposed.contains_key(key) {
                return Err(ApplyError::DeposedKeyInUse { addr: addr(), key: *key });
            }
            let object = instance.current.take().ok_or_else(|| ApplyError::NoCurrent { addr: addr() })?;
            instance.deposed.insert(*key, object);
        }
        Mutation::Restore(key) => {
            if instance.current.is_some() {
                return Err(ApplyError::CurrentInTheWay { addr: addr(), key: *key });
            }
            instance.current = Some(take_deposed(instance, *key, addr)?);
        }
        Mutation::SetDeposed(key, object) => {
            take_deposed(instance, *key, addr)?;
            instance.deposed.insert(*key, Arc::clone(object));
        }
        Mutation::RemoveDeposed(key) => {
            take_deposed(instance, *key, addr)?;
        }
        Mutation::WriteMeta(meta) => {
            let current = instance.current.as_mut().ok_or_else(|| ApplyError::NoCurrent { addr: addr() })?;
            let Meta { create_before_destroy, dependencies } = meta.clone();
            let object = ObjectSrc { create_before_destroy, dependencies, ..(**current).clone() };
            *current = Arc::new(object);
        }
    }
    Ok(())
}

fn take_deposed(
    instance: &mut ResourceInstance,
    key: DeposedKey,
    addr: impl Fn() -> Box<AbsResourceInstance>,
) -> Result<Arc<ObjectSrc>, ApplyError> {
    instance.deposed.remove(&key).ok_or_else(|| ApplyError::MissingDeposed { addr: addr(), key })
}
