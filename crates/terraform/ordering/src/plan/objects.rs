//! The objects that a plan starts from: those of its prior state, and what only the state file says of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, btree_map::Entry};

use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource};
use groundstate_states::{DeposedKey, Generation, ObjectStatus, State};

use super::assemble::{Instances, deposed_key, not_an_address, parse, provider_named};
use super::json::Read;
use super::read::{Plan, Prior};
use crate::input::{Input, InstanceInput, ObjectRecord};

/// What is known of the objects before the plan.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) instances: Instances,
    /// Objects whose flags the state file gives.
    pub(super) flagged: HashSet<(AbsResourceInstance, Generation)>,
}

/// Where resources have gone by `moved` blocks: the addresses from before, with those of today.
pub(super) type Moves = BTreeMap<ConfigResource, BTreeSet<ConfigResource>>;

impl Objects {
    /// The objects of the prior state; from the state file what that lacks.
    pub(super) fn of(plan: &Plan, state: Option<&State>) -> Read<Self> {
        let mut objects = Self { instances: from_prior(&plan.prior)?, flagged: flagged(&plan.prior)? };
        if let Some(state) = state {
            let moved = moved_instances(plan)?;
            for mut instance in Input::from_state(state).instances {
                if let Some(now) = moved.get(&instance.addr) {
                    instance.addr = now.clone();
                }
                objects.add(instance);
            }
        }
        Ok(objects)
    }

    fn add(&mut self, stored: InstanceInput) {
        let addr = stored.addr.clone();
        let mut flagged = |generation| self.flagged.insert((addr.clone(), generation));
        if stored.current.is_some() {
            flagged(Generation::Current);
        }
        for key in stored.deposed.keys() {
            flagged(Generation::Deposed(*key));
        }
        match self.instances.entry(addr) {
            Entry::Vacant(entry) => drop(entry.insert(stored)),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.provider = stored.provider;
                match (&mut known.current, stored.current) {
                    (Some(known), Some(stored)) => complete(known, stored),
                    (known @ None, stored) => *known = stored,
                    (Some(_), None) => {}
                }
                for (key, stored) in stored.deposed {
                    match known.deposed.entry(key) {
                        Entry::Vacant(entry) => drop(entry.insert(stored)),
                        Entry::Occupied(mut entry) => complete(entry.get_mut(), stored),
                    }
                }
            }
        }
    }

    /// Lets recorded dependencies follow the moves. Gives the records of before, where they differ.
    pub(super) fn follow(&mut self, moves: &Moves) -> Vec<Recorded> {
        let mut before = Vec::new();
        if moves.is_empty() {
            return before;
        }
        for (addr, instance) in &mut self.instances {
            let current = instance.current.iter_mut().map(|object| (None, object));
            let deposed = instance.deposed.iter_mut().map(|(key, object)| (Some(*key), object));
            for (key, object) in current.chain(deposed) {
                if !object.dependencies.iter().any(|dependency| moves.contains_key(dependency)) {
                    continue;
                }
                let mut followed = BTreeSet::new();
                for dependency in &object.dependencies {
                    match moves.get(dependency) {
                        Some(now) => followed.extend(now.iter().cloned()),
                        None => drop(followed.insert(dependency.clone())),
                    }
                }
                let dependencies =
                    std::mem::replace(&mut object.dependencies, followed.into_iter().collect());
                before.push(Recorded { addr: addr.clone(), deposed: key, dependencies });
            }
        }
        before
    }

    /// For each managed resource with objects all that these are recorded to depend on.
    pub(super) fn recorded(&self) -> HashMap<ConfigResource, BTreeSet<ConfigResource>> {
        let mut recorded: HashMap<ConfigResource, BTreeSet<ConfigResource>> = HashMap::new();
        for (addr, instance) in &self.instances {
            if let Some(current) = &instance.current {
                let entry = recorded.entry(addr.resource.to_config()).or_default();
                entry.extend(current.dependencies.iter().cloned());
            }
        }
        recorded
    }
}

/// What an object is recorded to depend on.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) addr: AbsResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) dependencies: Vec<ConfigResource>,
}

/// Adds what a prior state does not hold.
fn complete(known: &mut ObjectRecord, stored: ObjectRecord) {
    known.create_before_destroy = stored.create_before_destroy;
    known.skip_destroy = stored.skip_destroy;
    known.depends_on_instances = stored.depends_on_instances;
}

/// The addresses of before, with those of today.
fn moved_instances(plan: &Plan) -> Read<HashMap<AbsResourceInstance, AbsResourceInstance>> {
    let mut moved = HashMap::new();
    for change in &plan.changes {
        if let Some(previous) = &change.previous_address {
            moved.insert(parse(previous)?, parse(&change.address)?);
        }
    }
    Ok(moved)
}

/// Where whole resources have gone. An address at which instances have stayed, or which is declared, also stands for itself.
pub(super) fn moves(plan: &Plan, declared: impl Fn(&ConfigResource) -> bool) -> Read<Moves> {
    let mut moves = Moves::new();
    for (before, now) in moved_instances(plan)? {
        let (before, now) = (before.resource.to_config(), now.resource.to_config());
        if before != now {
            let places = moves.entry(before.clone()).or_default();
            places.insert(now);
            if declared(&before) {
                places.insert(before);
            }
        }
    }
    Ok(moves)
}

/// The objects whose flags the prior state has.
fn flagged(prior: &[Prior]) -> Read<HashSet<(AbsResourceInstance, Generation)>> {
    let with_flag = prior.iter().filter(|object| object.create_before_destroy.is_some());
    let named = with_flag.map(|object| {
        let generation = match &object.deposed {
            None => Generation::Current,
            Some(key) => Generation::Deposed(deposed_key(key)?),
        };
        Ok((parse(&object.address)?, generation))
    });
    named.collect()
}

fn from_prior(prior: &[Prior]) -> Read<Instances> {
    let mut instances = Instances::new();
    for object in prior {
        let addr = parse(&object.address)?;
        let mut dependencies = Vec::with_capacity(object.depends_on.len());
        for text in &object.depends_on {
            let parsed = AbsResource::parse(text).map_err(|error| not_an_address(text, &error))?;
            dependencies.push(parsed.to_config());
        }
        let status = if object.tainted { ObjectStatus::Tainted } else { ObjectStatus::Ready };
        let create_before_destroy = object.create_before_destroy.unwrap_or_default();
        let record = ObjectRecord { status, dependencies, create_before_destroy, ..ObjectRecord::default() };
        let entry = match instances.entry(addr) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let addr = entry.key().clone();
                let name = object.provider_name.as_deref();
                let provider = provider_named(name, &addr.resource.resource.type_name)?;
                entry.insert(InstanceInput::new(addr, provider))
            }
        };
        match &object.deposed {
            None => entry.current = Some(record),
            Some(key) => {
                entry.deposed.insert(deposed_key(key)?, record);
            }
        }
    }
    Ok(instances)
}
