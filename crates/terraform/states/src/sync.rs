//! A state that many threads read and change.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::addr::{AbsResource, AbsResourceInstance, ModuleInstance, ProviderConfig, ProviderInstance};
use crate::{
    CheckResults, DeposedKey, EditError, Generation, Module, ModuleCall, MoveError, MoveOutcome, ObjectSrc,
};
use crate::{OutputValue, Resource, ResourceInstance, State, Value};

/// A [`State`] behind a reader/writer lock. Every operation is atomic; nothing is ordered between operations.
///
/// What getters return is a copy that later changes do not reach; copies share what is immutable. The operations are
/// those of [`State`] by the same names; [`SyncState::lock`] gives direct access for several in one.
///
/// ```
/// use groundstate_states::{OutputValue, State, SyncState, Type, Value, addr::ModuleInstance};
///
/// let shared = SyncState::new(State::new());
/// std::thread::scope(|scope| {
///     for name in ["a", "b"] {
///         let output = OutputValue::new(Value::string(name), Type::String);
///         let shared = &shared;
///         scope.spawn(move || shared.set_output_value(&ModuleInstance::root(), name, output));
///     }
/// });
/// assert_eq!(shared.close().outputs().len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct SyncState(RwLock<State>);

/// Exclusive access to the state of a [`SyncState`], until it is dropped.
#[derive(Debug)]
#[must_use = "the state is free again as soon as this is dropped"]
pub struct StateGuard<'a>(RwLockWriteGuard<'a, State>);

impl Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.0
    }
}

impl SyncState {
    /// Shares a state.
    #[must_use]
    pub fn new(state: State) -> Self {
        Self(RwLock::new(state))
    }

    /// Takes the state out.
    #[must_use]
    pub fn close(self) -> State {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread uses the state, and keeps others out.
    pub fn lock(&self) -> StateGuard<'_> {
        StateGuard(self.write())
    }

    /// A copy of the whole state.
    #[must_use]
    pub fn snapshot(&self) -> State {
        self.read().clone()
    }

    // A panic while the lock is held can only come from code that holds a guard; the operations below do not panic, and
    // every value of `State` is valid, so a poisoned lock is used on.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Getters.
impl SyncState {
    /// The module at this address.
    #[must_use]
    pub fn module(&self, addr: &ModuleInstance) -> Option<Module> {
        self.read().module(addr).cloned()
    }

    /// The outputs of all instances of one call in `parent`, by instance and name.
    #[must_use]
    pub fn module_outputs(
        &self,
        parent: &ModuleInstance,
        call: &str,
    ) -> BTreeMap<(ModuleInstance, Arc<str>), OutputValue> {
        let state = self.read();
        let outputs = state.module_outputs(parent, call);
        outputs.map(|(addr, name, output)| ((addr.clone(), name.into()), output.clone())).collect()
    }

    /// The addresses of all modules, in the order of lists.
    #[must_use]
    pub fn module_instances(&self) -> Vec<ModuleInstance> {
        self.read().modules().map(|(addr, _)| addr.clone()).collect()
    }

    /// An output value of a module.
    #[must_use]
    pub fn output_value(&self, module: &ModuleInstance, name: &str) -> Option<OutputValue> {
        self.read().output_value(module, name).cloned()
    }

    /// A local value of a module.
    #[must_use]
    pub fn local_value(&self, module: &ModuleInstance, name: &str) -> Option<Value> {
        self.read().local_value(module, name).cloned()
    }

    /// The resource at this address.
    #[must_use]
    pub fn resource(&self, addr: &AbsResource) -> Option<Resource> {
        self.read().resource(addr).cloned()
    }

    /// The provider configuration that managed the resource last.
    #[must_use]
    pub fn resource_provider(&self, addr: &AbsResource) -> Option<ProviderConfig> {
        self.read().resource_provider(addr).cloned()
    }

    /// The resource instance at this address.
    #[must_use]
    pub fn resource_instance(&self, addr: &AbsResourceInstance) -> Option<ResourceInstance> {
        self.read().resource_instance(addr).cloned()
    }

    /// One object of the resource instance at this address.
    #[must_use]
    pub fn resource_instance_object(
        &self,
        addr: &AbsResourceInstance,
        generation: Generation,
    ) -> Option<ObjectSrc> {
        self.read().object(addr, generation).cloned()
    }
}

/// Resources, instances and objects.
impl SyncState {
    /// See [`State::set_resource_provider`].
    pub fn set_resource_provider(&self, addr: &AbsResource, provider: &ProviderConfig) {
        self.write().set_resource_provider(addr, provider);
    }

    /// See [`State::set_resource_instance`].
    pub fn set_resource_instance(
        &self,
        addr: &AbsResourceInstance,
        instance: Option<ResourceInstance>,
        provider: &ProviderConfig,
    ) {
        self.write().set_resource_instance(addr, instance, provider);
    }

    /// See [`State::remove_resource`].
    pub fn remove_resource(&self, addr: &AbsResource) -> bool {
        self.write().remove_resource(addr)
    }

    /// See [`State::remove_resource_if_empty`].
    pub fn remove_resource_if_empty(&self, addr: &AbsResource) -> bool {
        self.write().remove_resource_if_empty(addr)
    }

    /// See [`State::set_resource_instance_current`].
    pub fn set_resource_instance_current(
        &self,
        addr: &AbsResourceInstance,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        self.write().set_resource_instance_current(addr, object, provider);
    }

    /// See [`State::set_resource_instance_deposed`].
    pub fn set_resource_instance_deposed(
        &self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
        object: Option<Arc<ObjectSrc>>,
        provider: &ProviderInstance,
    ) {
        self.write().set_resource_instance_deposed(addr, key, object, provider);
    }

