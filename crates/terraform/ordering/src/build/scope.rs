//! Which pairs of instances cannot depend on each other, since they lie in different instances of one module.

use std::collections::BTreeMap;

use groundstate_states::addr::{Module, ModuleInstance, ModuleStep};

use super::model::Model;
use crate::options::Scope;

/// The scope rule for the module instances of a model.
#[derive(Debug)]
pub(super) struct Scoping<'m> {
    scope: Scope,
    model: &'m Model<'m>,
    /// For each module path the group within which pairs may be excluded, if there is one.
    groups: Vec<Option<u32>>,
}

impl<'m> Scoping<'m> {
    pub(super) fn new(model: &'m Model<'m>, scope: Scope) -> Self {
        let groups = match scope {
            Scope::None => vec![None; model.path_names.len()],
            Scope::SameModule => by_path(model),
            Scope::CommonPrefix => by_first_step(model),
        };
        Self { scope, model, groups }
    }

    /// Whether no pair at all is excluded.
    pub(super) fn is_open(&self) -> bool {
        self.groups.iter().all(Option::is_none)
    }

    /// The group of a resource: only pairs inside one group are ever excluded.
    pub(super) fn group(&self, resource: u32) -> Option<u32> {
        self.groups[self.model.paths[resource as usize] as usize]
    }

    /// Whether things in these two module instances cannot depend on each other.
    pub(super) fn excludes(&self, a: u32, b: u32) -> bool {
        if a == b {
            return false;
        }
        let path = |module: u32| self.model.path_of_instance[module as usize];
        let steps = |module: u32| self.model.module_instances[module as usize].steps();
        match self.scope {
            Scope::None => false,
            Scope::SameModule => path(a) == path(b),
            Scope::CommonPrefix => {
                let both = steps(a).iter().zip(steps(b));
                both.take_while(|(a, b)| a.name == b.name).any(|(a, b)| a.key != b.key)
            }
        }
    }

    /// The part of a module instance that decides, for a partner whose path is `path`: partners are admitted whose part
    /// is equal. None when it does not matter.
    pub(super) fn part(&self, module: u32, path: u32) -> Option<&'m [ModuleStep]> {
        let instance: &'m ModuleInstance = self.model.module_instances[module as usize];
        let own = self.model.path_of_instance[module as usize];
        let length = match self.scope {
            Scope::None => 0,
            Scope::SameModule if own == path => instance.steps().len(),
            Scope::SameModule => 0,
            Scope::CommonPrefix => {
                let names = self.model.path_names[path as usize].steps();
                instance.steps().iter().zip(names).take_while(|(step, name)| step.name == **name).count()
            }
        };
        (length > 0).then(|| &instance.steps()[..length])
    }
}

/// Paths with several instances are groups of their own.
fn by_path(model: &Model<'_>) -> Vec<Option<u32>> {
    let mut instances = vec![0_u32; model.path_names.len()];
    for &path in &model.path_of_instance {
        instances[path as usize] += 1;
    }
    (0_u32..).zip(instances).map(|(path, count)| (count > 1).then_some(path)).collect()
}

/// All paths that begin with the same call are a group, if any module in it has a key.
fn by_first_step(model: &Model<'_>) -> Vec<Option<u32>> {
    let mut groups: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, instance) in (0_u32..).zip(&model.module_instances) {
        if let Some(first) = instance.steps().first()
            && instance.steps().iter().any(|step| !step.key.is_none())
        {
            groups.entry(&first.name).or_insert(number);
        }
    }
    let group_of = |path: &Module| groups.get(&**path.steps().first()?).copied();
    model.path_names.iter().map(group_of).collect()
}
