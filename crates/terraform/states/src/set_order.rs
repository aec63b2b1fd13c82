//! The order in which sets are written.
//!
//! Sets of primitives are sorted by value. For composite elements Terraform sorts by a text it derives from the
//! element and its type, shown nowhere else; files written by it only keep their bytes if the same text is built here.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

use crate::{Number, Type, Value};

/// Sorts the elements of a set and drops duplicates.
pub(crate) fn arrange(mut elements: Vec<Value>, element: &Type) -> Vec<Value> {
    if element.is_primitive() {
        elements.sort();
        elements.dedup();
        return elements;
    }
    drop_duplicates(&mut elements);
    // Different values may share a text, because it rounds numbers. Terraform keeps the order in which it read them.
    elements.sort_by_cached_key(|value| (value.is_null(), sort_text(value, element)));
    elements
}

/// Keeps the first of equal elements, and the order of those that are kept.
fn drop_duplicates(elements: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    let kept: Vec<bool> = elements.iter().map(|value| seen.insert(value)).collect();
    let mut kept = kept.into_iter();
    elements.retain(|_| kept.next().unwrap_or(true));
}

fn sort_text(value: &Value, ty: &Type) -> String {
    let mut text = String::new();
    push(&mut text, value, ty);
    text
}

/// Recursion is bounded because readers bound the depth of values.
fn push(text: &mut String, value: &Value, ty: &Type) {
    match (value, ty) {
        (Value::Null, _) => text.push('~'),
        (Value::Bool(value), _) => text.push(if *value { 'T' } else { 'F' }),
        (Value::Number(number), _) => push_number(text, number),
        (Value::String(string), _) => push_quoted(text, string),
        (Value::Dynamic(typed), _) => push(text, &typed.1, &typed.0),
        (Value::Sequence(elements), Type::Tuple(types)) => {
            text.push('<');
            for (element, ty) in elements.iter().zip(types) {
                push(text, element, ty);
                text.push(';');
            }
            text.push('>');
        }
        (Value::Sequence(elements), ty) => {
            text.push('[');
            for element in elements {
                push(text, element, element_type(ty));
                text.push(';');
            }
            text.push(']');
        }
        (Value::Mapping(members), Type::Object(object)) => {
            text.push('<');
            for (name, ty) in &object.attributes {
                push(text, members.get(name).unwrap_or(&Value::Null), ty);
                text.push(';');
            }
            text.push('>');
        }
        (Value::Mapping(members), ty) => {
            text.push('{');
            for (name, member) in members {
                push_quoted(text, name);
                text.push(':');
                push(text, member, element_type(ty));
                text.push(';');
            }
            text.push('}');
        }
    }
}

fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => element,
        _ => &Type::Dynamic,
    }
}

/// How many significant digits the text of a number has.
const PRECISION: usize = 10;

/// Ten significant digits, with an exponent if it is below -4 or does not fit the digits.
fn push_number(text: &mut String, number: &Number) {
    let parts = number.parts();
    let (digits, point) = round(&parts.digits, parts.point);
    if parts.negative {
        text.push('-');
    }
    if digits.is_empty() {
        text.push('0');
        return;
    }
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let exponent = point - 1;
    let widest = if count >= point { count } else { PRECISION as i64 };
    if exponent < -4 || exponent >= widest.min(PRECISION as i64) {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        write_all(text, format_args!("{first}{dot}{rest}e{sign}{:02}", exponent.unsigned_abs()));
    } else if point <= 0 {
        text.push_str("0.");
        (point..0).for_each(|_| text.push('0'));
        text.push_str(&digits);
    } else {
        for position in 0..point.max(count) {
            if position == point {
                text.push('.');
            }
            let digit = usize::try_from(position).ok().and_then(|at| digits.get(at..=at));
            text.push_str(digit.unwrap_or("0"));
        }
    }
}

/// Rounds to [`PRECISION`] digits, halves to even, and drops trailing zeros.
fn round(digits: &str, point: i64) -> (String, i64) {
    if digits.len() <= PRECISION {
        return (digits.to_owned(), point);
    }
    let (kept, rest) = digits.split_at(PRECISION);
    let last_is_odd = kept.ends_with(['1', '3', '5', '7', '9']);
    // The digits never end in zero, so "5" alone is exactly half.
    let up = if rest == "5" { last_is_odd } else { rest.as_bytes()[0] >= b'5' };
    if !up {
        return (kept.trim_end_matches('0').to_owned(), point);
    }
    let carried = kept.trim_end_matches('9');
    match carried.char_indices().next_back() {
        None => ("1".to_owned(), point + 1),
        Some((at, digit)) => {
            let next = char::from_digit(digit.to_digit(10).unwrap_or(0) + 1, 10).unwrap_or('9');
            (format!("{}{next}", &carried[..at]), point)
        }
    }
}

/// Double quotes, with escapes for what is not printable.
fn push_quoted(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{b}' => text.push_str("\\v"),
            _ if is_printable(character) => text.push(character),
            ..'\u{80}' => write_all(text, format_args!("\\x{:02x}", u32::from(character))),
            ..'\u{10000}' => write_all(text, format_args!("\\u{:04x}", u32::from(character))),
            _ => write_all(text, format_args!("\\U{:08x}", u32::from(character))),
        }
    }
    text.push('"');
}

fn is_printable(character: char) -> bool {
    use GeneralCategoryGroup::{Letter, Mark, Number, Punctuation, Symbol};
    character == ' '
        || matches!(character.general_category_group(), Letter | Mark | Number | Punctuation | Symbol)
}

/// Writing to a string cannot fail.
fn write_all(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _: std::fmt::Result = text.write_fmt(arguments);
}
