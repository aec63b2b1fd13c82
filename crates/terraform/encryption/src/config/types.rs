//! Types of variables, as far as they change how a value is read.

use hcl_edit::expr::Expression;

use super::scope::Scope;
use super::value::Value;

/// The type in a `variable` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Bool,
    /// A collection, a structure or `any`: text of the environment is an expression.
    Complex,
}

impl Type {
    /// Reads the expression of a type, which old configurations write as text.
    pub(super) fn of(expression: &Expression) -> Self {
        match expression {
            Expression::Variable(name) => Self::named(name.value().as_str()),
            Expression::String(name) => Self::named(name.value()),
            Expression::Parenthesis(inner) => Self::of(inner.inner()),
            _ => Self::Complex,
        }
    }

    /// The type of this name.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "string" => Self::Text,
            "number" => Self::Number,
            "bool" => Self::Bool,
            _ => Self::Complex,
        }
    }

    /// Converts a value to the type. A value that has several spellings, such as `05`, is not known.
    pub(super) fn converted(self, value: Value) -> Value {
        let unfit = |what| Value::Unknown(format!("a variable has a value that is not {what}"));
        match (self, value) {
            (_, value @ (Value::Null | Value::Unknown(_))) | (Self::Complex, value) => value,
            (Self::Text, value) => value.inserted().map_or_else(|| unfit("a text"), Value::text),
            (Self::Number, Value::Text(text)) if is_plain_number(&text) => Value::Number(text.to_string()),
            (Self::Number, value @ Value::Number(_)) | (Self::Bool, value @ Value::Bool(_)) => value,
            (Self::Number, _) => unfit("a plain number"),
            (Self::Bool, Value::Text(text)) if matches!(text.as_str(), "true" | "1") => Value::Bool(true),
            (Self::Bool, Value::Text(text)) if matches!(text.as_str(), "false" | "0") => Value::Bool(false),
            (Self::Bool, _) => unfit("true or false"),
        }
    }
}

/// Returns `true` if a number has no other spelling in a template than this one.
fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain =
        !digits.is_empty() && digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain && (text == "0" || !digits.starts_with('0'))
}

/// Reads text of the environment or the command line.
pub(super) fn of_text(text: &str, of_type: Option<&Type>) -> Value {
    match of_type {
        Some(Type::Complex) => match text.parse::<Expression>() {
            Ok(expression) => Scope::new().evaluate(&expression),
            Err(_) => Value::Unknown("a variable has a value that cannot be parsed".to_owned()),
        },
        _ => Value::text(text),
    }
}
