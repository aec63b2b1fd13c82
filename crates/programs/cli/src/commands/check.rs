//! `groundstate check`: what is wrong with states.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use groundstate_common::Severity;
use groundstate_state_edit::{VerifyOptions, verify};
use groundstate_statefile::{Dialect, Place};

use crate::args::CheckArgs;
use crate::input::family::Family;
use crate::input::source::{Source, is_standard};
use crate::pulumi;
use crate::report::diagnostic::{self, Diagnostic};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::line_span::LineSpan;
use crate::report::output::{Messages, Output, count};
use crate::report::tokens::shown_path;

pub(super) fn run(args: &CheckArgs) -> Result {
    if args.states.iter().filter(|state| is_standard(state)).count() > 1 {
        return Err(Failure::new(Kind::Usage, "standard input can be only one of the states"));
    }
    let mut out = Output::stdout();
    let mut outcome = Outcome::Clean;
    let mut checked = Vec::new();
    for state in &args.states {
        match check(state, args, &mut out) {
            Ok(file) => {
                if !file.findings.is_empty() {
                    outcome = outcome.and(Kind::Findings);
                }
                checked.extend(args.json.then_some(file));
            }
            // One file that cannot be read is no reason to leave the others unchecked.
            Err(failure) if !failure.quiet => {
                out.flush()?;
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
            }
            Err(failure) => return Err(failure),
        }
    }
    if args.json {
        out.json(&json(&checked))?;
    }
    out.finish()?;
    Ok(outcome)
}

/// A state that has been checked, whatever its family.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) family: Family,
    /// Whether it could be read.
    pub(crate) readable: bool,
    /// The version of its format, if that much could be read.
    pub(crate) version: Option<String>,
    /// In what manner it is written, and what programs call that.
    pub(crate) manner: Option<(&'static str, &'static str)>,
    /// How much of what is in it, by the names for programs.
    pub(crate) counts: Vec<(&'static str, usize)>,
    pub(crate) findings: Vec<ShownFinding>,
}

/// One thing that was found.
#[derive(Debug)]
pub(crate) struct ShownFinding {
    /// A stable code such as `GS0061`.
    pub(crate) code: Option<String>,
    pub(crate) severity: Severity,
    pub(crate) title: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// The object it belongs to.
    pub(crate) address: Option<String>,
    /// What the original product says of it.
    pub(crate) original: Option<String>,
    pub(crate) place: Option<Place>,
}

impl Checked {
    /// A state of which nothing is known yet.
    pub(crate) fn new(name: &str, family: Family) -> Self {
        let (name, counts, findings) = (name.to_owned(), Vec::new(), Vec::new());
        Self { name, family, readable: false, version: None, manner: None, counts, findings }
    }

    fn of_severity(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Checks one state and prints what was found, unless it goes into a document with all others.
fn check(state: &Path, args: &CheckArgs, out: &mut Output) -> Result<Checked> {
    let all: Vec<&Path> = args.states.iter().map(PathBuf::as_path).collect();
    let source = Source::among(state, &all)?;
    let text = source.text()?;
    let checked = match source.family {
        Family::Terraform => terraform(&source, &text),
        Family::Pulumi => pulumi::check(&source, &text)?,
    };
    if !args.json {
        print(&checked, &text, out)?;
    }
    Ok(checked)
}

fn terraform(source: &Source, text: &[u8]) -> Checked {
    let report = verify(text, &VerifyOptions::default());
    let findings = report.findings.into_iter().map(|finding| ShownFinding {
        code: Some(finding.rule.id()),
        severity: finding.severity,
        title: finding.rule.title().into(),
        message: finding.message,
        help: Some(finding.help),
        address: finding.address,
        original: None,
        place: finding.place,
    });
    Checked {
        readable: report.readable,
        version: report.version.map(|version| version.to_string()),
        manner: report.dialect.map(|dialect| ("dialect", Dialect::id(dialect))),
        counts: vec![
            ("resources", report.resources),
            ("objects", report.objects),
            ("outputs", report.outputs),
        ],
        findings: findings.collect(),
        ..Checked::new(&source.name, source.family)
    }
}

fn print(checked: &Checked, text: &[u8], out: &mut Output) -> io::Result<()> {
    let places = checked.findings.iter().filter_map(|finding| finding.place.as_ref());
    let mut spans = LineSpan::of_places(text, places).into_iter();
    for finding in &checked.findings {
        let span = finding.place.as_ref().and_then(|_| spans.next());
        let diagnostic = diagnostic_of(finding, &checked.name, span);
        out.write_all(diagnostic.render(out.paint()).as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.line(&summary(checked))
}

fn diagnostic_of(finding: &ShownFinding, name: &str, place: Option<LineSpan>) -> Diagnostic {
    let severity = match finding.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        _ => diagnostic::Severity::Info,
    };
    Diagnostic {
        code: finding.code.clone(),
        detail: finding.message.clone(),
        place,
        address: finding.address.clone(),
        help: finding.help.map(str::to_owned),
        ..Diagnostic::new(severity, finding.title.as_ref(), name)
    }
}

/// One line about a file.
fn summary(checked: &Checked) -> String {
    let Checked { name, counts, .. } = checked;
    if checked.findings.is_empty() {
        let counts: Vec<String> =
            counts.iter().map(|(things, number)| counted(*number, &things.replace('_', " "))).collect();
        let all = match counts.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => counts.concat(),
        };
        return format!("{name}: nothing found in {all}");
    }
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let counts = counts.map(|(severity, word)| (checked.of_severity(severity), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    });
    format!("{name}: {}", counts.collect::<Vec<_>>().join(", "))
}

/// So many of what has this name for programs.
fn counted(number: usize, things: &str) -> String {
    count(number, things.strip_suffix('s').unwrap_or(things))
}

fn json(files: &[Checked]) -> String {
    Json::object(|json| {
        json.text("format_version", "1.0");
        json.inner("summary", |json| {
            for (name, severity) in
                [("errors", Severity::Error), ("warnings", Severity::Warning), ("infos", Severity::Info)]
            {
                json.raw(name, files.iter().map(|file| file.of_severity(severity)).sum::<usize>());
            }
        });
        json.objects("files", files, |json, file| {
            json.text("state", &file.name);
            json.text("family", file.family.id());
            json.raw("readable", file.readable);
            if let Some(version) = &file.version {
                json.raw("version", version);
            }
            if let Some((name, manner)) = file.manner {
                json.text(name, manner);
            }
            file.counts.iter().for_each(|(name, count)| json.raw(name, count));
            json.objects("findings", &file.findings, finding);
        });
    })
}

fn finding(json: &mut Json, finding: &ShownFinding) {
    let text = |json: &mut Json, name: &str, text: Option<&str>| {
        if let Some(text) = text {
            json.text(name, text);
        }
    };
    text(json, "code", finding.code.as_deref());
    json.text("severity", finding.severity.as_str());
    json.text("title", &finding.title);
    json.text("message", &finding.message);
    text(json, "help", finding.help);
    text(json, "original", finding.original.as_deref());
    text(json, "address", finding.address.as_deref());
    if let Some(place) = &finding.place {
        json.raw("line", place.line);
        json.raw("column", place.column);
        json.raw("offset", place.offset);
        json.text("path", &shown_path(&place.path));
    }
}
