//! Moves: giving resources, instances and modules another address.
//!
//! No move rewrites the dependencies that other objects have recorded, nor provider addresses.

use std::fmt;
use std::sync::Arc;

use crate::addr::{AbsResource, AbsResourceInstance, ModuleInstance};
use crate::{Resource, State};

/// What a move that may have happened before did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The source was there, and stands at the destination now.
    Moved,
    /// Only the destination was there, so nothing was to be done.
    AlreadyMoved,
}

/// A move that was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// There is nothing to move.
    #[error("{from} is not in the state; list the state to see the addresses it has")]
    SourceMissing {
        /// The source.
        from: String,
    },
    /// The destination is taken.
    #[error("cannot move {from}: {to} is in the state already; remove it or choose another address")]
    DestinationExists {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// Neither the source nor the destination exists.
    #[error("neither {from} nor {to} is in the state; list the state to see the addresses it has")]
    NeitherExists {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// The root module keeps its place.
    #[error("the root module cannot be moved, nor be a destination; name a module call")]
    RootModule,
}

/// A call of a module in another one: all instances it has, and everything inside them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleCall {
    /// The module instance that contains the call.
    pub module: ModuleInstance,
    /// The name of the call.
    pub name: Arc<str>,
}

impl ModuleCall {
    fn contains(&self, addr: &ModuleInstance) -> bool {
        let depth = self.module.steps().len();
        addr.steps().starts_with(self.module.steps())
            && addr.steps().get(depth).is_some_and(|step| step.name == self.name)
    }

    /// The address with this call in place of the call at its depth.
    fn renamed(&self, addr: &ModuleInstance, to: &Self) -> ModuleInstance {
        let (_, inner) = addr.steps().split_at(self.module.steps().len());
        let renamed = inner.iter().enumerate().map(|(index, step)| {
            let mut step = step.clone();
            if index == 0 {
                step.name = Arc::clone(&to.name);
            }
            step
        });
        to.module.steps().iter().cloned().chain(renamed).collect()
    }
}

impl fmt::Display for ModuleCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}module.{}", self.module, self.name)
    }
}

impl State {
    /// Moves a resource with all its instances. Its provider stays.
    ///
    /// # Errors
    /// When the source is missing or the destination exists.
    pub fn move_resource(&mut self, from: &AbsResource, to: &AbsResource) -> Result<(), MoveError> {
        if self.resource(from).is_none() {
            return Err(source_missing(from));
        }
        if self.resource(to).is_some() {
            return Err(destination_exists(from, to));
        }
        let resource =
            self.module_mut(&from.module).and_then(|module| module.remove_resource(&from.resource));
        // Pruned before the destination is made, which may be the same module.
        self.prune_module(&from.module);
        if let Some(resource) = resource {
            self.ensure_module(&to.module).resources.insert(to.resource.clone(), resource);
        }
        Ok(())
    }

    /// Moves a resource, unless that has happened before.
    ///
    /// # Errors
    /// When both addresses exist, or neither.
    pub fn maybe_move_resource(
        &mut self,
        from: &AbsResource,
        to: &AbsResource,
    ) -> Result<MoveOutcome, MoveError> {
        match once(self.resource(from).is_some(), self.resource(to).is_some(), from, to)? {
            MoveOutcome::Moved => self.move_resource(from, to).map(|()| MoveOutcome::Moved),
            already => Ok(already),
        }
    }

    /// Moves an instance with all its objects. A resource that exists at the destination keeps its provider; a
    /// missing one is created with the provider of the source.
    ///
    /// # Errors
    /// When the source is missing or the destination exists.
    pub fn move_resource_instance(
        &mut self,
        from: &AbsResourceInstance,
        to: &AbsResourceInstance,
    ) -> Result<(), MoveError> {
        let (Some(instance), Some(provider)) =
            (self.resource_instance(from).cloned(), self.resource_provider(&from.resource).cloned())
        else {
            return Err(source_missing(from));
        };
        if self.resource_instance(to).is_some() {
            return Err(destination_exists(from, to));
        }
        let module = self.ensure_module(&to.resource.module);
        let resource = module.resources.entry(to.resource.resource.clone());
        let resource = resource.or_insert_with(|| Arc::new(Resource::new(provider)));
        Arc::make_mut(resource).instances.insert(to.key.clone(), instance);
        // Last, so that a resource whose only instance gets another key is not dropped and made anew.
        self.forget_resource_instance_all(from);
        Ok(())
    }

