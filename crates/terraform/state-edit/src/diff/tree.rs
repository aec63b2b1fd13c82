//! Comparing JSON values by meaning, down to the members that differ.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groundstate_states::{Number, PathStep, PathStepKind, RawJson, Value};

use super::{DiffValue, FieldChange};
use groundstate_json::{Cursor, Kind, Stop, push_name};

/// Containers inside this many others are compared as text, so that the recursion here stays shallow.
const MAX_LEVELS: usize = 128;

/// Bytes that paths may take however small the values are. Long names above many differences would otherwise
/// take far more memory than the values themselves.
const MIN_PATHS: usize = 64 * 1024;

/// What remains of a sensitive path at some value; nothing remains if the value is sensitive itself.
pub(super) type Secret<'p> = &'p [PathStep];

/// Compares two values and adds what differs, with paths below `path`.
pub(super) fn compare(
    a: &RawJson,
    b: &RawJson,
    path: &str,
    secrets: &[Secret<'_>],
    out: &mut Vec<FieldChange>,
) {
    if a == b {
        return;
    }
    let start = out.len();
    let budget = (a.as_str().len() + b.as_str().len()).saturating_mul(4).saturating_add(MIN_PATHS);
    let (a, b) = (Node::parse(a.as_str()), Node::parse(b.as_str()));
    let mut walk = Walk { path: path.to_owned(), out, budget: Some(budget) };
    walk.values(&a, &b, secrets);
    if walk.budget.is_none() {
        walk.out.truncate(start);
        walk.budget = Some(usize::MAX);
        walk.path = path.to_owned();
        walk.emit(Some(&a), Some(&b), secrets);
    }
}

/// A value of a document, as far as comparing needs it.
struct Node<'a> {
    raw: &'a [u8],
    shape: Shape<'a>,
}

enum Shape<'a> {
    /// Null, bools and what lies too deep: the same if the text is.
    Text,
    Number,
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(BTreeMap<Cow<'a, str>, Node<'a>>),
}

impl<'a> Node<'a> {
    fn parse(text: &'a str) -> Self {
        let raw = text.as_bytes();
        // Raw JSON is valid; if it was made of other text, the text is compared.
        Self::read(&mut Cursor::new(raw), 0).unwrap_or(Node { raw, shape: Shape::Text })
    }

    fn read(cursor: &mut Cursor<'a>, level: usize) -> Result<Self, Stop> {
        let kind = cursor.kind()?;
        let start = cursor.offset();
        let shape = match kind {
            Kind::Null | Kind::Bool => cursor.skip().map(|()| Shape::Text)?,
            Kind::Number => cursor.skip().map(|()| Shape::Number)?,
            Kind::String => Shape::String(cursor.string()?.decode()),
            _ if level >= MAX_LEVELS => cursor.skip().map(|()| Shape::Text)?,
            Kind::Array => Shape::Array(Self::elements(cursor, level + 1)?),
            Kind::Object => Shape::Object(Self::members(cursor, level + 1)?),
        };
        Ok(Self { raw: cursor.since(start), shape })
    }

    fn elements(cursor: &mut Cursor<'a>, level: usize) -> Result<Vec<Self>, Stop> {
        cursor.open(b'[')?;
        let mut elements = Vec::new();
        let mut first = true;
        while cursor.element(&mut first)? {
            elements.push(Self::read(cursor, level)?);
        }
        Ok(elements)
    }

    fn members(cursor: &mut Cursor<'a>, level: usize) -> Result<BTreeMap<Cow<'a, str>, Self>, Stop> {
        cursor.open(b'{')?;
        let mut members = BTreeMap::new();
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            members.insert(name.decode(), Self::read(cursor, level)?);
        }
        Ok(members)
    }

    fn is_same(&self, other: &Node<'_>) -> bool {
        self.raw == other.raw
            || match (&self.shape, &other.shape) {
                (Shape::Number, Shape::Number) => same_number(self.raw, other.raw),
                (Shape::String(a), Shape::String(b)) => a == b,
                (Shape::Array(a), Shape::Array(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
                }
                (Shape::Object(a), Shape::Object(b)) => {
                    a.len() == b.len()
                        && a.iter().zip(b).all(|((name, a), (other, b))| name == other && a.is_same(b))
                }
                _ => false,
            }
    }

    fn value(&self, sensitive: bool) -> DiffValue {
        let raw = RawJson::from_validated(&String::from_utf8_lossy(self.raw));
        if sensitive { DiffValue::Sensitive(raw) } else { DiffValue::Plain(raw) }
    }
}

fn same_number(a: &[u8], b: &[u8]) -> bool {
    let number = |raw| str::from_utf8(raw).ok().and_then(|text| Number::parse(text).ok());
    match (number(a), number(b)) {
        // Zero is zero, whatever its sign.
        (Some(a), Some(b)) => a == b || (a.to_u64() == Some(0) && b.to_u64() == Some(0)),
        _ => false,
    }
}

struct Walk<'o> {
    path: String,
    out: &'o mut Vec<FieldChange>,
    /// Bytes that paths may still take; nothing once there were too many.
    budget: Option<usize>,
}

