//! Moves: what an address means, and what may become what.

use groundstate_states::addr::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ModuleStep, ResourceMode, Target,
};

use super::error::MoveError;
use super::shift::{Batch, Shift};
use super::summary::{Change, Summary};
use super::{Editor, follow};

/// Options of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveOptions {
    /// Does what Terraform does: `module.a` is the instance without a key only, and whatever depends on what moved
    /// loses all its dependencies, unless the object is deposed.
    pub compat: bool,
}

impl MoveOptions {
    /// Does what Terraform does.
    #[must_use]
    pub fn compat(mut self, yes: bool) -> Self {
        self.compat = yes;
        self
    }
}

/// One pair of addresses with all that it moves.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) from: String,
    pub(super) to: String,
    /// What is printed: module instances, resources or instances.
    pub(super) lines: Vec<(Target, Target)>,
    pub(super) shifts: Vec<Shift>,
}

impl Resolved {
    fn new(from: &Target, to: &Target) -> Self {
        Self { from: from.to_string(), to: to.to_string(), lines: Vec::new(), shifts: Vec::new() }
    }

    pub(super) fn is_of_module(&self) -> bool {
        self.lines.iter().any(|(from, _)| matches!(from, Target::Module(_)))
    }
}

impl Editor<'_> {
    /// Moves a module, a resource or an instance to another address.
    ///
    /// A module moves with all modules inside. Without a key at its end it means every instance of the call, and the
    /// keys stay; unless the destination has a key, which only the instance without one can move to. A resource
    /// without a key means its instance without a key, if it has one, and else all of it. An instance brings its
    /// provider where the resource is new, and takes over the provider of one that exists.
    ///
    /// # Errors
    ///
    /// See [`MoveError`].
    pub fn move_address(
        &mut self,
        from: &Target,
        to: &Target,
        options: MoveOptions,
    ) -> Result<Summary, MoveError> {
        self.move_all(&[(from.clone(), to.clone())], options)
    }

    /// Moves many things at once, so that what stands at a destination may itself be moved away.
    ///
    /// # Errors
    ///
    /// See [`MoveError`].
    pub fn move_all(
        &mut self,
        pairs: &[(Target, Target)],
        options: MoveOptions,
    ) -> Result<Summary, MoveError> {
        let resolved: Result<Vec<_>, _> =
            pairs.iter().map(|(from, to)| self.resolve(from, to, options.compat)).collect();
        let batch = Batch::new(&self.working_set, resolved?)?;
        self.attempt(|editor| {
            let dependents = match options.compat {
                true => follow::wipe(&mut editor.working_set, &batch)?,
                false => follow::follow(&mut editor.working_set, &batch)?,
            };
            let providers = batch.apply(&mut editor.working_set)?;
            let changes =
                batch.lines().map(|(from, to)| Change::Moved { from: from.clone(), to: to.clone() });
            Ok(Summary { changes: changes.collect(), dependents, providers, ..Summary::default() })
        })
    }

    pub(super) fn resolve(&self, from: &Target, to: &Target, exact: bool) -> Result<Resolved, MoveError> {
        match from {
            Target::Module(module) => self.resolve_module(module, to, exact),
            Target::Resource(resource) => {
                let keys = self.working_set.keys(resource).ok_or_else(|| missing(from))?;
                // Keys are sorted, so no key comes first.
                match keys.first() {
                    Some(InstanceKey::None) => resolve_instance(&resource.instance(InstanceKey::None), to),
                    _ => resolve_resource(resource, to),
                }
            }
            Target::Instance(instance) if self.working_set.has_instance(instance) => {
                resolve_instance(instance, to)
            }
            Target::Instance(_) => Err(missing(from)),
        }
    }

    fn resolve_module(&self, from: &ModuleInstance, to: &Target, exact: bool) -> Result<Resolved, MoveError> {
        let source = Target::Module(from.clone());
        let Target::Module(dest) = to else {
            return Err(MoveError::ModuleNeeded { from: from.to_string(), to: to.to_string() });
        };
        let Some(last) = dest.steps().last().filter(|_| !from.is_root()) else {
            return Err(MoveError::RootModule);
        };
        let loose = !exact && last.key.is_none();
        let mut resolved = Resolved::new(&source, to);
        let mut keyed = None;
        for address in self.working_set.lookup().inside(from) {
            let Some((key, inner)) = inside(from, &address.module) else { continue };
            let same = from.steps().last().is_some_and(|step| step.key == *key);
            if !same && !loose {
                keyed.get_or_insert(address.module);
                continue;
            }
            let module = rebased(dest, if same { &last.key } else { key }, inner);
            let line = (Target::Module(address.module.clone()), Target::Module(module.clone()));
            // Resources of one module stand together in the order of lists.
            if resolved.lines.last() != Some(&line) {
                resolved.lines.push(line);
            }
            let to = AbsResource { module, resource: address.resource.clone() };
            resolved.shifts.push(Shift::whole(address, to));
        }
        match (resolved.shifts.is_empty(), keyed) {
            (false, _) => Ok(resolved),
            (true, Some(module)) => {
                let steps = module.steps().get(..from.steps().len()).unwrap_or_default();
                let example = steps.iter().cloned().collect::<ModuleInstance>().to_string();
                Err(MoveError::KeyedModule { from: resolved.from, to: resolved.to, example })
            }
            (true, None) => Err(missing(&source)),
        }
    }
}