    /// Moves an instance, unless that has happened before.
    ///
    /// # Errors
    /// When both addresses exist, or neither.
    pub fn maybe_move_resource_instance(
        &mut self,
        from: &AbsResourceInstance,
        to: &AbsResourceInstance,
    ) -> Result<MoveOutcome, MoveError> {
        let (source, destination) = (self.resource_instance(from), self.resource_instance(to));
        match once(source.is_some(), destination.is_some(), from, to)? {
            MoveOutcome::Moved => self.move_resource_instance(from, to).map(|()| MoveOutcome::Moved),
            already => Ok(already),
        }
    }

    /// Moves one module instance. Modules below it stay where they are.
    ///
    /// # Errors
    /// When the source is missing, the destination exists, or either is the root.
    pub fn move_module_instance(
        &mut self,
        from: &ModuleInstance,
        to: &ModuleInstance,
    ) -> Result<(), MoveError> {
        if from.is_root() || to.is_root() {
            return Err(MoveError::RootModule);
        }
        if self.module(from).is_some() && self.module(to).is_some() {
            return Err(destination_exists(from, to));
        }
        let module = self.take_module(from).ok_or_else(|| source_missing(from))?;
        self.put_module(to.clone(), module);
        Ok(())
    }

    /// Moves one module instance, unless that has happened before.
    ///
    /// # Errors
    /// When both addresses exist, or neither, or either is the root.
    pub fn maybe_move_module_instance(
        &mut self,
        from: &ModuleInstance,
        to: &ModuleInstance,
    ) -> Result<MoveOutcome, MoveError> {
        if from.is_root() || to.is_root() {
            return Err(MoveError::RootModule);
        }
        match once(self.module(from).is_some(), self.module(to).is_some(), from, to)? {
            MoveOutcome::Moved => self.move_module_instance(from, to).map(|()| MoveOutcome::Moved),
            already => Ok(already),
        }
    }

    /// Moves every instance of a module call, with the modules below them. Instance keys stay.
    ///
    /// # Errors
    /// When the call has no modules in the state, or the destination has one that is not itself to be moved.
    pub fn move_module(&mut self, from: &ModuleCall, to: &ModuleCall) -> Result<(), MoveError> {
        let contained = |call: &ModuleCall, state: &Self| -> Vec<ModuleInstance> {
            state.modules().map(|(addr, _)| addr).filter(|addr| call.contains(addr)).cloned().collect()
        };
        let sources = contained(from, self);
        if sources.is_empty() {
            return Err(source_missing(from));
        }
        // A module at the destination is in the way, unless it is about to be moved itself.
        let stays = |addr: &ModuleInstance| !from.contains(addr);
        if from == to || contained(to, self).iter().any(stays) {
            return Err(destination_exists(from, to));
        }
        // All are taken out before the first is put back: a call may move into a module below itself.
        let taken: Vec<_> =
            sources.iter().map(|addr| (from.renamed(addr, to), self.take_module(addr))).collect();
        for (addr, module) in taken {
            if let Some(module) = module {
                self.put_module(addr, module);
            }
        }
        Ok(())
    }

    /// Moves every instance of a module call, unless that has happened before.
    ///
    /// # Errors
    /// When both calls have modules in the state, or neither has.
    pub fn maybe_move_module(
        &mut self,
        from: &ModuleCall,
        to: &ModuleCall,
    ) -> Result<MoveOutcome, MoveError> {
        let exists = |call: &ModuleCall| self.modules().any(|(addr, _)| call.contains(addr));
        match once(exists(from), exists(to), from, to)? {
            MoveOutcome::Moved => self.move_module(from, to).map(|()| MoveOutcome::Moved),
            already => Ok(already),
        }
    }
}

/// What a move is to do, given what exists.
fn once(
    source: bool,
    destination: bool,
    from: &impl fmt::Display,
    to: &impl fmt::Display,
) -> Result<MoveOutcome, MoveError> {
    match (source, destination) {
        (true, false) => Ok(MoveOutcome::Moved),
        (false, true) => Ok(MoveOutcome::AlreadyMoved),
        (true, true) => Err(destination_exists(from, to)),
        (false, false) => Err(MoveError::NeitherExists { from: from.to_string(), to: to.to_string() }),
    }
}

fn source_missing(from: &impl fmt::Display) -> MoveError {
    MoveError::SourceMissing { from: from.to_string() }
}

fn destination_exists(from: &impl fmt::Display, to: &impl fmt::Display) -> MoveError {
    MoveError::DestinationExists { from: from.to_string(), to: to.to_string() }
}
