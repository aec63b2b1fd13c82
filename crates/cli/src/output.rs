//! Standard output and standard error: buffers, colours, and readers that go away.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StderrLock, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::diagnostic::{Diagnostic, clean};
use crate::error::Failure;

const BUFFER: usize = 1 << 16;

/// Where results go. Data is written as it is: nothing strips or adds bytes on the way.
#[derive(Debug)]
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    paint: Paint,
    /// Somebody may be watching, so characters that steer terminals are made visible.
    terminal: bool,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let paint = Paint(AutoStream::choice(&stdout) != ColorChoice::Never);
        let terminal = stdout.is_terminal();
        Self { out: BufWriter::with_capacity(BUFFER, stdout.lock()), paint, terminal }
    }

    /// The colours of this output, if it has any.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Writes text that comes from a file, on a line of its own.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(self.visible(text).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Text without characters that steer a terminal, if there is one.
    pub(crate) fn visible<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.terminal && text.chars().any(steers_terminals) {
            text.chars().map(|c| if steers_terminals(c) { '\u{fffd}' } else { c }).collect()
        } else {
            text.into()
        }
    }

    /// Ends the output; errors that hid in the buffer come out here.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// So many of a thing, in words.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Whether a character moves the cursor, changes colours, or turns the direction of the text around it.
pub(crate) fn steers_terminals(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(crate) fn colour(self, colour: AnsiColor, text: &str) -> String {
        self.with(Style::new().fg_color(Some(colour.into())), text)
    }

    /// A word that has to be seen first.
    pub(crate) fn strong(self, colour: AnsiColor, text: &str) -> String {
        self.with(Style::new().fg_color(Some(colour.into())).bold(), text)
    }

    /// What frames a piece of source text.
    pub(crate) fn frame(self, text: &str) -> String {
        self.strong(AnsiColor::Blue, text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Where remarks go. Nobody is told when nobody can be.
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
        self.text(&format!("{head}: {}\n", clean(text)));
    }

    pub(crate) fn note(&mut self, text: &str) {
        let head = self.paint.strong(AnsiColor::Cyan, "note");
        self.text(&format!("{head}: {}\n", clean(text)));
    }

    /// Says why a command ends.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        for diagnostic in &failure.diagnostics {
            self.diagnostic(diagnostic);
        }
        let paint = self.paint;
        if !failure.message.is_empty() {
            let message = clean(&failure.message);
            self.text(&format!("{}: {message}\n", paint.strong(AnsiColor::Red, "error")));
        }
        for hint in &failure.hints {
            let hint = clean(hint);
            self.text(&format!("{}: {hint}\n", paint.strong(AnsiColor::Cyan, "help")));
        }
    }

    fn text(&mut self, text: &str) {
        // A closed standard error is no reason to fail, and there is nowhere to say so.
        drop(self.out.write_all(text.as_bytes()));
    }
}
