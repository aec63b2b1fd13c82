//! Chores of the workspace; run as `cargo xtask`.

fn main() {}
