//! What stands against an order of operations, line by line.

use groundstate_ordering::{BuildError, BuildErrors, OperationGraph};

use crate::report::error::Failure;
use crate::report::order::no_order;

/// Says everything that stands against an order of operations.
pub(super) fn refused(errors: &BuildErrors, name: &str) -> Failure {
    no_order(&errors.errors, name, |error| lines_of(error, errors.cyclic.as_deref()))
}

/// An error line by line. Only a cycle has several, and it escapes what it takes from a file.
fn lines_of(error: &BuildError, cyclic: Option<&OperationGraph>) -> Vec<String> {
    let text = match (error, cyclic) {
        (BuildError::Cycle(report), Some(graph)) => report.map(|key| graph.label_of(key)).to_string(),
        _ => error.to_string(),
    };
    match error {
        BuildError::ConfigCycle(_) | BuildError::Cycle(_) => text.lines().map(str::to_owned).collect(),
        _ => vec![text],
    }
}
