//! The rule on `sensitive_attributes`: each path has to lead to something.

use std::collections::HashMap;

use groundstate_states::{AttributePath, PathStepKind, Value};

use super::finding::Draft;
use super::rule::Rule;
use groundstate_json::{Cursor, Kind, Stop};
use groundstate_statefile::walk::{InstanceWire, sensitive_paths};

/// Judges the paths of one object.
pub(super) fn check(wire: &InstanceWire<'_>, out: &mut Vec<Draft>) {
    let Some(list) = wire.sensitive.filter(|list| list.text != b"[]") else { return };
    let Some(attributes) = wire.attributes.filter(|raw| raw.first() == Some(&b'{')) else { return };
    // What is malformed is a problem of the reader.
    let paths = sensitive_paths(list);
    let mut tree = Tree::new(&paths);
    if tree.search(attributes).is_err() {
        return;
    }
    for (path, node) in paths.iter().zip(&tree.ends) {
        if !tree.nodes.get(*node).is_some_and(|node| node.found) {
            let message = format!("the sensitive path {} leads to no attribute", shown(path));
            out.push(Draft::new(Rule::SensitivePathAbsent, list.offset, message));
        }
    }
}

/// Attribute names only: the key of a set's element is the sensitive value itself.
fn shown(path: &AttributePath) -> String {
    let mut out = String::new();
    for step in path.steps.iter().take(16) {
        match &step.kind {
            PathStepKind::Attribute(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.extend(name.chars().take(80));
            }
            PathStepKind::Index { .. } => out.push_str("[…]"),
        }
    }
    if path.steps.len() > 16 {
        out.push('…');
    }
    out
}

/// What a step asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A member of an object or map, or an element of a set of strings.
    Name(Box<str>),
    /// An element of a list, or of a set of numbers.
    Position(u64),
}

#[derive(Debug, Default)]
struct Node {
    children: HashMap<Key, usize>,
    found: bool,
}

/// What is being gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Object,
    List,
    Wrapper,
}

/// A container that a node stands for.
#[derive(Debug)]
struct Frame {
    kind: Inside,
    node: usize,
    /// Of the next element.
    position: u64,
}

/// Levels in which wrappers of dynamic attributes are looked for.
const MAX_WRAPPED: usize = 64;

/// Whether the value is an object of a `value` and a `type`.
fn is_wrapper(mut cursor: Cursor<'_>) -> Result<bool, Stop> {
    if cursor.kind()? != Kind::Object {
        return Ok(false);
    }
    cursor.open(b'{')?;
    let mut first = true;
    let mut wanted = ["value", "type"].into_iter();
    while let Some(name) = cursor.member(&mut first)? {
        if wanted.next() != Some(&*name.decode()) {
            return Ok(false);
        }
        cursor.skip()?;
    }
    Ok(wanted.next().is_none())
}

/// All paths of an object as one tree, so that one pass over the attributes answers for all of them.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    /// Where each path ends.
    ends: Vec<usize>,
}

impl Tree {
    fn new(paths: &[AttributePath]) -> Self {
        let mut tree = Self { nodes: vec![Node::default()], ends: Vec::with_capacity(paths.len()) };
        for path in paths {
            let mut at = 0;
            for step in &path.steps {
                let key = match &step.kind {
                    PathStepKind::Attribute(name) => Key::Name((&**name).into()),
                    PathStepKind::Index { key: Value::String(key), .. } => Key::Name((&**key).into()),
                    PathStepKind::Index { key: Value::Number(key), .. } => match key.to_u64() {
                        Some(position) => Key::Position(position),
                        None => break,
                    },
                    // An element of a set of objects; that the set exists is enough.
                    PathStepKind::Index { .. } => break,
                };
                let next = tree.nodes.len();
                let Some(node) = tree.nodes.get_mut(at) else { break };
                at = *node.children.entry(key).or_insert(next);
                if at == next {
                    tree.nodes.push(Node::default());
                }
            }
            tree.ends.push(at);
        }
        tree
    }

    fn child(&self, node: usize, key: &Key) -> Option<usize> {
        self.nodes.get(node)?.children.get(key).copied()
    }