impl Walk<'_> {
    fn values(&mut self, a: &Node<'_>, b: &Node<'_>, secrets: &[Secret<'_>]) {
        if a.is_same(b) {
            return;
        }
        // A sensitive value is not entered: even which of its members differ is secret.
        let is_secret = secrets.iter().any(|rest| rest.is_empty());
        match (&a.shape, &b.shape) {
            (Shape::Object(a), Shape::Object(b)) if !is_secret => self.members(a, b, secrets),
            (Shape::Array(a), Shape::Array(b)) if !is_secret => self.elements(a, b, secrets),
            _ => self.emit(Some(a), Some(b), secrets),
        }
    }

    fn members(
        &mut self,
        a: &BTreeMap<Cow<'_, str>, Node<'_>>,
        b: &BTreeMap<Cow<'_, str>, Node<'_>>,
        secrets: &[Secret<'_>],
    ) {
        let mut names: Vec<&str> = a.keys().chain(b.keys()).map(|name| &**name).collect();
        names.sort_unstable();
        names.dedup();
        let wrapped = is_wrapper(a) || is_wrapper(b);
        for name in names {
            let length = self.path.len();
            push_name(&mut self.path, name);
            let mut inner = into_member(secrets, name);
            if wrapped && name == "value" {
                inner.extend_from_slice(secrets);
            }
            self.pair(a.get(name), b.get(name), &inner);
            self.path.truncate(length);
        }
    }

    /// Compares elements by position, but for those at both ends that stayed the same.
    fn elements(&mut self, a: &[Node<'_>], b: &[Node<'_>], secrets: &[Secret<'_>]) {
        let head = a.iter().zip(b).take_while(|(a, b)| a.is_same(b)).count();
        let (a, b) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
        let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a.is_same(b)).count();
        let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
        for index in 0..a.len().max(b.len()) {
            let length = self.path.len();
            self.path.push_str(&format!("[{}]", head + index));
            self.pair(a.get(index), b.get(index), &into_element(secrets, head + index));
            self.path.truncate(length);
        }
    }

    fn pair(&mut self, a: Option<&Node<'_>>, b: Option<&Node<'_>>, secrets: &[Secret<'_>]) {
        match (a, b) {
            _ if self.budget.is_none() => {}
            (Some(a), Some(b)) => self.values(a, b, secrets),
            _ => self.emit(a, b, secrets),
        }
    }

    /// Adds a change. A path that remains leads into one of the values, which is then hidden as a whole.
    fn emit(&mut self, a: Option<&Node<'_>>, b: Option<&Node<'_>>, secrets: &[Secret<'_>]) {
        self.budget = self.budget.and_then(|budget| budget.checked_sub(self.path.len()));
        let sensitive = !secrets.is_empty();
        self.out.push(FieldChange {
            path: self.path.clone(),
            before: a.map(|node| node.value(sensitive)),
            after: b.map(|node| node.value(sensitive)),
        });
    }
}

/// Whether an object may be the wrapper that keeps the type of a dynamic attribute. Paths do not mention it, so they
/// go on inside. One that only looks so hides too much rather than too little.
fn is_wrapper(members: &BTreeMap<Cow<'_, str>, Node<'_>>) -> bool {
    members.len() == 2 && members.contains_key("type") && members.contains_key("value")
}

/// Whether two names are the same text. Paths are composed, the bytes of attributes are as they were written.
fn same_text(a: &str, b: &str) -> bool {
    a == b || Value::string(a) == Value::string(b)
}

/// What remains of the paths in the member of this name.
fn into_member<'p>(secrets: &[Secret<'p>], name: &str) -> Vec<Secret<'p>> {
    let enter = |rest: &Secret<'p>| {
        let (step, rest) = rest.split_first()?;
        let fits = match &step.kind {
            PathStepKind::Attribute(attribute) => same_text(attribute, name),
            PathStepKind::Index { key: Value::String(key), .. } => same_text(key, name),
            PathStepKind::Index { key: Value::Number(key), .. } => key.as_str() == name,
            // No such key leads into an object; rather hide too much than too little.
            PathStepKind::Index { .. } => return Some(Secret::default()),
        };
        fits.then_some(rest)
    };
    secrets.iter().filter_map(enter).collect()
}

/// What remains of the paths in the element at this position.
fn into_element<'p>(secrets: &[Secret<'p>], index: usize) -> Vec<Secret<'p>> {
    let enter = |rest: &Secret<'p>| {
        let (step, rest) = rest.split_first()?;
        match &step.kind {
            PathStepKind::Index { key: Value::Number(key), .. } if key.to_u64().is_some() => {
                (key.to_u64() == u64::try_from(index).ok()).then_some(rest)
            }
            // The key of a set is an element, which has no position: everything is hidden.
            _ => Some(Secret::default()),
        }
    };
    secrets.iter().filter_map(enter).collect()
}

#[cfg(test)]
mod tests;
