//! The client on files and on a bucket of the test kit.

mod bucket;
mod file;
mod use_cases;
