//! The check of state files: everything that is wrong, unusual, dangerous or worth knowing, with stable codes.
//!
//! `docs/checks.md` explains every code. A file is decoded first, and its problems and notes are findings. Then its
//! text is walked once more to judge what the model no longer shows; that goes as far as the text can be read, so a
//! damaged file is checked up to the damage.

mod collect;
mod dependencies;
mod document;
mod facts;
mod finding;
mod help;
mod layout;
mod members;
mod objects;
mod outputs;
mod providers;
mod report;
mod resources;
mod rule;
mod secrets;
mod sensitive_paths;
#[cfg(feature = "serde")]
mod serialization;
mod source;

pub use finding::Finding;
pub use report::Report;
pub use rule::Rule;

use collect::{Collected, collect};
use finding::{At, Draft};
use source::Source;

use groundstate_statefile::Dialect;
use groundstate_statefile::File;
use groundstate_statefile::{Code, Problem, ReadError};
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statefile::{EncodeOptions, encode};
use groundstate_statefile::{Note, NoteKind};

/// Options of the check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Reads by the rules of this product instead of the one found in the file.
    pub dialect: Option<Dialect>,
    /// Files with more bytes than this are called very large.
    pub large: usize,
    /// Threads that share the reading of large files; fewer than two start none.
    pub threads: usize,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { dialect: None, large: 100_000_000, threads: 1 }
    }
}

impl VerifyOptions {
    /// Sets the dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Sets the size above which files are called very large.
    #[must_use]
    pub fn large(mut self, bytes: usize) -> Self {
        self.large = bytes;
        self
    }

