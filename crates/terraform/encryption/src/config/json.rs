//! The JSON syntax: blocks are objects, by their labels.

use groundstate_json::{Cursor, Kind, Stop};
use hcl_edit::expr::{Array, Expression, Object, ObjectKey, ObjectValue};
use hcl_edit::template::{StringTemplate, Template};

use super::body::{Block, Body, Source};
use super::error::ConfigurationError;
use super::scope::Scope;
use super::value::{Place, Value};

/// How deep values may nest, which bounds the recursion.
const MAX_DEPTH: usize = 64;

/// A JSON value with the byte where it stands.
#[derive(Debug)]
pub(super) struct Node {
    at: usize,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// The blocks that a body may have: their names, how many labels, and the blocks inside.
pub(super) struct Blocks(pub(super) &'static [(&'static str, usize, &'static Self)]);

pub(super) const NO_BLOCKS: &Blocks = &Blocks(&[]);

impl Node {
    pub(super) fn parse(source: &Source<'_>) -> Result<Self, ConfigurationError> {
        let mut cursor = Cursor::new(source.text.as_bytes());
        let read = node(&mut cursor, 0).and_then(|node| cursor.end().map(|()| node));
        read.map_err(|stop| ConfigurationError::Syntax { place: source.place(stop.offset) })
    }

    /// The values with this name; lists stand for their items.
    pub(super) fn each<'n>(&'n self, name: &str) -> Vec<&'n Self> {
        let Data::Object(members) = &self.data else { return Vec::new() };
        let named = members.iter().filter(|(member, _)| member == name);
        named.flat_map(|(_, node)| node.items()).collect()
    }

    /// The members of an object by name.
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        let members = match &self.data {
            Data::Object(members) => members.as_slice(),
            _ => &[],
        };
        members.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Vec<&Self> {
        match &self.data {
            Data::List(items) => items.iter().flat_map(Self::items).collect(),
            Data::Null => Vec::new(),
            _ => vec![self],
        }
    }

    /// The body of a block.
    pub(super) fn body(
        &self,
        source: &Source<'_>,
        blocks: &Blocks,
        scope: &Scope,
    ) -> Result<Body, ConfigurationError> {
        let Data::Object(members) = &self.data else {
            return Err(ConfigurationError::structure(source.place(self.at), "an object has to stand here"));
        };
        let mut body = Body::default();
        for (name, node) in members {
            if let Some((_, labels, inside)) = blocks.0.iter().find(|(block, ..)| block == name) {
                for node in node.items() {
                    node.blocks(source, name, &mut Vec::new(), *labels, inside, scope, &mut body.blocks)?;
                }
            } else if name != "//" {
                body.attributes.push((name.clone(), node.value(scope), source.place(node.at)));
            }
        }
        Ok(body)
    }

    #[expect(clippy::too_many_arguments, reason = "labels are collected on the way down")]
    fn blocks(
        &self,
        source: &Source<'_>,
        kind: &str,
        labels: &mut Vec<String>,
        left: usize,
        inside: &Blocks,
        scope: &Scope,
        out: &mut Vec<Block>,
    ) -> Result<(), ConfigurationError> {
        let place = source.place(self.at);
        if left == 0 {
            let body = self.body(source, inside, scope)?;
            out.push(Block { kind: kind.to_owned(), labels: labels.clone(), body, place });
            return Ok(());
        }
        let Data::Object(members) = &self.data else {
            let why = format!("an object with the labels of `{kind}` has to stand here");
            return Err(ConfigurationError::structure(place, why));
        };
        for (label, node) in members.iter().filter(|(label, _)| label != "//") {
            labels.push(label.clone());
            for node in node.items() {
                node.blocks(source, kind, labels, left - 1, inside, scope, out)?;
            }
            labels.pop();
        }
        Ok(())
    }

    /// The value of an attribute: texts are templates.
    pub(super) fn value(&self, scope: &Scope) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number(digits) => Value::Number(digits.clone()),
            Data::Text(text) => scope.template(text),
            Data::List(items) => Value::List(items.iter().map(|item| item.value(scope)).collect()),
            Data::Object(members) => {
                let members = members.iter().filter(|(name, _)| name != "//");
                Value::Map(members.map(|(name, node)| (name.clone(), node.value(scope))).collect())
            }
        }
    }

    /// The value as an expression, to be evaluated where it is used.
    pub(super) fn expression(&self) -> Expression {
        match &self.data {
            Data::Null => Expression::null(),
            Data::Bool(flag) => Expression::from(*flag),
            Data::Number(digits) => digits.parse().unwrap_or_else(|_| Expression::from(digits.as_str())),
            Data::Text(text) if !text.contains("${") && !text.contains("%{") => {
                Expression::from(text.as_str())
            }
            Data::Text(text) => match text.parse::<Template>() {
                Ok(template) => {
                    Expression::from(StringTemplate::from(template.into_iter().collect::<Vec<_>>()))
                }
                // A name that has no value.
                Err(_) => Expression::from(hcl_edit::Ident::new("template")),
            },
            Data::List(items) => Expression::from(Array::from_iter(items.iter().map(Self::expression))),
            Data::Object(members) => {
                let member = |(name, node): &(String, Self)| {
                    (ObjectKey::from(Expression::from(name.as_str())), ObjectValue::from(node.expression()))
                };
                Expression::from(Object::from_iter(members.iter().map(member)))
            }
        }
    }

    pub(super) fn place(&self, source: &Source<'_>) -> Place {
        source.place(self.at)
    }
}

fn node(cursor: &mut Cursor<'_>, depth: usize) -> Result<Node, Stop> {
    let kind = cursor.kind()?;
    let at = cursor.offset();
    if depth > MAX_DEPTH {
        return Err(Stop { offset: at, why: groundstate_json::SyntaxError::TooDeep });
    }
    let mut first = true;
    let data = match kind {
        Kind::Null => cursor.null().map(|()| Data::Null)?,
        Kind::Bool => Data::Bool(cursor.bool()?),
        Kind::Number => Data::Number(cursor.number()?.to_owned()),
        Kind::String => Data::Text(cursor.string()?.decode().into_owned()),
        Kind::Array => {
            cursor.open(b'[')?;
            let mut items = Vec::new();
            while cursor.element(&mut first)? {
                items.push(node(cursor, depth + 1)?);
            }
            Data::List(items)
        }
        Kind::Object => {
            cursor.open(b'{')?;
            let mut members = Vec::new();
            while let Some(name) = cursor.member(&mut first)? {
                members.push((name.decode().into_owned(), node(cursor, depth + 1)?));
            }
            Data::Object(members)
        }
    };
    Ok(Node { at, data })
}
