//! What the invented states are held to: the layout of the products, and our own readers.

mod deployment;
mod layout;
mod readers;
mod terraform;

use groundstate_bench::{Format, Recipe};

/// A state as bytes.
fn state(recipe: Recipe, format: Format) -> Vec<u8> {
    let mut text = Vec::new();
    recipe.write(format, &mut text).expect("a vector takes everything");
    text
}
