//! `groundstate check`: what is wrong with states.

use std::io::{self, Write};
use std::path::Path;

use groundstate_statefile::{Dialect, Finding, Report, Severity, VerifyOptions, verify};

use crate::args::CheckArgs;
use crate::diagnostic::{self, Diagnostic};
use crate::error::{Failure, Kind, Outcome, Result};
use crate::json::Json;
use crate::output::{Messages, Output};
use crate::source::{Source, is_standard};
use crate::spot::Spot;

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
                if !file.report.is_clean() {
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
        out.line(&json(&checked))?;
    }
    out.finish()?;
    Ok(outcome)
}

/// A state that has been checked.
#[derive(Debug)]
struct Checked {
    name: String,
    report: Report,
}

/// Checks one state and prints what was found, unless it goes into a document with all others.
fn check(state: &Path, args: &CheckArgs, out: &mut Output) -> Result<Checked> {
    let source = Source::find(state)?;
    let text = source.text()?;
    let report = verify(&text, &VerifyOptions::default());
    if !args.json {
        print(&report, &source.name, &text, out)?;
    }
    Ok(Checked { name: source.name, report })
}

fn print(report: &Report, name: &str, text: &[u8], out: &mut Output) -> io::Result<()> {
    let mut spots =
        Spot::of_places(text, report.findings.iter().filter_map(|finding| finding.place.as_ref()))
            .into_iter();
    for finding in &report.findings {
        let spot = finding.place.as_ref().and_then(|_| spots.next());
        let diagnostic = diagnostic_of(finding, name, spot);
        out.write_all(diagnostic.render(out.paint()).as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.line(&summary(report, name))
}

fn diagnostic_of(finding: &Finding, name: &str, place: Option<Spot>) -> Diagnostic {
    let severity = match finding.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        _ => diagnostic::Severity::Info,
    };
    Diagnostic {
        code: Some(finding.rule.id()),
        detail: finding.message.clone(),
        place,
        address: finding.address.clone(),
        help: Some(finding.help.to_owned()),
        ..Diagnostic::new(severity, finding.rule.title(), name)
    }
}

/// One line about a file.
fn summary(report: &Report, name: &str) -> String {
    if report.is_clean() {
        let Report { resources, objects, outputs, .. } = report;
        return format!(
            "{name}: nothing found in {resources} resources, {objects} objects and {outputs} outputs"
        );
    }
    let counts = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let counts = counts.map(|(severity, word)| (report.of_severity(severity), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    });
    format!("{name}: {}", counts.collect::<Vec<_>>().join(", "))
}

fn json(files: &[Checked]) -> String {
    Json::object(|json| {
        json.text("format_version", "1.0");
        json.inner("summary", |json| {
            for (name, severity) in
                [("errors", Severity::Error), ("warnings", Severity::Warning), ("infos", Severity::Info)]
            {
                json.raw(name, files.iter().map(|file| file.report.of_severity(severity)).sum::<usize>());
            }
        });
        json.objects("files", files, |json, Checked { name, report }| {
            json.text("state", name);
            json.raw("readable", report.readable);
            if let Some(version) = report.version {
                json.raw("version", version);
            }
            if let Some(dialect) = report.dialect {
                json.text("dialect", Dialect::id(dialect));
            }
            json.raw("resources", report.resources);
            json.raw("objects", report.objects);
            json.raw("outputs", report.outputs);
            json.objects("findings", &report.findings, finding);
        });
    })
}

fn finding(json: &mut Json, finding: &Finding) {
    json.text("code", &finding.rule.id());
    json.text("severity", finding.severity.as_str());
    json.text("title", finding.rule.title());
    json.text("message", &finding.message);
    json.text("help", finding.help);
    if let Some(address) = &finding.address {
        json.text("address", address);
    }
    if let Some(place) = &finding.place {
        json.raw("line", place.line);
        json.raw("column", place.column);
        json.raw("offset", place.offset);
        json.text("path", &place.path);
    }
}
