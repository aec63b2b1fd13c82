//! Values from JSON, by their type.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_states::{MAX_VALUE_DEPTH, Number, NumberError, ObjectType, Type, Value};

use super::remarks::{Remark, Remarks};
use super::{Fail, ValueError, normalized, read_type};
use crate::json::{Cursor, Kind, Stop, Str};
use crate::sink::Sink;

/// Reads a value of type `ty` and notes what reading changes in it.
///
/// The cursor ends behind the value, whether it conforms or not.
pub(crate) fn decode_value(
    cursor: &mut Cursor<'_>,
    ty: &Type,
    sink: &mut Sink,
) -> Result<Result<Value, ValueError>, Stop> {
    let mut reader = Reader::default();
    let mut ahead = cursor.clone();
    match reader.value(&mut ahead, ty, 0) {
        Ok(value) => {
            *cursor = ahead;
            reader.remarks.tell(sink);
            Ok(Ok(value))
        }
        Err(Fail::Stop(stop)) => Err(stop),
        Err(Fail::Value(error)) => cursor.skip().map(|()| Err(error)),
    }
}

#[derive(Default)]
struct Reader {
    remarks: Remarks,
}

impl Reader {
    /// Reads a value that `depth` containers enclose.
    fn value(&mut self, cursor: &mut Cursor<'_>, ty: &Type, depth: usize) -> Result<Value, Fail> {
        let kind = cursor.kind()?;
        let offset = cursor.offset();
        if depth >= MAX_VALUE_DEPTH {
            return Err(Fail::value(offset, format!("the value nests deeper than {MAX_VALUE_DEPTH} levels")));
        }
        if kind == Kind::Null {
            cursor.null()?;
            return Ok(Value::Null);
        }
        match ty {
            Type::String => self.string(cursor, kind),
            Type::Number => self.number(cursor, kind),
            Type::Bool => self.bool(cursor, kind),
            Type::List(element) => Ok(Value::Sequence(self.elements(cursor, kind, element, depth)?)),
            Type::Set(element) => self.set(cursor, kind, element, depth),
            Type::Map(element) => self.map(cursor, kind, element, depth),
            Type::Tuple(elements) => self.tuple(cursor, kind, elements, depth),
            Type::Object(object) => self.object(cursor, kind, object, depth),
            Type::Dynamic => self.dynamic(cursor, kind, depth),
        }
    }

    fn text(&mut self, text: &Str<'_>) -> Arc<str> {
        if text.has_lone_surrogate() {
            self.remarks.add(Remark::LoneSurrogate, text.offset);
        }
        let (normal, changed) = normalized(text);
        if changed {
            self.remarks.add(Remark::Composed, text.offset);
        }
        normal
    }

    fn string(&mut self, cursor: &mut Cursor<'_>, kind: Kind) -> Result<Value, Fail> {
        let offset = cursor.offset();
        let text = match kind {
            Kind::String => {
                let literal = cursor.string()?;
                return Ok(Value::String(self.text(&literal)));
            }
            Kind::Number => cursor.number()?,
            Kind::Bool if cursor.bool()? => "true",
            Kind::Bool => "false",
            kind => return Err(Fail::wanted(offset, kind, "a string")),
        };
        self.remarks.add(Remark::Converted, offset);
        Ok(Value::String(text.into()))
    }

    fn number(&mut self, cursor: &mut Cursor<'_>, kind: Kind) -> Result<Value, Fail> {
        let offset = cursor.offset();
        let parsed = match kind {
            Kind::Number => {
                let text = cursor.number()?;
                let parsed = Number::parse(text);
                if parsed.as_ref().is_ok_and(|number| number.as_str() != text) {
                    self.remarks.add(Remark::Respelled, offset);
                }
                parsed
            }
            Kind::String => {
                self.remarks.add(Remark::Converted, offset);
                Number::parse(&cursor.string()?.decode())
            }
            kind => return Err(Fail::wanted(offset, kind, "a number")),
        };
        parsed.map(Value::Number).map_err(|error| {
            let detail = match error {
                NumberError::ExponentTooLarge => "the exponent of a number is too large",
                _ => "expected a number, found a string that is not a decimal number",
            };
            Fail::value(offset, detail)
        })
    }

    fn bool(&mut self, cursor: &mut Cursor<'_>, kind: Kind) -> Result<Value, Fail> {
        let offset = cursor.offset();
        match kind {
            Kind::Bool => Ok(Value::Bool(cursor.bool()?)),
            Kind::String => {
                self.remarks.add(Remark::Converted, offset);
                match &*cursor.string()?.decode() {
                    "true" | "1" => Ok(Value::Bool(true)),
                    "false" | "0" => Ok(Value::Bool(false)),
                    _ => Err(Fail::value(offset, "expected a bool, found a string that is not a bool")),
                }
            }
            kind => Err(Fail::wanted(offset, kind, "a bool")),
        }
    }

    fn elements(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        element: &Type,
        depth: usize,
    ) -> Result<Vec<Value>, Fail> {
        enter(cursor, kind, Kind::Array)?;
        let mut elements = Vec::new();
        let mut first = true;
        while cursor.element(&mut first)? {
            elements.push(self.value(cursor, element, depth + 1)?);
        }
        Ok(elements)
    }

