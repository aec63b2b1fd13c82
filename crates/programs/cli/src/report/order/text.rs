//! Graphs as lines for people.

use std::fmt::Write as _;

use groundstate_common::one_line;

use super::graph::Graph;

/// How many numbers are listed of what an operation waits for.
const SHOWN: usize = 12;

/// A numbered line for each operation, in order, with the numbers of those it comes after.
///
/// Of a graph with too many edges to look at, each line has the wave instead.
pub(crate) fn listing(graph: &dyn Graph) -> Option<String> {
    let order = graph.order()?;
    let waves = graph.waves()?;
    let mut place = vec![0; order.len()];
    for (at, &node) in order.iter().enumerate() {
        place[node] = at + 1;
    }
    // One list at a time: together they may be as many as the square of the operations.
    let mut waits = graph.waits();
    let width = order.len().to_string().len();
    let mut text = String::new();
    for (at, &node) in order.iter().enumerate() {
        // Writing into a string does not fail.
        let _ = write!(text, "{:>width$}. {}", at + 1, one_line(&graph.line(node)));
        match &mut waits {
            Some(waits) => {
                let mut after: Vec<usize> = waits(node).into_iter().map(|node| place[node]).collect();
                after.sort_unstable();
                if !after.is_empty() {
                    let _ = write!(text, "  after {}", numbers(&after));
                }
            }
            None => {
                let _ = write!(text, "  in wave {}", waves.earliest[node] + 1);
            }
        }
        text.push('\n');
    }
    let _ = match (order.len(), waves.count) {
        (0, _) => writeln!(text, "Nothing to do."),
        (1, _) => writeln!(text, "\n1 operation."),
        (count, 1) => writeln!(text, "\n{count} operations in 1 wave."),
        (count, waves) => writeln!(text, "\n{count} operations in {waves} waves."),
    };
    Some(text)
}

/// What can be done at the same time, and what could as well be done later.
pub(crate) fn waves(graph: &dyn Graph) -> Option<String> {
    let waves = graph.waves()?;
    let mut text = String::new();
    for (at, group) in waves.groups().iter().enumerate() {
        let _ = writeln!(text, "wave {}", at + 1);
        for &node in group {
            let _ = write!(text, "  {}", one_line(&graph.line(node)));
            match waves.slack(node) {
                0 => {}
                1 => text.push_str("  could be 1 wave later"),
                slack => {
                    let _ = write!(text, "  could be {slack} waves later");
                }
            }
            text.push('\n');
        }
    }
    if waves.count == 0 {
        text.push_str("Nothing to do.\n");
    }
    Some(text)
}

/// Numbers in order, with those that follow each other as ranges.
fn numbers(sorted: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in sorted {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => ranges.push((number, number)),
        }
    }
    let mut text = String::new();
    for (at, (begin, end)) in ranges.iter().take(SHOWN).enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = match end - begin {
            0 => write!(text, "{comma}{begin}"),
            1 => write!(text, "{comma}{begin}, {end}"),
            _ => write!(text, "{comma}{begin} to {end}"),
        };
    }
    if ranges.len() > SHOWN {
        let _ = write!(text, " and others, {} in all", sorted.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_that_follow_each_other_are_ranges() {
        assert_eq!(numbers(&[3]), "3");
        assert_eq!(numbers(&[1, 2, 4, 5, 6, 9]), "1, 2, 4 to 6, 9");
        let odd: Vec<usize> = (0..20).map(|at| 2 * at + 1).collect();
        assert!(numbers(&odd).ends_with(", 23 and others, 20 in all"), "{}", numbers(&odd));
    }
}
