//! Tests of the models, through their public interface.

mod addr;
mod number;
mod raw;
mod value;
