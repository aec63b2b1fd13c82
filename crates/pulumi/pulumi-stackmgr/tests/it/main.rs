//! Managers of snapshots, through the public interface.
#![cfg(test)]

mod both;
mod failures;
mod journal;
mod stored;
mod support;
mod waiting;
mod whole;
