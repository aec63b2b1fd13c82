//! Values in the syntax of configuration, as `show` prints them.

use groundstate_common::{is_hidden, push_escaped};

use groundstate_json::{Kind, Tape};

use crate::dynamic::unwrapped;
use crate::{Event, Events, Marks};

const INDENT: &str = "    ";

/// Levels that are indented. A file may nest thousands, and indenting them all would print a multiple of its size.
const MAX_INDENTED: usize = 100;

/// What stands where a value is hidden.
const HIDDEN: &str = "(sensitive value)";

/// What ends a text over several lines.
const END: &str = "EOT";

/// Prints values over several lines.
#[derive(Debug)]
pub struct Hcl<'a> {
    tape: &'a Tape<'a>,
    marks: &'a Marks,
    out: String,
    open: Vec<Frame>,
    /// How far the outermost value is indented already.
    level: usize,
    /// The outermost object is the content of a block: it has no braces, and null attributes are left out.
    block: bool,
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    /// Width of the longest name.
    width: usize,
    empty: bool,
}

impl<'a> Hcl<'a> {
    /// The members of an object as the lines of a block that is indented by `level`.
    pub fn block(tape: &'a Tape<'a>, marks: &'a Marks, level: usize) -> String {
        let whole = tape.root().is_some_and(|root| marks.contains(unwrapped(tape, root)));
        let object = tape.root().is_some_and(|root| tape.kind(unwrapped(tape, root)) == Kind::Object);
        if whole || !object {
            let value = Self::value(tape, marks, level);
            return format!("{}{value}\n", INDENT.repeat(level));
        }
        // The braces of the block itself stand one level further out.
        Self::print(tape, marks, level.saturating_sub(1), true)
    }

    /// A value whose first line stands behind something else; without a line break at the end.
    pub fn value(tape: &'a Tape<'a>, marks: &'a Marks, level: usize) -> String {
        let mut out = Self::print(tape, marks, level, false);
        out.truncate(out.trim_end_matches('\n').len());
        out
    }

    fn print(tape: &'a Tape<'a>, marks: &'a Marks, level: usize, block: bool) -> String {
        let mut hcl = Self { tape, marks, out: String::new(), open: Vec::new(), level, block };
        if let Some(root) = tape.root() {
            for (name, event) in Events::new(tape, marks, root) {
                hcl.event(name, event);
            }
        }
        hcl.out
    }

    fn event(&mut self, name: Option<usize>, event: Event) {
        match event {
            Event::Close(_) => return self.close(),
            Event::Open(token) if self.open.is_empty() && self.block => return self.push(token),
            Event::Leaf(token) if self.left_out(token) => return,
            _ => {}
        }
        self.begin(name);
        match event {
            Event::Open(token) => {
                self.push(token);
                let empty = self.open.last().is_some_and(|frame| frame.empty);
                let array = self.tape.kind(token) == Kind::Array;
                self.out.push(if array { '[' } else { '{' });
                if !empty {
                    self.out.push('\n');
                }
                return;
            }
            Event::Leaf(token) => self.scalar(token),
            Event::Hidden(_) => self.out.push_str(HIDDEN),
            Event::Close(_) => {}
        }
        self.end();
    }

    /// Whether this is a null attribute of the block.
    fn left_out(&self, token: usize) -> bool {
        self.block && self.open.len() == 1 && self.tape.kind(token) == Kind::Null
    }

    fn push(&mut self, token: usize) {
        let kind = self.tape.kind(token);
        let top = self.block && self.open.is_empty();
        let width = if kind == Kind::Object { self.width(token, top) } else { 0 };
        self.open.push(Frame { kind, width, empty: self.tape.elements(token).next().is_none() });
    }

    fn width(&self, token: usize, top: bool) -> usize {
        let shown = self.tape.members(token).filter(|(_, value)| {
            let value = unwrapped(self.tape, *value);
            !(top && self.tape.kind(value) == Kind::Null && !self.marks.contains(value))
        });
        shown.map(|(key, _)| self.name(key).chars().count()).max().unwrap_or(0)
    }

    fn name(&self, token: usize) -> String {
        let name = self.tape.string(token);
        // Identifiers of the language may have letters that cannot be seen.
        let is_plain = groundstate_states::addr::is_identifier(&name) && !name.chars().any(is_hidden);
        if is_plain { name } else { quoted(&name) }
    }

