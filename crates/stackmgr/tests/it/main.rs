//! Managers of snapshots, through the public interface.
#![cfg(test)]

mod both;
mod journal;
mod support;
mod whole;
