//! What a check gives.

use std::fmt;

use groundstate_common::Severity;
use groundstate_pulumi_snapshot::Urn;

use crate::rule::Rule;

/// One thing that was found in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about; its code is stable.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence. Never holds values of inputs or outputs.
    pub message: String,
    /// What to do about it.
    pub help: &'static str,
    /// The index of the resource it belongs to, if there is one.
    pub resource: Option<usize>,
    /// The index of the pending operation it is about, if it is about one.
    pub pending: Option<usize>,
    /// The name of that resource, or of the one whose operation is pending.
    pub urn: Option<Urn>,
    /// Where it stands in the deployment, such as `resources[3].dependencies[0]`.
    pub path: String,
    /// What Pulumi says of it, word for word, if it checks this.
    pub original: Option<String>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What was found: by the manifest, by each resource, by all of them, by snippets, by the rest, each in order.
    pub findings: Vec<Finding>,
    /// How many resources there are.
    pub resources: usize,
}

impl Finding {
    pub(super) fn new(rule: Rule, message: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            message: message.into(),
            help: rule.help(),
            resource: None,
            pending: None,
            urn: None,
            path: path.into(),
            original: None,
        }
    }

    /// Creates the finding that the configuration of a stack names another key than its state. Rules see no configuration, so the caller
    /// compares the two.
    pub fn of_configuration(message: impl Into<String>) -> Self {
        Self::new(Rule::ConfigurationKey, message, "secrets_providers")
    }

    pub(super) fn original(self, text: impl Into<String>) -> Self {
        Self { original: Some(text.into()), ..self }
    }

    /// Whether Pulumi stops at it.
    pub(super) fn stops_pulumi(&self) -> bool {
        // Nothing is known of what Pulumi says if it stops at a value whose error has words that depend on its release.
        self.original.is_some() || self.rule.is_of_values()
    }
}

impl Report {
    /// Whether there is no error: warnings and notes do not keep a snapshot from being used.
    pub fn is_valid(&self) -> bool {
        self.of_severity(Severity::Error) == 0
    }

    /// Whether nothing was found at all.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many findings are of this severity.
    pub fn of_severity(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The findings of one rule.
    pub fn of_rule(&self, rule: Rule) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.rule == rule)
    }

    /// The error that Pulumi would stop at, word for word.
    ///
    /// Pulumi can refuse what is no error here ([`Rule::AmbiguousProviderId`]), and the other way round ([`Rule::Cycle`],
    /// which never comes without another error).
    pub fn original_error(&self) -> Option<&str> {
        self.findings.iter().find(|one| one.stops_pulumi())?.original.as_deref()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.severity, self.message)?;
        if let Some(urn) = &self.urn {
            write!(f, " [{urn}]")?;
        }
        write!(f, " at {}", self.path)
    }
}
