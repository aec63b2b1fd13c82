//! What the blocks of a configuration refer to, through variables, outputs and module calls.

use std::collections::{BTreeSet, HashMap};

use groundstate_states::addr::{ConfigResource, Module, Resource, ResourceMode};

use super::read::{Call, ModuleConfig, Value};
use crate::input::DepRef;

/// A module of the configuration, with the way back to its caller.
#[derive(Clone, Debug)]
pub(super) struct Scope<'p> {
    pub(super) path: Module,
    pub(super) config: &'p ModuleConfig,
    /// The number of the calling module, and the call.
    pub(super) caller: Option<(usize, &'p Call)>,
}

/// All modules of a configuration; the root is the first.
#[derive(Debug)]
pub(super) struct Scopes<'p> {
    pub(super) all: Vec<Scope<'p>>,
    /// For each module the numbers of those it calls, by name.
    children: Vec<HashMap<&'p str, usize>>,
}

/// What something refers to in the end.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) dependencies: BTreeSet<DepRef>,
    /// References that lead to something whose own references are not known.
    pub(super) hidden: BTreeSet<String>,
}

/// Something that has references of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source<'p> {
    Variable(usize, &'p str),
    Output(usize, &'p str),
    /// What all in the module depends on.
    Gate(usize),
}

impl<'p> Scopes<'p> {
    pub(super) fn of(root: &'p ModuleConfig) -> Self {
        let mut all = vec![Scope { path: Module::root(), config: root, caller: None }];
        let mut children = Vec::new();
        let mut at = 0;
        while at < all.len() {
            let (config, path) = (all[at].config, all[at].path.clone());
            let mut called = HashMap::new();
            for (name, call) in &config.calls {
                called.insert(name.as_str(), all.len());
                all.push(Scope { path: path.child(name), config: &call.module, caller: Some((at, call)) });
            }
            children.push(called);
            at += 1;
        }
        Self { all, children }
    }

    fn child(&self, scope: usize, name: &str) -> Option<usize> {
        self.children[scope].get(name).copied()
    }

    /// The number of the module of this path.
    pub(super) fn find(&self, path: &Module) -> Option<usize> {
        path.steps().iter().try_fold(0, |scope, name| self.child(scope, name))
    }

    /// What a value in a module refers to. Blocks also depend on what their module depends on.
    pub(super) fn resolve(&self, scope: usize, value: &'p Value, is_block: bool) -> Found {
        let mut found = Found::default();
        let mut seen: BTreeSet<Source<'p>> = BTreeSet::new();
        let mut todo: Vec<Source<'p>> = Vec::new();
        let mut open = |source: Source<'p>, todo: &mut Vec<Source<'p>>| {
            if seen.insert(source) {
                todo.push(source);
            }
        };
        self.value(scope, value, &mut found, &mut |source| open(source, &mut todo));
        if is_block {
            open(Source::Gate(scope), &mut todo);
        }
        while let Some(source) = todo.pop() {
            let mut next = Vec::new();
            match source {
                Source::Variable(scope, name) => {
                    if let Some((caller, call)) = self.all[scope].caller
                        && let Some(references) = call.arguments.get(name)
                    {
                        self.references(caller, references, &mut found, &mut |source| next.push(source));
                    }
                }
                Source::Output(scope, name) => {
                    if let Some(output) = self.all[scope].config.outputs.get(name) {
                        self.value(scope, output, &mut found, &mut |source| next.push(source));
                    }
                }
                Source::Gate(scope) => {
                    if let Some((caller, call)) = self.all[scope].caller {
                        self.value(caller, &call.gate, &mut found, &mut |source| next.push(source));
                        next.push(Source::Gate(caller));
                    }
                }
            }
            for source in next {
                open(source, &mut todo);
            }
        }
        found
    }

    fn value(&self, scope: usize, value: &'p Value, found: &mut Found, open: &mut dyn FnMut(Source<'p>)) {
        self.references(scope, &value.references, found, open);
        for whole in &value.depends_on {
            let words = words(whole);
            match words.as_slice() {
                ["module", name] => {
                    found.dependencies.insert(DepRef::Module(self.all[scope].path.child(name)));
                }
                _ => self.reference(scope, whole, found, open),
            }
        }
    }

    fn references(
        &self,
        scope: usize,
        references: &'p [String],
        found: &mut Found,
        open: &mut dyn FnMut(Source<'p>),
    ) {
        for (at, reference) in references.iter().enumerate() {
            // A plan lists `module.m.out` and behind it what it begins with, `module.m`, which is not meant.
            let longer = at.checked_sub(1).and_then(|before| references.get(before));
            let is_prefix = longer.is_some_and(|longer| {
                longer.strip_prefix(reference.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
            });
            if !is_prefix {
                self.reference(scope, reference, found, open);
            }
        }
    }

    fn reference(
        &self,
        scope: usize,
        reference: &'p str,
        found: &mut Found,
        open: &mut dyn FnMut(Source<'p>),
    ) {
        let in_module = |mode, type_name: &str, name: &str| -> DepRef {
            let addr: ConfigResource =
                Resource::new(mode, type_name, name).in_module(self.all[scope].path.clone());
            DepRef::Resource(addr)
        };
        match words(reference).as_slice() {
            ["each" | "count" | "path" | "terraform" | "tofu" | "self", ..] | [] | [_] => {}
            ["var", name, ..] => open(Source::Variable(scope, name)),
            ["local", ..] => {
                found.hidden.insert(reference.to_owned());
            }
            ["module", name, rest @ ..] => {
                let Some(child) = self.child(scope, name) else { return };
                match rest.first() {
                    Some(output) => open(Source::Output(child, output)),
                    None => {
                        // The module as a value is known when all in it is done, and when its outputs are.
                        found.dependencies.insert(DepRef::Module(self.all[child].path.clone()));
                        self.all[child].config.outputs.keys().for_each(|output| {
                            open(Source::Output(child, output));
                        });
                    }
                }
            }
            ["data", type_name, name, ..] => {
                found.dependencies.insert(in_module(ResourceMode::Data, type_name, name));
            }
            ["ephemeral", type_name, name, ..] => {
                found.dependencies.insert(in_module(ResourceMode::Ephemeral, type_name, name));
            }
            [type_name, name, ..] => {
                found.dependencies.insert(in_module(ResourceMode::Managed, type_name, name));
            }
        }
    }
}

/// The names of a reference, without what stands in brackets: `module.m["a.b"].out` is `module`, `m`, `out`.
fn words(reference: &str) -> Vec<&str> {
    let bytes = reference.as_bytes();
    let (mut words, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'.' => {
                words.push(&reference[start..at]);
                at += 1;
                start = at;
            }
            b'[' => {
                words.push(&reference[start..at]);
                at = behind_bracket(bytes, at);
                start = at;
            }
            _ => at += 1,
        }
    }
    words.push(&reference[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// The place behind the bracket that closes the one at `at`.
fn behind_bracket(bytes: &[u8], at: usize) -> usize {
    let (mut quoted, mut at) = (false, at + 1);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b']' if !quoted => break,
            _ => {}
        }
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn references_are_split_into_names() {
        for (reference, expected) in [
            ("net.a.id", &["net", "a", "id"][..]),
            ("net.a[0].id", &["net", "a", "id"]),
            (r#"module.m["a.b]\"]"].out"#, &["module", "m", "out"]),
            ("module.m", &["module", "m"]),
            ("data.x.y[each.key]", &["data", "x", "y"]),
            ("net.a[", &["net", "a"]),
            (r#"net.a["\"#, &["net", "a"]),
            ("", &[]),
        ] {
            assert_eq!(words(reference), expected, "{reference}");
        }
    }
}
