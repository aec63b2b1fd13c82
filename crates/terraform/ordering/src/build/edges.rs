//! Which operations wait for which: configuration, the halves of replacements, and what is recorded.

use std::collections::BTreeMap;

use groundstate_states::addr::ModuleStep;

use super::model::Model;
use super::ops::Op;
use super::scope::Scoping;
use super::wires::{ByVertex, Chain, Inner, Way, Wires};
use crate::edge::EdgeReason;
use crate::network::Link;
use crate::node::{ApplyKind, OpKind};

/// Makes the edges between operations on instances.
pub(super) struct Edges<'m> {
    pub(super) model: &'m Model<'m>,
    pub(super) ops: &'m [Op],
    /// The node of the first operation; those of providers come before.
    pub(super) first: u32,
    pub(super) scoping: &'m Scoping<'m>,
    /// Turn edges of create before destroy round; otherwise they are left as upstream has them at first.
    pub(super) invert: bool,
    /// Tell edges between providers apart.
    pub(super) split: bool,
    /// Apply the scope to configuration.
    pub(super) scope_config: bool,
    /// And there to direct references alone, as OpenTofu does: what is further away joins all instances.
    pub(super) scope_direct: bool,
    pub(super) wires: Wires,
}

/// One rule for pairs: what waits, what is waited for, and the way between their resources.
struct Rule<'r> {
    way: Way,
    /// `(vertex, node)`, by ascending node.
    pointers: &'r [(u32, u32)],
    members: &'r [(u32, u32)],
    link: Link,
    /// Edges between providers may be given up.
    candidate: bool,
}

/// Operations by the resource that decides.
#[derive(Default)]
struct Lists {
    /// Those that change something.
    parts: Vec<(u32, u32)>,
    /// Those that destroy something, and of them the ones with and without create before destroy.
    dests: Vec<(u32, u32)>,
    dests_cbd: Vec<(u32, u32)>,
    dests_plain: Vec<(u32, u32)>,
}

impl Lists {
    fn add(&mut self, at: u32, node: u32, op: &Op, cbd: bool) {
        if op.participates() {
            self.parts.push((at, node));
        }
        if op.is_destroyer() {
            self.dests.push((at, node));
            if cbd { &mut self.dests_cbd } else { &mut self.dests_plain }.push((at, node));
        }
    }
}

