//! Documents of the service protocol: requests and answers, paths, names, deltas.
#![cfg(test)]

mod deltas;
mod documents;
mod events;
mod fuzzed;
mod names;
mod routes;
mod secrets;
mod states;
