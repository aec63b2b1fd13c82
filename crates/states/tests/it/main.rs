//! Tests of the models, through their public interface.

mod number;
mod raw;
mod value;
