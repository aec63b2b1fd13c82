//! The type of a value that its own type leaves open.

use std::collections::BTreeSet;
use std::sync::Arc;

use groundstate_states::{ObjectType, Type, Value};

/// A type without `dynamic`, as far as the value tells what stands there. The original tools print types so.
pub fn concrete(ty: &Type, value: &Value) -> Type {
    // Types nest no deeper than the reader allows, which is little.
    match (ty, value) {
        (Type::Dynamic, Value::Dynamic(typed)) => concrete(&typed.0, &typed.1),
        (Type::List(element), Value::Sequence(values)) => {
            Type::List(Box::new(first(element, values.first())))
        }
        (Type::Set(element), Value::Sequence(values)) => Type::Set(Box::new(first(element, values.first()))),
        (Type::Map(element), Value::Mapping(values)) => {
            Type::Map(Box::new(first(element, values.values().next())))
        }
        (Type::Tuple(types), Value::Sequence(values)) => {
            Type::Tuple(types.iter().zip(values).map(|(ty, value)| concrete(ty, value)).collect())
        }
        (Type::Object(object), Value::Mapping(values)) => {
            let inner = |ty, value: Option<&Value>| {
                value.map_or_else(|| Type::clone(ty), |value| concrete(ty, value))
            };
            let attributes =
                object.attributes.iter().map(|(name, ty)| (Arc::clone(name), inner(ty, values.get(name))));
            Type::Object(ObjectType { attributes: attributes.collect(), optional: BTreeSet::new() })
        }
        _ => ty.clone(),
    }
}

/// All elements of a collection have one type, so the first of them tells it.
fn first(element: &Type, value: Option<&Value>) -> Type {
    value.map_or_else(|| element.clone(), |value| concrete(element, value))
}

#[cfg(test)]
mod tests {
    use groundstate_statefile::{outputs, type_json};

    use super::concrete;

    #[test]
    fn says_what_stands_in_dynamic_places() {
        for (ty, value, expected) in [
            (r#""string""#, r#""x""#, r#""string""#),
            (r#""dynamic""#, r#"{"value": "x", "type": "string"}"#, r#""string""#),
            (r#""dynamic""#, "null", r#""dynamic""#),
            (r#"["list","dynamic"]"#, r#"[{"value": 1, "type": "number"}]"#, r#"["list","number"]"#),
            (r#"["map","dynamic"]"#, r#"{"a": {"value": 1, "type": "number"}}"#, r#"["map","number"]"#),
            (r#"["set","dynamic"]"#, "[]", r#"["set","dynamic"]"#),
            (
                r#"["object",{"a":["tuple",["dynamic","bool"]],"b":"dynamic"}]"#,
                r#"{"a": [{"value": true, "type": "bool"}, false], "b": null}"#,
                r#"["object",{"a":["tuple",["bool","bool"]],"b":"dynamic"}]"#,
            ),
        ] {
            let text = format!(r#"{{"version": 4, "outputs": {{"o": {{"value": {value}, "type": {ty}}}}}}}"#);
            let (_, output) = outputs(text.as_bytes(), None).unwrap().remove(0);
            assert_eq!(type_json(&concrete(&output.value_type, &output.value)), expected, "{ty}");
        }
    }
}
