//! JSON as text with positions: reading that keeps the source, and writing in the layout of state files.

mod compact;
mod cursor;
mod escape;
mod place;
mod places;
mod skip;
mod write;

pub(crate) use compact::compact;
pub(crate) use cursor::{Cursor, Kind, Stop, Str, SyntaxError};
pub(crate) use place::push_name;
pub(crate) use write::Writer;

pub(crate) use places::places;

pub use escape::push_json_string;
pub use place::Place;
