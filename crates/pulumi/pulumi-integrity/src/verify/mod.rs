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
use std::convert::Infallible;

use groundstate_common::{Severity, in_turn};
use groundstate_pulumi_snapshot::{Resource, Snapshot};

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
    /// No more findings are kept than tell whether there is an error, which one comes first, and at what Pulumi would stop.
    pub first_error: bool,
    /// Large snapshots are shared between so many threads. Fewer than two start none.
    pub threads: usize,
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

    /// Sets whether no more findings are kept than tell whether there is an error, which one comes first, and at what Pulumi
    /// would stop. What is found of one resource each can take many times the memory of the snapshot.
    #[must_use]
    pub fn first_error(mut self, first_error: bool) -> Self {
        self.first_error = first_error;
        self
    }

    /// Shares large snapshots between so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
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
    let names = names_of(snapshot);
    let providers = providers_of(snapshot);
    let mut checker = Checker::new(Known { snapshot, options, names: &names, providers: &providers });
    checker.loading();
    checker.magic();
    checker.each(Checker::resource);
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
    /// How many do not wait for their deletion.
    live: usize,
}

/// How many resources a thread takes at a time.
const TAKEN: usize = 1024;

/// What is known of a snapshot before its resources are looked at one by one.
#[derive(Clone, Copy)]
struct Known<'a> {
    snapshot: &'a Snapshot,
    options: &'a VerifyOptions,
    names: &'a HashMap<&'a str, Name>,
    /// The first provider that each reference can name.
    providers: &'a HashMap<String, usize>,
}

/// Collects findings about a snapshot, or about some of its resources.
struct Checker<'a> {
    known: Known<'a>,
    findings: Vec<Finding>,
    /// Findings that come behind those of the same kind about all resources.
    late: Vec<Finding>,
    /// Whether a reference was found that no order of the present one satisfies, so that a cycle may be the reason.
    out_of_order: bool,
}

fn names_of(snapshot: &Snapshot) -> HashMap<&str, Name> {
    let mut names: HashMap<&str, Name> = HashMap::with_capacity(snapshot.resources.len());
    for (index, resource) in snapshot.indexed() {
        let live = usize::from(!resource.delete);
        let name = Name { first: index, last: index, live };
        let add = |name: &mut Name| (name.last, name.live) = (index, name.live + live);
        names.entry(resource.urn.as_str()).and_modify(add).or_insert(name);
    }
    names
}

fn providers_of(snapshot: &Snapshot) -> HashMap<String, usize> {
    let mut providers = HashMap::new();
    for (index, resource) in snapshot.indexed().filter(|(_, resource)| resource.is_provider()) {
        if let Ok(reference) = resource.provider_ref() {
            providers.entry(reference.as_str().to_owned()).or_insert(index);
        }
    }
    providers
}

impl<'a> Checker<'a> {
    fn new(known: Known<'a>) -> Self {
        Self { known, findings: Vec::new(), late: Vec::new(), out_of_order: false }
    }

    /// Has `check` look at each resource, in threads if there are many of both. What they find comes in the order of the resources.
    fn each(&mut self, check: impl Fn(&mut Self, usize, &Resource) + Sync) {
        let known = self.known;
        let starts: Vec<usize> = (0..known.snapshot.resources.len()).step_by(TAKEN).collect();
        let some = |start: &usize| {
            let mut checker = Checker::new(known);
            for (index, resource) in known.snapshot.indexed().skip(*start).take(TAKEN) {
                check(&mut checker, index, resource);
            }
            checker
        };
        let Ok(()) = in_turn(&starts, known.options.threads, some, |some| {
            match self.findings.is_empty() {
                true => self.findings = some.findings,
                false => some.findings.into_iter().for_each(|finding| self.push(finding)),
            }
            self.late.extend(some.late);
            self.out_of_order |= some.out_of_order;
            Ok::<_, Infallible>(())
        });
    }

    fn push(&mut self, finding: Finding) {
        if !self.known.options.first_error || self.tells_more(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether a finding is the first error, or the first that Pulumi would stop at.
    fn tells_more(&self, finding: &Finding) -> bool {
        let is_error = |one: &Finding| one.severity == Severity::Error;
        [is_error, Finding::stops_pulumi]
            .iter()
            .any(|tells| tells(finding) && !self.findings.iter().any(tells))
    }

    /// Adds a finding about a resource; `member` is where in it.
    fn about(&mut self, index: usize, resource: &Resource, member: &str, finding: Finding) {
        let severity = match finding.rule {
            Rule::ReplaceWithAfter | Rule::ReplaceWithMissing if self.known.options.lenient => {
                Severity::Warning
            }
            Rule::ViewOfMissing if self.known.options.strict_views => Severity::Error,
            _ => finding.severity,
        };
        let path = format!("resources[{index}]{member}");
        let urn = (!resource.urn.is_empty()).then(|| resource.urn.clone());
        self.push(Finding { severity, path, urn, resource: Some(index), ..finding });
    }

    fn magic(&mut self) {
        if !self.known.snapshot.manifest.magic_is_right() {
            let version = &self.known.snapshot.manifest.version;
            let message = format!("the magic of the manifest does not belong to version {version:?}");
            let finding = Finding::new(Rule::Magic, message, "manifest.magic");
            self.push(finding.original("magic cookie mismatch; possible tampering/corruption detected"));
        }
    }
}
