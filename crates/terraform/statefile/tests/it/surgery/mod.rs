//! Changes of stored states by hand.

mod follow;
mod merge;
mod moves;
mod old;
mod other;
mod props;
mod release;
mod salvage;
mod script;
mod support;
