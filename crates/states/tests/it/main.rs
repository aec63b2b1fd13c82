//! Tests of the models, through their public interface.

mod addr;
mod addr_fixtures;
mod addr_order;
mod addr_props;
mod addr_provider;
mod number;
mod raw;
mod value;
