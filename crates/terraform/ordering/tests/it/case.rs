//! A notation for scenarios, so that each is a few words.
//!
//! Resources are words, `%X` is a data resource, `m[0].A["x"]` lies in modules. Configuration: `A` declares, `B:{A}`
//! depends, `!B` is create before destroy, `B?` has conditions, `B@P` uses provider P. State: `A` has a current object,
//! `-A` has none, `A~{B}` records, `A~cbd` records the flag, `A#k` is a deposed object, `A#k~{C}` with a record. Actions:
//! `A=R`, `A#k=D`. Nodes: `A` applies, `-A` destroys (the deposed object when A is created first), `A#k` destroys a
//! deposed object, `~A` forgets, `@P` and `@P!` are a provider.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_ordering::{
    Action, BuildErrors, DepRef, Input, InstanceInput, NodeKey, ObjectRecord, OperationGraph, Options, Part,
    PlannedChange, ProviderInput, ReplaceOrder, ResourceConfig, build,
};
use groundstate_states::DeposedKey;
use groundstate_states::addr::{
    AbsResourceInstance, ConfigResource, Module, ProviderConfig, TERRAFORM_REGISTRY,
};

use crate::oracle;

#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) input: Input,
    pub(crate) options: Options,
    precede: Vec<String>,
    concurrent: Vec<String>,
    total: bool,
}