impl Edges<'_> {
    pub(super) fn op(&self, node: u32) -> &Op {
        &self.ops[(node - self.first) as usize]
    }

    fn numbered(&self) -> impl Iterator<Item = (u32, &Op)> {
        (self.first..).zip(self.ops)
    }

    fn resource(&self, op: &Op) -> u32 {
        self.model.instances[op.instance as usize].resource
    }

    fn module(&self, node: u32) -> u32 {
        self.model.instances[self.op(node).instance as usize].module
    }

    fn provider(&self, node: u32) -> Option<u32> {
        self.model.instances[self.op(node).instance as usize].provider
    }

    fn is_cbd(&self, op: &Op) -> bool {
        op.cbd && self.invert
    }

    /// What waits because configuration refers from one resource to another. `users` are the nodes of providers that
    /// are configured from resources, with their vertices.
    pub(super) fn configuration(&mut self, users: &[(u32, u32)]) {
        let configured = self.numbered().filter(|(_, op)| op.is_configured(self.model));
        let members: Vec<(u32, u32)> =
            configured.map(|(node, op)| (self.model.config.vertex(self.resource(op)), node)).collect();
        let link = Link::new(EdgeReason::Config);
        let by_vertex = ByVertex::new(self.model.config.vertices(), &members);
        let mut chain = Chain::new(&self.model.config.graph, Way::Down, &by_vertex);
        for vertex in by_vertex.vertices() {
            if self.scope_config && self.is_scoped(vertex) {
                self.scoped_configuration(vertex, &by_vertex);
            } else {
                chain.point(&mut self.wires, vertex, by_vertex.of(vertex), link, false);
            }
        }
        for &(vertex, node) in users {
            let link = Link::new(EdgeReason::ProviderConfig);
            chain.point(&mut self.wires, vertex, &[node], link, false);
        }
    }

    fn is_scoped(&self, vertex: u32) -> bool {
        let resource = self.model.config.resource_at(vertex);
        resource.is_some_and(|resource| self.scoping.group(resource).is_some())
    }

    /// The edges of configuration from the operations on one resource, without those between instances of its module.
    ///
    /// A dependency that is also reached on a way out of the module joins all instances; under the rules of OpenTofu, so does
    /// one that is reached through another resource.
    fn scoped_configuration(&mut self, vertex: u32, nodes: &ByVertex) {
        let config = &self.model.config;
        let path_of = |vertex: u32| {
            let resource = config.resource_at(vertex)?;
            Some(self.model.path_names[self.model.paths[resource as usize] as usize].steps())
        };
        let own = path_of(vertex).unwrap_or_default();
        let inside = |vertex: u32| path_of(vertex).is_some_and(|path| path.starts_with(own));
        // Each vertex may be reached without leaving the module, and after leaving it.
        let mut reached: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
        let mut stack = vec![(vertex, false)];
        while let Some((at, left)) = stack.pop() {
            for &next in config.graph.successors(at) {
                let left = left || !inside(next) || (self.scope_direct && at != vertex);
                let entry = reached.entry(next).or_default();
                let known = if left { &mut entry.1 } else { &mut entry.0 };
                if !*known {
                    *known = true;
                    stack.push((next, left));
                }
            }
        }
        let link = Link::new(EdgeReason::Config);
        for (next, (_, left)) in reached {
            let dependencies = nodes.of(next);
            match config.resource_at(next) {
                Some(resource) if !left => {
                    self.join_scoped(resource, dependencies, nodes.of(vertex), false, link, false);
                }
                _ => self.wires.join(nodes.of(vertex), dependencies, link, false),
            }
        }
    }

    /// Operations on one instance: the new object and the old ones, and what is forgotten first.
    pub(super) fn own(&mut self) {
        let mut at = 0;
        while at < self.ops.len() {
            let instance = self.ops[at].instance;
            let end = at + self.ops[at..].iter().take_while(|op| op.instance == instance).count();
            let nodes =
                |range: std::ops::Range<usize>| range.map(|at| (self.first + at as u32, self.ops[at]));
            let applies: Vec<(u32, Op)> = nodes(at..end).filter(|(_, op)| op.is_apply()).collect();
            let others: Vec<(u32, Op)> = nodes(at..end).filter(|(_, op)| !op.is_apply()).collect();
            for (apply, creates) in applies {
                for (other, op) in &others {
                    let after = creates.kind == OpKind::Apply(ApplyKind::ForgetCreate);
                    let deposes = creates.deposes_to.map(OpKind::ForgetDeposed) == Some(op.kind);
                    let edge = match op.kind {
                        OpKind::Forget if after => (apply, *other, Link::new(EdgeReason::ForgetFirst)),
                        OpKind::ForgetDeposed(_) if deposes => {
                            (*other, apply, Link::inverted(EdgeReason::Own))
                        }
                        OpKind::Forget | OpKind::ForgetDeposed(_) => continue,
                        _ if op.is_destroyer() && self.is_cbd(op) => {
                            (*other, apply, Link::inverted(EdgeReason::Own))
                        }
                        _ if op.is_destroyer() => (apply, *other, Link::new(EdgeReason::Own)),
                        _ => continue,
                    };
                    self.wires.edges.push(edge);
                }
            }
            at = end;
        }
    }

    /// What waits because one object depends on another: as recorded, and as configuration says of those objects.
    pub(super) fn stored(&mut self) {
        if !self.ops.iter().any(Op::is_destroyer) {
            return;
        }
        self.recorded();
        self.configured();
    }

    fn recorded(&mut self) {
        let resources = self.model.declared.len() as u32;
        let (mut own, mut users) = (Lists::default(), Lists::default());
        for (node, op) in self.numbered() {
            let (resource, cbd) = (self.resource(op), self.is_cbd(op));
            own.add(resource, node, op, cbd);
            let itself = op.records_itself.then_some(resource);
            for &dependency in self.model.recorded(op.recorded).iter().chain(&itself) {
                users.add(dependency, node, op, cbd);
            }
        }
        let by = |list: &[(u32, u32)]| ByVertex::new(resources, list);
        let [parts, dests, dests_cbd, dests_plain] =
            [&own.parts, &own.dests, &own.dests_cbd, &own.dests_plain].map(|list| by(list));
        let [by_parts, by_dests, by_dests_cbd, by_dests_plain] =
            [&users.parts, &users.dests, &users.dests_cbd, &users.dests_plain].map(|list| by(list));
        use EdgeReason::{StoredCreate, StoredDestroy, StoredUpdate};
        for d in 0..resources {
            self.join_scoped(d, dests_plain.of(d), by_parts.of(d), false, Link::new(StoredCreate), false);
            self.join_scoped(d, dests_cbd.of(d), by_parts.of(d), true, Link::inverted(StoredCreate), false);
            self.join_scoped(d, dests.of(d), by_dests.of(d), true, Link::new(StoredDestroy), true);
            self.join_scoped(d, parts.of(d), by_dests_plain.of(d), true, Link::new(StoredUpdate), true);
            let inverted = Link::inverted(StoredUpdate);
            self.join_scoped(d, parts.of(d), by_dests_cbd.of(d), false, inverted, true);
        }
    }

    fn configured(&mut self) {
        let (mut own, mut users) = (Lists::default(), Lists::default());
        for (node, op) in self.numbered() {
            let (vertex, cbd) = (self.model.config.vertex(self.resource(op)), self.is_cbd(op));
            own.add(vertex, node, op, cbd);
            if op.with_config {
                users.add(vertex, node, op, cbd);
            }
        }
        use EdgeReason::{ConfigCreate, ConfigDestroy, ConfigUpdate};
        let rule = |way, pointers, members, link, candidate| Rule { way, pointers, members, link, candidate };
        for rule in [
            rule(Way::Down, &*users.parts, &*own.dests_plain, Link::new(ConfigCreate), false),
            rule(Way::Up, &own.dests_cbd, &users.parts, Link::inverted(ConfigCreate), false),
            rule(Way::Up, &own.dests, &users.dests, Link::new(ConfigDestroy), true),
            rule(Way::Up, &own.parts, &users.dests_plain, Link::new(ConfigUpdate), true),
            rule(Way::Down, &users.dests_cbd, &own.parts, Link::inverted(ConfigUpdate), true),
        ] {
            self.follow(&rule);
        }
    }

    fn follow(&mut self, rule: &Rule<'_>) {
        if rule.pointers.is_empty() || rule.members.is_empty() {
            return;
        }
        if !(rule.candidate && self.split) {
            self.follow_chain(rule);
            return;
        }
        // Of each provider on its own, so that the edges between different ones can be told apart.
        let (pointers, members) = (self.by_provider(rule.pointers), self.by_provider(rule.members));
        for (of_pointers, pointers) in &pointers {
            for (of_members, members) in &members {
                self.follow_chain(&Rule { pointers, members, candidate: of_pointers != of_members, ..*rule });
            }
        }
    }

    fn by_provider(&self, nodes: &[(u32, u32)]) -> BTreeMap<Option<u32>, Vec<(u32, u32)>> {
        let mut lists: BTreeMap<Option<u32>, Vec<(u32, u32)>> = BTreeMap::new();
        for &(vertex, node) in nodes {
            lists.entry(self.provider(node)).or_default().push((vertex, node));
        }
        lists
    }

    fn follow_chain(&mut self, rule: &Rule<'_>) {
        let config = &self.model.config;
        let members = ByVertex::new(config.vertices(), rule.members);
        let pointers = ByVertex::new(config.vertices(), rule.pointers);
        if members.is_empty() || pointers.is_empty() {
            return;
        }
        let candidate = rule.candidate && self.split;
        let mut chain = Chain::new(&config.graph, rule.way, &members);
        // By group and then by module instance, for each of which some members are excluded.
        let mut scoped: BTreeMap<u32, BTreeMap<u32, BTreeMap<u32, Vec<u32>>>> = BTreeMap::new();
        for vertex in pointers.vertices() {
            let group = config.resource_at(vertex).and_then(|resource| self.scoping.group(resource));
            let Some(group) = group else {
                chain.point(&mut self.wires, vertex, pointers.of(vertex), rule.link, candidate);
                continue;
            };
            let instances = scoped.entry(group).or_default();
            for &node in pointers.of(vertex) {
                let vertices = instances.entry(self.module(node)).or_default();
                vertices.entry(vertex).or_default().push(node);
            }
        }
        for (group, instances) in scoped {
            let affected = self.affected(group, rule.way);
            for (module, vertices) in instances {
                let mut wires = std::mem::replace(&mut self.wires, Wires::new(0));
                let mut inner = Inner::new(&mut chain, &affected);
                for (vertex, nodes) in vertices {
                    let admits = |node: u32| !self.scoping.excludes(module, self.module(node));
                    inner.point(&mut wires, vertex, &nodes, admits, (rule.link, candidate));
                }
                self.wires = wires;
            }
        }
    }

    /// The vertices at which, or beyond which, there are resources of the group.
    fn affected(&self, group: u32, way: Way) -> Vec<bool> {
        let config = &self.model.config;
        let mut affected = vec![false; config.vertices() as usize];
        let mut stack: Vec<u32> = (0..config.vertices())
            .filter(|&vertex| {
                config.resource_at(vertex).is_some_and(|resource| self.scoping.group(resource) == Some(group))
            })
            .collect();
        for &vertex in &stack {
            affected[vertex as usize] = true;
        }
        while let Some(vertex) = stack.pop() {
            let before = match way {
                Way::Down => config.graph.predecessors(vertex),
                Way::Up => config.graph.successors(vertex),
            };
            for &next in before {
                if !affected[next as usize] {
                    affected[next as usize] = true;
                    stack.push(next);
                }
            }
        }
        affected
    }

    /// Joins operations on the resource `d` with operations that depend on it, where the scope admits the pair.
    fn join_scoped(
        &mut self,
        d: u32,
        own: &[u32],
        users: &[u32],
        own_waits: bool,
        link: Link,
        candidate: bool,
    ) {
        if own.is_empty() || users.is_empty() {
            return;
        }
        let path = self.model.paths[d as usize];
        if self.scoping.group(d).is_none() {
            self.join_providers(own, users, own_waits, link, candidate);
            return;
        }
        let mut free = Vec::new();
        let mut bound: BTreeMap<&[ModuleStep], Vec<u32>> = BTreeMap::new();
        for &user in users {
            match self.scoping.part(self.module(user), path) {
                None => free.push(user),
                Some(part) => bound.entry(part).or_default().push(user),
            }
        }
        self.join_providers(own, &free, own_waits, link, candidate);
        // Own operations by their part, for each length of parts that occurs.
        let mut lengths: BTreeMap<usize, BTreeMap<&[ModuleStep], Vec<u32>>> = BTreeMap::new();
        for part in bound.keys() {
            lengths.entry(part.len()).or_default();
        }
        for (length, parts) in &mut lengths {
            for &node in own {
                let steps = self.model.module_instances[self.module(node) as usize].steps();
                if let Some(part) = steps.get(..*length) {
                    parts.entry(part).or_default().push(node);
                }
            }
        }
        for (part, users) in bound {
            if let Some(own) = lengths.get(&part.len()).and_then(|parts| parts.get(part)) {
                self.join_providers(own, &users, own_waits, link, candidate);
            }
        }
    }

    fn join_providers(&mut self, own: &[u32], users: &[u32], own_waits: bool, link: Link, candidate: bool) {
        let (waiters, dependencies) = if own_waits { (own, users) } else { (users, own) };
        if !(candidate && self.split) {
            self.wires.join(waiters, dependencies, link, false);
            return;
        }
        let by_provider = |nodes: &[u32]| {
            let mut lists: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
            for &node in nodes {
                lists.entry(self.provider(node)).or_default().push(node);
            }
            lists
        };
        let (waiters, dependencies) = (by_provider(waiters), by_provider(dependencies));
        for (of_waiters, waiters) in &waiters {
            for (of_dependencies, dependencies) in &dependencies {
                self.wires.join(waiters, dependencies, link, of_waiters != of_dependencies);
            }
        }
    }
}
