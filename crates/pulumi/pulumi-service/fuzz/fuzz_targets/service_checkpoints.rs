//! See the function of the same name in `properties.rs`.
#![no_main]

#[expect(dead_code, reason = "each target calls one of the properties")]
#[path = "../properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::service_checkpoints(data));
