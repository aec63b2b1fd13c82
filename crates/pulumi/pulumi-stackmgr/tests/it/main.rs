//! Managers of snapshots, through the public interface.
#![cfg(test)]

mod both;
mod journal;
mod stored;
mod support;
mod whole;
