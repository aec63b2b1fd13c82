//! What is wrong with a file, as people see it: file, line, column, the line itself, and the next step.

use anstyle::AnsiColor;
use groundstate_statefile::Problem;

use crate::report::excerpt::Excerpt;
use crate::report::line_span::LineSpan;
use crate::report::paint::Paint;
use crate::report::text::message;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Note,
    Info,
    Warning,
    Error,
}

impl Severity {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    fn colour(self) -> AnsiColor {
        match self {
            Self::Note | Self::Info => AnsiColor::Cyan,
            Self::Warning => AnsiColor::Yellow,
            Self::Error => AnsiColor::Red,
        }
    }
}

/// One thing to say about a file.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    pub(crate) severity: Severity,
    /// A stable code such as `GS0102`.
    pub(crate) code: Option<String>,
    pub(crate) title: String,
    /// What exactly is wrong, unless the title says it all.
    pub(crate) detail: String,
    /// The file as the user named it.
    pub(crate) file: String,
    pub(crate) place: Option<LineSpan>,
    /// Address of the object it belongs to.
    pub(crate) address: Option<String>,
    /// What to do.
    pub(crate) help: Option<String>,
}

impl Diagnostic {
    /// Something about a file, in one sentence.
    pub(crate) fn new(severity: Severity, title: impl Into<String>, file: &str) -> Self {
        Self {
            severity,
            code: None,
            title: title.into(),
            detail: String::new(),
            file: file.to_owned(),
            place: None,
            address: None,
            help: None,
        }
    }

    /// The problems that the reader found in `text`.
    pub(crate) fn problems(problems: &[Problem], file: &str, text: &[u8]) -> Vec<Self> {
        let spans = LineSpan::of_places(text, problems.iter().map(|problem| &problem.place));
        let diagnostic = |(problem, span): (&Problem, LineSpan)| Self {
            code: Some(problem.code.id()),
            detail: problem.detail.clone(),
            place: Some(span),
            address: problem.address.clone(),
            ..Self::new(Severity::Error, problem.code.summary(), file)
        };
        problems.iter().zip(spans).map(diagnostic).collect()
    }

    /// Draws it, with a line break at the end.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let code = self.code.as_deref().map(|code| format!("[{code}]")).unwrap_or_default();
        let head = paint.strong(self.severity.colour(), &format!("{}{code}", self.severity.id()));
        let mut out = format!("{head}{}\n", paint.bold(&format!(": {}", message(&self.title))));
        let Some(span) = &self.place else {
            out.push_str(&format!(" {} {}\n", paint.frame("-->"), message(&self.file)));
            self.remarks(&mut out, "", paint, true);
            return out;
        };
        let number = span.line.to_string();
        let margin = " ".repeat(number.len());
        let bar = paint.frame("|");
        let (file, column) = (message(&self.file), span.column);
        out.push_str(&format!("{margin}{} {file}:{number}:{column}\n", paint.frame("-->")));
        if let Some(excerpt) = &span.excerpt {
            let Excerpt { text, mark } = excerpt;
            let before = text.get(..mark.start).unwrap_or_default().chars().count();
            let length = text.get(mark.clone()).unwrap_or_default().chars().count().max(1);
            let carets = format!("{} {}", "^".repeat(length), message(&self.detail));
            let carets = paint.strong(self.severity.colour(), carets.trim_end());
            out.push_str(&format!("{margin} {bar}\n{} {bar} {text}\n", paint.frame(&number)));
            out.push_str(&format!("{margin} {bar} {}{carets}\n", " ".repeat(before)));
        }
        self.remarks(&mut out, &margin, paint, span.excerpt.is_none());
        out
    }

    /// Writes what stands below the line.
    fn remarks(&self, out: &mut String, margin: &str, paint: Paint, with_detail: bool) {
        let path = self.place.as_ref().map(|span| span.path.as_str()).filter(|path| !path.is_empty());
        let remarks = [
            (with_detail && !self.detail.is_empty()).then(|| message(&self.detail)),
            path.map(|path| format!("at {}", message(path))),
            self.address.as_deref().map(|address| format!("in {}", message(address))),
            self.help.as_deref().map(|help| format!("{}: {}", paint.bold("help"), message(help))),
        ];
        for remark in remarks.into_iter().flatten() {
            out.push_str(&format!("{margin} {} {remark}\n", paint.frame("=")));
        }
    }
}
