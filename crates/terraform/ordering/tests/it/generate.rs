//! Random inputs: random configuration, records, flags, actions, counts, modules, leftovers.

use std::collections::BTreeMap;

use groundstate_ordering::{
    Action, DepRef, Input, InstanceInput, ObjectRecord, PlannedChange, ProviderInput, ReplaceOrder,
    ResourceConfig,
};
use groundstate_states::Generation;
use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance, Resource, ResourceMode,
};

use crate::case::{key, provider};

/// A small generator of numbers, so that a seed is all there is to reproduce a failure.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// How odd the inputs are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) resources: usize,
    /// Recorded flags, records besides configuration, leftovers, forgetting, removed resources.
    pub(crate) odd: bool,
    pub(crate) modules: bool,
    /// Providers that are configured from resources.
    pub(crate) providers: bool,
    /// Orders of replacements that are not left open.
    pub(crate) explicit: bool,
}

struct Made {
    addr: ConfigResource,
    declared: bool,
    direct: Vec<usize>,
    recorded: Vec<usize>,
    provider: String,
}

pub(crate) fn input(seed: u64, kind: Kind) -> Input {
    let mut draw = Draw::new(seed);
    let draw = &mut draw;
    let mut made: Vec<Made> = Vec::new();
    for number in 0..1 + draw.below(kind.resources) {
        let mode = if draw.chance(15) { ResourceMode::Data } else { ResourceMode::Managed };
        let module = match draw.below(4) {
            0 if kind.modules => Module::root().child("m"),
            1 if kind.modules => Module::root().child("m").child("n"),
            _ => Module::root(),
        };
        let below =
            |draw: &mut Draw, percent| (0..number).filter(|_| draw.chance(percent)).collect::<Vec<_>>();
        let direct = below(draw, 30);
        let recorded = if kind.odd { below(draw, 30) } else { Vec::new() };
        // Names against the rank, so that the order of names does not hide a missing edge.
        let name = format!("r{:02}", (number * 7 + 3) % 97);
        let provider = format!("p{}", if kind.providers { draw.below(3) } else { 0 });
        made.push(Made {
            addr: Resource::new(mode, "t", &name).in_module(module),
            declared: !kind.odd || draw.chance(80),
            direct,
            recorded,
            provider,
        });
    }
    let mut input = Input::default();
    for made_one in &made {
        let mut block = ResourceConfig::new(made_one.addr.clone(), provider(&made_one.provider));
        block.create_before_destroy = draw.chance(20);
        block.has_conditions = draw.chance(20);
        block.dependencies =
            made_one.direct.iter().map(|&at| DepRef::Resource(made[at].addr.clone())).collect();
        if made_one.declared {
            input.resources.push(block);
        }
    }
    let closure = |at: usize| crate::oracle::closure(&input, &made[at].addr);
    let closures: Vec<Vec<ConfigResource>> =
        (0..made.len()).map(|at| closure(at).into_iter().collect()).collect();
    for (at, one) in made.iter().enumerate() {
        let mut recorded = closures[at].clone();
        recorded.extend(one.recorded.iter().map(|&at| made[at].addr.clone()));
        recorded.sort();
        recorded.dedup();
        let count = 1 + draw.below(3);
        for module in modules(draw, &one.addr.module) {
            for number in 0..count as u64 {
                let key = if count == 1 { InstanceKey::None } else { InstanceKey::Int(number) };
                let addr = one.addr.resource.clone().absolute(module.clone()).instance(key);
                instance(&mut input, draw, kind, one, addr, &recorded);
            }
        }
    }
    if kind.providers {
        input.providers = Some(providers(draw, &made));
    }
    input
}

fn modules(draw: &mut Draw, path: &Module) -> Vec<ModuleInstance> {
    let mut instances = vec![ModuleInstance::root()];
    for name in path.steps() {
        let count = 1 + draw.below(2) as u64;
        instances = instances
            .iter()
            .flat_map(|parent| (0..count).map(move |at| parent.child(name, InstanceKey::Int(at))))
            .collect();
    }
    instances
}

