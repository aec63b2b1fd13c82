//! What is wrong with a file, as people see it: file, line, column, the line itself, and the next step.

use annotate_snippets::{AnnotationKind, Group, Level, Message, Origin, Snippet};
use groundstate_statefile::Problem;

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
    fn level(self) -> Level<'static> {
        match self {
            Self::Note => Level::NOTE,
            Self::Info => Level::INFO,
            Self::Warning => Level::WARNING,
            Self::Error => Level::ERROR,
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
            detail: problem.message(),
            place: Some(span),
            address: problem.address.clone(),
            ..Self::new(Severity::Error, problem.code.summary(), file)
        };
        problems.iter().zip(spans).map(diagnostic).collect()
    }

    /// Draws it, with a line break at the end.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let (title, file) = (message(&self.title), message(&self.file));
        let level = self.severity.level();
        let title = match &self.code {
            Some(code) => level.clone().primary_title(title).id(code),
            None => level.clone().primary_title(title),
        };
        let drawn = match &self.place {
            None => {
                let group = title.element(Origin::path(file));
                paint.renderer().render(&[group.elements(self.remarks(true))])
            }
            Some(LineSpan { line, column, excerpt: None, .. }) => {
                let origin = Origin::path(file).line(*line).char_column(*column);
                paint.renderer().render(&[title.element(origin).elements(self.remarks(true))])
            }
            Some(LineSpan { line, column, excerpt: Some(excerpt), .. }) => {
                let mark = AnnotationKind::Primary.span(excerpt.mark()).label(message(&self.detail));
                let excerpt = Snippet::source(&excerpt.text).line_start(*line).annotation(mark);
                // In a group of its own: the column in what is shown is not that in the file.
                let shown = Group::with_level(level).element(excerpt).elements(self.remarks(false));
                let origin = Origin::path(file).line(*line).char_column(*column);
                paint.renderer().render(&[title.element(origin), shown])
            }
        };
        let mut lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
        // The groups share the bar between them.
        lines.dedup();
        lines.iter().flat_map(|line| [line, "\n"]).collect()
    }

    /// What stands below the line.
    fn remarks(&self, with_detail: bool) -> Vec<Message<'static>> {
        let remark = |text: String| Level::NOTE.no_name().message(text);
        let path = self.place.as_ref().map(|span| span.path.as_str()).filter(|path| !path.is_empty());
        let remarks = [
            (with_detail && !self.detail.is_empty()).then(|| remark(message(&self.detail))),
            path.map(|path| remark(format!("at {}", message(path)))),
            self.address.as_deref().map(|address| remark(format!("in {}", message(address)))),
            self.help.as_deref().map(|help| Level::HELP.message(message(help))),
        ];
        remarks.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use groundstate_statefile::SourcePos;

    use super::{Diagnostic, LineSpan, Severity};
    use crate::report::paint::Paint;

    fn drawn(text: &[u8], offset: usize) -> String {
        let place = LineSpan::of_places(text, [&SourcePos::of(text, offset)].into_iter()).pop();
        let detail = "not this".to_owned();
        let diagnostic = Diagnostic { place, detail, ..Diagnostic::new(Severity::Error, "wrong", "f") };
        diagnostic.render(Paint(false))
    }

    #[test]
    fn the_column_is_that_in_the_file_however_much_of_the_line_is_shown() {
        let text = format!(r#"{{"lineage": "{}", "serial": "7"}}"#, "x".repeat(1000));
        insta::assert_snapshot!(drawn(text.as_bytes(), text.find("\"7\"").unwrap()), @r#"
        error: wrong
         --> f:1:1027
          |
        1 | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "serial": "7"}
          |                                                              ^^^ not this
          = at serial
        "#);
    }

    #[test]
    fn any_place_in_any_text_can_be_drawn() {
        let texts: [&[u8]; 5] = [
            b"",
            b"\n\n",
            "{\"gr\u{202e}\u{1b}öße\": \"\u{200d}日本\", \t\"serial\": 1}\r\n".as_bytes(),
            b"{\"a\": \xff\xfe\x80, \"serial\": \xe6\x97}",
            "\u{feff}{\"version\"\u{85}: 4}".as_bytes(),
        ];
        for text in texts {
            for offset in 0..=text.len() {
                let drawn = drawn(text, offset);
                assert!(drawn.starts_with("error: wrong\n") && drawn.contains("--> f:"), "{offset}: {drawn}");
                assert!(drawn.contains("not this"), "{offset}: {drawn}");
                assert!(!drawn.contains('\u{1b}') && !drawn.contains('\u{202e}'), "{offset}: {drawn:?}");
            }
        }
    }
}
