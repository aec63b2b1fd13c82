//! Text from data on one line of a terminal, a log or a command that is suggested.

use std::borrow::Cow;

/// Whether a character must not reach a reader as it is: it breaks the line, steers a terminal, turns the direction of
/// the text around it, or cannot be seen, so that two different names would look the same.
///
/// ```
/// use groundstate_common::is_hidden;
///
/// assert!(['\n', '\u{1b}', '\u{9b}', '\u{202e}', '\u{200b}', '\u{e0041}'].into_iter().all(is_hidden));
/// assert!([' ', 'é', '日', '😀'].into_iter().all(|c| !is_hidden(c)));
/// ```
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{feff}'
            // Fillers: letters without a shape.
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            // Zero width, directions, line and paragraph separator, invisible operators, isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Selectors of variants: any number of them may follow any letter, and carry a text of their own.
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags and the other half of the selectors.
            | '\u{e0000}'..='\u{e0fff}')
}

/// Bytes in lower-case hexadecimal digits, as digests are written.
///
/// ```
/// assert_eq!(groundstate_common::hex(&[0, 0xab]), "00ab");
/// ```
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// The bytes that [`hex`] writes so; nothing for another text, also for one with capital letters.
///
/// ```
/// use groundstate_common::unhex;
///
/// assert_eq!(unhex("00ab"), Some(vec![0, 0xab]));
/// assert!(["0", "0g", "AB", "é0"].into_iter().all(|text| unhex(text).is_none()));
/// ```
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// The text on one line: hidden characters as `\n`, `\r`, `\t`, `\uXXXX` and `\UXXXXXXXX`, as in addresses.
///
/// ```
/// use groundstate_common::one_line;
///
/// assert_eq!(one_line("a\nhelp: b\u{200b}\u{e0041}"), r"a\nhelp: b\u200b\U000e0041");
/// ```
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    // Nearly all text is of these alone.
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    if text.bytes().all(is_plain) || !text.chars().any(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_escaped(&mut out, c);
    }
    out.into()
}

/// Appends a character as [`one_line`] writes it.
pub fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if !is_hidden(c) => out.push(c),
        c if u32::from(c) > 0xffff => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
    }
}

/// At most `most` characters of the text, with `…` where more was.
///
/// ```
/// use groundstate_common::shortened;
///
/// assert_eq!(shortened("terraform", 5), "terra…");
/// assert_eq!(shortened("terraform", 9), "terraform");
/// ```
#[must_use]
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// The text as one word of a POSIX shell, on one line.
///
/// Hidden characters need the quotes `$'…'`, which bash, zsh, ksh and the POSIX standard of 2024 know.
///
/// ```
/// use groundstate_common::shell_word;
///
/// assert_eq!(shell_word("prod.tfstate"), "prod.tfstate");
/// assert_eq!(shell_word("9; curl x | sh #"), "'9; curl x | sh #'");
/// assert_eq!(shell_word("it's"), r"'it'\''s'");
/// assert_eq!(shell_word("a\n\u{200b}b"), r"$'a\n\xe2\x80\x8bb'");
/// ```
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into();
    }
    if !text.chars().any(is_hidden) {
        return format!("'{}'", text.replace('\'', r"'\''")).into();
    }
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\'' | '\\' => out.extend(['\\', c]),
            c if is_hidden(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out.into()
}

/// A command line to be pasted: its name and options as they are, then each word of data quoted.
///
/// Data that begins with a hyphen is no option: `--` comes before it.
///
/// ```
/// use groundstate_common::shell_command;
///
/// assert_eq!(shell_command("groundstate list", &["a b"]), "groundstate list 'a b'");
/// assert_eq!(shell_command("groundstate unlock", &[".", "--force"]), "groundstate unlock -- . --force");
/// ```
#[must_use]
pub fn shell_command(command: &str, words: &[&str]) -> String {
    let mut out = command.to_owned();
    if words.iter().any(|word| word.starts_with('-') && *word != "-") {
        out.push_str(" --");
    }
    for word in words {
        out.push(' ');
        out.push_str(&shell_word(word));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_hidden, one_line, shell_word};

    #[test]
    fn every_kind_of_hidden_character_is_escaped() {
        let hidden = "\0\u{1}\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\
                      \u{202a}\u{202e}\u{2060}\u{2064}\u{2066}\u{2069}\u{feff}\u{fe0f}\u{e0001}\u{e007f}\u{e0100}";
        for c in hidden.chars() {
            let shown = one_line(&format!("a{c}b")).into_owned();
            assert!(shown.starts_with("a\\") && shown.is_ascii(), "{shown}");
        }
        assert_eq!(one_line("größe 日本 😀 \\n"), "größe 日本 😀 \\n");
    }

    #[test]
    fn the_shell_reads_a_word_as_the_same_text() {
        let words = [
            "",
            "a b",
            "$(id)",
            "`id`",
            "it's",
            "-x",
            "~",
            "*",
            "a\nb",
            "\u{1b}[31m'\\",
            "é\u{200b}1",
            "a;b|c&d",
        ];
        for word in words {
            let script = format!("printf %s {}", shell_word(word));
            let Ok(said) = std::process::Command::new("bash").args(["-c", &script]).output() else {
                return println!("not run: there is no bash");
            };
            assert_eq!(String::from_utf8_lossy(&said.stdout), word, "{script}");
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            prop_assert!(!one_line(&text).chars().any(is_hidden));
            prop_assert!(!shell_word(&text).chars().any(is_hidden));
        }
    }
}
