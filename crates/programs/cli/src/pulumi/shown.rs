//! Property values as people and programs see them: JSON in which secrets are hidden or opened.

use groundstate_json::{Tape, push_json_string_as};
use groundstate_pulumi_deployment::{Escapes, encode_value};
use groundstate_pulumi_snapshot::{Archive, ArchiveContent, Asset, PropertyMap, PropertyValue};

use groundstate_values::{Hcl, Marks};

/// What becomes of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrets {
    /// They are hidden.
    Hidden,
    /// Those that have been opened are shown as what is inside.
    Shown,
}

impl Secrets {
    /// By the option of the command line.
    pub(super) fn of(reveal: bool) -> Self {
        if reveal { Self::Shown } else { Self::Hidden }
    }
}

/// What stands for a secret in JSON, as in what Pulumi prints.
const REDACTED: &str = "\"[secret]\"";

/// What stands for a secret until the text for people is made, where it is shown without quotes. A user who writes just this into
/// a value sees it hidden.
const MARK: &str = "\"\\u0000[secret]\"";

/// The value as JSON. What JSON has no form for is written as in files.
pub(super) fn json(value: &PropertyValue, secrets: Secrets) -> String {
    let mut writer = Writer { out: String::new(), secrets, for_people: false };
    writer.value(value);
    writer.out
}

/// The value as JSON whose secrets are found by [`marks`], and whose special values are written for people.
pub(super) fn marked(value: &PropertyValue, secrets: Secrets) -> String {
    let mut writer = Writer { out: String::new(), secrets, for_people: true };
    writer.value(value);
    writer.out
}

/// The hidden values of a text that [`marked`] has written, or that holds such texts.
pub(super) fn marks(tape: &Tape<'_>) -> Marks {
    Marks::of_text(tape, MARK)
}

/// The value in the syntax of configuration; its first line stands behind something else.
pub(super) fn hcl(value: &PropertyValue, secrets: Secrets, level: usize) -> String {
    let text = marked(value, secrets);
    let tape = Tape::new(&text);
    Hcl::value(&tape, &marks(&tape), level)
}

/// A text as Pulumi prints it: `<`, `>` and `&` stand as they are.
fn push_json_string(out: &mut String, text: &str) {
    push_json_string_as(out, text, Escapes::Plain);
}

struct Writer {
    out: String,
    secrets: Secrets,
    for_people: bool,
}

