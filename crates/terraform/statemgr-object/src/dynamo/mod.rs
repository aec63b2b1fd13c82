//! Terraform's table in DynamoDB: a row that locks a state, and a row that has its digest.

mod api;
mod rows;
mod table;

pub use api::{DynamoApi, DynamoReply};
pub use rows::{DynamoDigest, DynamoLock};
pub use table::DynamoTable;
