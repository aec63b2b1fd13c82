//! Journals: entries as text, replay, recorder.
#![cfg(test)]

mod codec;
mod fuzzed;
mod model;
mod notation;
mod orders;
mod problems;
mod record;
mod rules;
mod scenarios;
