//! The tables.

use std::fmt::Write;

/// A time, and what follows from it.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) instances: usize,
    pub(crate) label: &'static str,
    pub(crate) seconds: f64,
    /// How much was read, if that says something.
    pub(crate) bytes: Option<u64>,
    /// Most memory of the whole process, in bytes.
    pub(crate) peak: f64,
}

/// Two figures against each other, and what the ratio may be.
#[derive(Debug)]
pub(crate) struct Ratio {
    /// The size; none for a comparison of sizes.
    pub(crate) instances: Option<usize>,
    pub(crate) what: &'static str,
    pub(crate) value: f64,
    pub(crate) bound: Option<Bound>,
}

/// What a ratio may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Ratio {
    /// Whether the limit, if there is one, is kept.
    pub(crate) fn held(&self) -> bool {
        match self.bound {
            None => true,
            Some(Bound::AtMost(limit)) => self.value <= limit,
            Some(Bound::AtLeast(limit)) => self.value >= limit,
        }
    }
}

/// Figures as a Markdown table; file sizes stand in the first row of each size.
pub(crate) fn figures(rows: &[Figure]) -> String {
    let mut out =
        "| instances | what | time | MB/s | peak memory, MB |\n| ---: | --- | ---: | ---: | ---: |\n"
            .to_owned();
    for row in rows {
        let speed =
            row.bytes.map_or(String::new(), |bytes| format!("{:.0}", bytes as f64 / 1e6 / row.seconds));
        let (instances, label, time, peak) = (row.instances, row.label, time(row.seconds), row.peak / 1e6);
        write_line(&mut out, format_args!("| {instances} | {label} | {time} | {speed} | {peak:.1} |"));
    }
    out
}

/// Ratios as a Markdown table.
pub(crate) fn ratios(rows: &[Ratio]) -> String {
    let mut out = "| instances | what | ratio | limit | |\n| ---: | --- | ---: | --- | --- |\n".to_owned();
    for row in rows {
        let instances = row.instances.map_or("all".to_owned(), |instances| instances.to_string());
        let (limit, verdict) = match row.bound {
            None => (String::new(), ""),
            Some(bound) => (bound.to_string(), if row.held() { "held" } else { "**missed**" }),
        };
        let (what, ratio) = (row.what, short(row.value));
        write_line(&mut out, format_args!("| {instances} | {what} | {ratio} | {limit} | {verdict} |"));
    }
    out
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "at most {limit}"),
            Self::AtLeast(limit) => write!(f, "at least {limit}"),
        }
    }
}

fn write_line(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _written = writeln!(out, "{line}");
}

/// Three digits that count, in seconds or milliseconds.
fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{} ms", short(seconds * 1e3)) } else { format!("{} s", short(seconds)) }
}

fn short(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Figure, Ratio, figures, ratios};

    #[test]
    fn figures_have_three_digits_and_units() {
        let figure = |seconds, bytes| Figure { instances: 10, label: "x", seconds, bytes, peak: 2.5e6 };
        let table = figures(&[figure(0.01234, Some(20_000_000)), figure(47.31, None)]);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(rows, ["| 10 | x | 12.3 ms | 1621 | 2.5 |", "| 10 | x | 47.3 s |  | 2.5 |"]);
    }

    #[test]
    fn each_limit_says_whether_it_was_held() {
        for (value, bound, expected) in [
            (1.2, Some(Bound::AtMost(1.2)), "| 1.20 | at most 1.2 | held |"),
            (1.21, Some(Bound::AtMost(1.2)), "| 1.21 | at most 1.2 | **missed** |"),
            (40.0, Some(Bound::AtLeast(40.0)), "| 40.0 | at least 40 | held |"),
            (39.9, Some(Bound::AtLeast(40.0)), "| 39.9 | at least 40 | **missed** |"),
            (123.0, None, "| 123 |  |  |"),
        ] {
            let table = ratios(&[Ratio { instances: None, what: "x", value, bound }]);
            assert_eq!(table.lines().last(), Some(format!("| all | x {expected}").as_str()));
        }
    }
}
