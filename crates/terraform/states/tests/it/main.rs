//! Tests of the models, through their public interface.

mod addr;
mod addr_fixtures;
mod addr_order;
mod addr_props;
mod addr_provider;
mod copies;
mod deposed;
mod edit;
mod equality;
mod flatmap;
mod fuzzed;
mod model_props;
mod moves;
mod number;
mod query;
#[cfg(feature = "serde")]
#[expect(clippy::unwrap_used, reason = "helpers outside of test functions fail the test they serve")]
mod serialization;
mod state_edit;
mod support;
mod sync;
mod value;
