//! Graphs as lines for people.

use std::fmt::Write as _;

use groundstate_ordering::{ApplyKind, OpKind, OpNode, OperationGraph};

/// How many numbers are listed of what an operation waits for.
const SHOWN: usize = 12;

/// A numbered line for each operation, in order, with the numbers of those it comes after.
pub(super) fn listing(graph: &OperationGraph) -> Option<String> {
    let order = graph.order_numbers().ok()?;
    let waves = graph.waves().ok()?;
    let mut place = vec![0; order.len()];
    for (at, &node) in order.iter().enumerate() {
        place[node] = at + 1;
    }
    let width = order.len().to_string().len();
    let mut text = String::new();
    for (at, &node) in order.iter().enumerate() {
        // Writing into a string does not fail.
        let _ = write!(text, "{:>width$}. {}", at + 1, label(&graph.nodes()[node]));
        let found = graph.dependencies(node).into_iter().filter_map(|edge| graph.find(edge.to));
        let mut after: Vec<usize> = found.map(|node| place[node]).collect();
        after.sort_unstable();
        if !after.is_empty() {
            let _ = write!(text, "  after {}", numbers(&after));
        }
        text.push('\n');
    }
    let _ = match order.len() {
        0 => writeln!(text, "Nothing to do."),
        1 => writeln!(text, "\n1 operation."),
        count => writeln!(text, "\n{count} operations in {} waves.", waves.count),
    };
    Some(text)
}

/// What can be done at the same time, and what could as well be done later.
pub(super) fn waves(graph: &OperationGraph) -> Option<String> {
    let waves = graph.waves().ok()?;
    let mut text = String::new();
    for (at, group) in waves.groups().iter().enumerate() {
        let _ = writeln!(text, "wave {}", at + 1);
        for &node in group {
            let _ = write!(text, "  {}", label(&graph.nodes()[node]));
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

/// The operation and what it does.
fn label(node: &OpNode) -> String {
    let action = match node.kind {
        OpKind::Apply(ApplyKind::Check) => "check",
        OpKind::Apply(ApplyKind::Create) => "create",
        OpKind::Apply(ApplyKind::Read) => "read",
        OpKind::Apply(ApplyKind::Update) => "update",
        OpKind::Apply(ApplyKind::ReplaceCreate) => "create the new one",
        OpKind::Apply(ApplyKind::ForgetCreate) => "create, the old one is forgotten",
        _ => return node.key.to_string(),
    };
    format!("{} ({action})", node.key)
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
