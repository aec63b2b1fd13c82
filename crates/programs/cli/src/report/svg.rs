//! Which graphs are drawn as pictures.

use crate::report::error::{Failure, Kind, Result};

/// Larger graphs are no pictures any more.
const MOST: Size = Size { nodes: 3_000, edges: 12_000 };

/// How large a graph is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
}

impl Size {
    /// Refuses pictures that show nothing any more. `narrows` is the option by which the command draws a part, if it has one.
    pub(crate) fn is_readable(self, narrows: Option<&str>) -> Result<()> {
        let Self { nodes, edges } = self;
        if nodes <= MOST.nodes && edges <= MOST.edges {
            return Ok(());
        }
        let message = format!(
            "a picture of {nodes} nodes and {edges} edges cannot be read, {} and {} are the most",
            MOST.nodes, MOST.edges
        );
        let part = narrows.map(|option| format!("draw a part with `{option}`, or ")).unwrap_or_default();
        let hint = format!("{part}take `--format dot` to a program for large graphs");
        Err(Failure::new(Kind::Usage, message).hint(hint))
    }
}
