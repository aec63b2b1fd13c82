//! A JSON value as a tree without recursion, for the few values that an upgrade has to understand.

use std::borrow::Cow;

use crate::json::{Cursor, Kind, Stop, push_json_string};
use crate::wire::legacy::sort_keeping_last;

/// A value with everything inside, members sorted by name and distinct. Each node stands behind its container.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// How many containers enclose the innermost value.
    pub(super) depth: usize,
    /// An object names a member twice; the last one counts.
    pub(super) has_duplicates: bool,
    /// A text has half a surrogate pair, which becomes U+FFFD.
    pub(super) has_half_pair: bool,
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Name of the member it is, or empty.
    pub(super) name: Cow<'a, str>,
    pub(super) kind: Kind,
    /// The text of a scalar.
    text: &'a [u8],
    /// Indexes of what a container holds.
    pub(super) children: Vec<usize>,
}

impl<'a> Tree<'a> {
    /// Reads a text that is one JSON value.
    pub(super) fn read(text: &'a [u8]) -> Result<Self, Stop> {
        let mut cursor = Cursor::new(text);
        let mut tree = Self { nodes: Vec::new(), depth: 0, has_duplicates: false, has_half_pair: false };
        let mut open: Vec<(usize, bool)> = Vec::new();
        tree.push(Cow::Borrowed(""), &mut cursor, &mut open)?;
        while let Some((container, first)) = open.last_mut() {
            let container = *container;
            let is_object = tree.nodes.get(container).is_some_and(|node| node.kind == Kind::Object);
            let name = match is_object {
                true => cursor.member(first)?.map(|name| {
                    tree.has_half_pair |= name.has_lone_surrogate();
                    name.decode()
                }),
                false => cursor.element(first)?.then_some(Cow::Borrowed("")),
            };
            let Some(name) = name else {
                open.pop();
                if is_object {
                    tree.sort_members(container);
                }
                continue;
            };
            let child = tree.nodes.len();
            if let Some(node) = tree.nodes.get_mut(container) {
                node.children.push(child);
            }
            tree.push(name, &mut cursor, &mut open)?;
        }
        Ok(tree)
    }

    /// Reads a scalar, or enters a container.
    fn push(
        &mut self,
        name: Cow<'a, str>,
        cursor: &mut Cursor<'a>,
        open: &mut Vec<(usize, bool)>,
    ) -> Result<(), Stop> {
        let kind = cursor.kind()?;
        let mut text: &[u8] = b"";
        match kind {
            Kind::Array | Kind::Object => {
                cursor.open(if kind == Kind::Object { b'{' } else { b'[' })?;
                open.push((self.nodes.len(), true));
                self.depth = self.depth.max(open.len());
            }
            Kind::String => {
                let start = cursor.offset();
                self.has_half_pair |= cursor.string()?.has_lone_surrogate();
                text = cursor.since(start);
            }
            _ => text = cursor.raw()?,
        }
        self.nodes.push(Node { name, kind, text, children: Vec::new() });
        Ok(())
    }

    fn sort_members(&mut self, object: usize) {
        let children = self.nodes.get(object).map_or(&[][..], |node| &node.children);
        let name = |child: usize| self.nodes.get(child).map_or("", |node| &*node.name);
        let mut members: Vec<(&str, usize)> = children.iter().map(|&child| (name(child), child)).collect();
        self.has_duplicates |= sort_keeping_last(&mut members, |member| member.0).is_some();
        let children = members.into_iter().map(|(_, child)| child).collect();
        if let Some(node) = self.nodes.get_mut(object) {
            node.children = children;
        }
    }

    /// The value as compact JSON, members sorted and strings escaped the way state files have it.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        let mut open: Vec<(&Node<'_>, std::slice::Iter<'_, usize>)> = Vec::new();
        self.write_start(0, &mut out, &mut open);
        while let Some((container, rest)) = open.last_mut() {
            let container = *container;
            let is_first = rest.len() == container.children.len();
            let Some(&child) = rest.next() else {
                out.push(if container.kind == Kind::Object { '}' } else { ']' });
                open.pop();
                continue;
            };
            if !is_first {
                out.push(',');
            }
            if let Some(node) = self.nodes.get(child).filter(|_| container.kind == Kind::Object) {
                push_json_string(&mut out, &node.name);
                out.push(':');
            }
            self.write_start(child, &mut out, &mut open);
        }
        out
    }

    fn write_start<'t>(
        &'t self,
        index: usize,
        out: &mut String,
        open: &mut Vec<(&'t Node<'a>, std::slice::Iter<'t, usize>)>,
    ) {
        let Some(node) = self.nodes.get(index) else { return };
        match node.kind {
            Kind::Object | Kind::Array => {
                out.push(if node.kind == Kind::Object { '{' } else { '[' });
                open.push((node, node.children.iter()));
            }
            Kind::String => {
                let decoded = Cursor::new(node.text).string().map(|text| text.decode());
                push_json_string(out, &decoded.unwrap_or_default());
            }
            // Numbers keep their spelling; Go would take them through doubles.
            _ => out.push_str(&String::from_utf8_lossy(node.text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_sorted_compact_json() {
        let text = r#" { "b" : [ 1.0 , 1e3, 12345678901234567890123 ], "a<": {"z":null,"y":"\u00e9\/"}, "b": [true, {}] } "#;
        let tree = Tree::read(text.as_bytes()).unwrap();
        assert_eq!(tree.to_json(), r#"{"a\u003c":{"y":"é/","z":null},"b":[true,{}]}"#);
        assert!(tree.has_duplicates);
        assert_eq!(tree.depth, 3);
    }

    #[test]
    fn keeps_the_spelling_of_numbers() {
        let text = r#"{"n":[1.0,1e3,-0,12345678901234567890123]}"#;
        assert_eq!(Tree::read(text.as_bytes()).unwrap().to_json(), text);
    }

    #[test]
    fn reads_and_writes_the_deepest_nesting_without_recursion() {
        let text = "[".repeat(9_999) + &"]".repeat(9_999);
        let tree = Tree::read(text.as_bytes()).unwrap();
        assert_eq!(tree.depth, 9_999);
        assert_eq!(tree.to_json(), text);
    }
}
