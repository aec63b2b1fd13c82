//! Conditions on items: whether attributes exist and what they equal, joined by AND and OR.

use serde_json::{Map, Value};

use super::operations::Refused;

/// An attribute's name, which may stand for another one.
pub(super) fn resolve(name: &str, input: &Value) -> String {
    let names = &input["ExpressionAttributeNames"];
    names[name].as_str().unwrap_or(name).to_owned()
}

/// Tells whether the condition holds for the item, or for the lack of one.
pub(super) fn holds(
    condition: &str,
    item: Option<&Map<String, Value>>,
    input: &Value,
) -> Result<bool, Refused> {
    // OR binds less than AND. Parentheses are only those of functions.
    for alternative in condition.split(" OR ") {
        let mut all = true;
        for term in alternative.split(" AND ") {
            all &= term_holds(term.trim(), item, input)?;
        }
        if all {
            return Ok(true);
        }
    }
    Ok(false)
}

fn term_holds(term: &str, item: Option<&Map<String, Value>>, input: &Value) -> Result<bool, Refused> {
    let attribute = |name: &str| item.and_then(|item| item.get(&resolve(name.trim(), input)));
    let inside = |function: &str| term.strip_prefix(function)?.trim().strip_prefix('(')?.strip_suffix(')');
    if let Some(name) = inside("attribute_not_exists") {
        return Ok(attribute(name).is_none());
    }
    if let Some(name) = inside("attribute_exists") {
        return Ok(attribute(name).is_some());
    }
    for (sign, equal) in [("<>", false), ("=", true)] {
        if let Some((name, value)) = term.split_once(sign) {
            let value = input["ExpressionAttributeValues"].get(value.trim()).ok_or_else(|| {
                Refused::invalid(format!("An expression attribute value is not defined: {}", value.trim()))
            })?;
            return Ok((attribute(name) == Some(value)) == equal);
        }
    }
    Err(Refused::invalid(format!("Invalid ConditionExpression: Syntax error; token: \"{term}\"")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::holds;

    #[test]
    fn conditions_are_read_with_names_and_values() {
        let item = json!({ "LockID": { "S": "b/k" }, "Info": { "S": "{}" } });
        let input = json!({
            "ExpressionAttributeNames": { "#i": "Info" },
            "ExpressionAttributeValues": { ":info": { "S": "{}" }, ":other": { "S": "x" } },
        });
        for (condition, with, without) in [
            ("attribute_not_exists(LockID)", false, true),
            ("attribute_exists (LockID)", true, false),
            ("Info = :info", true, false),
            ("#i = :other", false, false),
            ("#i <> :other", true, true),
            ("attribute_not_exists(LockID) OR Info = :info", true, true),
            ("attribute_exists(LockID) AND Info = :other", false, false),
        ] {
            assert_eq!(holds(condition, item.as_object(), &input).unwrap(), with, "{condition}");
            assert_eq!(holds(condition, None, &input).unwrap(), without, "{condition}");
        }
        assert!(holds("size(LockID)", None, &input).is_err());
        assert!(holds("Info = :missing", None, &input).is_err());
    }
}
