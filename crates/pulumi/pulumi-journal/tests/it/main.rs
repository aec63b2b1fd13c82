//! Journals: entries as text, replay, recorder.
#![cfg(test)]

mod codec;
mod fuzzed;
mod notation;
mod orders;
mod record;
mod rules;
mod scenarios;