    /// Shares large files between so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// Checks a state file of any version.
///
/// The findings are in the order of their places, then of their codes; the same text always gives the same report.
///
/// ```
/// use groundstate_state_edit::{Severity, VerifyOptions, verify};
///
/// let text = br#"{"version": 4, "terraform_version": "1.11.4", "serial": 1,
///     "lineage": "3f2a1c00-0000-4000-8000-000000000001", "resources": [{"mode": "managed", "type": "a", "name": "b",
///     "provider": "provider[\"registry.terraform.io/hashicorp/a\"]",
///     "instances": [{"attributes": {}, "dependencies": ["a.b"]}]}]}"#;
/// let report = verify(text, &VerifyOptions::default());
/// let error = report.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
/// assert_eq!(error.rule.id(), "GS0061");
/// assert_eq!(error.message, "a.b depends on itself");
/// assert_eq!(error.place.as_ref().unwrap().path, "resources[0].instances[0].dependencies[0]");
/// ```
#[must_use]
pub fn verify(text: &[u8], options: &VerifyOptions) -> Report {
    if text.is_empty() {
        let draft = Draft::new(Rule::Empty, 0, "the file is empty, so it holds no state");
        return Report::new(finding::finish(vec![draft], Some(&Source::new(text))));
    }
    let source = Source::new(text);
    let mut drafts = Vec::new();
    if source.is_repaired()
        && let Err(error) = decode(text, &decode_options(options))
    {
        drafts.extend(problems(&error, text, None));
    }
    let version = groundstate_statefile::version(source.text()).ok();
    let decoded = decode(source.text(), &decode_options(options));
    let report = match (version, decoded) {
        (Some(1..=3), decoded) => older(version, decoded, options, drafts, &source),
        (_, decoded) => current(version, decoded, options, drafts, &source),
    };
    Report { version, ..report }
}

fn decode_options(options: &VerifyOptions) -> DecodeOptions {
    let read = DecodeOptions::default().threads(options.threads);
    options.dialect.map_or(read.clone(), |dialect| read.dialect(dialect))
}

/// Checks a document of format 4, or one that is damaged.
fn current(
    version: Option<u64>,
    decoded: Result<File, ReadError>,
    options: &VerifyOptions,
    mut drafts: Vec<Draft>,
    source: &Source<'_>,
) -> Report {
    let text = source.text();
    let mut report = Report::new(Vec::new());
    let mut damaged = false;
    match decoded {
        Ok(file) => {
            drafts.extend(file.notes.iter().map(note));
            // Each of them says already that writing the state again changes it.
            if drafts.is_empty() {
                drafts.extend(layout::check(&file, text, options.threads));
            }
            report.dialect = Some(file.dialect);
            report.readable = !source.is_repaired();
        }
        Err(error) => {
            damaged = error.problems().iter().any(|problem| problem.code == Code::Syntax);
            drafts.extend(problems(&error, text, Some(source)));
        }
    }
    // The model is gone by now, so that it and the facts do not need memory at the same time.
    if version == Some(4) || damaged {
        let Collected { facts, drafts: found, sink } = collect(text, report.dialect.or(options.dialect));
        drafts.extend(found);
        judge(&facts, text.len(), report.dialect, options, &mut drafts);
        report.count(&facts);
        if damaged {
            drafts.extend(sink.notes.iter().map(note));
            drafts
                .extend(sink.into_problems(text).iter().flatten().map(|found| problem(found, Some(source))));
        }
    }
    // Forms that every writer changes are no matter of layout.
    if drafts
        .iter()
        .any(|draft| matches!(draft.rule, Rule::SplitResource | Rule::LegacyProvider | Rule::ShortProvider))
    {
        drafts.retain(|draft| draft.rule != Rule::NotCanonical);
    }
    Report { findings: finding::finish(drafts, Some(source)), ..report }
}

/// Checks a document of an older format, as what it upgrades to.
fn older(
    version: Option<u64>,
    decoded: Result<File, ReadError>,
    options: &VerifyOptions,
    mut drafts: Vec<Draft>,
    source: &Source<'_>,
) -> Report {
    drafts.extend(version.map(document::old_format));
    let mut report = Report::new(Vec::new());
    let mut upgraded = Vec::new();
    match decoded {
        Ok(file) => {
            drafts.extend(file.notes.iter().map(note));
            report.dialect = Some(file.dialect);
            report.readable = !source.is_repaired();
            upgraded = encode(&file, &EncodeOptions::default().allow_loss(true)).unwrap_or_default();
        }
        Err(error) => drafts.extend(problems(&error, source.text(), Some(source))),
    }
    let mut findings = finding::finish(drafts, Some(source));
    if !upgraded.is_empty() {
        let Collected { facts, drafts: mut found, .. } = collect(&upgraded, report.dialect);
        judge(&facts, source.text().len(), report.dialect, options, &mut found);
        report.count(&facts);
        found.retain(|draft| !comes_with_age(draft.rule, version));
        findings.extend(finding::finish(found, None));
    }
    Report { findings, ..report }
}

/// The rules that compare parts of the document with each other.
fn judge(
    facts: &facts::Facts,
    size: usize,
    dialect: Option<Dialect>,
    options: &VerifyOptions,
    out: &mut Vec<Draft>,
) {
    document::check(facts, size, options, out);
    resources::check(facts, out);
    providers::check(facts, dialect.or(options.dialect).unwrap_or(Dialect::Terraform), out);
    dependencies::check(facts, out);
}

/// What is usual in old formats, and is said by their being old.
fn comes_with_age(rule: Rule, version: Option<u64>) -> bool {
    match rule {
        Rule::FlatAttributes | Rule::LegacyProvider | Rule::ShortProvider => true,
        Rule::LineageMissing | Rule::WriterMissing => version == Some(1),
        _ => false,
    }
}

fn note(note: &Note) -> Draft {
    let rule = match note.kind {
        NoteKind::Normalized => Rule::Normalized,
        NoteKind::Dropped => Rule::Dropped,
        // A kind that is not known here yet counts as the worst.
        _ => Rule::Lost,
    };
    Draft::new(rule, note.offset, note.message.as_str())
}

/// Problems of the reader with `text`, which is that of the source or, without one, the input as it stands; that no
/// version was found says nothing new when the text is no JSON.
fn problems(error: &ReadError, text: &[u8], source: Option<&Source<'_>>) -> Vec<Draft> {
    let syntax = error.problems().iter().find(|problem| problem.code == Code::Syntax);
    let shown = error
        .problems()
        .iter()
        .filter(|problem| problem.code != Code::VersionUnreadable || error.problems().len() == 1);
    shown
        .map(|found| problem(found, source))
        .map(|draft| match syntax {
            Some(syntax) => Draft { help: help::for_damage(text, syntax.place.offset), ..draft },
            None => draft,
        })
        .collect()
}

/// A problem at its place in the input, of which a syntax error names the bytes too.
fn problem(problem: &Problem, source: Option<&Source<'_>>) -> Draft {
    let mut problem = problem.clone();
    if let Some(source) = source {
        problem.place.offset = source.in_input(problem.place.offset);
        problem.bytes_read = problem.bytes_read.map(|read| source.in_input(read.saturating_sub(1)) + 1);
    }
    let draft = Draft::new(Rule::Problem(problem.code), problem.place.offset, problem.message());
    Draft { address: problem.address, at: At::SourcePos(problem.place), ..draft }
}
