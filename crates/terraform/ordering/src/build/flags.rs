//! Which resources and instances are replaced create-then-delete.

use std::collections::BTreeSet;

use super::model::{Model, Object};
use crate::cbd::{Cause, Causes, CbdOrigin};
use crate::input::{Action, ReplaceOrder};
use crate::options::{CbdPropagation, Options, PlanMode, Profile};

/// The effective flags.
#[derive(Debug)]
pub(super) struct Flags {
    pub(super) causes: Causes,
}

impl Flags {
    pub(super) fn of(model: &Model<'_>, options: &Options) -> Self {
        let mut search =
            Search { model, options, causes: vec![None; model.declared.len()], queue: BTreeSet::new() };
        search.seed_own();
        let propagation = match options.profile {
            Profile::Classic if options.cbd_propagation == CbdPropagation::ConfigAndState => {
                CbdPropagation::ConfigOnly
            }
            _ => options.cbd_propagation,
        };
        if propagation == CbdPropagation::ConfigAndState {
            search.seed_instances();
        }
        if propagation != CbdPropagation::Off {
            search.spread(propagation == CbdPropagation::ConfigAndState);
        }
        Self { causes: Causes(search.causes) }
    }

    /// Whether all of the resource is under create before destroy.
    pub(super) fn forced(&self, resource: u32) -> bool {
        self.causes.0[resource as usize].is_some()
    }

    /// Whether the instance is.
    pub(super) fn effective(&self, model: &Model<'_>, instance: u32) -> bool {
        let it = &model.instances[instance as usize];
        self.forced(it.resource)
            || it.action == Some(Action::Replace(ReplaceOrder::CreateThenDelete))
            || (it.action == Some(Action::Delete) && it.current.is_some_and(|object| object.cbd))
    }
}

/// A search from the seeds along dependencies, the smallest resource first.
struct Search<'m> {
    model: &'m Model<'m>,
    options: &'m Options,
    causes: Vec<Option<Cause>>,
    queue: BTreeSet<u32>,
}

impl Search<'_> {
    fn force(&mut self, resource: u32, cause: &Cause) {
        let place = &mut self.causes[resource as usize];
        if place.is_none() {
            *place = Some(cause.clone());
            self.queue.insert(resource);
        }
    }

    fn seed_own(&mut self) {
        for resource in 0..self.model.declared.len() as u32 {
            if self.model.declared[resource as usize].is_some_and(|declared| declared.cbd) {
                self.force(resource, &Cause::Own);
            }
        }
    }

    fn seed_instances(&mut self) {
        let model = self.model;
        for instance in &model.instances {
            let own = instance.resource;
            let seed = |origin| Cause::Instance(own, Box::new(origin));
            let addr = || instance.addr.clone();
            if instance.action == Some(Action::Replace(ReplaceOrder::CreateThenDelete)) {
                let cause = seed(CbdOrigin::Planned(addr()));
                self.force_recorded(own, instance.current, &cause);
                self.force_configured(own, &cause);
            }
            if instance.action == Some(Action::Delete)
                && let Some(object) = instance.current.filter(|object| object.cbd)
            {
                let cause = seed(CbdOrigin::Recorded(addr()));
                self.force_recorded(own, Some(object), &cause);
                let merged = !self.options.recorded_only && self.options.mode == PlanMode::Destroy;
                if merged {
                    self.force_configured(own, &cause);
                }
            }
            for deposed in instance.deposed.iter().filter(|deposed| deposed.action == Some(Action::Delete)) {
                let cause = seed(CbdOrigin::Leftover(addr(), deposed.key));
                self.force_recorded(own, Some(deposed.object), &cause);
            }
        }
    }

    fn spread(&mut self, along_state: bool) {
        let model = self.model;
        let by_resource = if along_state { instances_by_resource(model) } else { Vec::new() };
        let mut of_configuration = BTreeSet::new();
        loop {
            // Configuration names each step of the way, records mostly the whole of it, so configuration goes first.
            while let Some(resource) = self.queue.pop_first() {
                self.force_configured(resource, &Cause::Resource(resource));
                of_configuration.insert(resource);
            }
            let Some(resource) = of_configuration.pop_first() else { return };
            for &instance in by_resource.get(resource as usize).into_iter().flatten() {
                let current = model.instances[instance as usize].current;
                self.force_recorded(resource, current, &Cause::Resource(resource));
            }
        }
    }

    fn force_recorded(&mut self, own: u32, object: Option<Object>, cause: &Cause) {
        let Some(object) = object else { return };
        for &resource in self.model.recorded(object.recorded) {
            if resource != own {
                self.force(resource, cause);
            }
        }
    }

    /// Forces what the block refers to, also through its provider and whole modules; the rest follows from those.
    fn force_configured(&mut self, resource: u32, cause: &Cause) {
        if !self.model.is_declared(resource) {
            return;
        }
        let config = &self.model.config;
        let mut stack = vec![config.vertex(resource)];
        while let Some(vertex) = stack.pop() {
            for &next in config.graph.successors(vertex) {
                match config.resource_at(next) {
                    Some(dependency) if dependency != resource => self.force(dependency, cause),
                    Some(_) => {}
                    None => stack.push(next),
                }
            }
        }
    }
}

fn instances_by_resource(model: &Model<'_>) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); model.declared.len()];
    for (number, instance) in (0_u32..).zip(&model.instances) {
        lists[instance.resource as usize].push(number);
    }
    lists
}
