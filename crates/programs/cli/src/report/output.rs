//! Standard output: a buffer, colours, and readers that go away.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use groundstate_common::{is_hidden, one_line};

use crate::report::paint::Paint;

const BUFFER: usize = 1 << 16;

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

/// The same JSON, with hidden characters as escapes.
///
/// Line breaks and tabs between tokens stay; a carriage return that stands alone there becomes a line break, as it would
/// let the terminal write over the line.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::escaped_json;

    #[test]
    fn json_on_a_terminal_says_the_same_in_escapes() {
        let json = "{\r\n\t\"a\u{7f}\": \"\u{202e}é\u{e0041}\u{9b}\"\r}";
        let shown = escaped_json(json);
        assert_eq!(shown, "{\n\t\"a\\u007f\": \"\\u202eé\\udb40\\udc41\\u009b\"\n}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(json), read(&shown));
    }
}
