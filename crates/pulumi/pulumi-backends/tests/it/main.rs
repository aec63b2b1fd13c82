//! From URLs and directories to stores, with files that strangers may have made.

mod directories;
mod stores;
