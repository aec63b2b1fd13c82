//! The gate in front of a store: findings that keep a state from replacing the stored one.

use std::collections::BTreeSet;
use std::fmt;

use groundstate_common::Severity;
use groundstate_pulumi_snapshot::Snapshot;

use crate::rule::Rule;
use crate::verify::{Finding, VerifyOptions, verify};

/// Rules whose findings a caller accepts. The default accepts none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    all: bool,
    rules: BTreeSet<Rule>,
}

impl Accepted {
    /// Accepts every error. Readable secrets still have to be named.
    pub fn all() -> Self {
        Self { all: true, rules: BTreeSet::new() }
    }

    /// Accepts the findings of these rules.
    pub fn rules(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self { all: false, rules: rules.into_iter().collect() }
    }

    /// Accepts the findings of one more rule.
    #[must_use]
    pub fn and(mut self, rule: Rule) -> Self {
        self.rules.insert(rule);
        self
    }

    /// Returns `true` if findings of the rule are accepted.
    pub fn accepts(&self, rule: Rule) -> bool {
        self.rules.contains(&rule) || (self.all && rule != Rule::SecretReadable)
    }
}

/// A state that the gate refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GateError {
    /// First finding that is not accepted.
    pub first: Box<Finding>,
    /// Codes of all findings that are not accepted.
    pub rules: BTreeSet<Rule>,
}

impl GateError {
    /// Returns the codes, separated by commas.
    pub fn codes(&self) -> String {
        let codes: Vec<String> = self.rules.iter().map(|rule| rule.id()).collect();
        codes.join(",")
    }
}

impl fmt::Display for GateError {
    /// Writes the first finding, in Pulumi's words where they are known, and its code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.first.original.as_deref().unwrap_or(&self.first.message);
        write!(f, "{text} ({})", self.first.rule)
    }
}

impl std::error::Error for GateError {}

/// Checks that a snapshot may be stored in place of another one: it has no error that [`verify`] finds, Pulumi can load it, and no
/// secret in it is readable. Gives the findings that only pass because they are accepted.
///
/// Values are looked at as they were read from a file; decoded ones have been read.
///
/// ```
/// use groundstate_pulumi_integrity::{Accepted, Rule, pass_gate};
/// use groundstate_pulumi_snapshot::{Resource, Snapshot};
///
/// let nameless = Snapshot::new([Resource::new("", "t:t:t")]);
/// let refused = pass_gate(&nameless, &Accepted::default()).unwrap_err();
/// assert_eq!(refused.first.rule, Rule::UrnMissing);
/// assert_eq!(pass_gate(&nameless, &Accepted::rules([Rule::UrnMissing])).unwrap().len(), 1);
/// ```
///
/// # Errors
///
/// Returns the first finding that is not accepted, and the codes of all.
pub fn pass_gate(snapshot: &Snapshot, accepted: &Accepted) -> Result<Vec<Finding>, GateError> {
    let report = verify(snapshot, &VerifyOptions::default().loading(true));
    let counts =
        |finding: &Finding| finding.severity == Severity::Error || finding.rule == Rule::SecretReadable;
    let (passing, refused): (Vec<_>, Vec<_>) = report
        .findings
        .into_iter()
        .filter(|finding| counts(finding))
        .partition(|finding| accepted.accepts(finding.rule));
    let rules = refused.iter().map(|finding| finding.rule).collect();
    match refused.into_iter().next() {
        Some(first) => Err(GateError { first: Box::new(first), rules }),
        None => Ok(passing),
    }
}

#[cfg(test)]
mod tests {
    use groundstate_pulumi_snapshot::{Properties, RawJson, Resource, Snapshot};

    use super::{Accepted, pass_gate};
    use crate::Rule;

    fn with_outputs(text: &str) -> Snapshot {
        let mut resource = Resource::new("urn:pulumi:dev::shop::t:t:t::web", "t:t:t");
        resource.custom = true;
        resource.outputs = Properties::Raw(RawJson::parse_as_written(text).unwrap());
        Snapshot::new([resource])
    }

    fn refused(text: &str, accepted: &Accepted) -> Option<Rule> {
        pass_gate(&with_outputs(text), accepted).err().map(|refused| refused.first.rule)
    }

    const READABLE: &str = r#"{"a":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"hush\""}]}"#;
    const SEALED: &str = r#"{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:x"}}"#;

    #[test]
    fn values_that_pulumi_cannot_load_are_refused() {
        let none = Accepted::default();
        assert_eq!(refused(r#"{"a":1}"#, &none), None);
        assert_eq!(refused(SEALED, &none), Some(Rule::SecretWithoutManager));
        assert_eq!(refused(r#"{"a":1e999}"#, &none), Some(Rule::NumberRange));
        let unknown = r#"{"a":{"4dabf18193072939515e22adb298388d":"foobar"}}"#;
        assert_eq!(refused(unknown, &none), Some(Rule::UnknownSignature));
        assert_eq!(refused(unknown, &Accepted::all()), None);
        assert_eq!(refused(unknown, &Accepted::rules([Rule::NumberRange])), Some(Rule::UnknownSignature));
        assert_eq!(refused(unknown, &Accepted::rules([Rule::UnknownSignature])), None);
    }

    #[test]
    fn readable_secrets_pass_only_by_the_name_of_their_code() {
        assert_eq!(refused(READABLE, &Accepted::default()), Some(Rule::SecretReadable));
        assert_eq!(refused(READABLE, &Accepted::all()), Some(Rule::SecretReadable));
        assert_eq!(refused(READABLE, &Accepted::all().and(Rule::SecretReadable)), None);
        let escaped = READABLE
            .replace("4dabf", "\\u0034dabf")
            .replace("1b47", "1\\u006247")
            .replace("plain", "pl\\u0061in");
        assert_eq!(refused(&escaped, &Accepted::default()), Some(Rule::SecretReadable), "{escaped}");
        // Beside a value that cannot be read.
        let beside = READABLE.replacen('{', r#"{"b":1e999,"#, 1);
        let accepted = Accepted::rules([Rule::NumberRange]);
        assert_eq!(refused(&beside, &accepted), Some(Rule::SecretReadable));
        assert!(!format!("{:?}", pass_gate(&with_outputs(READABLE), &Accepted::default())).contains("hush"));
    }
}
