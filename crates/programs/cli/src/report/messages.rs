//! Notes, warnings and failures on standard error.

use std::io::{self, StderrLock, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::AnsiColor;
use groundstate_common::one_line;

use crate::report::diagnostic::Diagnostic;
use crate::report::error::Failure;
use crate::report::failure_json;
use crate::report::paint::Paint;
use crate::report::text::message;

/// Writes notes to standard error; silent if it is closed.
#[derive(Debug)]
pub(crate) struct Messages {
    out: StderrLock<'static>,
    paint: Paint,
}

impl Messages {
    pub(crate) fn stderr() -> Self {
        let stderr = io::stderr();
        let paint = Paint(AutoStream::choice(&stderr) != ColorChoice::Never);
        Self { out: stderr.lock(), paint }
    }

    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.text(&diagnostic.render(self.paint));
    }

    pub(crate) fn warning(&mut self, text: &str) {
        let head = self.paint.strong(AnsiColor::Yellow, "warning");
        self.text(&format!("{head}: {}\n", message(text)));
    }

    pub(crate) fn note(&mut self, text: &str) {
        let head = self.paint.strong(AnsiColor::Cyan, "note");
        self.text(&format!("{head}: {}\n", message(text)));
    }

    /// Lines that belong to the message before, each behind two blanks.
    pub(crate) fn details(&mut self, lines: &[String]) {
        for line in lines {
            self.text(&format!("  {}\n", message(line)));
        }
    }

    /// Says why a command ends, as a JSON document on one line.
    pub(crate) fn json_failure(&mut self, failure: &Failure) {
        self.text(&format!("{}\n", failure_json::document(failure)));
    }

    /// Says why a command ends.
    pub(crate) fn failure(&mut self, failure: &Failure) {
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

    fn text(&mut self, text: &str) {
        // A closed standard error is no reason to fail, and there is nowhere to say so.
        drop(self.out.write_all(text.as_bytes()));
    }
}
