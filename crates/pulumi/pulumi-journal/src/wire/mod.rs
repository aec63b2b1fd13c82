//! Entries as text: what clients of services send, and what stores of journals keep.

mod decode;
mod encode;
mod member;
mod problem;

pub use decode::{DecodeOptions, Decoded, Framing, decode, decode_entry};
pub use encode::{encode_entry, encode_framed};
pub use problem::{Code, DecodeError, Problem, Problems};
