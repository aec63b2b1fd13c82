//! Which resources a state has, where they are, and what they depend on.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::kinds::{KINDS, Kind};
use crate::rng::Rng;
use crate::text::WORDS;

/// A managed resource without keys that every state of one instance or more has in its root module.
pub const KNOWN_RESOURCE: &str = "cloud_server.bastion";

/// An address of the same type that no state has.
pub const FREE_RESOURCE: &str = "cloud_server.jump_host";

/// Keys of `for_each` that are easily got wrong: quotes, dots, templates, digits, other scripts.
const ODD_KEYS: [&str; 14] = [
    "north-1a",
    "north-1b",
    "blue",
    "primary",
    "read/only",
    "a.b.c",
    "with space",
    "größe",
    "日本",
    "quote\"d",
    "back\\slash",
    "${dollar}",
    "%{percent}",
    "01",
];
const MODULE_DEPTH: usize = 4;
/// A module with more instances than this gets no further modules inside.
const MODULE_INSTANCES: usize = 12;

/// The key of an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    None,
    Number(usize),
    Text(String),
}

/// A module call and all its instances.
#[derive(Debug)]
pub(crate) struct Module {
    /// Names from the root down.
    pub(crate) names: Vec<String>,
    /// Addresses of its instances; the root's is empty.
    pub(crate) instances: Vec<String>,
}

/// A resource in one module instance.
#[derive(Debug)]
pub(crate) struct Planned {
    /// Index of the module, and of the instance in it.
    pub(crate) module: (usize, usize),
    pub(crate) kind: &'static Kind,
    pub(crate) name: Rc<str>,
    pub(crate) keys: Vec<Key>,
    /// Module and type.name of other resources.
    pub(crate) dependencies: Rc<[(usize, String)]>,
    /// Whether it uses the second configuration of its provider.
    pub(crate) alias: bool,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) modules: Vec<Module>,
    pub(crate) resources: Vec<Planned>,
}

impl Plan {
    /// Plans so many instances; `keyed` allows what formats before 4 do not know: keys of modules, and text keys.
    pub(crate) fn new(seed: u64, instances: usize, keyed: bool) -> Self {
        let root = Module { names: Vec::new(), instances: vec![String::new()] };
        let mut planner = Planner {
            plan: Self { modules: vec![root], resources: Vec::new() },
            left: instances,
            keyed,
            taken: BTreeSet::new(),
            managed: Vec::new(),
        };
        let mut rng = Rng::new(seed, "plan");
        planner.place(0, &KINDS[0], "bastion", &[Key::None], &mut rng);
        while planner.left > 0 {
            if rng.chance(60) {
                planner.add_module(&mut rng);
            }
            planner.add_resource(&mut rng);
        }
        planner.plan
    }

    /// The address of the module instance that a resource is in.
    pub(crate) fn module_of(&self, resource: &Planned) -> &str {
        let (module, instance) = resource.module;
        &self.modules[module].instances[instance]
    }
}

struct Planner {
    plan: Plan,
    left: usize,
    keyed: bool,
    taken: BTreeSet<(usize, &'static str, String)>,
    /// Managed resources so far; later ones may depend on them, so there are no cycles.
    managed: Vec<(usize, String)>,
}

impl Planner {
    fn add_module(&mut self, rng: &mut Rng) {
        let count = self.plan.modules.len();
        let recent = rng.between(count.saturating_sub(12), count - 1);
        let fits =
            |module: &Module| module.names.len() < MODULE_DEPTH && module.instances.len() <= MODULE_INSTANCES;
        let parent = if rng.chance(600) && fits(&self.plan.modules[recent]) { recent } else { 0 };
        let parent = &self.plan.modules[parent];
        let name = format!("{}_{count}", rng.pick(&WORDS));
        let keys = if self.keyed { module_keys(rng) } else { vec![Key::None] };
        let step = |parent: &String, key: &Key| {
            let dot = if parent.is_empty() { "" } else { "." };
            format!("{parent}{dot}module.{name}{}", printed(key))
        };
        let instances =
            parent.instances.iter().flat_map(|parent| keys.iter().map(move |key| step(parent, key)));
        let instances = instances.collect();
        let names = parent.names.iter().chain([&name]).cloned().collect();
        self.plan.modules.push(Module { names, instances });
    }

    fn add_resource(&mut self, rng: &mut Rng) {
        let count = self.plan.modules.len();
        let module = rng.between(count.saturating_sub(8), count - 1);
        let kind = Kind::draw(rng);
        let keys = match rng.below(10) {
            _ if kind.data => vec![Key::None],
            0..6 => vec![Key::None],
            6..8 => (0..[1, 2, 3, 3, 5, 8, 20][rng.below(7)]).map(Key::Number).collect(),
            _ if self.keyed => text_keys(rng),
            _ => (0..2).map(Key::Number).collect(),
        };
        let name = if rng.chance(300) { "this" } else { rng.pick(&WORDS) };
        self.place(module, kind, name, &keys, rng);
    }