/// The key that `module` has where `outer` ends, and what follows; nothing if it is not inside any instance of it.
fn inside<'m>(
    outer: &ModuleInstance,
    module: &'m ModuleInstance,
) -> Option<(&'m InstanceKey, &'m [ModuleStep])> {
    let (last, parents) = outer.steps().split_last()?;
    let (around, inner) = module.steps().split_at_checked(parents.len())?;
    let (step, inner) = inner.split_first()?;
    let fits = around == parents && step.name == last.name && (last.key.is_none() || last.key == step.key);
    fits.then_some((&step.key, inner))
}

/// `dest` with another key at its end, and more steps behind it.
fn rebased(dest: &ModuleInstance, key: &InstanceKey, inner: &[ModuleStep]) -> ModuleInstance {
    let mut steps = dest.steps().to_vec();
    if let Some(last) = steps.last_mut() {
        last.key = key.clone();
    }
    steps.extend_from_slice(inner);
    steps.into_iter().collect()
}

fn resolve_resource(from: &AbsResource, to: &Target) -> Result<Resolved, MoveError> {
    let source = Target::Resource(from.clone());
    let Target::Resource(dest) = to else {
        return Err(MoveError::ResourceNeeded { from: source.to_string(), to: to.to_string() });
    };
    check_kind(from, dest, &source, to)?;
    let lines = vec![(source.clone(), to.clone())];
    let shifts = vec![Shift::whole(from.clone(), dest.clone())];
    Ok(Resolved { lines, shifts, ..Resolved::new(&source, to) })
}

fn resolve_instance(from: &AbsResourceInstance, to: &Target) -> Result<Resolved, MoveError> {
    let source = Target::Instance(from.clone());
    let dest = match to {
        Target::Module(_) => {
            return Err(MoveError::InstanceNeeded { from: source.to_string(), to: to.to_string() });
        }
        Target::Resource(resource) => resource.instance(InstanceKey::None),
        Target::Instance(instance) => instance.clone(),
    };
    check_kind(&from.resource, &dest.resource, &source, to)?;
    let lines = vec![(source.clone(), Target::Instance(dest.clone()))];
    Ok(Resolved { lines, shifts: vec![Shift::one(from.clone(), dest)], ..Resolved::new(&source, to) })
}

/// Mode and type have to stay.
fn check_kind(a: &AbsResource, b: &AbsResource, from: &Target, to: &Target) -> Result<(), MoveError> {
    let (from, to) = (from.to_string(), to.to_string());
    if [a, b].iter().any(|address| address.resource.mode == ResourceMode::Ephemeral) {
        return Err(MoveError::Ephemeral { from, to });
    }
    if a.resource.mode != b.resource.mode {
        return Err(MoveError::ModeMismatch { from, to });
    }
    if a.resource.type_name != b.resource.type_name {
        return Err(MoveError::TypeMismatch { from, to });
    }
    Ok(())
}

fn missing(from: &Target) -> MoveError {
    MoveError::SourceMissing { from: from.to_string() }
}
