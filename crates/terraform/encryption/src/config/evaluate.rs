//! What an expression says, as far as it consists of literals, variables and locals.

use hcl_edit::expr::{Expression, ObjectKey, Traversal, TraversalOperator};
use hcl_edit::template::{Element, Template};

use super::scope::Scope;
use super::value::Value;

pub(super) fn evaluate(expression: &Expression, scope: &Scope) -> Value {
    match expression {
        Expression::Null(_) => Value::Null,
        Expression::Bool(flag) => Value::Bool(*flag.value()),
        Expression::Number(number) => Value::Number(number.value().to_string()),
        Expression::String(text) => Value::text(text.value().clone()),
        Expression::Array(items) => Value::List(items.iter().map(|item| evaluate(item, scope)).collect()),
        Expression::Parenthesis(inner) => evaluate(inner.inner(), scope),
        Expression::StringTemplate(template) => of_template(template, scope),
        Expression::HeredocTemplate(heredoc) => of_template(&heredoc.template, scope),
        Expression::Traversal(traversal) => of_traversal(traversal, scope),
        Expression::Object(members) => {
            let member = |(key, value): (&ObjectKey, &hcl_edit::expr::ObjectValue)| {
                let key = match key {
                    ObjectKey::Ident(name) => name.as_str().to_owned(),
                    ObjectKey::Expression(key) => evaluate(key, scope).inserted()?,
                };
                Some((key, evaluate(value.expr(), scope)))
            };
            let members: Option<Vec<_>> = members.iter().map(member).collect();
            members.map_or_else(|| unknown("a key of the object"), Value::Map)
        }
        Expression::Variable(name) => unknown(&format!("`{}`", name.value().as_str())),
        Expression::FuncCall(call) => unknown(&format!("the function `{}`", call.name.name.as_str())),
        Expression::Conditional(_) => unknown("a condition"),
        Expression::UnaryOp(_) | Expression::BinaryOp(_) => unknown("an operator"),
        Expression::ForExpr(_) => unknown("a `for` expression"),
    }
}

fn unknown(what: &str) -> Value {
    Value::Unknown(format!(
        "{what} is not evaluated here, only literals, variables and locals are; use one of these"
    ))
}

/// The value of a template; the one value that is inserted, if it consists of nothing else.
pub(super) fn of_template(template: &Template, scope: &Scope) -> Value {
    let elements: Vec<&Element> = template.iter().collect();
    if let [Element::Interpolation(only)] = &elements[..] {
        return evaluate(&only.expr, scope);
    }
    let mut text = zeroize::Zeroizing::new(String::new());
    for element in elements {
        match element {
            Element::Literal(literal) => text.push_str(literal),
            Element::Interpolation(inserted) => match evaluate(&inserted.expr, scope) {
                Value::Unknown(why) => return Value::Unknown(why),
                value => match value.inserted() {
                    Some(inserted) => text.push_str(&inserted),
                    None => return unknown("a value that is inserted and is no text"),
                },
            },
            Element::Directive(_) => return unknown("a template directive"),
        }
    }
    Value::Text(text)
}

/// `var.x`, `local.x` with what follows them, or the address of a provider or a method.
fn of_traversal(traversal: &Traversal, scope: &Scope) -> Value {
    let Expression::Variable(root) = &traversal.expr else { return unknown("an index") };
    let root = root.value().as_str();
    let mut names = Vec::new();
    for operator in &traversal.operators {
        match operator.value() {
            TraversalOperator::GetAttr(name) => names.push(name.value().as_str().to_owned()),
            TraversalOperator::LegacyIndex(index) => names.push(index.value().to_string()),
            TraversalOperator::Index(index) => match evaluate(index, scope) {
                Value::Unknown(why) => return Value::Unknown(why),
                index => match index.inserted() {
                    Some(index) => names.push(index),
                    None => return unknown("an index"),
                },
            },
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => return unknown("a splat"),
        }
    }
    match (root, &names[..]) {
        ("key_provider" | "method", names) => Value::Reference(format!("{root}.{}", names.join("."))),
        ("var", [name, rest @ ..]) => below(scope.var(name), rest),
        ("local", [name, rest @ ..]) => below(scope.local(name), rest),
        (root, names) => unknown(&format!("`{root}.{}`", names.join("."))),
    }
}

/// The value at a path. An index may be a secret, so messages name no part of the path.
fn below(value: Value, path: &[String]) -> Value {
    let missing =
        || Value::Unknown("the value that an index or an attribute selects is not there".to_owned());
    path.iter().fold(value, |value, name| match value {
        Value::Map(members) => {
            let found = members.into_iter().find(|(member, _)| member == name);
            found.map_or_else(missing, |(_, value)| value)
        }
        Value::List(items) => {
            let found = name.parse::<usize>().ok().and_then(|index| items.into_iter().nth(index));
            found.unwrap_or_else(missing)
        }
        Value::Unknown(why) => Value::Unknown(why),
        _ => missing(),
    })
}
