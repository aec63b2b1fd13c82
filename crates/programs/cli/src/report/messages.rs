//! Notes, warnings and failures on standard error.

use std::io::{self, StderrLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use anstyle::AnsiColor;
use groundstate_common::one_line;

use crate::report::diagnostic::{Diagnostic, Severity};
use crate::report::error::Failure;
use crate::report::message_json;
use crate::report::paint::Paint;
use crate::report::text::message;

/// Whether messages are JSON. Set once, before the first one.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Writes notes to standard error; silent if it is closed.
#[derive(Debug)]
pub(crate) struct Messages {
    out: StderrLock<'static>,
    paint: Paint,
    as_json: bool,
}

impl Messages {
    /// Makes each message of this process a JSON document on a line of its own.
    pub(crate) fn use_json() {
        AS_JSON.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stderr() -> Self {
        let stderr = io::stderr();
        let paint = Paint(AutoStream::choice(&stderr) != ColorChoice::Never);
        Self { out: stderr.lock(), paint, as_json: AS_JSON.load(Ordering::Relaxed) }
    }

    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        match self.as_json {
            true => self.json(&message_json::of_diagnostic(diagnostic)),
            false => self.text(&diagnostic.render(self.paint)),
        }
    }

    pub(crate) fn warning(&mut self, text: &str) {
        self.warning_about(text, &[]);
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.note_about(text, &[]);
    }

    /// A warning, and what belongs to it, a line each.
    pub(crate) fn warning_about(&mut self, text: &str, details: &[String]) {
        self.message(Severity::Warning, (AnsiColor::Yellow, "warning"), text, details);
    }

    /// A note, and what belongs to it, a line each.
    pub(crate) fn note_about(&mut self, text: &str, details: &[String]) {
        self.message(Severity::Note, (AnsiColor::Cyan, "note"), text, details);
    }

    fn message(
        &mut self,
        severity: Severity,
        (colour, head): (AnsiColor, &str),
        text: &str,
        lines: &[String],
    ) {
        if self.as_json {
            return self.json(&message_json::of_text(severity, text, lines));
        }
        let head = self.paint.strong(colour, head);
        self.text(&format!("{head}: {}\n", message(text)));
        self.details(lines);
    }

    /// Lines that belong to the message before, each behind two blanks.
    fn details(&mut self, lines: &[String]) {
        for line in lines {
            self.text(&format!("  {}\n", message(line)));
        }
    }

    /// Says why a command ends.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if self.as_json {
            return self.json(&message_json::of_failure(failure));
        }
        for diagnostic in &failure.diagnostics {
            self.diagnostic(diagnostic);
        }
        let paint = self.paint;
        if !failure.message.is_empty() {
            let message = message(&failure.message);
            self.text(&format!("{}: {message}\n", paint.strong(AnsiColor::Red, "error")));
        }
        self.details(&failure.details);
        for hint in &failure.hints {
            let hint = one_line(hint);
            self.text(&format!("{}: {hint}\n", paint.strong(AnsiColor::Cyan, "help")));
        }
    }

    fn json(&mut self, document: &str) {
        self.text(&format!("{document}\n"));
    }

    fn text(&mut self, text: &str) {
        // A closed standard error is no reason to fail, and there is nowhere to say so.
        drop(self.out.write_all(text.as_bytes()));
    }
}
