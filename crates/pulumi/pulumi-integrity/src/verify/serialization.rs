//! Findings for serde: the feature `serde`.

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use groundstate_common::Severity;
use groundstate_pulumi_snapshot::Urn;

use super::finding::Finding;
use crate::rule::Rule;

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
    resource: Option<usize>,
    pending: Option<usize>,
    urn: Option<&'f str>,
    path: &'f str,
    original: Option<&'f str>,
}

/// [`Finding`] as it is read. The advice is that of the rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingIn {
    rule: Rule,
    severity: Severity,
    message: String,
    #[serde(rename = "help")]
    _help: IgnoredAny,
    resource: Option<usize>,
    pending: Option<usize>,
    urn: Option<String>,
    path: String,
    original: Option<String>,
}

/// The URN is any text: a finding may be about one that is not valid.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        FindingOut {
            rule: self.rule,
            severity: self.severity,
            message: &self.message,
            help: self.help,
            resource: self.resource,
            pending: self.pending,
            urn: self.urn.as_ref().map(Urn::as_str),
            path: &self.path,
            original: self.original.as_deref(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let FindingIn { rule, severity, message, resource, pending, urn, path, original, .. } =
            FindingIn::deserialize(deserializer)?;
        let (urn, help) = (urn.map(Urn::new), rule.help());
        Ok(Self { rule, severity, message, help, resource, pending, urn, path, original })
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_snapshot::{Resource, Snapshot};

    use super::{Finding, Rule};
    use crate::{VerifyOptions, verify};

    #[test]
    fn findings_are_the_same_after_it() {
        let mut broken = Resource::new("urn:pulumi:dev::shop::t:t:t::web", "t:t:t");
        broken.dependencies.push("urn:pulumi:dev::shop::t:t:t::gone".into());
        broken.provider = Some("nonsense".into());
        let snapshot = Snapshot::new([broken, Resource::new("no urn", "")]);
        let findings = verify(&snapshot, &VerifyOptions::default()).findings;
        assert!(findings.len() > 2, "{findings:?}");
        for finding in findings {
            let text = serde_json::to_string(&finding).unwrap();
            assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding, "{text}");
        }
    }

    #[test]
    fn codes_are_read_back_and_others_refused() {
        for rule in Rule::ALL {
            assert_eq!(Rule::from_id(&rule.id()), Some(*rule));
        }
        serde_json::from_str::<Rule>("\"GS0001\"").unwrap_err();
    }
}
