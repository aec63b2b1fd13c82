//! What documents of each version hold: structures of the older ones, and the readers of all.

pub(crate) mod checkpoint;
mod manifest;
pub(crate) mod parts;
pub(crate) mod resource;
pub(crate) mod v1;
pub(crate) mod v2;
pub(crate) mod v3;
