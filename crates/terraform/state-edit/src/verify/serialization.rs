//! Findings for serde: the feature `serde`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use groundstate_common::Severity;
use groundstate_json::SourcePos;

use super::finding::Finding;
use super::help;
use super::rule::Rule;

/// The printed code.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Self::from_id(&id).ok_or_else(|| D::Error::custom(format!("{id:?} is the code of no rule")))
    }
}

/// [`Finding`] to be written.
#[derive(Serialize)]
struct FindingOut<'f> {
    rule: Rule,
    severity: Severity,
    message: &'f str,
    help: &'f str,
    address: Option<&'f str>,
    place: Option<&'f SourcePos>,
}

/// [`Finding`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingIn {
    rule: Rule,
    severity: Severity,
    message: String,
    help: String,
    address: Option<String>,
    place: Option<SourcePos>,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { rule, severity, message, help, address, place } = self;
        let (address, place) = (address.as_deref(), place.as_ref());
        FindingOut { rule: *rule, severity: *severity, message, help, address, place }.serialize(serializer)
    }
}

/// The advice has to be one that this release gives.
impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let FindingIn { rule, severity, message, help, address, place } =
            FindingIn::deserialize(deserializer)?;
        let advice = Some(rule.help()).filter(|known| *known == help).or_else(|| help::known(&help));
        let help =
            advice.ok_or_else(|| D::Error::custom(format!("{rule} does not give the advice {help:?}")))?;
        Ok(Self { rule, severity, message, help, address, place })
    }
}