impl Writer {
    // Values nest no deeper than the reader allows, which is little.
    fn value(&mut self, value: &PropertyValue) {
        match value {
            PropertyValue::Null => self.out.push_str("null"),
            PropertyValue::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            PropertyValue::String(text) => push_json_string(&mut self.out, text),
            PropertyValue::Array(elements) => {
                self.out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    self.comma(index);
                    self.value(element);
                }
                self.out.push(']');
            }
            PropertyValue::Object(map) => self.object(map),
            PropertyValue::Secret(secret) => match secret.value() {
                Some(inside) if self.secrets == Secrets::Shown => self.value(inside),
                _ => self.hidden(),
            },
            other if self.secrets == Secrets::Hidden && other.contains_secrets() => self.hidden(),
            PropertyValue::Number(number) if self.for_people && !number.value().is_finite() => {
                let text = number.literal().map_or_else(|| number.value().to_string(), str::to_owned);
                push_json_string(&mut self.out, &text);
            }
            PropertyValue::Computed(_) if self.for_people => self.out.push_str("\"(unknown)\""),
            PropertyValue::Bytes(bytes) if self.for_people => {
                push_json_string(&mut self.out, &String::from_utf8_lossy(bytes));
            }
            PropertyValue::Asset(asset) if self.for_people => self.asset(asset),
            PropertyValue::Archive(archive) if self.for_people => self.archive(archive),
            PropertyValue::ResourceReference(reference) if self.for_people => {
                let id = reference.id.as_ref().map(|id| id.as_str());
                self.texts("resource", &[("urn", Some(reference.urn.as_str())), ("id", id)]);
            }
            other => self.stored(other),
        }
    }

    /// A value in the form of files.
    fn stored(&mut self, value: &PropertyValue) {
        match encode_value(value, Escapes::Plain, groundstate_pulumi_deployment::Secrets::Shown) {
            Ok(raw) => self.out.push_str(raw.as_str()),
            // A secret inside that has not been opened.
            Err(_) => self.hidden(),
        }
    }

    fn hidden(&mut self) {
        self.out.push_str(if self.for_people { MARK } else { REDACTED });
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
    }

    fn object(&mut self, map: &PropertyMap) {
        self.out.push('{');
        for (index, (name, value)) in map.iter().enumerate() {
            self.comma(index);
            push_json_string(&mut self.out, name);
            self.out.push(':');
            self.value(value);
        }
        self.out.push('}');
    }

    fn asset(&mut self, asset: &Asset) {
        let members =
            [("hash", &asset.hash), ("text", &asset.text), ("path", &asset.path), ("uri", &asset.uri)];
        self.texts("asset", &members.map(|(name, text)| (name, text.as_deref())));
    }

    fn archive(&mut self, archive: &Archive) {
        let hash = ("hash", archive.hash.as_deref());
        match &archive.content {
            ArchiveContent::Path(path) => self.texts("archive", &[hash, ("path", Some(path))]),
            ArchiveContent::Uri(uri) => self.texts("archive", &[hash, ("uri", Some(uri))]),
            ArchiveContent::Assets(assets) => {
                self.out.push_str("{\"archive\":");
                self.object(
                    &assets
                        .iter()
                        .map(|(name, asset)| (std::sync::Arc::clone(name), asset.clone()))
                        .collect(),
                );
                self.out.push('}');
            }
            _ => self.texts("archive", &[hash]),
        }
    }

    /// An object of one member, which has those of these texts that are there.
    fn texts(&mut self, kind: &str, members: &[(&str, Option<&str>)]) {
        self.out.push_str(&format!("{{\"{kind}\":{{"));
        let known = members.iter().filter_map(|(name, text)| Some((name, (*text)?)));
        for (index, (name, text)) in known.enumerate() {
            self.comma(index);
            push_json_string(&mut self.out, name);
            self.out.push(':');
            push_json_string(&mut self.out, text);
        }
        self.out.push_str("}}");
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_deployment::decode_map;
    use groundstate_pulumi_snapshot::{PropertyValue, RawJson};

    use super::{Secrets, hcl, json};

    const VALUES: &str = r#"{
        "asset": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"},
        "inf": {"4dabf18193072939515e22adb298388d": "8ad145fe-0d11-4827-bfd7-1abcbf086f5c", "value": "7ff0000000000000"},
        "list": [1.50, {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:a:b"}],
        "open": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "{\"p\":\"hunter2\"}"},
        "unknown": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    }"#;

    fn value() -> PropertyValue {
        PropertyValue::Object(decode_map(&RawJson::parse_as_written(VALUES).unwrap()).unwrap())
    }

    #[test]
    fn hides_secrets_whether_they_are_encrypted_or_not() {
        insta::assert_snapshot!(hcl(&value(), Secrets::Hidden, 0), @r#"
        {
            asset   = {
                asset = {
                    text = "x"
                }
            }
            inf     = "inf"
            list    = [
                1.50,
                (sensitive value),
            ]
            open    = (sensitive value)
            unknown = "(unknown)"
        }
        "#);
        let text = json(&value(), Secrets::Hidden);
        assert!(text.contains(r#""list":[1.50,"[secret]"],"open":"[secret]""#), "{text}");
        assert!(text.contains(r#""unknown":"04da6b54-80e4-46f7-96ec-b56ff0331ba9""#), "{text}");
    }

    #[test]
    fn shows_what_is_inside_of_secrets_that_are_open() {
        let text = json(&value(), Secrets::Shown);
        assert!(text.contains(r#""list":[1.50,"[secret]"],"open":{"p":"hunter2"}"#), "{text}");
    }
}
