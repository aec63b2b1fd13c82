//! Operations as far as the state is concerned, and the mutations they consist of.

use std::sync::Arc;

use groundstate_states::addr::{AbsResourceInstance, ConfigResource, ProviderInstance, ResourceMode};
use groundstate_states::{DeposedKey, ObjectSrc};

use crate::{ApplyKind, OpKind};

/// A node of a plan that does something to the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// Whose objects it is about.
    pub addr: AbsResourceInstance,
    /// What it does.
    pub kind: OpKind,
    /// The provider that manages the object from now on.
    pub provider: ProviderInstance,
    /// The key under which the old object waits while a new one is created in its place.
    pub deposes_to: Option<DeposedKey>,
    /// What an object that it brings about records.
    pub meta: Meta,
    /// The object is not destroyed but dropped from the state.
    pub skip_destroy: bool,
}

/// What an object records for the order of later operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The effective flag, inherited or not.
    pub create_before_destroy: bool,
    /// Everything it depends on, directly or not.
    pub dependencies: Vec<ConfigResource>,
}

/// One change of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Puts an object into the current slot, in place of what was there.
    SetCurrent(Arc<ObjectSrc>),
    /// Empties the current slot.
    RemoveCurrent,
    /// Moves the current object to a deposed slot.
    Depose(DeposedKey),
    /// Moves a deposed object to the current slot.
    Restore(DeposedKey),
    /// Puts an object into a deposed slot that is in use.
    SetDeposed(DeposedKey, Arc<ObjectSrc>),
    /// Empties a deposed slot.
    RemoveDeposed(DeposedKey),
    /// Rewrites what the current object records; its value stays.
    WriteMeta(Meta),
}

impl Operation {
    /// An operation that deposes nothing and records nothing.
    #[must_use]
    pub fn new(addr: AbsResourceInstance, kind: OpKind, provider: ProviderInstance) -> Self {
        Self { addr, kind, provider, deposes_to: None, meta: Meta::default(), skip_destroy: false }
    }

    /// Keeps the old object under this key while a new one is created.
    #[must_use]
    pub fn deposing(mut self, key: DeposedKey) -> Self {
        self.deposes_to = Some(key);
        self
    }

    /// Sets what the object records.
    #[must_use]
    pub fn recording(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// Leaves the object alone where it would be destroyed.
    #[must_use]
    pub fn skipping_destroy(mut self, yes: bool) -> Self {
        self.skip_destroy = yes;
        self
    }

    /// Whether a provider has to be called. Where not, success is certain.
    #[must_use]
    pub fn calls_provider(&self) -> bool {
        match self.kind {
            OpKind::Apply(_) => true,
            OpKind::Destroy | OpKind::DestroyDeposed(_) => !self.skip_destroy && !self.is_data(),
            OpKind::Forget | OpKind::ForgetDeposed(_) | OpKind::Provider | OpKind::ProviderClose => false,
        }
    }

    /// The key of the deposed object that it is about.
    #[must_use]
    pub fn deposed(&self) -> Option<DeposedKey> {
        match self.kind {
            OpKind::DestroyDeposed(key) | OpKind::ForgetDeposed(key) => Some(key),
            _ => None,
        }
    }

    /// Whether it makes a new object, as opposed to changing or reading one.
    #[must_use]
    pub fn creates(&self) -> bool {
        use ApplyKind::{Create, ForgetCreate, ReplaceCreate};
        matches!(self.kind, OpKind::Apply(Create | ReplaceCreate | ForgetCreate))
    }

    fn is_data(&self) -> bool {
        self.addr.resource.resource.mode == ResourceMode::Data
    }
}