    fn set(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        element: &Type,
        depth: usize,
    ) -> Result<Value, Fail> {
        let offset = cursor.offset();
        let elements = self.elements(cursor, kind, element, depth)?;
        let before = elements.clone();
        let set = Value::set(elements, element);
        if let Value::Sequence(after) = &set
            && *after != before
        {
            let shorter = after.len() < before.len();
            self.remarks.add(if shorter { Remark::DuplicateElement } else { Remark::Sorted }, offset);
        }
        Ok(set)
    }

    fn map(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        element: &Type,
        depth: usize,
    ) -> Result<Value, Fail> {
        enter(cursor, kind, Kind::Object)?;
        let mut members = BTreeMap::new();
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let key = self.text(&name);
            let value = self.value(cursor, element, depth + 1)?;
            self.insert(&mut members, key, value, name.offset);
        }
        Ok(Value::Mapping(members))
    }

    /// Adds a member; a later duplicate wins, as in Go's decoder.
    fn insert(
        &mut self,
        members: &mut BTreeMap<Arc<str>, Value>,
        key: Arc<str>,
        value: Value,
        offset: usize,
    ) {
        use std::collections::btree_map::Entry;
        match members.entry(key) {
            Entry::Vacant(place) => {
                place.insert(value);
            }
            Entry::Occupied(mut place) => {
                let before = place.insert(value);
                let same = before == *place.get();
                self.remarks.add(if same { Remark::RepeatedKey } else { Remark::DuplicateKey }, offset);
            }
        }
    }

    fn tuple(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        types: &[Type],
        depth: usize,
    ) -> Result<Value, Fail> {
        let offset = cursor.offset();
        enter(cursor, kind, Kind::Array)?;
        let mut elements = Vec::with_capacity(types.len());
        let mut first = true;
        for ty in types {
            if !cursor.element(&mut first)? {
                let (has, needs) = (elements.len(), types.len());
                let detail = format!("expected a tuple of {needs}, found an array of {has} elements");
                return Err(Fail::value(offset, detail));
            }
            elements.push(self.value(cursor, ty, depth + 1)?);
        }
        if cursor.element(&mut first)? {
            let detail = format!("one element too many in a tuple of {}", types.len());
            return Err(Fail::value(cursor.offset(), detail));
        }
        Ok(Value::Sequence(elements))
    }

    fn object(
        &mut self,
        cursor: &mut Cursor<'_>,
        kind: Kind,
        object: &ObjectType,
        depth: usize,
    ) -> Result<Value, Fail> {
        let offset = cursor.offset();
        enter(cursor, kind, Kind::Object)?;
        let mut members = BTreeMap::new();
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let (key, _) = normalized(&name);
            let Some((known, ty)) = object.attributes.get_key_value(&key) else {
                let detail = format!("the object has the attribute {}, which its type lacks", shorten(&key));
                return Err(Fail::value(name.offset, detail));
            };
            let value = self.value(cursor, ty, depth + 1)?;
            self.insert(&mut members, Arc::clone(known), value, name.offset);
        }
        if members.len() < object.attributes.len() {
            self.remarks.add(Remark::Completed, offset);
            for name in object.attributes.keys() {
                members.entry(Arc::clone(name)).or_insert(Value::Null);
            }
        }
        Ok(Value::Mapping(members))
    }

    /// Reads a value that carries its type: an object of `type` and `value`, in any order.
    fn dynamic(&mut self, cursor: &mut Cursor<'_>, kind: Kind, depth: usize) -> Result<Value, Fail> {
        let offset = cursor.offset();
        if kind != Kind::Object {
            let wanted = "an object of \"type\" and \"value\" (a dynamic value)";
            return Err(Fail::value(offset, format!("expected {wanted}, found {}", super::name_of(kind))));
        }
        cursor.open(b'{')?;
        let (mut ty, mut value) = (None, None);
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            match &*name.decode() {
                "type" => ty = Some(read_type(cursor)?.map_err(Fail::Value)?),
                // The value often comes first, but cannot be read without its type.
                "value" => {
                    value = Some(cursor.clone());
                    cursor.skip()?;
                }
                _ => {
                    let detail = "a dynamic value has another member than \"type\" and \"value\"";
                    return Err(Fail::value(name.offset, detail));
                }
            }
        }
        let ty = ty.ok_or_else(|| Fail::value(offset, "a dynamic value lacks its \"type\""))?;
        let mut at = value.ok_or_else(|| Fail::value(offset, "a dynamic value lacks its \"value\""))?;
        let value = self.value(&mut at, &ty, depth + 1)?;
        Ok(Value::Dynamic(Box::new((ty, value))))
    }
}

fn enter(cursor: &mut Cursor<'_>, kind: Kind, wanted: Kind) -> Result<(), Fail> {
    if kind != wanted {
        return Err(Fail::wanted(cursor.offset(), kind, super::name_of(wanted)));
    }
    cursor.open(if wanted == Kind::Object { b'{' } else { b'[' })?;
    Ok(())
}

/// Quotes a name for a message, cut where it becomes unreadable.
fn shorten(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}…", name.get(..end).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}
