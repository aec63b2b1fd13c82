//! What to make of operations that were begun and never ended.

use std::fmt;

use groundstate_states::addr::{AbsResourceInstance, ProviderInstance};
use groundstate_states::{DeposedKey, ResourceInstance, State};

use super::{Mutation, Operation};
use crate::{ApplyKind, OpKind};

/// A durable note that an operation was begun. It is struck out when the operation's end is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Intent {
    /// Whose object it was about.
    pub addr: AbsResourceInstance,
    /// What was begun.
    pub kind: OpKind,
    /// The provider that was to be called.
    pub provider: ProviderInstance,
    /// The key under which the old object was deposed.
    pub deposes_to: Option<DeposedKey>,
}

/// What an open intent means, judged by the state that was stored last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// The state has the operation's end already, or it never mattered.
    Settled,
    /// An unrecorded object may exist.
    UnknownCreate,
    /// The object may be the old one or the new one; the next refresh tells.
    UnknownUpdate,
    /// The object may be there or gone; the next refresh tells.
    UnknownDestroy,
    /// It was not dropped from the state yet; the next plan does it again.
    Repeat,
}

/// An operation that a crash has interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// What was begun.
    pub intent: Intent,
    /// What that means.
    pub finding: Finding,
    /// What to do to the instance before anything else.
    pub mutations: Vec<Mutation>,
}

/// Judges intents that are still open, by the state that was stored last.
///
/// The old object of an interrupted replacement becomes current again if nothing else is; it is never destroyed here.
#[must_use]
pub fn recover(state: &State, intents: &[Intent]) -> Vec<Recovered> {
    let judge = |intent: &Intent| {
        let (finding, restore) = judge(intent, state.resource_instance(&intent.addr));
        Recovered { intent: intent.clone(), finding, mutations: restore.into_iter().collect() }
    };
    intents.iter().map(judge).collect()
}

fn judge(intent: &Intent, instance: Option<&ResourceInstance>) -> (Finding, Option<Mutation>) {
    let has_current = instance.is_some_and(|instance| instance.current.is_some());
    let has = |key: &DeposedKey| instance.is_some_and(|instance| instance.deposed.contains_key(key));
    let still = |there: bool, finding| if there { finding } else { Finding::Settled };
    let finding = match intent.kind {
        OpKind::Apply(ApplyKind::Check | ApplyKind::Read) | OpKind::Provider | OpKind::ProviderClose => {
            Finding::Settled
        }
        OpKind::Apply(ApplyKind::Update) => Finding::UnknownUpdate,
        OpKind::Apply(ApplyKind::Create | ApplyKind::ReplaceCreate | ApplyKind::ForgetCreate) => {
            return match intent.deposes_to {
                Some(key) if !has_current && has(&key) => {
                    (Finding::UnknownCreate, Some(Mutation::Restore(key)))
                }
                // With the old object deposed, the current one is the new one. Without it, nothing tells a crash before
                // the old one was deposed from one after it was restored, so the worse is assumed.
                Some(key) => (still(!(has_current && has(&key)), Finding::UnknownCreate), None),
                None => (still(!has_current, Finding::UnknownCreate), None),
            };
        }
        OpKind::Destroy => still(has_current, Finding::UnknownDestroy),
        OpKind::DestroyDeposed(key) => still(has(&key), Finding::UnknownDestroy),
        OpKind::Forget => still(has_current, Finding::Repeat),
        OpKind::ForgetDeposed(key) => still(has(&key), Finding::Repeat),
    };
    (finding, None)
}

impl Intent {
    /// An intent that was read from where it was noted.
    #[must_use]
    pub fn new(
        addr: AbsResourceInstance,
        kind: OpKind,
        provider: ProviderInstance,
        deposes_to: Option<DeposedKey>,
    ) -> Self {
        Self { addr, kind, provider, deposes_to }
    }

    /// The intent of an operation.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        let Operation { addr, kind, provider, deposes_to, .. } = operation;
        Self { addr: addr.clone(), kind: *kind, provider: provider.clone(), deposes_to: *deposes_to }
    }

    /// The operation, as far as an intent knows it.
    #[must_use]
    pub fn to_operation(&self) -> Operation {
        let operation = Operation::new(self.addr.clone(), self.kind, self.provider.clone());
        Operation { deposes_to: self.deposes_to, ..operation }
    }
}

impl fmt::Display for Recovered {
    /// Says what happened, where, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Intent { addr, provider, .. } = &self.intent;
        let provider = &provider.config;
        match self.finding {
            Finding::Settled => write!(f, "{addr} was done when the run ended"),
            Finding::UnknownCreate => write!(
                f,
                "{addr} was being created when the run ended: {provider} may hold an object that is not in the \
                 state, look for it and import or delete it"
            ),
            Finding::UnknownUpdate => {
                write!(f, "{addr} was being updated when the run ended, refresh to see how far it came")
            }
            Finding::UnknownDestroy => {
                write!(f, "{addr} was being destroyed when the run ended, refresh to see whether it is gone")
            }
            Finding::Repeat => {
                write!(f, "{addr} was being dropped from the state when the run ended, plan and apply again")
            }
        }
    }
}
