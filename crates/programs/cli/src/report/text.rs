//! Words of messages: numbers of things, and lines that are not too long.

use groundstate_common::{Clock, SystemClock, Timestamp, is_hidden, one_line, shell_word, shortened};

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

/// A size in bytes, in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return count(usize::try_from(bytes).unwrap_or_default(), "byte");
    }
    // Tenths, so that no rounding makes 1000 of a unit of what is less.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1000, unit + 1);
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// How long ago, in words.
pub(crate) fn age(created: Timestamp) -> String {
    let seconds = SystemClock.now().duration_since(created).unwrap_or_default().as_secs();
    match seconds {
        0..=119 => format!("{seconds} seconds"),
        120..=7_199 => format!("{} minutes", seconds / 60),
        7_200..=172_799 => format!("{} hours", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Lines in which the cells of a column have one width.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).filter(|(_, width)| *width > 0);
        let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// What a message says, on one line that is not too long to be read.
pub(crate) fn message(text: &str) -> String {
    shortened(&one_line(text), MAX_MESSAGE).into_owned()
}

/// Up to three of these names like this one, the likeliest first. Names with hidden characters are not proposed.
pub(crate) fn similar(wanted: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let most = (wanted.chars().count() / 4).max(2);
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(usize, String)> = known
        .into_iter()
        .filter(|name| name.len() <= MAX_MESSAGE && !name.chars().any(is_hidden))
        .filter(|name| name.len().abs_diff(wanted.len()) <= 4 * most)
        .map(|name| (strsim::osa_distance(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The question for names that may have been meant; nothing if there are none.
pub(crate) fn did_you_mean(names: &[String]) -> Option<String> {
    let words: Vec<_> = names.iter().map(|name| shell_word(name)).collect();
    (!words.is_empty()).then(|| format!("did you mean {}?", words.join(", or ")))
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGE, count, did_you_mean, message, similar, size};

    #[test]
    fn sizes_have_the_unit_that_fits() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (999_999, "999.9 kB"),
            (1_000_000, "1.0 MB"),
            (100_123_456_789, "100.1 GB"),
            (u64::MAX, "18446.7 PB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn names_that_may_have_been_meant_are_proposed_without_hidden_characters() {
        let known = || {
            ["aws_instance.web", "aws_instance.wet", "aws_vpc.main", "aws_instance.we\u{1b}"]
                .map(str::to_owned)
        };
        assert_eq!(similar("aws_instance.wbe", known()), ["aws_instance.web", "aws_instance.wet"]);
        assert!(similar("nothing", known()).is_empty());
        assert_eq!(did_you_mean(&["a[\"b\"]".to_owned()]).as_deref(), Some("did you mean 'a[\"b\"]'?"));
        assert_eq!(did_you_mean(&[]), None);
    }

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
