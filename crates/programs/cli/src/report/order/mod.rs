//! The order of operations, whatever family they belong to: lists, drawings, and what stands against an order.

mod graph;
mod refusal;
mod text;

pub(crate) use graph::{Graph, MOST_EDGES, Text, draw};
pub(crate) use refusal::{no_order, warn};
pub(crate) use text::{listing, waves};
