//! The check of snapshots: every rule, all findings.
//!
//! `docs/checks-pulumi.md` explains every code. Rules go in Pulumi's order, so that the first finding it knows is the error it
//! stops at.

mod edges;
mod error;
mod finding;
mod loading;
mod providers;
mod resources;
mod rest;
#[cfg(feature = "serde")]
mod serialization;

use std::collections::HashMap;

use groundstate_common::Severity;
use groundstate_pulumi_snapshot::{ProviderRef, Resource, Snapshot};

pub(crate) use edges::is_below;
pub use error::{IntegrityError, IntegrityOperation};
pub use finding::{Finding, Report};
pub(crate) use loading::{Faults, Values, ciphertext_check, faults, path_of, unusable_provider};
pub(crate) use rest::unloadable;

use crate::rule::Rule;

/// Options of the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Broken [`replace_with`](Resource::replace_with) is a warning, because some Pulumi releases wrote it unchecked.
    pub lenient: bool,
    /// A view of something that is missing is an error.
    pub strict_views: bool,
    /// What keeps Pulumi from loading the snapshot is looked for as well, before all else: values that cannot be read, and
    /// the secrets provider.
    pub loading: bool,
}

impl VerifyOptions {
    /// Sets whether broken references of replacement are warnings.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets whether views of something that is missing are errors.
    #[must_use]
    pub fn strict_views(mut self, strict: bool) -> Self {
        self.strict_views = strict;
        self
    }

    /// Sets whether what keeps Pulumi from loading the snapshot is looked for, before all else: values that cannot be read,
    /// and the secrets provider. Values are looked at as they were read from a file; decoded ones have been read.
    #[must_use]
    pub fn loading(mut self, loading: bool) -> Self {
        self.loading = loading;
        self
    }
}

/// Checks a snapshot.
///
/// ```
/// use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};
/// use groundstate_pulumi_integrity::{Rule, VerifyOptions, verify};
///
/// let mut web = Resource::new(Urn::build("dev", "shop", "", "t:t:Web", "web"), "t:t:Web");
/// let gone = Urn::build("dev", "shop", "", "t:t:Net", "net");
/// web.dependencies.push(gone);
/// let report = verify(&Snapshot::new([web]), &VerifyOptions::default());
///
/// assert_eq!(report.findings[0].rule, Rule::DependencyMissing);
/// assert_eq!(report.findings[0].path, "resources[0].dependencies[0]");
/// assert_eq!(
///     report.original_error().unwrap(),
///     "resource urn:pulumi:dev::shop::t:t:Web::web's dependency urn:pulumi:dev::shop::t:t:Net::net refers to missing resource",
/// );
/// ```
pub fn verify(snapshot: &Snapshot, options: &VerifyOptions) -> Report {
    let mut checker = Checker::new(snapshot, options);
    checker.loading();
    checker.magic();
    for (index, resource) in snapshot.indexed() {
        checker.resource(index, resource);
    }
    checker.duplicates();
    checker.snippets();
    checker.cycles();
    checker.pending_operations();
    checker.record();
    Report { findings: checker.findings, resources: snapshot.resources.len() }
}

/// What is known of all resources of one name.
#[derive(Clone, Copy, Debug)]
struct Name {
    first: usize,
    last: usize,
    count: usize,
    /// How many do not wait for their deletion.
    live: usize,
}

struct Checker<'a> {
    snapshot: &'a Snapshot,
    options: &'a VerifyOptions,
    names: HashMap<&'a str, Name>,
    /// References by which the providers so far can be named, with their indexes.
    providers: HashMap<String, usize>,
    /// The last provider of each reference, looked for when one is not known yet.
    late_providers: Option<HashMap<ProviderRef, usize>>,
    findings: Vec<Finding>,
    /// Whether a reference was found that no order of the present one satisfies, so that a cycle may be the reason.
    out_of_order: bool,
}

impl<'a> Checker<'a> {
    fn new(snapshot: &'a Snapshot, options: &'a VerifyOptions) -> Self {
        let mut names: HashMap<&str, Name> = HashMap::with_capacity(snapshot.resources.len());
        for (index, resource) in snapshot.indexed() {
            let live = usize::from(!resource.delete);
            let name = Name { first: index, last: index, count: 1, live };
            let add = |name: &mut Name| {
                (name.last, name.count, name.live) = (index, name.count + 1, name.live + live);
            };
            names.entry(resource.urn.as_str()).and_modify(add).or_insert(name);
        }
        let providers = HashMap::new();
        Self {
            snapshot,
            options,
            names,
            providers,
            late_providers: None,
            findings: Vec::new(),
            out_of_order: false,
        }
    }

    fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds a finding about a resource; `member` is where in it.
    fn about(&mut self, index: usize, resource: &Resource, member: &str, finding: Finding) {
        let severity = match finding.rule {
            Rule::ReplaceWithAfter | Rule::ReplaceWithMissing if self.options.lenient => Severity::Warning,
            Rule::ViewOfMissing if self.options.strict_views => Severity::Error,
            _ => finding.severity,
        };
        let path = format!("resources[{index}]{member}");
        let urn = (!resource.urn.is_empty()).then(|| resource.urn.clone());
        self.push(Finding { severity, path, urn, resource: Some(index), ..finding });
    }

    fn magic(&mut self) {
        if !self.snapshot.manifest.magic_is_right() {
            let version = &self.snapshot.manifest.version;
            let message = format!("the magic of the manifest does not belong to version {version:?}");
            let finding = Finding::new(Rule::Magic, message, "manifest.magic");
            self.push(finding.original("magic cookie mismatch; possible tampering/corruption detected"));
        }
    }
}
