//! What documents of each format version hold, before it means anything.

pub(crate) mod legacy;
pub(crate) mod v1;
pub(crate) mod v2;
pub(crate) mod v3;
pub(crate) mod v4;
