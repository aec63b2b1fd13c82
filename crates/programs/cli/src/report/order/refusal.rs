//! What stands against an order, and warnings about one.

use std::fmt::Display;

use crate::report::error::{Failure, Kind};
use crate::report::messages::Messages;

/// Errors and warnings that are printed one by one; the rest is counted.
const MOST: usize = 50;

/// Says what is odd about an order.
pub(crate) fn warn(warnings: &[impl Display]) {
    let mut messages = Messages::stderr();
    for warning in warnings.iter().take(MOST) {
        messages.warning(&warning.to_string());
    }
    if warnings.len() > MOST {
        messages.warning(&format!("and {} more", warnings.len() - MOST));
    }
}

/// Says everything that stands against an order.
pub(crate) fn no_order<E>(errors: &[E], name: &str, lines: impl Fn(&E) -> Vec<String>) -> Failure {
    let more = errors.len().saturating_sub(MOST);
    Failure::new(Kind::Unusable, format!("{name} has no order"))
        .details(errors.iter().take(MOST).flat_map(lines))
        .details((more > 0).then(|| format!("and {more} more")))
}
