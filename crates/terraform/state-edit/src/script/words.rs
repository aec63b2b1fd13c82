//! Lines of a script into words.

use super::error::ScriptFault;

/// A word of a line, without the quotes that a shell would take off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'s> {
    pub(super) text: &'s str,
    /// Column of its first character, from 1.
    pub(super) column: usize,
}

impl Word<'_> {
    /// The column of a byte of the word.
    pub(super) fn column_of(&self, at: usize) -> usize {
        self.column + self.text.get(..at).unwrap_or(self.text).chars().count()
    }
}

/// A fault and the column it stands in.
pub(super) type Misplaced = (usize, ScriptFault);

/// Splits a line at white space that is not in quotes; `#` in front of a word begins a comment.
pub(super) fn words(line: &str) -> Result<Vec<Word<'_>>, Misplaced> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next().filter(|c| *c != '#') {
        let mut column = line.chars().count() - rest.chars().count() + 1;
        let (text, len) = if first == '\'' {
            let inside = rest.get(1..).unwrap_or_default();
            let end = inside.find('\'').ok_or((column, ScriptFault::Unclosed { quote: '\'' }))?;
            column += 1;
            (inside.get(..end), end + 2)
        } else {
            let end = word_end(rest).map_err(|at| {
                let before = rest.get(..at).map_or(0, |text| text.chars().count());
                (column + before, ScriptFault::Unclosed { quote: '"' })
            })?;
            // The address of a deposed object ends with its key.
            let end = end + deposed_suffix(rest.get(end..).unwrap_or_default());
            (rest.get(..end), end)
        };
        words.push(Word { text: text.unwrap_or_default(), column });
        let after = rest.get(len..).unwrap_or_default();
        rest = after.trim_start();
        if !rest.is_empty() && rest.len() == after.len() {
            return Err((line.chars().count() - rest.chars().count() + 1, ScriptFault::Glued));
        }
    }
    Ok(words)
}

/// Length of ` (deposed KEY)` at the start of the text; 0 if it begins otherwise.
fn deposed_suffix(text: &str) -> usize {
    let inside =
        text.trim_start().strip_prefix("(deposed ").filter(|_| text.starts_with(char::is_whitespace));
    let end = inside.and_then(|inside| inside.find(')').map(|end| text.len() - inside.len() + end + 1));
    end.unwrap_or(0)
}

/// Where the word at the start of the text ends, or where a quote begins that does not.
fn word_end(text: &str) -> Result<usize, usize> {
    let mut open = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if open.is_some() => escaped = true,
            '"' => open = if open.is_some() { None } else { Some(at) },
            c if c.is_whitespace() && open.is_none() => return Ok(at),
            _ => {}
        }
    }
    open.map_or(Ok(text.len()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[(&str, usize)]) {
        let found = words(line).unwrap();
        let found: Vec<_> = found.iter().map(|word| (word.text, word.column)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn words_end_at_white_space_outside_of_quotes() {
        check("", &[]);
        check("  # nothing", &[]);
        check("mv a.b  c.d # why", &[("mv", 1), ("a.b", 4), ("c.d", 9)]);
        check(r#"rm a.b["x # y"]#z"#, &[("rm", 1), (r#"a.b["x # y"]#z"#, 4)]);
        check(r#"rm 'a.b["ü y"]' c.d"#, &[("rm", 1), (r#"a.b["ü y"]"#, 5), ("c.d", 17)]);
        check(r#"rm a.b["x\" y"]"#, &[("rm", 1), (r#"a.b["x\" y"]"#, 4)]);
        check(r"rm a\ b", &[("rm", 1), (r"a\", 4), ("b", 7)]);
        check(
            "rm a.b[0] (deposed 0a1b2c3d) c.d",
            &[("rm", 1), ("a.b[0] (deposed 0a1b2c3d)", 4), ("c.d", 30)],
        );
        check("rm a.b (deposed", &[("rm", 1), ("a.b", 4), ("(deposed", 8)]);
    }

    #[test]
    fn quotes_have_to_be_closed_and_words_apart() {
        assert_eq!(words("rm 'a.b"), Err((4, ScriptFault::Unclosed { quote: '\'' })));
        assert_eq!(words(r#"rm ü.b["x"#), Err((8, ScriptFault::Unclosed { quote: '"' })));
        assert_eq!(words("rm 'a.b'c.d"), Err((9, ScriptFault::Glued)));
    }
}
