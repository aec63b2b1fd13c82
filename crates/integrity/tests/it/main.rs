//! Tests of the integrity of snapshots, through the public interface.

mod support;
mod verify;
mod verify_props;
