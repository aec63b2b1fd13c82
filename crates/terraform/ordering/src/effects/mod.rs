//! What an operation does to the state: as data, so that every executor does the same.
//!
//! An instance has a *current* slot and deposed slots by key. [`begin`] says what happens to them before a provider is
//! called, [`conclude`] what its answer does, [`apply`] does it, and [`recover`] says what to make of operations that a
//! crash has interrupted.
//!
//! ```
//! use groundstate_ordering::effects::{self, Mutation, Operation, Reply};
//! use groundstate_ordering::{ApplyKind, OpKind};
//! use groundstate_states::addr::{AbsResourceInstance, ProviderInstance};
//! use groundstate_states::{DeposedKey, ObjectSrc, RawJson, State};
//!
//! let provider = ProviderInstance::parse("provider[\"example.org/acme/x\"]", "example.org")?;
//! let web = AbsResourceInstance::parse("vm.web")?;
//! let mut state = State::new();
//! let old = ObjectSrc::new(0, RawJson::parse(r#"{"id":"old"}"#)?);
//! state.set_resource_instance_current(&web, Some(old.into()), &provider);
//!
//! // The old object makes room before the new one is created...
//! let key = DeposedKey::from_number(1);
//! let replace = Operation::new(web.clone(), OpKind::Apply(ApplyKind::ReplaceCreate), provider).deposing(key);
//! let start = effects::begin(&replace, state.resource_instance(&web))?;
//! assert_eq!(start, [Mutation::Depose(key)]);
//! effects::apply(&mut state, &replace, &start)?;
//!
//! // ...and comes back when there is none.
//! let reply = Reply::Failed { object: None, message: "no quota".to_owned() };
//! let end = effects::conclude(&replace, state.resource_instance(&web), reply);
//! assert_eq!(end.mutations, [Mutation::Restore(key)]);
//! effects::apply(&mut state, &replace, &end.mutations)?;
//! assert!(state.resource_instance(&web).is_some_and(|instance| instance.current.is_some()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What an executor keeps to
//!
//! - **I1** There is at most one current object, and deposed keys are unique in their instance: the model has no room
//!   for anything else.
//! - **I2** Every object that the provider is known to hold is in exactly one slot of every state that is stored.
//! - **I3** An object leaves the state only after it is confirmed that it is gone, or by being forgotten.
//! - **I4** [`begin`] is durable before the provider is called, and [`conclude`] before any waiter starts.
//! - **I5** Mutations happen one after another, and [`apply`] does all of them or none.
//! - **I6** A failure never makes what an object records less: dependencies are joined, the flag stays.

mod apply;
mod begin;
mod conclude;
mod metadata;
mod operation;
mod recover;

pub use apply::{ApplyError, apply};
pub use begin::{BeginError, begin};
pub use conclude::{Conclusion, Reply, conclude};
pub use metadata::metadata_writes;
pub use operation::{Meta, Mutation, Operation};
pub use recover::{Finding, Intent, Recovered, recover};
