//! Outputs of a stack, without what is secret in them.

use std::fmt;
use std::io::{BufReader, Read};

use groundstate_pulumi_protocol::{JsonText, OutputView};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The member by which values say that they are none of JSON: secrets above all.
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
/// The type of the resource that is the stack.
const ROOT: &str = "pulumi:pulumi:Stack";
/// Deeper values are taken for secrets.
const DEEPEST: usize = 100;

/// The outputs of the stack itself.
#[derive(Debug, Default)]
pub(super) struct StackOutputs(pub(super) Vec<OutputView>);

impl StackOutputs {
    pub(super) fn read(input: &mut dyn Read) -> Result<Self, serde_json::Error> {
        let export: Export = serde_json::from_reader(BufReader::new(input))?;
        let Some(outputs) = export.deployment.unwrap_or_default().resources.outputs else {
            return Ok(Self::default());
        };
        if !outputs.get().starts_with('{') {
            return Ok(Self::default());
        }
        let members: Members = serde_json::from_str(outputs.get())?;
        let outputs = members.0.into_iter().map(|(name, value)| {
            let mut text = String::new();
            write(value, 0, &mut text)?;
            let value = JsonText::parse(text).map_err(serde::de::Error::custom)?;
            Ok(OutputView { name, value })
        });
        outputs.collect::<Result<_, _>>().map(Self)
    }
}

/// Writes a value of which nothing is left of secrets, and of files and references no more than what they are.
fn write(value: &RawValue, depth: usize, out: &mut String) -> Result<(), serde_json::Error> {
    let text = value.get();
    if depth > DEEPEST && text.starts_with(['{', '[']) {
        out.push_str(&format!("{{\"{SIGNATURE}\":null}}"));
        return Ok(());
    }
    if text.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text)?;
        out.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write(item, depth + 1, out)?;
        }
        out.push(']');
        return Ok(());
    }
    if !text.starts_with('{') {
        out.push_str(text);
        return Ok(());
    }
    let members: Members = serde_json::from_str(text)?;
    let signature = members.0.iter().find(|(name, _)| name == SIGNATURE);
    if let Some((_, signature)) = signature {
        let is_text = signature.get().starts_with('"') && signature.get().len() <= SIGNATURE.len() + 2;
        let shown = if is_text { signature.get() } else { "null" };
        out.push_str(&format!("{{\"{SIGNATURE}\":{shown}}}"));
        return Ok(());
    }
    out.push('{');
    for (index, (name, member)) in members.0.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(name).to_string());
        out.push(':');
        write(member, depth + 1, out)?;
    }
    out.push('}');
    Ok(())
}

/// The members of an object in their order, repeated ones too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        input.deserialize_map(InOrder)
    }
}

#[derive(Default, Deserialize)]
struct Export {
    #[serde(default)]
    deployment: Option<Deployment>,
}

#[derive(Default, Deserialize)]
struct Deployment {
    #[serde(default)]
    resources: Root,
}

/// What is kept of all resources: the outputs of the stack itself.
#[derive(Default)]
struct Root {
    outputs: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Candidate {
    #[serde(default, rename = "type")]
    kind: Option<Value>,
    #[serde(default)]
    delete: Option<Value>,
    #[serde(default)]
    outputs: Option<Box<RawValue>>,
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = Root;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of resources")
            }

            fn visit_unit<E>(self) -> Result<Root, E> {
                Ok(Root::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Root, A::Error> {
                let mut found = None;
                while let Some(candidate) = list.next_element::<Candidate>()? {
                    let is_root = candidate.kind.as_ref().and_then(Value::as_str) == Some(ROOT);
                    if is_root && found.is_none() && candidate.delete != Some(Value::Bool(true)) {
                        found = Some(candidate.outputs);
                    }
                }
                Ok(Root { outputs: found.flatten() })
            }
        }
        input.deserialize_any(First)
    }
}

#[cfg(test)]
mod tests {
    use super::StackOutputs;

    const SECRET: &str =
        r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"hunter2"}"#;

    fn outputs(text: &str) -> Vec<(String, String)> {
        let root = format!(
            r#"{{"deployment":{{"resources":[{{"type":"t","outputs":{{"no":1}}}},{{"type":"pulumi:pulumi:Stack","outputs":{text}}}]}}}}"#
        );
        let found = StackOutputs::read(&mut root.as_bytes()).unwrap();
        found.0.into_iter().map(|output| (output.name, output.value.into_string())).collect()
    }

    #[test]
    fn values_keep_their_digits_and_secrets_leave_nothing() {
        let text = format!(
            r#"{{"n":1.50,"big":12345678901234567890,"s":{SECRET},"deep":{{"list":[1,{SECRET},"é\u003c"]}},"odd":{{"a":1,"4dabf18193072939515e22adb298388d":{{"x":"hunter2"}}}}}}"#
        );
        let found = outputs(&text);
        assert!(!format!("{found:?}").contains("hunter2") && !format!("{found:?}").contains("ciphertext"));
        let secret = r#"{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}"#;
        let expected = [
            ("n", "1.50".to_owned()),
            ("big", "12345678901234567890".to_owned()),
            ("s", secret.to_owned()),
            ("deep", format!(r#"{{"list":[1,{secret},"é\u003c"]}}"#)),
            ("odd", r#"{"4dabf18193072939515e22adb298388d":null}"#.to_owned()),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn values_that_nest_deep_are_not_shown_and_do_no_harm() {
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert!(outputs(&deep)[0].1.contains("null"));
        for none in ["null", "7", "[]", "{}"] {
            assert!(outputs(none).is_empty(), "{none}");
        }
        assert!(StackOutputs::read(&mut &b"{}"[..]).unwrap().0.is_empty());
        assert!(StackOutputs::read(&mut &br#"{"deployment":{"resources":null}}"#[..]).unwrap().0.is_empty());
    }
}
