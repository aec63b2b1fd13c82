//! Writing JSON in the two layouts of state files: two blanks a level, or no white space at all.

use std::io;

use super::escape::push_json_string;

/// Bytes gathered before they are handed on.
const BLOCK: usize = 1 << 16;

/// Writes one document, member by member.
///
/// The caller keeps to the grammar: a name before each value in an object, as many closes as opens.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    out: W,
    block: String,
    indented: bool,
    depth: usize,
    /// Nothing stands in the innermost container yet.
    empty: bool,
    /// A name has been written and its value comes next.
    named: bool,
}

impl<W: io::Write> Writer<W> {
    pub(crate) fn new(out: W, indented: bool) -> Self {
        let block = String::with_capacity(BLOCK + BLOCK / 4);
        Self { out, block, indented, depth: 0, empty: true, named: false }
    }

    /// Continues inside `depth` levels with an item that stands on a line already begun.
    pub(crate) fn fragment(out: W, indented: bool, depth: usize) -> Self {
        Self { depth, named: true, ..Self::new(out, indented) }
    }

    /// Begins an object or array.
    pub(crate) fn open(&mut self, brace: char) {
        self.item();
        self.block.push(brace);
        self.depth += 1;
        self.empty = true;
    }

    /// Ends an object or array; an empty one has no line break inside.
    pub(crate) fn close(&mut self, brace: char) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::replace(&mut self.empty, false) {
            self.line();
        }
        self.block.push(brace);
        self.pass_on()
    }

    /// Writes a member's name.
    pub(crate) fn name(&mut self, name: &str) {
        self.item();
        push_json_string(&mut self.block, name);
        self.block.push_str(if self.indented { ": " } else { ":" });
        self.named = true;
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.item();
        push_json_string(&mut self.block, text);
    }

    /// Writes a number, `true`, `false` or `null`.
    pub(crate) fn scalar(&mut self, text: &str) {
        self.item();
        self.block.push_str(text);
    }

    /// Writes compact JSON text in this document's layout.
    pub(crate) fn raw(&mut self, json: &str) -> io::Result<()> {
        self.item();
        if self.indented {
            self.indent(json)?;
        } else {
            self.block.push_str(json);
        }
        self.pass_on()
    }

    /// Ends the document with a line break and gives the output back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.block.push('\n');
        self.end()
    }

    /// Ends a fragment and gives the output back.
    pub(crate) fn end(mut self) -> io::Result<W> {
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
        if self.indented {
            push_line(&mut self.block, self.depth);
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

    fn copy(&mut self, json: &str, from: &mut usize, to: usize, depth: usize) -> io::Result<()> {
        self.block.push_str(json.get(*from..to).unwrap_or_default());
        push_line(&mut self.block, depth);
        *from = to;
        self.pass_on()
    }
}

/// Index behind the closing quote of the string whose inside begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
            Some(found) if bytes.get(at + found) == Some(&b'\\') => at += found + 2,
            Some(found) => return at + found + 1,
            None => return bytes.len(),
        }
    }
}

fn push_line(out: &mut String, depth: usize) {
    const BLANKS: &str = "\n                                                                ";
    let width = 1 + 2 * depth;
    if let Some(line) = BLANKS.get(..width) {
        out.push_str(line);
    } else {
        out.push_str(BLANKS);
        (BLANKS.len()..width).for_each(|_| out.push(' '));
    }
}
