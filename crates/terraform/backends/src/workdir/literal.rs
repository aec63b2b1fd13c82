//! Values of a `backend` block.

use std::collections::BTreeMap;

use groundstate_encryption::{Scope, Value};
use hcl_edit::structure::{Body, Structure};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of the configuration, as far as it can be evaluated.
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
    /// The expression was not evaluated, for this reason.
    Unknown(String),
}

/// A value that has no members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    Null,
    Known(String),
    Unknown(String),
}

/// Values by paths such as `endpoints.s3`.
pub(super) type Leaves = BTreeMap<String, Leaf>;

impl Literal {
    pub(super) fn of_body(body: &Body, scope: &Scope) -> Self {
        let member = |structure: &Structure| match structure {
            Structure::Attribute(attribute) => {
                (attribute.key.as_str().to_owned(), Self::of_value(scope.evaluate(&attribute.value)))
            }
            Structure::Block(block) => (block.ident.as_str().to_owned(), Self::of_body(&block.body, scope)),
        };
        Self::Map(body.iter().map(member).collect())
    }

    fn of_value(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text.to_string()),
            Value::List(items) => Self::List(items.into_iter().map(Self::of_value).collect()),
            Value::Map(members) => {
                Self::Map(members.into_iter().map(|(name, value)| (name, Self::of_value(value))).collect())
            }
            Value::Unknown(why) => Self::Unknown(why),
            _ => Self::Unknown("it is a reference to another block".to_owned()),
        }
    }

    /// Evaluates the texts of the JSON syntax, which are templates.
    pub(super) fn evaluated(&self, scope: &Scope) -> Self {
        match self {
            Self::Text(text) => Self::of_value(scope.template(text)),
            Self::List(items) => Self::List(items.iter().map(|item| item.evaluated(scope)).collect()),
            Self::Map(members) => Self::Map(
                members.iter().map(|(name, value)| (name.clone(), value.evaluated(scope))).collect(),
            ),
            other => other.clone(),
        }
    }

    /// Returns `true` if a part of the value was not evaluated.
    pub(super) fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::List(items) => items.iter().any(Self::has_unknown),
            Self::Map(members) => members.iter().any(|(_, value)| value.has_unknown()),
            _ => false,
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
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        let mut found = self.members().iter().filter(|(found, _)| found == name).map(|(_, value)| value);
        let first = found.next()?;
        Some(if found.next().is_some() { Self::Unknown(TWICE.to_owned()) } else { first.clone() })
    }

    /// Values by their paths. A list of one is its item, since that is how blocks are recorded.
    pub(super) fn leaves(&self) -> Leaves {
        let mut leaves = Leaves::new();
        self.collect("", &mut leaves);
        leaves
    }

    fn collect(&self, path: &str, leaves: &mut Leaves) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let leaf = match self {
            Self::Null => Leaf::Null,
            Self::Bool(flag) => Leaf::Known(flag.to_string()),
            Self::Number(text) | Self::Text(text) => Leaf::Known(text.clone()),
            Self::Unknown(why) => Leaf::Unknown(why.clone()),
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
                    *known = Leaf::Unknown(TWICE.to_owned());
                }
            })
            .or_insert(leaf);
    }
}

/// Why one of several values under the same name is not known.
const TWICE: &str = "it has two values";

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
        Ok(Literal::Text(text.to_owned()))
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