    fn indent(&self) -> String {
        INDENT.repeat(MAX_INDENTED.min(self.level + self.open.len()))
    }

    /// Writes what stands on the line before a value.
    fn begin(&mut self, name: Option<usize>) {
        let Some(frame) = self.open.last() else { return };
        let indent = self.indent();
        self.out.push_str(&indent);
        if let Some(name) = name {
            self.out.push_str(&format!("{:<width$} = ", self.name(name), width = frame.width));
        }
    }

    fn end(&mut self) {
        if self.open.last().is_some_and(|frame| frame.kind == Kind::Array) {
            self.out.push(',');
        }
        self.out.push('\n');
    }

    fn close(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        if self.open.is_empty() && self.block {
            return;
        }
        if !frame.empty {
            let indent = self.indent();
            self.out.push_str(&indent);
        }
        self.out.push(if frame.kind == Kind::Array { ']' } else { '}' });
        self.end();
    }

    fn scalar(&mut self, token: usize) {
        if self.tape.kind(token) != Kind::String {
            self.out.push_str(self.tape.text(token));
            return;
        }
        let text = self.tape.string(token);
        let printable = text.chars().all(|c| c == '\n' || c == '\t' || !is_hidden(c))
            && text.lines().all(|line| line.trim() != END);
        if !text.trim_end_matches('\n').contains('\n') || !printable {
            self.out.push_str(&quoted(&text));
            return;
        }
        let indent = self.indent();
        self.out.push_str(&format!("<<-{END}\n"));
        for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
            let inner = if line.is_empty() { "" } else { &format!("{indent}{INDENT}") };
            self.out.push_str(&format!("{inner}{line}\n"));
        }
        self.out.push_str(&format!("{indent}{END}"));
    }
}

/// A string in quotes, on one line and without anything that steers a terminal.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => push_escaped(&mut out, c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use groundstate_states::{AttributePath, PathStep};

    use crate::{Hcl, Marks, quoted};
    use groundstate_json::Tape;

    fn block(text: &str, sensitive: &[&str]) -> String {
        let tape = Tape::new(text);
        let path = |name: &&str| AttributePath { steps: vec![PathStep::attribute(name)] };
        let paths: Vec<_> = sensitive.iter().map(path).collect();
        Hcl::block(&tape, &Marks::new(&tape, &paths), 1)
    }

    #[test]
    fn aligns_names_and_leaves_null_attributes_out() {
        let text =
            r#"{"id":"x","input":{"a":1,"key with space":[true,null,{}]},"gone_and_much_longer":null}"#;
        insta::assert_snapshot!(block(text, &[]), @r#"
            id    = "x"
            input = {
                a                = 1
                "key with space" = [
                    true,
                    null,
                    {},
                ]
            }
        "#);
    }

    #[test]
    fn hides_sensitive_values_of_every_kind() {
        let text = r#"{"a":"hunter2","b":{"c":"hunter2"},"d":null,"e":[]}"#;
        insta::assert_snapshot!(block(text, &["a", "b", "d"]), @"
            a = (sensitive value)
            b = (sensitive value)
            d = (sensitive value)
            e = []
        ");
    }

    #[test]
    fn hides_everything_when_the_whole_object_is_sensitive() {
        let tape = Tape::new(r#"{"a":"hunter2"}"#);
        let marks = Marks::new(&tape, &[AttributePath::default()]);
        assert_eq!(Hcl::block(&tape, &marks, 1), "    (sensitive value)\n");
    }

    #[test]
    fn writes_long_texts_as_they_are() {
        let text = r#"{"script":"one\n\n two\n","x":"a\nb\u001b","y":"a\n EOT\nb"}"#;
        insta::assert_snapshot!(block(text, &[]), @r#"
            script = <<-EOT
                one

                 two
            EOT
            x      = "a\nb\u001b"
            y      = "a\n EOT\nb"
        "#);
    }

    #[test]
    fn quotes_what_steers_terminals() {
        assert_eq!(quoted("a\"\\\u{1b}[31m\n\u{9b}"), r#""a\"\\\u001b[31m\n\u009b""#);
    }

    #[test]
    fn prints_values_that_nest_deeply() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(9_000), "]".repeat(9_000));
        assert_eq!(block(&text, &[]).lines().count(), 2 * 9_000 - 1);
    }
}
