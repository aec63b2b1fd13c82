//! What the answer of a provider does to the slots.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_schedule::walk::Outcome;
use groundstate_states::addr::ConfigResource;
use groundstate_states::{ObjectSrc, ObjectStatus, ResourceInstance};

use super::{Meta, Mutation, Operation};
use crate::{ApplyKind, OpKind};

/// How a provider answered.
///
/// Status, dependencies and the flag of an object that it gives are not looked at: they follow from the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It did it, and this is the object now; none after a destruction.
    Succeeded(Option<Box<ObjectSrc>>),
    /// It did not, or not all of it.
    Failed {
        /// What the object is now, if the provider knows.
        object: Option<Box<ObjectSrc>>,
        /// What the provider said.
        message: String,
    },
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conclusion {
    /// What to do to the instance, durably, before any waiter starts.
    pub mutations: Vec<Mutation>,
    /// How the operation ended.
    pub outcome: Outcome,
}

/// What an answer does to the instance, and whether the operation succeeded.
///
/// `instance` is as [`begin`](super::begin) has left it. For operations that call no provider, give
/// [`Reply::Succeeded`] without an object.
#[must_use]
pub fn conclude(operation: &Operation, instance: Option<&ResourceInstance>, reply: Reply) -> Conclusion {
    let (object, failure) = match reply {
        Reply::Succeeded(object) => (object, None),
        Reply::Failed { object, message } => (object, Some(message)),
    };
    let end = End { operation, instance, object };
    let failure = failure.or_else(|| end.lacks_object());
    let mutations = if failure.is_some() { end.failed() } else { end.succeeded() };
    let outcome = failure.map_or(Outcome::Succeeded, Outcome::Failed);
    Conclusion { mutations: mutations.into_iter().collect(), outcome }
}

struct End<'a> {
    operation: &'a Operation,
    instance: Option<&'a ResourceInstance>,
    object: Option<Box<ObjectSrc>>,
}

impl End<'_> {
    /// Why a success is none: an operation that leaves an object behind has to say what it is.
    fn lacks_object(&self) -> Option<String> {
        let OpKind::Apply(kind) = self.operation.kind else { return None };
        if kind == ApplyKind::Check || self.object.is_some() {
            return None;
        }
        let addr = &self.operation.addr;
        Some(format!(
            "the provider says that it made {addr}, but returned no object; report this to its authors"
        ))
    }

    fn succeeded(self) -> Option<Mutation> {
        match self.operation.kind {
            OpKind::Apply(ApplyKind::Check) | OpKind::Provider | OpKind::ProviderClose => None,
            OpKind::Apply(_) => self.set_current(ObjectStatus::Ready),
            OpKind::Destroy | OpKind::Forget => Some(Mutation::RemoveCurrent),
            OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) => Some(Mutation::RemoveDeposed(key)),
        }
    }

    fn failed(self) -> Option<Mutation> {
        match self.operation.kind {
            OpKind::Apply(ApplyKind::Create | ApplyKind::ForgetCreate | ApplyKind::ReplaceCreate) => {
                if self.object.is_some() { self.set_current(ObjectStatus::Tainted) } else { self.restore() }
            }
            OpKind::Apply(ApplyKind::Update) => {
                let prior = Arc::clone(self.instance?.current.as_ref()?);
                let dependencies = union(&prior.dependencies, &self.operation.meta.dependencies);
                Some(Mutation::SetCurrent(keeping(*self.object?, &prior, dependencies)))
            }
            OpKind::Destroy => {
                let prior = Arc::clone(self.instance?.current.as_ref()?);
                Some(Mutation::SetCurrent(keeping(*self.object?, &prior, prior.dependencies.clone())))
            }
            OpKind::DestroyDeposed(key) => {
                let prior = Arc::clone(self.instance?.deposed.get(&key)?);
                Some(Mutation::SetDeposed(key, keeping(*self.object?, &prior, prior.dependencies.clone())))
            }
            // Reads change nothing when they fail, and the others call no provider.
            OpKind::Apply(ApplyKind::Check | ApplyKind::Read)
            | OpKind::Forget
            | OpKind::ForgetDeposed(_)
            | OpKind::Provider
            | OpKind::ProviderClose => None,
        }
    }

    fn set_current(self, status: ObjectStatus) -> Option<Mutation> {
        let mut object = *self.object?;
        let Meta { create_before_destroy, dependencies } = &self.operation.meta;
        object.status = status;
        object.create_before_destroy = *create_before_destroy;
        object.dependencies.clone_from(dependencies);
        Some(Mutation::SetCurrent(Arc::new(object)))
    }

    /// The old object becomes current again, unless something else is.
    fn restore(self) -> Option<Mutation> {
        let (key, instance) = (self.operation.deposes_to?, self.instance?);
        let possible = instance.current.is_none() && instance.deposed.contains_key(&key);
        possible.then_some(Mutation::Restore(key))
    }
}

/// A new value for an object that an operation failed to change or destroy: it loses nothing that it records.
fn keeping(mut object: ObjectSrc, prior: &ObjectSrc, dependencies: Vec<ConfigResource>) -> Arc<ObjectSrc> {
    object.status = prior.status;
    object.create_before_destroy = prior.create_before_destroy;
    object.skip_destroy = prior.skip_destroy;
    object.dependencies = dependencies;
    object.depends_on = union(&prior.depends_on, &object.depends_on);
    Arc::new(object)
}

/// All of both, each once, what was recorded before first.
fn union<T: Clone + Ord>(prior: &[T], new: &[T]) -> Vec<T> {
    let known: BTreeSet<&T> = prior.iter().collect();
    let added = new.iter().filter(|item| !known.contains(item));
    prior.iter().chain(added).cloned().collect()
}
