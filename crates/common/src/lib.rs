//! Clocks, id sources and the identifier macro of the groundstate crates.
