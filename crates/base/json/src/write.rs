//! Writing JSON in the layouts of Go's encoder: some blanks a level, or no white space at all.

use std::{fmt, io};

use crate::escape::{Escapes, push_json_string_as};

/// Bytes gathered before they are handed on.
const BLOCK: usize = 1 << 16;

/// White space and escapes of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Blanks a level, or 0 for no white space at all.
    pub indent: u8,
    /// How strings are spelled.
    pub escapes: Escapes,
}

impl Layout {
    /// No white space, HTML escaped: what Go's encoder does unless it is told otherwise.
    pub const COMPACT: Self = Self { indent: 0, escapes: Escapes::Html };

    /// Lines with so many blanks a level.
    #[must_use]
    pub const fn indented(indent: u8) -> Self {
        Self { indent, escapes: Escapes::Html }
    }

    /// The same white space with other escapes.
    #[must_use]
    pub const fn with_escapes(self, escapes: Escapes) -> Self {
        Self { escapes, ..self }
    }
}

/// Writes one document, member by member.
///
/// The caller keeps to the grammar: a name before each value in an object, as many closes as opens.
///
/// ```
/// use groundstate_json::{Layout, Writer};
///
/// let mut writer = Writer::new(Vec::new(), Layout::indented(4));
/// writer.open('{');
/// writer.string_member("id", "a");
/// writer.name("list");
/// writer.raw("[1,{}]")?;
/// writer.close('}')?;
/// let text = writer.finish()?;
/// assert_eq!(str::from_utf8(&text).unwrap(), "{\n    \"id\": \"a\",\n    \"list\": [\n        1,\n        {}\n    ]\n}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W> {
    out: W,
    block: String,
    layout: Layout,
    depth: usize,
    /// Nothing stands in the innermost container yet.
    empty: bool,
    /// A name has been written and its value comes next.
    named: bool,
}

impl<W> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer({:?}, depth {})", self.layout, self.depth)
    }
}

impl<W: io::Write> Writer<W> {
    /// A writer at the start of a document.
    pub fn new(out: W, layout: Layout) -> Self {
        let block = String::with_capacity(BLOCK + BLOCK / 4);
        Self { out, block, layout, depth: 0, empty: true, named: false }
    }

    /// Continues inside `depth` levels with an item that stands on a line already begun.
    pub fn fragment(out: W, layout: Layout, depth: usize) -> Self {
        Self { depth, named: true, ..Self::new(out, layout) }
    }

    /// White space and escapes of what is written.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Begins an object or array.
    pub fn open(&mut self, brace: char) {
        self.item();
        self.block.push(brace);
        self.depth += 1;
        self.empty = true;
    }

