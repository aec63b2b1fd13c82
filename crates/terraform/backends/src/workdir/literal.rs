//! What an expression of a configuration says without being evaluated.

use std::collections::BTreeMap;

use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Body, Structure};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of the configuration, as far as it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    /// A number, as JSON writes it.
    Number(String),
    Text(String),
    List(Vec<Self>),
    /// Members in the order of the file; blocks may repeat a name.
    Map(Vec<(String, Self)>),
    /// It depends on something, such as a variable.
    Unknown,
}

/// Values by paths such as `endpoints.s3`; nothing where the value is not known.
pub(super) type Leaves = BTreeMap<String, Option<String>>;

impl Literal {
    pub(super) fn of_body(body: &Body) -> Self {
        let member = |structure: &Structure| match structure {
            Structure::Attribute(attribute) => {
                (attribute.key.as_str().to_owned(), Self::of_expression(&attribute.value))
            }
            Structure::Block(block) => (block.ident.as_str().to_owned(), Self::of_body(&block.body)),
        };
        Self::Map(body.iter().map(member).collect())
    }

    fn of_expression(expression: &Expression) -> Self {
        match expression {
            Expression::Null(_) => Self::Null,
            Expression::Bool(flag) => Self::Bool(*flag.value()),
            Expression::Number(number) => Self::Number(number.value().to_string()),
            Expression::String(text) => Self::Text(text.value().clone()),
            Expression::Array(items) => Self::List(items.iter().map(Self::of_expression).collect()),
            Expression::Parenthesis(inner) => Self::of_expression(inner.inner()),
            Expression::Object(members) => {
                let member = |key: &ObjectKey| match key {
                    ObjectKey::Ident(name) => Some(name.as_str().to_owned()),
                    ObjectKey::Expression(Expression::String(name)) => Some(name.value().clone()),
                    ObjectKey::Expression(_) => None,
                };
                let members: Option<Vec<_>> = members
                    .iter()
                    .map(|(key, value)| Some((member(key)?, Self::of_expression(value.expr()))))
                    .collect();
                members.map_or(Self::Unknown, Self::Map)
            }
            _ => Self::Unknown,
        }
    }

    /// The members of a map.
    pub(super) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Map(members) => members,
            _ => &[],
        }
    }

    /// The one value with this name, or nothing; several are not known.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        let mut found = self.members().iter().filter(|(found, _)| found == name).map(|(_, value)| value);
        let first = found.next()?;
        Some(if found.next().is_some() { &Self::Unknown } else { first })
    }

    /// Values by their paths, without nulls. A list of one is its item, since that is how blocks are recorded.
    pub(super) fn leaves(&self) -> Leaves {
        let mut leaves = Leaves::new();
        self.collect("", &mut leaves);
        leaves
    }

    fn collect(&self, path: &str, leaves: &mut Leaves) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let leaf = match self {
            Self::Null => return,
            Self::Bool(flag) => Some(flag.to_string()),
            Self::Number(number) => Some(number.clone()),
            Self::Text(text) => Some(text.clone()),
            Self::Unknown => None,
            Self::List(items) => {
                if let [item] = &items[..] {
                    return item.collect(path, leaves);
                }
                return items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| item.collect(&below(&index.to_string()), leaves));
            }
            Self::Map(members) => {
                return members.iter().for_each(|(name, value)| value.collect(&below(name), leaves));
            }
        };
        // Of two values under one path neither is known to count.
        leaves
            .entry(path.to_owned())
            .and_modify(|known| {
                if *known != leaf {
                    *known = None;
                }
            })
            .or_insert(leaf);
    }
}

/// A text of JSON is a template: one with a part to be evaluated is not known.
fn of_template(text: &str) -> Literal {
    match text.contains("${") || text.contains("%{") {
        true => Literal::Unknown,
        false => Literal::Text(text.to_owned()),
    }
}

impl<'de> Deserialize<'de> for Literal {
    /// Reads the JSON form of a configuration, and keeps members that appear twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Literal;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Literal, E> {
        Ok(Literal::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Literal, E> {
        Ok(Literal::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Literal, E> {
        Ok(Literal::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Literal, E> {
        Ok(Literal::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Literal, E> {
        Ok(Literal::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Literal, E> {
        Ok(of_template(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Literal, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Literal::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Literal, A::Error> {
        let mut map = Vec::new();
        while let Some(member) = members.next_entry()? {
            map.push(member);
        }
        Ok(Literal::Map(map))
    }
}