fn instance(
    input: &mut Input,
    draw: &mut Draw,
    kind: Kind,
    one: &Made,
    addr: AbsResourceInstance,
    recorded: &[ConfigResource],
) {
    let data = addr.resource.resource.mode == ResourceMode::Data;
    let actions: &[Action] = match (data, one.declared, kind.odd) {
        (true, true, _) => &[Action::Read, Action::NoOp],
        (_, false, _) if draw.chance(20) => &[Action::Forget],
        (_, false, _) => &[Action::Delete],
        (false, true, false) => {
            &[Action::NoOp, Action::Create, Action::Update, Action::Replace(ReplaceOrder::Auto)]
        }
        (false, true, true) => &[
            Action::NoOp,
            Action::Create,
            Action::Update,
            Action::Replace(ReplaceOrder::Auto),
            Action::Replace(ReplaceOrder::Auto),
            Action::Delete,
            Action::Forget,
            Action::ForgetThenCreate,
        ],
    };
    let mut action = actions[draw.below(actions.len())];
    if kind.explicit && matches!(action, Action::Replace(_)) && draw.chance(40) {
        let orders = [ReplaceOrder::DeleteThenCreate, ReplaceOrder::CreateThenDelete];
        action = Action::Replace(orders[draw.below(2)]);
    }
    let record = |draw: &mut Draw| ObjectRecord {
        dependencies: recorded.to_vec(),
        create_before_destroy: kind.odd && draw.chance(25),
        ..ObjectRecord::default()
    };
    let mut known = InstanceInput::new(addr.clone(), provider(&one.provider));
    if action != Action::Create && (action != Action::Read || draw.chance(50)) {
        known.current = Some(record(draw));
    }
    if kind.odd && !data && draw.chance(20) {
        let leftover = if draw.chance(50) { Action::Delete } else { Action::Forget };
        known.deposed.insert(key("k"), record(draw));
        input.changes.push(PlannedChange::deposed(addr.clone(), key("k"), leftover));
    }
    if known.current.is_some() || !known.deposed.is_empty() {
        input.instances.push(known);
    }
    input.changes.push(PlannedChange { addr, object: Generation::Current, action });
}

/// Providers that are configured from resources that do not need them, near or far.
fn providers(draw: &mut Draw, made: &[Made]) -> Vec<ProviderInput> {
    let mut users: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, one) in made.iter().enumerate().rev() {
        users.insert(&one.provider, at);
    }
    let mut all = Vec::new();
    for name in ["p0", "p1", "p2"] {
        // Only resources below the first that uses the provider, so that configuration stays without cycles.
        let first = users.get(name).copied().unwrap_or(0);
        let from = (0..first).filter(|_| draw.chance(25));
        let config_dependencies = from.map(|at| DepRef::Resource(made[at].addr.clone())).collect();
        all.push(ProviderInput { id: provider(name), config_dependencies });
    }
    all
}

/// The same input, filled in another order.
pub(crate) fn shuffled(input: &Input, seed: u64) -> Input {
    let mut draw = Draw::new(seed);
    let mut other = input.clone();
    shuffle(&mut other.resources, &mut draw);
    shuffle(&mut other.instances, &mut draw);
    shuffle(&mut other.changes, &mut draw);
    for block in &mut other.resources {
        shuffle(&mut block.dependencies, &mut draw);
    }
    for instance in &mut other.instances {
        if let Some(current) = &mut instance.current {
            shuffle(&mut current.dependencies, &mut draw);
        }
    }
    if let Some(providers) = &mut other.providers {
        shuffle(providers, &mut draw);
    }
    other
}

fn shuffle<T>(list: &mut [T], draw: &mut Draw) {
    for at in (1..list.len()).rev() {
        list.swap(at, draw.below(at + 1));
    }
}
