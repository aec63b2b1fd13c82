//! What happens to the slots before a provider is called, and what must be true then.

use groundstate_states::addr::AbsResourceInstance;
use groundstate_states::{DeposedKey, ResourceInstance};

use super::{Mutation, Operation};
use crate::{ApplyKind, OpKind};

/// An operation that does not fit to what the state holds: the plan was made from another state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// There is nothing to update, replace, destroy or forget.
    #[error("{addr} has no current object to {verb}; refresh and plan again")]
    NoCurrent {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// What was to be done to it.
        verb: &'static str,
    },
    /// A new object would replace one that was not destroyed.
    #[error("{addr} has a current object already, creating another one would lose it; plan again")]
    CurrentInTheWay {
        /// The instance.
        addr: Box<AbsResourceInstance>,
    },
    /// There is no such deposed object.
    #[error("missing deposed object {key} of {addr}; refresh and plan again")]
    MissingDeposed {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// The key.
        key: DeposedKey,
    },
    /// The key for the old object belongs to another one.
    #[error("{addr} has a deposed object {key} already; plan again, so that another key is drawn")]
    DeposedKeyInUse {
        /// The instance.
        addr: Box<AbsResourceInstance>,
        /// The key.
        key: DeposedKey,
    },
}

/// What to do to the instance, durably, before the provider is called.
///
/// # Errors
/// When the instance is not as the operation expects it. Nothing must be done then.
pub fn begin(
    operation: &Operation,
    instance: Option<&ResourceInstance>,
) -> Result<Vec<Mutation>, BeginError> {
    let has_current = instance.is_some_and(|instance| instance.current.is_some());
    let has = |key: &DeposedKey| instance.is_some_and(|instance| instance.deposed.contains_key(key));
    let addr = || Box::new(operation.addr.clone());
    let need_current = |verb| {
        if has_current { Ok(Vec::new()) } else { Err(BeginError::NoCurrent { addr: addr(), verb }) }
    };
    match operation.kind {
        OpKind::Apply(ApplyKind::Check | ApplyKind::Read) | OpKind::Provider | OpKind::ProviderClose => {
            Ok(Vec::new())
        }
        OpKind::Apply(ApplyKind::Create | ApplyKind::ReplaceCreate | ApplyKind::ForgetCreate) => {
            let Some(key) = operation.deposes_to else {
                let in_the_way = || BeginError::CurrentInTheWay { addr: addr() };
                return if has_current { Err(in_the_way()) } else { Ok(Vec::new()) };
            };
            need_current("replace")?;
            if has(&key) {
                return Err(BeginError::DeposedKeyInUse { addr: addr(), key });
            }
            Ok(vec![Mutation::Depose(key)])
        }
        OpKind::Apply(ApplyKind::Update) => need_current("update"),
        OpKind::Destroy => need_current("destroy"),
        OpKind::Forget => need_current("forget"),
        OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) => {
            if has(&key) {
                Ok(Vec::new())
            } else {
                Err(BeginError::MissingDeposed { addr: addr(), key })
            }
        }
    }
}
