//! See the function `decode_and_replay` in `properties.rs`.
#![no_main]

#[path = "../properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::decode_and_replay(data));
