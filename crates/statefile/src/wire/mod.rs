//! What documents of each format version hold, before it means anything.

pub(crate) mod v4;
