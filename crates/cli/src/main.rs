//! The `groundstate` command.

fn main() {}