    /// Ends an object or array; an empty one has no line break inside.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn close(&mut self, brace: char) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::replace(&mut self.empty, false) {
            self.line();
        }
        self.block.push(brace);
        self.pass_on()
    }

    /// Writes a member's name.
    pub fn name(&mut self, name: &str) {
        self.item();
        push_json_string_as(&mut self.block, name, self.layout.escapes);
        self.block.push_str(if self.layout.indent > 0 { ": " } else { ":" });
        self.named = true;
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        self.item();
        push_json_string_as(&mut self.block, text, self.layout.escapes);
    }

    /// Writes a number, `true`, `false` or `null`.
    pub fn scalar(&mut self, text: &str) {
        self.item();
        self.block.push_str(text);
    }

    /// Writes a member that is a string.
    pub fn string_member(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    /// Writes a member that is `true` or `false`.
    pub fn bool_member(&mut self, name: &str, value: bool) {
        self.name(name);
        self.scalar(if value { "true" } else { "false" });
    }

    /// Writes an array of strings.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn strings<'a>(&mut self, values: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        self.open('[');
        values.into_iter().for_each(|value| self.string(value));
        self.close(']')
    }

    /// Writes compact JSON text in this document's layout; its strings stay as they are.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn raw(&mut self, json: &str) -> io::Result<()> {
        self.item();
        if self.layout.indent > 0 {
            self.indent(json)?;
        } else {
            self.block.push_str(json);
        }
        self.pass_on()
    }

    /// Writes items of the innermost container that a [`Writer::fragment`] of this layout and depth has made.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn fragments(&mut self, items: &[u8]) -> io::Result<()> {
        self.item();
        self.out.write_all(self.block.as_bytes())?;
        self.block.clear();
        self.out.write_all(items)
    }

    /// Ends the document with a line break and gives the output back.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.block.push('\n');
        self.end()
    }

    /// Ends the text without a line break and gives the output back.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn end(mut self) -> io::Result<W> {
        self.out.write_all(self.block.as_bytes())?;
        Ok(self.out)
    }

    fn item(&mut self) {
        if std::mem::take(&mut self.named) {
            return;
        }
        if !std::mem::replace(&mut self.empty, false) {
            self.block.push(',');
        }
        if self.depth > 0 {
            self.line();
        }
    }

    fn line(&mut self) {
        if self.layout.indent > 0 {
            let width = self.width(self.depth);
            push_line(&mut self.block, width);
        }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if self.block.len() >= BLOCK {
            self.out.write_all(self.block.as_bytes())?;
            self.block.clear();
        }
        Ok(())
    }

    /// Gives compact text its line breaks: the text changes only between tokens.
    fn indent(&mut self, json: &str) -> io::Result<()> {
        let bytes = json.as_bytes();
        let mut depth = self.depth;
        let mut from = 0;
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            at += 1;
            match b {
                b'"' => at = string_end(bytes, at),
                b'{' | b'[' => {
                    // An empty container stays on its line.
                    if matches!(bytes.get(at), Some(b'}' | b']')) {
                        at += 1;
                        continue;
                    }
                    depth += 1;
                    self.copy(json, &mut from, at, depth)?;
                }
                b',' => self.copy(json, &mut from, at, depth)?,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.copy(json, &mut from, at - 1, depth)?;
                }
                b':' => {
                    self.block.push_str(json.get(from..at).unwrap_or_default());
                    self.block.push(' ');
                    from = at;
                }
                _ => {}
            }
        }
        self.block.push_str(json.get(from..).unwrap_or_default());
        Ok(())
    }

    fn width(&self, depth: usize) -> usize {
        depth.saturating_mul(usize::from(self.layout.indent))
    }

    fn copy(&mut self, json: &str, from: &mut usize, to: usize, depth: usize) -> io::Result<()> {
        self.block.push_str(json.get(*from..to).unwrap_or_default());
        let width = self.width(depth);
        push_line(&mut self.block, width);
        *from = to;
        self.pass_on()
    }
}

/// A compact value with its line breaks, and so many blanks a level. It changes only between tokens.
///
/// ```
/// let text = groundstate_json::indented(r#"{"a":[1,{"b":"{,:}"}],"c":{}}"#, 2);
/// assert_eq!(text, "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"{,:}\"\n    }\n  ],\n  \"c\": {}\n}");
/// ```
pub fn indented(compact: &str, blanks: u8) -> String {
    let mut writer = Writer::fragment(Vec::new(), Layout::indented(blanks), 0);
    // Writing into memory does not fail, and what comes out is the same text with more white space.
    let written = writer.raw(compact).and_then(|()| writer.end());
    written.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Index behind the closing quote of the string whose inside begins at `at`.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
            Some(found) if bytes.get(at + found) == Some(&b'\\') => at += found + 2,
            Some(found) => return at + found + 1,
            None => return bytes.len(),
        }
    }
}

fn push_line(out: &mut String, blanks: usize) {
    const BLANKS: &str = "\n                                                                ";
    let width = blanks.saturating_add(1);
    if let Some(line) = BLANKS.get(..width) {
        out.push_str(line);
    } else {
        out.push_str(BLANKS);
        (BLANKS.len()..width).for_each(|_| out.push(' '));
    }
}
