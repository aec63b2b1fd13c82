//! Oracle 4: graphs carried out in random orders on a simulated world, in which nothing may break.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_ordering::{ApplyKind, Input, OpKind, OpNode, OperationGraph, Options, build};
use groundstate_states::DeposedKey;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource, ResourceMode};
use proptest::prelude::*;

use crate::generate::{Draw, Kind, input};
use crate::oracle::closure;

type Slot = (AbsResourceInstance, Option<DeposedKey>);

#[derive(Clone, Debug)]
struct Object {
    is_new: bool,
    recorded: BTreeSet<ConfigResource>,
}

/// What exists while a plan is carried out.
struct World<'a> {
    input: &'a Input,
    objects: BTreeMap<Slot, Object>,
    /// Slots whose object is still to be destroyed.
    condemned: BTreeSet<Slot>,
    /// Instances whose operation is still to come.
    waiting: BTreeSet<AbsResourceInstance>,
}

fn applies(node: &OpNode) -> bool {
    matches!(node.kind, OpKind::Apply(kind) if kind != ApplyKind::Check)
}

impl<'a> World<'a> {
    fn new(input: &'a Input, graph: &OperationGraph) -> Self {
        let mut objects = BTreeMap::new();
        for instance in &input.instances {
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(*key), object));
            for (key, object) in current.chain(deposed) {
                let recorded = object.dependencies.iter().cloned().collect();
                objects.insert((instance.addr.clone(), key), Object { is_new: false, recorded });
            }
        }
        let (mut condemned, mut waiting) = (BTreeSet::new(), BTreeSet::new());
        for node in graph.nodes() {
            let addr = node.key.addr().unwrap().clone();
            match node.kind {
                OpKind::Destroy => drop(condemned.insert((addr, None))),
                OpKind::DestroyDeposed(key) => drop(condemned.insert((addr, Some(key)))),
                _ if applies(node) => drop(waiting.insert(addr)),
                _ => {}
            }
        }
        Self { input, objects, condemned, waiting }
    }

    fn run(&mut self, node: &OpNode) {
        let addr = node.key.addr().unwrap().clone();
        match node.kind {
            OpKind::Apply(ApplyKind::Check) => {}
            OpKind::Apply(kind) => self.apply(node, &addr, kind),
            OpKind::Destroy => self.destroy(node, (addr, None)),
            OpKind::DestroyDeposed(key) => self.destroy(node, (addr, Some(key))),
            OpKind::Forget => drop(self.objects.remove(&(addr, None)).unwrap()),
            OpKind::ForgetDeposed(key) => drop(self.objects.remove(&(addr, Some(key))).unwrap()),
            other => panic!("no operation: {other:?}"),
        }
    }

    fn apply(&mut self, node: &OpNode, addr: &AbsResourceInstance, kind: ApplyKind) {
        let resource = addr.resource.to_config();
        for dependency in closure(self.input, &resource) {
            // Whatever configuration refers to is in its new form before it is used.
            let late = self.waiting.iter().find(|other| other.resource.to_config() == dependency);
            assert!(late.is_none(), "{} runs before {late:?}", node.key);
        }
        let current = (addr.clone(), None);
        if let Some(key) = node.deposes_to {
            let old = self.objects.remove(&current).unwrap();
            self.objects.insert((addr.clone(), Some(key)), old);
        }
        let makes = matches!(kind, ApplyKind::Create | ApplyKind::ReplaceCreate | ApplyKind::ForgetCreate);
        assert!(!makes || !self.objects.contains_key(&current), "{} has an object in its way", node.key);
        let recorded = closure(self.input, &resource);
        self.objects.insert(current, Object { is_new: true, recorded });
        self.waiting.remove(addr);
    }

    fn destroy(&mut self, node: &OpNode, slot: Slot) {
        let object =
            self.objects.remove(&slot).unwrap_or_else(|| panic!("{} has nothing to destroy", node.key));
        assert!(!object.is_new, "{} destroys what was just made", node.key);
        if node.cbd && self.input.resources.iter().any(|block| block.addr == slot.0.resource.to_config()) {
            let empty = !self.objects.contains_key(&(slot.0.clone(), None));
            let desired = slot.1.is_some() && self.waiting.contains(&slot.0);
            assert!(!(empty && desired), "{} leaves nothing in place", node.key);
        }
        self.condemned.remove(&slot);
        let resource = slot.0.resource.to_config();
        for (other, user) in &self.objects {
            let excluded = other.0.module() != slot.0.module()
                && other.0.module().to_config() == slot.0.module().to_config();
            if other.0 == slot.0 || excluded || user.is_new || !user.recorded.contains(&resource) {
                continue;
            }
            // What used it is destroyed before, and in any case changed before if it makes room last.
            assert!(!self.condemned.contains(other), "{} goes before {other:?}", node.key);
            // A data resource that is read anew has let go already.
            let reads = other.0.resource.resource.mode == ResourceMode::Data;
            let still_uses = other.1.is_none() && !reads && self.waiting.contains(&other.0);
            assert!(!(node.cbd && still_uses), "{} goes before {other:?} lets go of it", node.key);
        }
    }

    fn finish(&self, graph: &OperationGraph) {
        for ((addr, key), object) in &self.objects {
            assert!(
                key.is_none() || self.input.instances.iter().any(|instance| instance.addr == *addr),
                "{addr} keeps a deposed object"
            );
            let applied = graph.nodes().iter().any(|node| node.key.addr() == Some(addr) && applies(node));
            assert!(key.is_some() || object.is_new == applied, "{addr}");
        }
        assert!(self.condemned.is_empty() && self.waiting.is_empty());
    }
}

/// Carries the graph out, each time choosing at random among what is ready.
fn carry_out(input: &Input, graph: &OperationGraph, draw: &mut Draw) {
    let mut world = World::new(input, graph);
    let below: Vec<Vec<usize>> = (0..graph.nodes().len())
        .map(|node| graph.dependencies(node).iter().map(|edge| graph.find(edge.to).unwrap()).collect())
        .collect();
    let mut left: BTreeSet<usize> = (0..below.len()).collect();
    while !left.is_empty() {
        let ready: Vec<usize> =
            left.iter().copied().filter(|&node| below[node].iter().all(|to| !left.contains(to))).collect();
        let node = ready[draw.below(ready.len())];
        world.run(&graph.nodes()[node]);
        left.remove(&node);
    }
    world.finish(graph);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_order_of_a_graph_breaks_anything(seed in any::<u64>(), odd in any::<bool>(), turns in any::<u64>()) {
        let kind = Kind { resources: 8, odd, modules: true, providers: false, explicit: false };
        let input = input(seed, kind);
        let graph = build(&input, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let mut draw = Draw::new(turns);
        for _ in 0..20 {
            carry_out(&input, &graph, &mut draw);
        }
    }
}
