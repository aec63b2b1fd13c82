//! Simulated cases.
#![cfg(test)]

mod mutants;
mod random;
