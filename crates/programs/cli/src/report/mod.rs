//! What is shown: results, messages, errors with the lines they are about, graphs and values. It knows no verb.

pub(crate) mod clipped;
pub(crate) mod diagnostic;
pub(crate) mod differences;
pub(crate) mod error;
pub(crate) mod excerpt;
pub(crate) mod findings;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod line_span;
pub(crate) mod log;
pub(crate) mod message_json;
pub(crate) mod messages;
pub(crate) mod order;
pub(crate) mod output;
pub(crate) mod paint;
pub(crate) mod progress;
pub(crate) mod sarif;
pub(crate) mod svg;
pub(crate) mod text;
pub(crate) mod tokens;