    /// See [`State::depose_resource_instance_object`]. Random numbers are drawn while others wait.
    pub fn depose_resource_instance_object(
        &self,
        addr: &AbsResourceInstance,
        draw: impl FnMut() -> u32,
    ) -> Option<DeposedKey> {
        self.write().depose_resource_instance_object(addr, draw)
    }

    /// See [`State::depose_resource_instance_object_as`].
    ///
    /// # Errors
    /// When another deposed object of the instance has the key.
    pub fn depose_resource_instance_object_as(
        &self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
    ) -> Result<bool, EditError> {
        self.write().depose_resource_instance_object_as(addr, key)
    }

    /// See [`State::maybe_restore_resource_instance_deposed`].
    pub fn maybe_restore_resource_instance_deposed(
        &self,
        addr: &AbsResourceInstance,
        key: DeposedKey,
    ) -> bool {
        self.write().maybe_restore_resource_instance_deposed(addr, key)
    }

    /// See [`State::forget_resource_instance_all`].
    pub fn forget_resource_instance_all(&self, addr: &AbsResourceInstance) {
        self.write().forget_resource_instance_all(addr);
    }

    /// See [`State::forget_resource_instance_current`].
    pub fn forget_resource_instance_current(&self, addr: &AbsResourceInstance) {
        self.write().forget_resource_instance_current(addr);
    }

    /// See [`State::forget_resource_instance_deposed`].
    pub fn forget_resource_instance_deposed(&self, addr: &AbsResourceInstance, key: DeposedKey) {
        self.write().forget_resource_instance_deposed(addr, key);
    }

    /// See [`State::remove_planned_resource_instance_objects`].
    pub fn remove_planned_resource_instance_objects(&self) {
        self.write().remove_planned_resource_instance_objects();
    }
}

/// Modules, values, check results and moves.
impl SyncState {
    /// See [`State::remove_module`].
    ///
    /// # Errors
    /// When asked to remove the root.
    pub fn remove_module(&self, addr: &ModuleInstance) -> Result<bool, EditError> {
        self.write().remove_module(addr)
    }

    /// See [`State::set_output_value`].
    pub fn set_output_value(&self, module: &ModuleInstance, name: &str, output: impl Into<Arc<OutputValue>>) {
        self.write().set_output_value(module, name, output);
    }

    /// See [`State::remove_output_value`].
    pub fn remove_output_value(&self, module: &ModuleInstance, name: &str) -> bool {
        self.write().remove_output_value(module, name)
    }

    /// See [`State::set_local_value`].
    pub fn set_local_value(&self, module: &ModuleInstance, name: &str, value: Value) {
        self.write().set_local_value(module, name, value);
    }

    /// See [`State::remove_local_value`].
    pub fn remove_local_value(&self, module: &ModuleInstance, name: &str) -> bool {
        self.write().remove_local_value(module, name)
    }

    /// See [`State::discard_check_results`].
    pub fn discard_check_results(&self) {
        self.write().discard_check_results();
    }

    /// See [`State::record_check_results`].
    pub fn record_check_results(&self, results: CheckResults) {
        self.write().record_check_results(results);
    }

    /// See [`State::move_resource`].
    ///
    /// # Errors
    /// When the source is missing or the destination exists.
    pub fn move_resource(&self, from: &AbsResource, to: &AbsResource) -> Result<(), MoveError> {
        self.write().move_resource(from, to)
    }

    /// See [`State::maybe_move_resource`].
    ///
    /// # Errors
    /// When both addresses exist, or neither.
    pub fn maybe_move_resource(
        &self,
        from: &AbsResource,
        to: &AbsResource,
    ) -> Result<MoveOutcome, MoveError> {
        self.write().maybe_move_resource(from, to)
    }

    /// See [`State::move_resource_instance`].
    ///
    /// # Errors
    /// When the source is missing or the destination exists.
    pub fn move_resource_instance(
        &self,
        from: &AbsResourceInstance,
        to: &AbsResourceInstance,
    ) -> Result<(), MoveError> {
        self.write().move_resource_instance(from, to)
    }

    /// See [`State::maybe_move_resource_instance`].
    ///
    /// # Errors
    /// When both addresses exist, or neither.
    pub fn maybe_move_resource_instance(
        &self,
        from: &AbsResourceInstance,
        to: &AbsResourceInstance,
    ) -> Result<MoveOutcome, MoveError> {
        self.write().maybe_move_resource_instance(from, to)
    }

    /// See [`State::move_module_instance`].
    ///
    /// # Errors
    /// When the source is missing, the destination exists, or either is the root.
    pub fn move_module_instance(&self, from: &ModuleInstance, to: &ModuleInstance) -> Result<(), MoveError> {
        self.write().move_module_instance(from, to)
    }

    /// See [`State::maybe_move_module_instance`].
    ///
    /// # Errors
    /// When both addresses exist, or neither, or either is the root.
    pub fn maybe_move_module_instance(
        &self,
        from: &ModuleInstance,
        to: &ModuleInstance,
    ) -> Result<MoveOutcome, MoveError> {
        self.write().maybe_move_module_instance(from, to)
    }

    /// See [`State::move_module`].
    ///
    /// # Errors
    /// When the call has no modules in the state, or the destination has one that is not itself to be moved.
    pub fn move_module(&self, from: &ModuleCall, to: &ModuleCall) -> Result<(), MoveError> {
        self.write().move_module(from, to)
    }

    /// See [`State::maybe_move_module`].
    ///
    /// # Errors
    /// When both calls have modules in the state, or neither has.
    pub fn maybe_move_module(&self, from: &ModuleCall, to: &ModuleCall) -> Result<MoveOutcome, MoveError> {
        self.write().maybe_move_module(from, to)
    }
}
