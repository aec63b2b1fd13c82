//! Words of messages: numbers of things, and lines that are not too long.

use groundstate_common::{one_line, shortened};

/// Characters of one line of a message, at most: names and lock documents may have any length.
const MAX_MESSAGE: usize = 4000;

/// So many of a thing, in words.
pub(crate) fn count(number: usize, thing: &str) -> String {
    match thing.strip_suffix('y') {
        _ if number == 1 => format!("1 {thing}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {thing}s"),
    }
}

/// What a message says, on one line that is not too long to be read.
pub(crate) fn message(text: &str) -> String {
    shortened(&one_line(text), MAX_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE, count, message};

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!([count(1, "change"), count(0, "change")], ["1 change", "0 changes"]);
        assert_eq!([count(1, "entry"), count(2, "entry")], ["1 entry", "2 entries"]);
    }

    #[test]
    fn messages_are_one_line_of_bounded_length() {
        assert_eq!(message("a\nhelp: b\u{1b}[2J"), "a\\nhelp: b\\u001b[2J");
        assert_eq!(message(&"x".repeat(1 << 20)).chars().count(), MAX_MESSAGE + 1);
    }
}
