//! Rust source as words and signs, without comments and the contents of literals.

/// A word or a sign of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// An identifier, a number, a single punctuation character, or `"` for a whole literal in quotes.
    pub(crate) text: &'a str,
    /// The line it begins on, counted from 1.
    pub(crate) line: usize,
}

/// An attribute, `#[...]` or `#![...]`.
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'t, 'a> {
    /// What stands between the brackets.
    pub(crate) tokens: &'t [Token<'a>],
    /// The line it begins on.
    pub(crate) line: usize,
}

impl Attribute<'_, '_> {
    /// Tells whether the word occurs in it, also inside `cfg_attr`.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.text == word)
    }
}

/// Splits a source file.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (length, text) = if let Some(length) = comment(rest) {
            (length, None)
        } else if let Some(length) = literal(rest) {
            (length, Some("\""))
        } else if c.is_whitespace() {
            (c.len_utf8(), None)
        } else {
            let length = word(rest).max(c.len_utf8());
            (length, Some(&rest[..length]))
        };
        tokens.extend(text.map(|text| Token { text, line }));
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// The attributes of a source file.
pub(crate) fn attributes<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<Attribute<'t, 'a>> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut attributes = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "#") {
        let open = if text(at + 1) == "!" { at + 2 } else { at + 1 };
        if text(open) == "[" {
            let close = closing(tokens, open);
            attributes.push(Attribute { tokens: &tokens[open + 1..close], line: token.line });
        }
    }
    attributes
}

/// The tokens without the modules that only tests are built with.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    const TEST_MODULE: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begins = tokens[at..].iter().map(|token| token.text).take(TEST_MODULE.len()).eq(TEST_MODULE);
        let open = at + TEST_MODULE.len() + 1;
        if begins && tokens.get(open).is_some_and(|token| token.text == "{") {
            at = closing(tokens, open) + 1;
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// The place of the bracket that closes the one at `open`, or the end.
fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The length of the comment that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(pair) = bytes.get(at..at + 2) {
        let step = match pair {
            b"/*" => {
                depth += 1;
                2
            }
            b"*/" => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return Some(at);
        }
    }
    Some(text.len())
}

/// The length of the string or character that the text begins with, prefix and all.
fn literal(text: &str) -> Option<usize> {
    if let Some(prefix) = ["r", "br", "cr"].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
    }) {
        let hashes = text[prefix.len()..].find('"')?;
        let open = prefix.len() + hashes + 1;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(text[open..].find(&close).map_or(text.len(), |end| open + end + close.len()));
    }
    if let Some(prefix) = ["\"", "b\"", "c\""].into_iter().find(|prefix| text.starts_with(prefix)) {
        return Some(quoted(text, prefix.len(), '"'));
    }
    let prefix = if text.starts_with("b'") { "b'" } else { "'" };
    let mut inside = text.strip_prefix(prefix)?.chars();
    // `'a` is a lifetime, `'a'` is a character.
    let first = inside.next()?;
    (first == '\\' || inside.next() == Some('\'')).then(|| quoted(text, prefix.len(), '\''))
}

/// The length up to and including the closing quote, searched from `at` on.
fn quoted(text: &str, at: usize, quote: char) -> usize {
    let mut escaped = false;
    for (offset, c) in text[at..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + offset + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of the identifier or number that the text begins with, or 0.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{attributes, tokens, without_tests};

    fn words(source: &str) -> String {
        tokens(source).iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_vanish_and_literals_become_a_quote() {
        for (source, expected) in [
            ("a // todo!()\nb", "a b"),
            ("a /* x /* y */ z */ b /* open", "a b"),
            (r#"f("todo!( \" ", 'x', '\'', '"')"#, "f ( \" , \" , \" , \" )"),
            (r##"r"\" b r#"a " b"# br"x" b"\"" c"y" b'"' "##, "\" b \" \" \" \" \""),
            ("fn f<'a>(x: &'a str) -> '_ {}", "fn f < ' a > ( x : & ' a str ) - > ' _ { }"),
            ("r#type bright crate_b", "r # type bright crate_b"),
            ("é'é'1.5e3", "é \" 1 . 5e3"),
            ("\"open", "\""),
            ("//", ""),
        ] {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn lines_are_counted_through_comments_and_literals() {
        let source = "a\n/* \n */ b \"\n\n\" c";
        assert_eq!(tokens(source).iter().map(|token| token.line).collect::<Vec<_>>(), [1, 3, 3, 5]);
    }

    #[test]
    fn attributes_are_found_inside_and_outside() {
        let tokens = tokens("#![expect(x)]\n#[cfg_attr(test, ignore = \"no\")] fn f() { x[0] }\n#[open");
        let found: Vec<_> =
            attributes(&tokens).iter().map(|a| (a.line, a.has("x"), a.has("ignore"))).collect();
        assert_eq!(found, [(1, true, false), (2, false, true), (3, false, false)]);
    }

    #[test]
    fn test_modules_are_left_out_and_what_follows_them_stays() {
        let source = "fn a() {} #[cfg(test)] mod tests { fn b() { {} } } fn c() {} #[cfg(test)] mod d;";
        let kept: Vec<_> = without_tests(&tokens(source)).iter().map(|token| token.text).collect();
        assert_eq!(kept.join(" "), "fn a ( ) { } fn c ( ) { } # [ cfg ( test ) ] mod d ;");
    }
}
