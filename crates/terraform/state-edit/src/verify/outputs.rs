//! Rules on outputs.

use super::finding::Draft;
use super::members::offset_in;
use super::rule::Rule;
use super::secrets;
use groundstate_json::{Cursor, Kind, Stop};
use groundstate_statefile::walk::OutputWire;

/// Judges one output of the document `text`.
pub(super) fn check(wire: &OutputWire<'_>, text: &[u8], out: &mut Vec<Draft>) {
    let name = wire.name.decode();
    let address = format!("output.{name}");
    if wire.sensitive {
        let message = format!("every reader of the file can see the value of output {name:?}");
        out.push(Draft::new(Rule::SensitiveOutput, wire.name.offset, message).of(&address));
    } else if let Some((raw, _)) = wire.value
        && let Ok(Some(secret)) = find(&name, raw)
    {
        let message = match secret.what {
            Some(what) => format!("output {name:?} is not sensitive, but holds {what}"),
            None => format!("output {name:?} is not sensitive, but by its name it holds a secret"),
        };
        out.push(Draft::new(Rule::SecretOutput, offset_in(text, raw) + secret.offset, message).of(&address));
    }
    if let Some(message) = wire.deprecated.filter(|message| !message.raw.is_empty()) {
        let what = format!("Terraform drops \"deprecated\" of output {name:?}");
        out.push(Draft::new(Rule::OpenTofuMember, message.offset, what).of(&address));
    }
}

/// A secret inside a value.
struct Secret {
    /// What its text tells, if it tells anything.
    what: Option<&'static str>,
    /// Where it stands in the value.
    offset: usize,
}

/// Finds the first text in the value that looks like a secret, or whose name says so.
fn find(output: &str, raw: &[u8]) -> Result<Option<Secret>, Stop> {
    let mut cursor = Cursor::new(raw);
    // Whether each open container is an object, and whether what is in it is secret by a name around it.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut named = secrets::named(output);
    let mut first = false;
    loop {
        match cursor.kind()? {
            kind @ (Kind::Object | Kind::Array) => {
                let object = kind == Kind::Object;
                cursor.open(if object { b'{' } else { b'[' })?;
                open.push((object, named));
                first = true;
            }
            Kind::String => {
                let offset = cursor.offset();
                let text = cursor.string()?.decode();
                let what = secrets::in_value(&text);
                if what.is_some() || (named && !secrets::is_reference(&text)) {
                    return Ok(Some(Secret { what, offset }));
                }
            }
            _ => cursor.skip()?,
        }
        // On to the next value, out of all containers that end here.
        loop {
            let Some(&(object, around)) = open.last() else { return Ok(None) };
            let member = if object { cursor.member(&mut first)? } else { None };
            if object && member.is_none() || !object && !cursor.element(&mut first)? {
                open.pop();
                first = false;
                continue;
            }
            named = match member.map(|name| name.decode()) {
                // The wrapping of dynamic values says nothing.
                Some(name) if name != "value" => secrets::named(&name),
                _ => around,
            };
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_secrets_at_any_depth() {
        for (output, value, offset) in [
            ("password", r#""x""#, Some(0)),
            ("users", r#"[{"name": "a", "password": "x"}]"#, Some(27)),
            ("passwords", r#"["", "x"]"#, Some(5)),
            ("password", r#"{"value": "x", "type": "string"}"#, Some(10)),
            ("db", r#"{"password": 1, "host": "x", "port": [2]}"#, None),
            ("db", r#"{"password": {"version": "x"}, "host": "x"}"#, None),
            ("a", "[[[]], {}]", None),
        ] {
            let found = find(output, value.as_bytes()).unwrap();
            assert_eq!(found.map(|secret| secret.offset), offset, "{output} = {value}");
        }
    }
}