/// Splits at blanks that are not inside of braces or brackets.
fn words(text: &str) -> Vec<String> {
    let (mut depth, mut words, mut word) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if c.is_whitespace() && depth == 0 {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn steps(text: &str) -> (String, String) {
    let (modules, last) = match text.rsplit_once('.') {
        Some((modules, last)) => (modules.split('.').map(|step| format!("module.{step}.")).collect(), last),
        None => (String::new(), text),
    };
    let last = match last.strip_prefix('%') {
        Some(name) => format!("data.t.{name}"),
        None => format!("t.{last}"),
    };
    (modules, last)
}

pub(crate) fn addr(text: &str) -> AbsResourceInstance {
    let (modules, last) = steps(text);
    AbsResourceInstance::parse(&format!("{modules}{last}")).unwrap()
}

pub(crate) fn resource(text: &str) -> ConfigResource {
    let (modules, last) = steps(text);
    ConfigResource::parse(&format!("{modules}{last}")).unwrap()
}

pub(crate) fn provider(name: &str) -> ProviderConfig {
    ProviderConfig::parse(&format!("provider[\"acme/{}\"]", name.to_lowercase()), TERRAFORM_REGISTRY).unwrap()
}

pub(crate) fn key(letter: &str) -> DeposedKey {
    DeposedKey::from_number(0xf0 + u32::from(letter.as_bytes()[0]))
}

fn set(text: &str) -> Vec<String> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    inner.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn action(text: &str) -> Action {
    match text {
        "N" => Action::NoOp,
        "C" => Action::Create,
        "Rd" => Action::Read,
        "U" => Action::Update,
        "R" => Action::Replace(ReplaceOrder::Auto),
        "RD" => Action::Replace(ReplaceOrder::DeleteThenCreate),
        "RC" => Action::Replace(ReplaceOrder::CreateThenDelete),
        "D" => Action::Delete,
        "F" => Action::Forget,
        "FC" => Action::ForgetThenCreate,
        "CF" => Action::CreateThenForget,
        other => panic!("no action {other}"),
    }
}

/// What a scenario says about an instance.
#[derive(Default)]
struct Known {
    absent: bool,
    recorded: Option<Vec<ConfigResource>>,
    cbd: bool,
    deposed: BTreeMap<DeposedKey, Option<Vec<ConfigResource>>>,
}

impl Case {
    /// A scenario of configuration, state and actions.
    pub(crate) fn new(config: &str, state: &str, actions: &str) -> Self {
        let mut case = Self::default();
        case.declare(config);
        let changes = words(actions);
        let mut known: BTreeMap<String, Known> = BTreeMap::new();
        for word in words(state) {
            remember(&mut known, &word);
        }
        for change in &changes {
            let (what, action) = change.split_once('=').unwrap();
            let (instance, deposed) = match what.split_once('#') {
                Some((instance, letter)) => (instance, Some(key(letter))),
                None => (what, None),
            };
            let entry = known.entry(instance.to_owned()).or_default();
            if action == "C" {
                entry.absent = true;
            }
            let addr = addr(instance);
            let action = self::action(action);
            case.input.changes.push(match deposed {
                None => PlannedChange::current(addr, action),
                Some(key) => PlannedChange::deposed(addr, key, action),
            });
        }
        case.exist(known);
        case
    }

    fn declare(&mut self, config: &str) {
        for word in words(config) {
            let (word, own) = match word.strip_prefix('!') {
                Some(rest) => (rest.to_owned(), true),
                None => (word, false),
            };
            let (head, dependencies) = word.split_once(':').unwrap_or((&word, ""));
            let (head, conditions) = head.strip_suffix('?').map_or((head, false), |head| (head, true));
            let (name, uses) = head.split_once('@').unwrap_or((head, "x"));
            let addr = resource(name);
            let place = self.input.resources.iter().position(|block| block.addr == addr);
            let at = place.unwrap_or_else(|| {
                self.input.resources.push(ResourceConfig::new(addr, provider(uses)));
                self.input.resources.len() - 1
            });
            let block = &mut self.input.resources[at];
            if uses != "x" {
                block.provider = provider(uses);
            }
            block.create_before_destroy |= own;
            block.has_conditions |= conditions;
            block.dependencies.extend(set(dependencies).iter().map(|item| reference(item)));
        }
    }

    /// Gives objects to instances that are mentioned, and one to every other declared resource.
    fn exist(&mut self, known: BTreeMap<String, Known>) {
        let mut known = known;
        let mentioned: BTreeSet<ConfigResource> =
            known.keys().map(|name| addr(name).resource.to_config()).collect();
        let mut unmentioned = Vec::new();
        for block in &self.input.resources {
            if !mentioned.contains(&block.addr) {
                unmentioned.push(AbsResourceInstance {
                    resource: block.addr.without_keys(),
                    key: groundstate_states::addr::InstanceKey::None,
                });
            }
        }
        let mut entries: Vec<(AbsResourceInstance, Known)> = Vec::new();
        for (name, entry) in std::mem::take(&mut known) {
            entries.push((addr(&name), entry));
        }
        entries.extend(unmentioned.into_iter().map(|addr| (addr, Known::default())));
        for (addr, entry) in entries {
            let own = addr.resource.to_config();
            let closure = oracle::closure(&self.input, &own);
            let uses = self.input.resources.iter().find(|block| block.addr == own);
            let uses = uses.map_or_else(|| provider("x"), |block| block.provider.clone());
            let mut instance = InstanceInput::new(addr, uses);
            let record = |dependencies: Option<Vec<ConfigResource>>, cbd| ObjectRecord {
                dependencies: dependencies.unwrap_or_else(|| closure.iter().cloned().collect()),
                create_before_destroy: cbd,
                ..ObjectRecord::default()
            };
            if !entry.absent {
                instance.current = Some(record(entry.recorded, entry.cbd));
            }
            for (key, recorded) in entry.deposed {
                instance.deposed.insert(key, record(recorded, false));
            }
            if instance.current.is_some() || !instance.deposed.is_empty() {
                self.input.instances.push(instance);
            }
        }
    }

    pub(crate) fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// The provider configurations: `P0 P:{A}`.
    pub(crate) fn providers(mut self, text: &str) -> Self {
        let listed = words(text).into_iter().map(|word| {
            let (name, dependencies) = word.split_once(':').unwrap_or((&word, ""));
            let config_dependencies = set(dependencies).iter().map(|item| reference(item)).collect();
            ProviderInput { id: provider(name), config_dependencies }
        });
        self.input.providers = Some(listed.collect());
        self
    }

    /// The provider recorded with instances of undeclared resources.
    pub(crate) fn recorded_provider(mut self, instance: &str, name: &str) -> Self {
        let addr = addr(instance);
        let found = self.input.instances.iter_mut().find(|instance| instance.addr == addr).unwrap();
        found.provider = provider(name);
        self
    }

    /// A chain such as `A < {B, C} < -A`.
    pub(crate) fn precede(mut self, chain: &str) -> Self {
        self.precede.push(chain.to_owned());
        self
    }

    /// A chain that names every node, and orders every pair.
    pub(crate) fn total(mut self, chain: &str) -> Self {
        self.total = true;
        self.precede(chain)
    }

    /// Pairs such as `A|B, C|-B`.
    pub(crate) fn concurrent(mut self, pairs: &str) -> Self {
        self.concurrent.extend(pairs.split(',').map(|pair| pair.trim().to_owned()));
        self
    }

    pub(crate) fn build(&self) -> Result<OperationGraph, BuildErrors> {
        build(&self.input, &self.options)
    }

    /// Builds the graph and asserts everything that is said about it, and what holds of every graph.
    #[track_caller]
    pub(crate) fn holds(&self) -> OperationGraph {
        let graph = self.build().unwrap_or_else(|errors| panic!("{errors}"));
        for chain in &self.precede {
            self.assert_chain(&graph, chain);
        }
        for pair in &self.concurrent {
            let (a, b) = pair.split_once('|').unwrap();
            let [a, b] = [a, b].map(|name| node(&graph, name));
            assert!(graph.concurrent(a, b), "{pair}:\n{}", listing(&graph));
        }
        oracle::check(&self.input, &self.options, &graph);
        graph
    }

    #[track_caller]
    fn assert_chain(&self, graph: &OperationGraph, chain: &str) {
        let sets: Vec<Vec<usize>> = chain
            .split('<')
            .map(|part| set(part.trim()).iter().map(|name| node(graph, name)).collect())
            .collect();
        for pair in sets.windows(2) {
            for &first in &pair[0] {
                for &second in &pair[1] {
                    let keys = [first, second].map(|node| &graph.nodes()[node].key);
                    assert!(
                        graph.precedes(first, second),
                        "{} before {} in {chain}:\n{}",
                        keys[0],
                        keys[1],
                        listing(graph)
                    );
                }
            }
        }
        if self.total {
            let named: BTreeSet<usize> = sets.iter().flatten().copied().collect();
            assert_eq!(named.len(), graph.nodes().len(), "{chain} does not name all of\n{}", listing(graph));
        }
    }

    /// The messages of what is wrong.
    #[track_caller]
    pub(crate) fn errors(&self) -> Vec<String> {
        let errors = self.build().map(|graph| listing(&graph)).expect_err("it can be built");
        errors.errors.iter().map(|error| error.to_string().replace("t.", "")).collect()
    }
}

fn remember(known: &mut BTreeMap<String, Known>, word: &str) {
    let (head, record) = match word.split_once('~') {
        Some((head, record)) => (head, Some(record)),
        None => (word, None),
    };
    let recorded = |record: &str| set(record).iter().map(|item| resource(item)).collect::<Vec<_>>();
    if let Some(name) = head.strip_prefix('-') {
        known.entry(name.to_owned()).or_default().absent = true;
    } else if let Some((name, letter)) = head.split_once('#') {
        known.entry(name.to_owned()).or_default().deposed.insert(key(letter), record.map(recorded));
    } else {
        let entry = known.entry(head.to_owned()).or_default();
        match record {
            Some("cbd") => entry.cbd = true,
            Some(record) => entry.recorded = Some(recorded(record)),
            None => {}
        }
    }
}

fn reference(item: &str) -> DepRef {
    match item.strip_prefix("module ") {
        Some(module) => DepRef::Module(Module::parse(&format!("module.{module}")).unwrap()),
        None => DepRef::Resource(resource(item)),
    }
}

/// The number of the node of this name.
#[track_caller]
pub(crate) fn node(graph: &OperationGraph, name: &str) -> usize {
    let find = |key: NodeKey| graph.find(&key);
    let found = if let Some(name) = name.strip_prefix('@') {
        match name.strip_suffix('!') {
            Some(name) => find(NodeKey::ProviderClose(provider(name))),
            None => find(NodeKey::Provider(provider(name))),
        }
    } else if let Some(name) = name.strip_prefix('~') {
        find(NodeKey::operation(addr(name), Part::Forget))
    } else if let Some(name) = name.strip_prefix('-') {
        let addr = addr(name);
        let apply = find(NodeKey::operation(addr.clone(), Part::Apply));
        let deposed = apply.and_then(|apply| graph.nodes()[apply].deposes_to);
        let part = deposed.map_or(Part::Destroy, Part::DestroyDeposed);
        find(NodeKey::operation(addr, part))
    } else if let Some((name, letter)) = name.split_once('#') {
        find(NodeKey::operation(addr(name), Part::DestroyDeposed(key(letter))))
    } else {
        find(NodeKey::operation(addr(name), Part::Apply))
    };
    found.unwrap_or_else(|| panic!("no node {name} in\n{}", listing(graph)))
}

/// The nodes with what they wait for.
pub(crate) fn listing(graph: &OperationGraph) -> String {
    let mut text = String::new();
    for (number, node) in graph.nodes().iter().enumerate() {
        text.push_str(&format!("{}\n", node.key));
        for edge in graph.dependencies(number) {
            let turned = if edge.inverted { ", inverted" } else { "" };
            text.push_str(&format!("  {} ({}{turned})\n", edge.to, edge.reasons));
        }
    }
    text
}
