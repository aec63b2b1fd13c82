//! An export on standard input becomes a stack's file on standard output:
//! `pulumi stack export | cargo run -p groundstate-pulumi-deployment --example convert organization/shop/dev`.

use std::error::Error;
use std::io::{self, Read, Write};

use groundstate_pulumi_deployment::{DecodeOptions, EncodeOptions, Envelope, decode, encode_to};

fn main() -> Result<(), Box<dyn Error>> {
    let stack = std::env::args().nth(1).ok_or("name the stack, as in organization/shop/dev")?;
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    let mut file = decode(&text, &DecodeOptions::default())?;
    file.envelope = Envelope::checkpoint(stack);
    encode_to(&file, &EncodeOptions::default(), io::stdout().lock())?.flush()?;
    Ok(())
}
