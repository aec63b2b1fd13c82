//! What was found in states, whatever their family: as diagnostics and as JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use groundstate_common::Severity;
use groundstate_statefile::SourcePos;

use crate::report::clipped::Clipped;
use crate::report::diagnostic::{self, Diagnostic};
use crate::report::json::Json;
use crate::report::line_span::LineSpan;
use crate::report::output::Output;
use crate::report::text::count;
use crate::report::tokens::shown_path;

/// A state that has been checked, whatever its family.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    /// Its family, by the name for programs.
    pub(crate) family: &'static str,
    /// Whether it could be read.
    pub(crate) readable: bool,
    /// The version of its format, if that much could be read.
    pub(crate) version: Option<String>,
    /// In what manner it is written, and what programs call that.
    pub(crate) manner: Option<(&'static str, &'static str)>,
    /// How much of what is in it, by the names for programs.
    pub(crate) counts: Vec<(&'static str, usize)>,
    pub(crate) findings: Vec<ShownFinding>,
    /// Findings that do not count, and what says so.
    pub(crate) ignored: Vec<(ShownFinding, String)>,
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
    pub(crate) place: Option<SourcePos>,
}

impl Checked {
    /// A state of which nothing is known yet.
    pub(crate) fn new(name: &str, family: &'static str) -> Self {
        let (name, counts, findings) = (name.to_owned(), Vec::new(), Vec::new());
        let ignored = Vec::new();
        Self { name, family, readable: false, version: None, manner: None, counts, findings, ignored }
    }

    /// Sets findings aside for which `ignored_by` knows what ignores them.
    pub(crate) fn ignore(&mut self, ignored_by: impl Fn(&ShownFinding) -> Option<String>) {
        let mut counting = Vec::new();
        for finding in self.findings.drain(..) {
            match ignored_by(&finding) {
                Some(by) => self.ignored.push((finding, by)),
                None => counting.push(finding),
            }
        }
        self.findings = counting;
    }

    /// Whether a finding of this severity or above counts.
    pub(crate) fn has(&self, severity: Severity) -> bool {
        self.findings.iter().any(|finding| finding.severity >= severity)
    }

    /// The codes that were ignored, how often, and by what, in the order of the codes.
    fn ignored_codes(&self) -> Vec<(&str, &str, usize)> {
        let mut codes: Vec<(&str, &str, usize)> = Vec::new();
        for (finding, by) in &self.ignored {
            let code = finding.code.as_deref().unwrap_or_default();
            match codes.iter_mut().find(|known| known.0 == code && known.1 == by) {
                Some(known) => known.2 += 1,
                None => codes.push((code, by, 1)),
            }
        }
        codes.sort_unstable();
        codes
    }

    fn of_severity(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Prints what was found in one state, and a line about it.
pub(crate) fn print(checked: &Checked, text: &Clipped<'_>, out: &mut Output) -> io::Result<()> {
    let mut spans = spans(checked, text).into_iter();
    for finding in &checked.findings {
        let span = finding.place.as_ref().and_then(|_| spans.next());
        let diagnostic = diagnostic_of(finding, &checked.name, span);
        out.write_all(diagnostic.render(out.paint()).as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.line(&summary(checked))
}

/// The lines of all findings that have a place.
pub(crate) fn spans(checked: &Checked, text: &Clipped<'_>) -> Vec<LineSpan> {
    let places = checked.findings.iter().filter_map(|finding| finding.place.clone());
    let held = |mut place: SourcePos| {
        place.offset = text.offset_of(place.offset);
        place
    };
    let places: Vec<SourcePos> = places.map(held).collect();
    LineSpan::of_places(&text.text, places.iter())
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

/// One line about a file, with what was ignored.
fn summary(checked: &Checked) -> String {
    let codes: Vec<String> =
        checked.ignored_codes().iter().map(|(code, by, number)| format!("{number} {code} by {by}")).collect();
    match codes.is_empty() {
        true => counting(checked),
        false => format!("{}; ignored: {}", counting(checked), codes.join(", ")),
    }
}

/// One line about what counts.
fn counting(checked: &Checked) -> String {
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

/// What was found in all states, for programs.
pub(crate) fn json(files: &[Checked]) -> String {
    Json::document(|json| {
        json.inner("summary", |json| {
            for (name, severity) in
                [("errors", Severity::Error), ("warnings", Severity::Warning), ("infos", Severity::Info)]
            {
                json.raw(name, files.iter().map(|file| file.of_severity(severity)).sum::<usize>());
            }
            json.raw("ignored", files.iter().map(|file| file.ignored.len()).sum::<usize>());
        });
        json.objects("files", files, |json, file| {
            json.text("state", &file.name);
            json.text("family", file.family);
            json.raw("readable", file.readable);
            if let Some(version) = &file.version {
                json.raw("version", version);
            }
            if let Some((name, manner)) = file.manner {
                json.text(name, manner);
            }
            file.counts.iter().for_each(|(name, count)| json.raw(name, count));
            json.objects("findings", &file.findings, finding);
            json.objects("ignored", &file.ignored_codes(), |json, (code, by, number)| {
                json.text("code", code);
                json.text("by", by);
                json.raw("count", number);
            });
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