    /// Puts a resource into every instance of a module, as far as instances are left.
    fn place(&mut self, module: usize, kind: &'static Kind, name: &str, keys: &[Key], rng: &mut Rng) {
        let mut name = name.to_owned();
        if !self.taken.insert((module, kind.type_name, name.clone())) {
            name = format!("{name}_{}", self.plan.resources.len());
            self.taken.insert((module, kind.type_name, name.clone()));
        }
        let dependencies: Rc<[_]> = self.dependencies(module, rng).into_iter().collect();
        if !kind.data {
            self.managed.push((module, format!("{}.{name}", kind.type_name)));
        }
        let name: Rc<str> = name.into();
        let alias = rng.chance(50);
        for instance in 0..self.plan.modules[module].instances.len() {
            let keys: Vec<Key> = keys.iter().take(self.left).cloned().collect();
            if keys.is_empty() {
                return;
            }
            self.left -= keys.len();
            let (name, dependencies) = (Rc::clone(&name), Rc::clone(&dependencies));
            let module = (module, instance);
            self.plan.resources.push(Planned { module, kind, name, keys, dependencies, alias });
        }
    }

    /// Some of the resources planned before, near the module or in the root.
    fn dependencies(&self, module: usize, rng: &mut Rng) -> BTreeSet<(usize, String)> {
        let wanted = [0, 1, 1, 2, 3, 6][rng.below(6)];
        let recent = &self.managed[self.managed.len().saturating_sub(40)..];
        let drawn = (0..wanted.min(recent.len())).map(|_| &recent[rng.below(recent.len())]);
        drawn.filter(|(other, _)| *other == 0 || other.abs_diff(module) < 4).cloned().collect()
    }
}

fn module_keys(rng: &mut Rng) -> Vec<Key> {
    match rng.below(10) {
        0..6 => vec![Key::None],
        6..8 => (0..rng.between(2, 4)).map(Key::Number).collect(),
        _ => odd_keys(rng, 5),
    }
}

fn text_keys(rng: &mut Rng) -> Vec<Key> {
    let mut keys = odd_keys(rng, 6);
    let numbered = [0, 0, 0, 3, 15][rng.below(5)];
    let word = rng.pick(&WORDS);
    keys.extend((0..numbered).map(|at| Key::Text(format!("{word}-{at:03}"))));
    keys.sort();
    keys
}

/// One to `most` of the odd keys, sorted.
fn odd_keys(rng: &mut Rng, most: usize) -> Vec<Key> {
    let keys: BTreeSet<Key> =
        (0..rng.between(1, most)).map(|_| Key::Text(rng.pick(&ODD_KEYS).to_owned())).collect();
    keys.into_iter().collect()
}

/// A key as it stands in an address.
fn printed(key: &Key) -> String {
    match key {
        Key::None => String::new(),
        Key::Number(number) => format!("[{number}]"),
        Key::Text(text) => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("[\"{}\"]", escaped.replace("${", "$${").replace("%{", "%%{"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Key, Plan, printed};

    #[test]
    fn plans_have_exactly_the_instances_asked_for() {
        for instances in [0, 1, 2, 50, 3000] {
            for keyed in [false, true] {
                let plan = Plan::new(1, instances, keyed);
                let planned: usize = plan.resources.iter().map(|resource| resource.keys.len()).sum();
                assert_eq!(planned, instances);
            }
        }
    }

    #[test]
    fn addresses_are_unique_and_dependencies_point_back() {
        let plan = Plan::new(1, 3000, true);
        let mut seen = BTreeSet::new();
        let mut before = BTreeSet::new();
        for resource in &plan.resources {
            let here = (resource.module, resource.kind.type_name, &resource.name);
            assert!(seen.insert(here), "{here:?}");
            for dependency in resource.dependencies.iter() {
                assert!(before.contains(dependency), "{dependency:?}");
            }
            before.insert((resource.module.0, format!("{}.{}", resource.kind.type_name, resource.name)));
        }
    }

    #[test]
    fn keys_of_modules_and_texts_come_up_only_where_they_are_known() {
        let has = |keyed, text: fn(&Key) -> bool| {
            let plan = Plan::new(1, 3000, keyed);
            let keyed_module = plan.modules.iter().any(|module| module.instances.len() > 1);
            (keyed_module, plan.resources.iter().flat_map(|resource| &resource.keys).any(text))
        };
        let is_text = |key: &Key| matches!(key, Key::Text(_));
        assert_eq!(has(true, is_text), (true, true));
        assert_eq!(has(false, is_text), (false, false));
    }

    #[test]
    fn keys_are_printed_as_addresses_have_them() {
        for (key, expected) in [
            (Key::None, ""),
            (Key::Number(0), "[0]"),
            (Key::Text("0".to_owned()), "[\"0\"]"),
            (Key::Text("a\"b\\c${d}%{e}".to_owned()), "[\"a\\\"b\\\\c$${d}%%{e}\"]"),
        ] {
            assert_eq!(printed(&key), expected);
        }
    }
}