    /// Marks what leads to this node as found, and what lies below it if nothing can be said of that.
    fn found(&mut self, node: usize, with_all_below: bool) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop().and_then(|node| self.nodes.get_mut(node)) {
            node.found = true;
            if with_all_below {
                pending.extend(node.children.values());
            }
        }
    }

    /// Goes through the attributes once, into what paths lead into.
    fn search(&mut self, attributes: &[u8]) -> Result<(), Stop> {
        let mut cursor = Cursor::new(attributes);
        let mut open = Vec::new();
        let mut first = self.enter(0, &mut cursor, &mut open)?;
        while let Some(frame) = open.last_mut() {
            let (kind, node) = (frame.kind, frame.node);
            let key = if kind == Inside::List {
                cursor.element(&mut first)?.then_some(Key::Position(frame.position))
            } else {
                cursor.member(&mut first)?.map(|name| Key::Name(name.decode().into()))
            };
            frame.position += 1;
            let Some(key) = key else {
                open.pop();
                first = false;
                continue;
            };
            match self.child(node, &key) {
                // What only looks like a wrapper may be meant itself.
                Some(child) if kind == Inside::Wrapper => self.found(child, true),
                Some(child) => {
                    first = self.enter(child, &mut cursor, &mut open)?;
                    continue;
                }
                None => {}
            }
            if kind == Inside::Wrapper && key == Key::Name("value".into()) {
                first = self.enter_value(node, &mut cursor, &mut open)?;
            } else {
                cursor.skip()?;
            }
        }
        Ok(())
    }

    /// Reads the value that a node stands for, or enters it if paths lead on; tells whether it did.
    ///
    /// Paths do not mention the wrapper that keeps the type of a dynamic attribute.
    fn enter(&mut self, node: usize, cursor: &mut Cursor<'_>, open: &mut Vec<Frame>) -> Result<bool, Stop> {
        let leads_on = self.nodes.get(node).is_some_and(|node| !node.children.is_empty());
        // Looking ahead costs as much as the value is long, so it ends where no provider nests any more.
        if !leads_on || open.len() > MAX_WRAPPED || !is_wrapper(cursor.clone())? {
            return self.enter_value(node, cursor, open);
        }
        self.found(node, false);
        cursor.open(b'{')?;
        open.push(Frame { kind: Inside::Wrapper, node, position: 0 });
        Ok(true)
    }

    fn enter_value(
        &mut self,
        node: usize,
        cursor: &mut Cursor<'_>,
        open: &mut Vec<Frame>,
    ) -> Result<bool, Stop> {
        let kind = cursor.kind()?;
        // Below null nothing is known.
        self.found(node, kind == Kind::Null);
        let leads_on = self.nodes.get(node).is_some_and(|node| !node.children.is_empty());
        let inside = match kind {
            Kind::Object if leads_on => Inside::Object,
            Kind::Array if leads_on => Inside::List,
            _ => return cursor.skip().map(|()| false),
        };
        if inside == Inside::List {
            self.elements_of_sets(node, cursor.clone())?;
        }
        cursor.open(if inside == Inside::List { b'[' } else { b'{' })?;
        open.push(Frame { kind: inside, node, position: 0 });
        Ok(true)
    }

    /// The key of a set's element is the element, so that a position need not be one; the benefit of the doubt is given.
    fn elements_of_sets(&mut self, node: usize, mut cursor: Cursor<'_>) -> Result<(), Stop> {
        cursor.open(b'[')?;
        let element = if cursor.element(&mut true)? { Some(cursor.kind()?) } else { None };
        let children = self.nodes.get(node).map(|node| &node.children);
        let doubtful = |key: &Key| match key {
            Key::Name(_) => element == Some(Kind::String),
            Key::Position(_) => element == Some(Kind::Number),
        };
        let granted: Vec<usize> = children
            .into_iter()
            .flatten()
            .filter(|(key, _)| doubtful(key))
            .map(|(_, child)| *child)
            .collect();
        granted.into_iter().for_each(|child| self.found(child, true));
        Ok(())
    }
}
