//! Standard output and standard error: buffers, colours, and readers that go away.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StderrLock, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use groundstate_common::{is_hidden, one_line, shortened};

use crate::report::diagnostic::Diagnostic;
use crate::report::error::Failure;

const BUFFER: usize = 1 << 16;

/// Characters of one line of a message, at most: names and lock documents may have any length.
const MAX_MESSAGE: usize = 4000;

/// Where results go.
///
/// Text is written by [`line`](Self::line), JSON by [`json`](Self::json) and [`document`](Self::document). As a writer it
/// takes bytes as they are: text of the command itself, and what `--raw` asks for.
#[derive(Debug)]
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    paint: Paint,
    /// Standard output is a terminal, so hidden characters are escaped in JSON as well.
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

    /// Writes text on a line of its own, whatever it contains.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(one_line(text).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes a JSON document, with a line break behind it.
    pub(crate) fn json(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(self.escaped(text).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes a JSON document of its own bytes: exactly these, except that a terminal gets hidden characters as escapes
    /// of JSON, which say the same.
    pub(crate) fn document(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.streamed(|out| out.write_all(bytes))
    }

    /// The same for a document that is written in pieces.
    pub(crate) fn streamed<E: From<io::Error>>(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.terminal {
            return write(&mut self.out);
        }
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(self.out.write_all(self.escaped(&text).as_bytes())?)
    }

    fn escaped<'t>(&self, json: &'t str) -> Cow<'t, str> {
        if self.terminal { escaped_json(json) } else { json.into() }
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
    match thing.strip_suffix('y') {
        _ if number == 1 => format!("1 {thing}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {thing}s"),
    }
}

/// The same JSON, with hidden characters as escapes.
///
/// Line breaks and tabs between tokens stay; a carriage return that stands alone there becomes a line break, as it would
/// let the terminal write over the line.
fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_space = |c: char| matches!(c, '\n' | '\t');
    if !json.chars().any(|c| is_hidden(c) && !is_space(c)) {
        return json.into();
    }
    let mut out = String::with_capacity(json.len() + 64);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if is_space(c) || !is_hidden(c) => out.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out.into()
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

/// What a message says, on one line that is not too long to be read.
pub(crate) fn message(text: &str) -> String {
    shortened(&one_line(text), MAX_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE, count, escaped_json, message};

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!([count(1, "change"), count(0, "change")], ["1 change", "0 changes"]);
        assert_eq!([count(1, "entry"), count(2, "entry")], ["1 entry", "2 entries"]);
    }

    #[test]
    fn json_on_a_terminal_says_the_same_in_escapes() {
        let json = "{\r\n\t\"a\u{7f}\": \"\u{202e}é\u{e0041}\u{9b}\"\r}";
        let shown = escaped_json(json);
        assert_eq!(shown, "{\n\t\"a\\u007f\": \"\\u202eé\\udb40\\udc41\\u009b\"\n}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(json), read(&shown));
    }

    #[test]
    fn messages_are_one_line_of_bounded_length() {
        assert_eq!(message("a\nhelp: b\u{1b}[2J"), "a\\nhelp: b\\u001b[2J");
        assert_eq!(message(&"x".repeat(1 << 20)).chars().count(), MAX_MESSAGE + 1);
    }
}
